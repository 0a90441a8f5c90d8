//! CUDA on the CPU, for tests: [`Emulation`] is a device's driver that compiles the very text that
//! NVRTC would, with the host's C++ compiler, and runs it strictly. A launch that does what CUDA
//! leaves undefined fails with a message that names kernel, block, thread and line; where CUDA leaves
//! an order open, the seed chooses it.
//!
//! * Every CUDA thread is a fiber; a launch runs on the thread that launches. Threads switch at
//!   barriers, collectives of warps, atomics, fences, `__nanosleep` and volatile reads: at the latter
//!   four after a random number of up to 8 such points, so that none that polls holds up the others;
//!   and before any other access to memory, every few or every few thousand accesses.
//! * Warps take turns in random order, and the lanes of a warp within a turn, sometimes only some.
//! * At first up to 4 blocks are resident, as many as the seed says. Blocks start in windows of that
//!   many, shuffled within, so a block may wait for lower ones. When nothing happens but polling, more
//!   are started, up to what [`resident_blocks`] promises; so the blocks of a grid of one wave may all
//!   wait for each other. When still nothing happens for thousands of turns, that is a deadlock.
//! * A block's barrier must be reached by all its threads, in the same line. An exited thread does not
//!   count as arrived.
//! * A collective of a warp needs all the lanes that its mask names, in the same line with the same
//!   mask, and the caller among them. Lanes that a partial last warp does not have count as arrived. A
//!   shuffle from a lane that takes no part gives poison. `__activemask` names the caller alone.
//! * Memory is poisoned with bytes 0xFF until it is written: not a number, or the index 4294967295. A
//!   shared array holds either that or zeros.
//!   An access one byte outside a buffer or an array in shared memory fails, as does one to a released
//!   buffer: the compiler's thread sanitizer calls a hook before every access, which looks into a
//!   shadow of the memory. Misaligned accesses, indices outside arrays of known length and integer
//!   divisions by zero fail by the compiler's other checks.
//! * Shared arrays are found by pattern (`source.rs`): one to a declaration, inside a function. Any
//!   other `__shared__` does not compile.
//! * By the device's clock, everything that is enqueued takes a millisecond.
//! * A graph runs what was captured, with the arguments of the capture, each in its millisecond. A capture
//!   notes kernels, fills and copies, and refuses whatever else there is.
//! * Memory that nobody gave back when the device goes is an error.
//! * The arguments of a launch are compared with the kernel's signature, its block with the kernel's
//!   launch bounds.
//!
//! Not found are: accesses outside arrays in a thread's own stack, loops without end that neither
//! access memory nor meet another thread, and data races that no order of the switches above shows.
//! Memory is sequentially consistent: a missing fence is not found either.
//!
//! [`resident_blocks`]: spmv_bench::device::Kernel::resident_blocks

mod block;
mod compile;
mod diagnosis;
mod driver;
mod facts;
mod fiber;
mod graph;
mod launch;
mod memory;
mod module;
mod random;
mod run;
mod scheduler;
mod source;
mod table;
mod thread;
mod trap;
mod warp;

pub use driver::Emulation;

//! A launch from its checks to its end.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use spmv_bench::device::Dim3;
use spmv_bench::device::driver::RawArgument;
use spmv_bench::method::Failed;

use crate::block::Block;
use crate::facts::resident_on_device;
use crate::fiber::{Fibers, OWN};
use crate::launch::{Launch, SHARED_BYTES};
use crate::memory::Memory;
use crate::module::Kernel;
use crate::random::Random;
use crate::scheduler::Scheduler;
use crate::warp::Warp;

/// The most accesses to memory in a row of the threads of a launch, of which it draws one: where a
/// kernel should have used an atomic, seldom is not enough, and always would be slow.
const CREDITS: [usize; 4] = [8, 64, 512, 4096];

/// Runs a kernel; the memory stays usable whatever comes of it.
pub fn run(
    kernel: &Rc<Kernel>,
    (grid, block): (Dim3, Dim3),
    shared_bytes: u32,
    arguments: &[RawArgument],
    memory: &Rc<Memory>,
    (seed, number): (u64, u64),
) -> Result<(), Failed> {
    let threads = check(block, kernel.threads, shared_bytes)?;
    kernel.check(arguments)?;
    let blocks = [grid.x, grid.y, grid.z].map(u64::from).iter().product::<u64>();
    let places = blocks.min(u64::from(resident_on_device(threads))) as usize;
    let warps = (0..threads.div_ceil(32)).map(|warp| Warp::new((threads - warp * 32).min(32)));
    let random = Random::new(seed, number);
    OWN.with_borrow_mut(|fibers| {
        let launch = Launch {
            kernel: kernel.clone(),
            arguments: arguments.iter().map(|argument| argument.value).collect(),
            grid: [grid.x, grid.y, grid.z],
            shape: [block.x, block.y, block.z],
            threads,
            shared_bytes: shared_bytes as usize,
            memory: memory.clone(),
            credit: CREDITS[random.below(CREDITS.len())],
            random,
            fibers: fibers.first(),
            warps: (0..places).flat_map(|_| warps.clone()).collect(),
            blocks: (0..places).map(|_| Block::new()).collect(),
            queue: RefCell::default(),
            progress: Cell::new(false),
            clock: Cell::new(0),
            at: Cell::new(None),
            fault: RefCell::default(),
        };
        run_on(fibers, &launch)
    })
}

fn run_on(fibers: &mut Fibers, launch: &Launch) -> Result<(), Failed> {
    let count = launch.warps.len() * 32;
    fibers.grow(count);
    Scheduler::new(launch, fibers).run().map_err(|message| {
        fibers.reset(count);
        (0..launch.blocks.len()).for_each(|slot| launch.end(slot));
        let line = launch.at.get().and_then(|code| launch.kernel.line(code));
        Failed(line.into_iter().fold(message, |message, line| message + " at " + &line))
    })
}

/// The number of threads of a block.
fn check(block: Dim3, most: u32, shared_bytes: u32) -> Result<u32, Failed> {
    let threads = [block.x, block.y, block.z].map(u64::from).iter().product::<u64>();
    if !(1..=u64::from(most.min(1024))).contains(&threads) {
        return Err(Failed(format!("{threads} threads per block, of 1 to {most}")));
    }
    if shared_bytes as usize > SHARED_BYTES {
        let message = format!("{shared_bytes} bytes of dynamic shared memory, of {SHARED_BYTES}");
        return Err(Failed(message));
    }
    Ok(threads as u32)
}

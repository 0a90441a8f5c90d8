//! Detection of data races. A data race is a pair of accesses to the same bytes by different threads, at least one of
//! them a write, that are not ordered by happens-before (PTX ISA, chapter 8, the memory consistency model).
//!
//! The last write and the last read of each word of memory are recorded, each with a [`Moment`]. An earlier access
//! happens before a later one in these cases: a launch ends between them; the same thread makes both; a barrier of the
//! block or of the warp is between them; or the later thread acquires a release of the earlier thread. A dependent
//! launch may overlap with the launches before it, so their end counts only after the thread has waited for it. A
//! release is a fence followed by an atomic or volatile write. An acquire is an atomic or volatile read of that word
//! followed by a fence. Chains of these are followed. The lanes of a warp are not assumed to run in lockstep.
//!
//! The module `copies` describes the order of asynchronous copies.
//!
//! Accesses to different bytes of a word do not race; only the last of them is recorded. If several threads have read
//! a word since its last write, one moment represents all of them. A race with one of several reads is therefore
//! only detected with certainty within a block.

mod clock;
mod copies;
mod thread;

#[cfg(test)]
mod tests;

pub use clock::{Acquired, Clock, Moment, Release};
pub use copies::{ProxyFences, Unordered};
pub use thread::{Other, Releases, Thread, Word};

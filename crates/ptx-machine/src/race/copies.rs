//! The order of asynchronous copies, which a thread issues but does not execute, and of ordinary accesses.
//!
//! The bytes of a copy are written at an unknown time between its issue and the completion of a phase of its mbarrier.
//! An access comes after the copy if its thread knows that this phase is complete: it has waited for it, or has
//! acquired this from a thread that has. The copy comes after everything that happens before its issue. After ordinary
//! writes of the same bytes there must also be a `fence.proxy.async` between the write and the copy.

use std::collections::HashMap;
use std::rc::Rc;

use super::clock::{Clock, Moment, Release, WARP, Who};
use super::thread::{Other, Thread, Word};
use crate::lanes::lanes;

/// The reason why a copy is not ordered after an earlier access.
pub enum Unordered {
    /// Nothing orders the copy and the access.
    Race(Other),
    /// There is no `fence.proxy.async` between the write and the copy.
    Proxy(Other),
}

/// The last two fences of each thread of a block that are in different epochs, each with its epoch and its step.
/// Earlier ones order nothing more.
#[derive(Debug, Default)]
pub struct ProxyFences(HashMap<u16, [Option<(u32, u32)>; 2]>);

impl ProxyFences {
    /// Records a fence of the lanes in `mask`.
    pub fn record(&mut self, clock: &mut Clock, mask: u32, warp: u16, epoch: u32) {
        clock.step += 1;
        for lane in lanes(mask) {
            let last = self.0.entry(warp * WARP + lane as u16).or_default();
            if last[1].is_some_and(|(before, _)| before < epoch) {
                last[0] = last[1];
            }
            last[1] = Some((epoch, clock.step));
        }
    }

    /// Returns whether a fence is between a write and what a thread of the block does now.
    fn separate(&self, write: &Moment, now: &Thread) -> bool {
        self.0.iter().any(|(&thread, fences)| {
            fences.iter().flatten().any(|&(epoch, step)| {
                let after_write = write.who == Who::Thread(thread) && write.step < step;
                (after_write || write.epoch < epoch) && (thread == now.thread || epoch < now.epoch)
            })
        })
    }
}

impl Thread<'_> {
    /// Returns whether copies may use what a thread of the block has written: the write happens before this thread's
    /// current instruction, and a fence is between them.
    pub fn may_copy_after(&self, write: &Moment, fences: &ProxyFences) -> bool {
        self.comes_after(write) && fences.separate(write, self)
    }

    /// Records that a copy into shared memory, which this thread issues, writes a word. `phase` is the number of its
    /// mbarrier and the phase. Returns the earlier access that is not ordered before the copy.
    pub fn copies(&self, word: &mut Word, phase: (u16, u32), fences: &ProxyFences) -> Result<(), Unordered> {
        let now = self.moment(false);
        self.check(word.write, now, true).map_err(Unordered::Race)?;
        self.check(word.read, now, false).map_err(Unordered::Race)?;
        if let Some(write) = word.write
            && write.launch == self.launch
            && !matches!(write.who, Who::Copy(..))
            && !fences.separate(&write, self)
        {
            return Err(Unordered::Proxy(self.other(write, true)));
        }
        let copy = Moment { who: Who::Copy(phase.0, phase.1), ..now };
        *word = Word { write: Some(copy), read: None };
        Ok(())
    }

    /// Returns the release of this thread's arrival at an mbarrier, after its fence.
    pub fn arrives(&self) -> Rc<Release> {
        Rc::new(self.release(self.clock.step, self.clock.synced[self.lane()]))
    }
}

//! The times of accesses, the logical clocks of warps, and what threads know of each other by releases.

use std::collections::HashMap;
use std::rc::Rc;

use crate::lanes::lanes;

pub const WARP: u16 = 32;

/// The thread or threads that made an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// One thread of the block.
    Thread(u16),
    /// Several threads of one warp.
    Warp(u16),
    /// Several threads of different warps or blocks.
    Many,
    /// No thread: an asynchronous copy, with the number of its mbarrier and the phase that waits for it.
    Copy(u16, u32),
}

impl Who {
    /// Returns the warp if all threads are in one.
    pub fn warp(self) -> Option<u16> {
        match self {
            Self::Thread(thread) => Some(thread / WARP),
            Self::Warp(warp) => Some(warp),
            Self::Many | Self::Copy(..) => None,
        }
    }
}

/// The time of an access and the thread that made it.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    pub launch: u32,
    pub block: u32,
    /// The number of barriers of the block before the access.
    pub epoch: u32,
    /// The number of barriers and fences of the warp before the access.
    pub step: u32,
    pub who: Who,
    /// Whether the access is atomic or volatile.
    pub strong: bool,
    /// The accessed bytes of the word, one bit for each.
    pub bytes: u8,
}

/// The logical clock of a warp, which advances at barriers and fences.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    /// The number of barriers and fences so far.
    pub step: u32,
    /// For each lane: the step after its last barrier.
    pub synced: [u32; 32],
    /// For each lane: the step after its last fence; 0 before the first.
    pub fenced: [u32; 32],
    /// The releases that each lane has read since its last fence, as pairs of a lane and a release.
    pub seen: Vec<(u16, Rc<Release>)>,
}

/// A release: it covers the accesses that happened before it in the releasing thread.
#[derive(Debug)]
pub struct Release {
    pub block: u32,
    pub epoch: u32,
    pub thread: u16,
    /// The step after the fence of the releasing thread.
    pub fenced: u32,
    /// The step after the last barrier of the warp before the release.
    pub synced: u32,
    /// The mbarrier and its phase whose completion this is.
    pub phase: Option<(u16, u32)>,
    /// The releases that the thread had acquired before, and the previous release in the same word.
    pub earlier: Vec<Rc<Release>>,
}

/// A release that a thread has acquired.
#[derive(Clone, Debug)]
pub struct Acquired {
    pub release: Rc<Release>,
    pub epoch: u32,
    pub step: u32,
    pub thread: u16,
}

impl Release {
    /// Returns the release of a completed phase of an mbarrier: it covers its copies and what the arrived threads did
    /// before.
    pub fn of_phase(block: u32, phase: (u16, u32), arrived: Vec<Rc<Self>>) -> Rc<Self> {
        Rc::new(Self { block, epoch: 0, thread: u16::MAX, fenced: 0, synced: 0, phase: Some(phase), earlier: arrived })
    }

    /// Returns whether an access happens before the release because of the order within the releasing thread's block,
    /// or because it is a copy that was complete at the end of the phase.
    pub fn covers(&self, access: &Moment) -> bool {
        let happened = match access.who {
            Who::Copy(number, phase) => self.phase.is_some_and(|(of, until)| number == of && phase <= until),
            who => {
                access.epoch < self.epoch
                    || who == Who::Thread(self.thread) && access.step < self.fenced
                    || who.warp() == Some(self.thread / WARP) && access.step < self.synced
            }
        };
        access.block == self.block && happened
    }
}

impl Acquired {
    /// Returns a release that a thread acquires now.
    pub fn new(release: Rc<Release>, epoch: u32, thread: u16, clock: &Clock) -> Self {
        Self { release, epoch, step: clock.step, thread }
    }

    /// Removes phases of mbarriers that later phases cover, when all threads of the block have met.
    pub fn prune(all: &mut Vec<Self>) {
        let mut newest: HashMap<u16, u32> = HashMap::new();
        for (number, phase) in all.iter().filter_map(|acquired| acquired.release.phase) {
            let newest = newest.entry(number).or_default();
            *newest = phase.max(*newest);
        }
        // Of several waits for the newest phase, the first one is kept.
        all.retain(|acquired| {
            let Some((number, phase)) = acquired.release.phase else { return true };
            let keeps = newest.get(&number) == Some(&phase);
            if keeps {
                newest.remove(&number);
            }
            keeps
        });
    }
}

impl Clock {
    pub fn barrier(&mut self, mask: u32) {
        self.step += 1;
        lanes(mask).for_each(|lane| self.synced[lane] = self.step);
    }

    /// Records a fence of the lanes in `mask`. Returns the releases that the lanes acquire by it. `epoch` is the number
    /// of barriers of the block so far.
    pub fn fence(&mut self, mask: u32, warp: u16, epoch: u32) -> Vec<Acquired> {
        let step = self.step;
        self.step += 1;
        lanes(mask).for_each(|lane| self.fenced[lane] = self.step);
        let seen = self.seen.extract_if(.., |(lane, _)| mask >> *lane & 1 == 1);
        let thread = |lane: u16| warp * WARP + lane;
        seen.map(|(lane, release)| Acquired { release, epoch, step, thread: thread(lane) }).collect()
    }
}

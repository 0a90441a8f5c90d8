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

mod copies;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::lanes::lanes;
pub use copies::{ProxyFences, Unordered};

const WARP: u16 = 32;

/// The thread or threads that made an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
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
    fn warp(self) -> Option<u16> {
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
    launch: u32,
    block: u32,
    /// The number of barriers of the block before the access.
    epoch: u32,
    /// The number of barriers and fences of the warp before the access.
    step: u32,
    who: Who,
    /// Whether the access is atomic or volatile.
    strong: bool,
    /// The accessed bytes of the word, one bit for each.
    bytes: u8,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Word {
    write: Option<Moment>,
    read: Option<Moment>,
}

/// The logical clock of a warp, which advances at barriers and fences.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    /// The number of barriers and fences so far.
    step: u32,
    /// For each lane: the step after its last barrier.
    synced: [u32; 32],
    /// For each lane: the step after its last fence; 0 before the first.
    fenced: [u32; 32],
    /// The releases that each lane has read since its last fence, as pairs of a lane and a release.
    seen: Vec<(u16, Rc<Release>)>,
}

/// A release: it covers the accesses that happened before it in the releasing thread.
#[derive(Debug)]
pub struct Release {
    block: u32,
    epoch: u32,
    thread: u16,
    /// The step after the fence of the releasing thread.
    fenced: u32,
    /// The step after the last barrier of the warp before the release.
    synced: u32,
    /// The mbarrier and its phase whose completion this is.
    phase: Option<(u16, u32)>,
    /// The releases that the thread had acquired before, and the previous release in the same word.
    earlier: Vec<Rc<Release>>,
}

/// A release that a thread has acquired.
#[derive(Clone, Debug)]
pub struct Acquired {
    release: Rc<Release>,
    epoch: u32,
    step: u32,
    thread: u16,
}

/// The releases of a launch, by the address of the written word.
#[derive(Default)]
pub struct Releases(HashMap<u64, Rc<Release>>);

/// The thread that makes an access, with the state that decides the order.
pub struct Thread<'a> {
    pub launch: u32,
    /// The number of the first launch that may not have ended for this thread; its own unless the launch is dependent.
    pub since: u32,
    pub block: u32,
    /// The number of barriers of the block so far.
    pub epoch: u32,
    /// The number of the thread in the block.
    pub thread: u16,
    /// The accessed bytes of the word, one bit for each.
    pub bytes: u8,
    pub clock: &'a Clock,
    /// The releases that threads of the block have acquired.
    pub acquired: &'a [Acquired],
}

/// The earlier access of a race.
#[derive(Debug)]
pub struct Other {
    pub wrote: bool,
    access: Moment,
    /// Whether the access was in an earlier launch, for whose end the later thread has not waited.
    before: bool,
}

impl Other {
    pub fn by(&self) -> String {
        let launch = if self.before { " of an earlier launch" } else { "" };
        let who = match self.access.who {
            Who::Copy(..) => "an asynchronous copy of".to_owned(),
            Who::Thread(thread) => format!("thread {thread} of"),
            Who::Warp(_) | Who::Many => "several threads, one of them in".to_owned(),
        };
        format!("{who} block {}{launch}", self.access.block)
    }
}

impl Thread<'_> {
    fn lane(&self) -> usize {
        usize::from(self.thread % WARP)
    }

    pub fn moment(&self, strong: bool) -> Moment {
        let &Self { launch, block, epoch, bytes, .. } = self;
        let (step, who) = (self.clock.step, Who::Thread(self.thread));
        Moment { launch, block, epoch, step, who, strong, bytes }
    }

    /// Records a read. Returns the earlier write if the read races with it.
    pub fn read(&self, word: &mut Word, strong: bool) -> Result<(), Other> {
        let now = self.moment(strong);
        self.check(word.write, now, true)?;
        word.read = Some(match word.read {
            Some(earlier) if self.may_meet(&earlier) && !self.comes_after(&earlier) => Moment {
                who: joined(&earlier, &now),
                strong: earlier.strong && strong,
                bytes: earlier.bytes & now.bytes,
                launch: earlier.launch,
                ..now
            },
            _ => now,
        });
        Ok(())
    }

    /// Records a write. Returns the earlier access if the write races with it.
    pub fn write(&self, word: &mut Word, strong: bool) -> Result<(), Other> {
        let now = self.moment(strong);
        self.check(word.write, now, true)?;
        self.check(word.read, now, false)?;
        *word = Word { write: Some(now), read: None };
        Ok(())
    }

    /// Records a read of data that no thread may write while this launch runs. Returns the last write if it happened in
    /// this launch, or in one that may not have ended.
    pub fn read_constant(&self, word: &Word) -> Result<(), Other> {
        match word.write {
            Some(write) if write.launch >= self.since => Err(self.other(write, true)),
            _ => Ok(()),
        }
    }

    /// Returns an error if an access now races with the earlier one.
    fn check(&self, earlier: Option<Moment>, now: Moment, wrote: bool) -> Result<(), Other> {
        match earlier {
            Some(earlier)
                if self.may_meet(&earlier)
                    && !(earlier.strong && now.strong)
                    && !self.comes_after(&earlier) =>
            {
                Err(self.other(earlier, wrote))
            }
            _ => Ok(()),
        }
    }

    /// Returns whether the earlier access was in a launch that may not have ended, and touched some of the same bytes.
    fn may_meet(&self, earlier: &Moment) -> bool {
        earlier.launch >= self.since && earlier.bytes & self.bytes != 0
    }

    /// Returns whether an access of a launch that may not have ended happens before the thread's current instruction.
    fn comes_after(&self, earlier: &Moment) -> bool {
        if earlier.launch != self.launch {
            return false;
        }
        if earlier.block == self.block && !matches!(earlier.who, Who::Copy(..)) {
            let own = earlier.who == Who::Thread(self.thread);
            let in_warp = earlier.who.warp() == Some(self.thread / WARP);
            if own
                || earlier.epoch < self.epoch
                || in_warp && earlier.step < self.clock.synced[self.lane()]
            {
                return true;
            }
        }
        if self.known().any(|release| release.covers(earlier)) {
            return true;
        }
        let mut ahead: Vec<_> = self.known().flat_map(|release| &release.earlier).collect();
        let mut seen = HashSet::new();
        while let Some(release) = ahead.pop() {
            if release.covers(earlier) {
                return true;
            }
            if seen.insert(Rc::as_ptr(release)) {
                ahead.extend(&release.earlier);
            }
        }
        false
    }

    /// Returns the releases that the thread has acquired itself, or that other threads acquired before a barrier.
    fn known(&self) -> impl Iterator<Item = &Rc<Release>> {
        let synced = self.clock.synced[self.lane()];
        let reaches = move |acquired: &&Acquired| {
            acquired.thread == self.thread
                || acquired.epoch < self.epoch
                || acquired.thread / WARP == self.thread / WARP && acquired.step < synced
        };
        self.acquired.iter().filter(reaches).map(|acquired| &acquired.release)
    }

    /// Returns a release by this thread now, which covers its accesses before the step `fenced`, and those of its warp
    /// before the step `synced`.
    fn release(&self, fenced: u32, synced: u32) -> Release {
        let &Self { block, epoch, thread, .. } = self;
        let earlier = self.known().cloned().collect();
        Release { block, epoch, thread, fenced, synced, phase: None, earlier }
    }

    fn other(&self, access: Moment, wrote: bool) -> Other {
        Other { wrote, access, before: access.launch != self.launch }
    }
}

/// Returns the smallest set of threads that contains those of both accesses.
fn joined(earlier: &Moment, now: &Moment) -> Who {
    match (earlier.who.warp(), now.who.warp()) {
        _ if earlier.block != now.block => Who::Many,
        _ if earlier.who == now.who => now.who,
        (Some(warp), Some(other)) if warp == other => Who::Warp(warp),
        _ => Who::Many,
    }
}

impl Release {
    /// Returns whether an access happens before the release because of the order within the releasing thread's block,
    /// or because it is a copy that was complete at the end of the phase.
    fn covers(&self, access: &Moment) -> bool {
        let happened = match access.who {
            Who::Copy(number, phase) => {
                self.phase.is_some_and(|(of, until)| number == of && phase <= until)
            }
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
}

impl Clock {
    pub fn barrier(&mut self, mask: u32) {
        self.step += 1;
        lanes(mask).for_each(|lane| self.synced[lane] = self.step);
    }

    /// Returns a release that covers everything the warp did before the barrier at which it is now.
    pub fn release(&self, block: u32, epoch: u32, warp: u16, acquired: &[Acquired]) -> Rc<Release> {
        let thread = warp * WARP;
        let reader =
            Thread { launch: 0, since: 0, block, epoch, thread, bytes: 0, clock: self, acquired };
        Rc::new(reader.release(self.step, self.step))
    }

    /// Records a fence of the lanes in `mask`. Returns the releases that the lanes acquire by it. `epoch` is the number
    /// of barriers of the block so far.
    pub fn fence(&mut self, mask: u32, warp: u16, epoch: u32) -> Vec<Acquired> {
        let step = self.step;
        self.step += 1;
        lanes(mask).for_each(|lane| self.fenced[lane] = self.step);
        let seen = self.seen.extract_if(.., |(lane, _)| mask >> *lane & 1 == 1);
        let thread = |lane: u16| warp * WARP + lane;
        seen.map(|(lane, release)| Acquired { release, epoch, step, thread: thread(lane) })
            .collect()
    }
}

impl Releases {
    /// Records an atomic or volatile write of a word. An atomic update (`updates`) continues the previous release of
    /// the word; a volatile write replaces it.
    pub fn write(&mut self, address: u64, thread: &Thread, updates: bool) {
        let lane = thread.lane();
        let fenced = thread.clock.fenced[lane];
        let before = if updates { self.0.get(&address).cloned() } else { None };
        if fenced == 0 {
            if before.is_none() {
                self.0.remove(&address);
            }
            return;
        }
        let mut release = thread.release(fenced, thread.clock.synced[lane].min(fenced));
        release.earlier.extend(before);
        self.0.insert(address, Rc::new(release));
    }

    /// Records an atomic or volatile read of a word.
    pub fn read(&self, address: u64, lane: u16, clock: &mut Clock) {
        let Some(release) = self.0.get(&address) else { return };
        let known = |(by, other): &(u16, Rc<Release>)| *by == lane && Rc::ptr_eq(other, release);
        if !clock.seen.iter().any(known) {
            clock.seen.push((lane, release.clone()));
        }
    }
}

#[cfg(test)]
mod tests;

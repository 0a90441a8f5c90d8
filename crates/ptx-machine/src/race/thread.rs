//! The accesses of threads to words of memory, and whether they are ordered.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::clock::{Acquired, Clock, Moment, Release, WARP, Who};

#[derive(Clone, Copy, Debug, Default)]
pub struct Word {
    pub write: Option<Moment>,
    pub read: Option<Moment>,
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
    pub access: Moment,
    /// Whether the access was in an earlier launch, for whose end the later thread has not waited.
    pub before: bool,
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
    pub fn lane(&self) -> usize {
        usize::from(self.thread % WARP)
    }

    pub fn moment(&self, strong: bool) -> Moment {
        let &Self { launch, block, epoch, bytes, .. } = self;
        let step = self.clock.step;
        let who = Who::Thread(self.thread);
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
    pub fn check(&self, earlier: Option<Moment>, now: Moment, wrote: bool) -> Result<(), Other> {
        match earlier {
            Some(earlier)
                if self.may_meet(&earlier) && !(earlier.strong && now.strong) && !self.comes_after(&earlier) =>
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
    pub fn comes_after(&self, earlier: &Moment) -> bool {
        if earlier.launch != self.launch {
            return false;
        }
        if earlier.block == self.block && !matches!(earlier.who, Who::Copy(..)) {
            let own = earlier.who == Who::Thread(self.thread);
            let in_warp = earlier.who.warp() == Some(self.thread / WARP);
            if own || earlier.epoch < self.epoch || in_warp && earlier.step < self.clock.synced[self.lane()] {
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
    pub fn release(&self, fenced: u32, synced: u32) -> Release {
        let &Self { block, epoch, thread, .. } = self;
        let earlier = self.known().cloned().collect();
        Release { block, epoch, thread, fenced, synced, phase: None, earlier }
    }

    pub fn other(&self, access: Moment, wrote: bool) -> Other {
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

impl Clock {
    /// Returns a release that covers everything the warp did before the barrier at which it is now.
    pub fn release(&self, block: u32, epoch: u32, warp: u16, acquired: &[Acquired]) -> Rc<Release> {
        let thread = warp * WARP;
        let reader = Thread { launch: 0, since: 0, block, epoch, thread, bytes: 0, clock: self, acquired };
        Rc::new(reader.release(self.step, self.step))
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

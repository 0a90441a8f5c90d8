//! Data races: two accesses to the same bytes by different threads, one of which writes, that nothing
//! orders (PTX ISA, chapter 8, the memory consistency model).
//!
//! Of every word of memory the last write and the last read are remembered, each with the moment at which
//! it happened. An earlier access is ordered before a later one by the end of a launch, by the program
//! order of a thread, by a barrier of the block, by a barrier of the warp, and by a release that the later
//! thread acquired: a fence and then an atomic or volatile write by the one, an atomic or volatile read of
//! that word and then a fence by the other, and chains of these. A warp's lanes are not taken to run in step.
//!
//! Accesses to different bytes of a word do not race; of several such accesses the last one is remembered.
//! Where several threads have read a word since it was written, one moment stands for all of them, so that
//! a race with one of several reads is found for certain only within the same block.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Lanes of a warp.
const WARP: u16 = 32;

/// A thread or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    Thread(u16),
    /// Several of this warp.
    Warp(u16),
    /// Several of the block, or of several blocks.
    Many,
}

/// When an access happened, and by whom.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    launch: u32,
    block: u32,
    /// Barriers of the block before it.
    epoch: u32,
    /// Barriers and fences of the warp before it.
    step: u32,
    who: Who,
    /// Whether it is an atomic or volatile one.
    strong: bool,
    /// Which bytes of the word it touches, one bit for each.
    bytes: u8,
}

/// What is remembered of a word.
#[derive(Clone, Copy, Debug, Default)]
pub struct Word {
    write: Option<Moment>,
    read: Option<Moment>,
}

/// What a warp has waited for.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    /// Barriers and fences so far.
    step: u32,
    /// By lane: the step after its last barrier.
    synced: [u32; 32],
    /// By lane: the step after its last fence; 0 before any.
    fenced: [u32; 32],
    /// By lane: what it has read of releases since its last fence.
    seen: Vec<(u16, Rc<Release>)>,
}

/// What a thread had done when it released it.
#[derive(Debug)]
pub struct Release {
    block: u32,
    epoch: u32,
    thread: u16,
    /// Its fence.
    fenced: u32,
    /// Its last barrier of the warp.
    synced: u32,
    /// What was released to it before, and the release that was in the same word.
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

impl Acquired {
    /// What a warp has acquired by a barrier that it has come to now.
    pub fn by_warp(release: Rc<Release>, epoch: u32, warp: u16, clock: &Clock) -> Self {
        Self { release, epoch, step: clock.step, thread: warp * WARP }
    }
}

/// The releases of a launch by the addresses that they were written to.
#[derive(Default)]
pub struct Releases(HashMap<u64, Rc<Release>>);

/// The thread that makes an access, and what orders it.
pub struct Thread<'a> {
    /// The launch's number.
    pub launch: u32,
    /// The block's number.
    pub block: u32,
    /// Barriers of the block so far.
    pub epoch: u32,
    /// The thread's number in the block.
    pub thread: u16,
    /// Which bytes of a word it accesses, one bit for each.
    pub bytes: u8,
    /// Its warp's.
    pub clock: &'a Clock,
    /// Its block's.
    pub acquired: &'a [Acquired],
}

/// The other access of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Other {
    /// Whether it wrote.
    pub wrote: bool,
    /// Its block.
    pub block: u32,
    /// Its thread in that block, where it was a single one.
    pub thread: Option<u16>,
}

impl Other {
    /// Whose access it was, in words.
    pub fn by(&self) -> String {
        match self.thread {
            Some(thread) => format!("thread {thread} of block {}", self.block),
            None => format!("several threads, one of them of block {}", self.block),
        }
    }
}

impl Thread<'_> {
    fn moment(&self, strong: bool) -> Moment {
        let &Self { launch, block, epoch, bytes, .. } = self;
        let (step, who) = (self.clock.step, Who::Thread(self.thread));
        Moment { launch, block, epoch, step, who, strong, bytes }
    }

    /// Notes a read; the write that it races with, if any.
    pub fn read(&self, word: &mut Word, strong: bool) -> Result<(), Other> {
        let now = self.moment(strong);
        self.check(word.write, now, true)?;
        word.read = Some(match word.read {
            Some(earlier) if self.may_meet(&earlier) && !self.comes_after(&earlier) => Moment {
                who: joined(&earlier, &now),
                strong: earlier.strong && strong,
                bytes: earlier.bytes & now.bytes,
                ..now
            },
            _ => now,
        });
        Ok(())
    }

    /// Notes a write; the access that it races with, if any.
    pub fn write(&self, word: &mut Word, strong: bool) -> Result<(), Other> {
        let now = self.moment(strong);
        self.check(word.write, now, true)?;
        self.check(word.read, now, false)?;
        *word = Word { write: Some(now), read: None };
        Ok(())
    }

    /// Whether anything was written in this launch, which a read of what nobody writes must not see.
    pub fn was_written(&self, word: &Word) -> Option<Other> {
        let write = word.write.filter(|write| write.launch == self.launch)?;
        Some(other(&write, true))
    }

    fn check(&self, earlier: Option<Moment>, now: Moment, wrote: bool) -> Result<(), Other> {
        match earlier {
            Some(earlier)
                if self.may_meet(&earlier)
                    && !(earlier.strong && now.strong)
                    && !self.comes_after(&earlier) =>
            {
                Err(other(&earlier, wrote))
            }
            _ => Ok(()),
        }
    }

    /// Whether an access touches the same bytes in the same launch.
    fn may_meet(&self, earlier: &Moment) -> bool {
        earlier.launch == self.launch && earlier.bytes & self.bytes != 0
    }

    /// Whether something orders an access of this launch before what the thread does now.
    fn comes_after(&self, earlier: &Moment) -> bool {
        if earlier.block == self.block {
            let own = earlier.who == Who::Thread(self.thread);
            if own || earlier.epoch < self.epoch {
                return true;
            }
            let lane = usize::from(self.thread % WARP);
            if warp(earlier.who) == Some(self.thread / WARP)
                && earlier.step < self.clock.synced[lane]
            {
                return true;
            }
        }
        self.known().any(|release| release.covers(earlier)) || {
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
    }

    /// What was released to this thread: acquired by itself, or by another before a barrier.
    fn known(&self) -> impl Iterator<Item = &Rc<Release>> {
        let lane = usize::from(self.thread % WARP);
        let reaches = move |acquired: &&Acquired| {
            acquired.thread == self.thread
                || acquired.epoch < self.epoch
                || acquired.thread / WARP == self.thread / WARP
                    && acquired.step < self.clock.synced[lane]
        };
        self.acquired.iter().filter(reaches).map(|acquired| &acquired.release)
    }
}

fn other(moment: &Moment, wrote: bool) -> Other {
    let thread = match moment.who {
        Who::Thread(thread) => Some(thread),
        _ => None,
    };
    Other { wrote, block: moment.block, thread }
}

fn warp(who: Who) -> Option<u16> {
    match who {
        Who::Thread(thread) => Some(thread / WARP),
        Who::Warp(warp) => Some(warp),
        Who::Many => None,
    }
}

/// Who has made one of two accesses.
fn joined(earlier: &Moment, now: &Moment) -> Who {
    let same_block = earlier.block == now.block;
    if same_block && earlier.who == now.who {
        return now.who;
    }
    match (warp(earlier.who), warp(now.who)) {
        (Some(warp), Some(other)) if same_block && warp == other => Who::Warp(warp),
        _ => Who::Many,
    }
}

impl Release {
    /// Whether an access comes before it by what orders the releasing thread's own block.
    fn covers(&self, access: &Moment) -> bool {
        access.block == self.block
            && (access.epoch < self.epoch
                || access.who == Who::Thread(self.thread) && access.step < self.fenced
                || warp(access.who) == Some(self.thread / WARP) && access.step < self.synced)
    }
}

impl Clock {
    /// The lanes of a mask have waited for each other.
    pub fn barrier(&mut self, mask: u32) {
        self.step += 1;
        crate::lanes::lanes(mask).for_each(|lane| self.synced[lane] = self.step);
    }

    /// All that a warp has done before the barrier that it has come to now.
    pub fn release(&self, block: u32, epoch: u32, warp: u16, acquired: &[Acquired]) -> Rc<Release> {
        let thread = warp * WARP;
        let reader = Thread { launch: 0, block, epoch, thread, bytes: 0, clock: self, acquired };
        let earlier = reader.known().cloned().collect();
        let (fenced, synced) = (self.step, self.step);
        Rc::new(Release { block, epoch, thread, fenced, synced, earlier })
    }

    /// The lanes of a mask execute a fence; what they acquire by it, for the block whose barriers are
    /// counted by `epoch`.
    pub fn fence(&mut self, mask: u32, warp: u16, epoch: u32) -> Vec<Acquired> {
        let step = self.step;
        self.step += 1;
        crate::lanes::lanes(mask).for_each(|lane| self.fenced[lane] = self.step);
        let of_mask = |lane: u16| mask >> lane & 1 == 1;
        let (acquired, left): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.seen).into_iter().partition(|(lane, _)| of_mask(*lane));
        self.seen = left;
        let thread = |lane: u16| warp * WARP + lane;
        acquired
            .into_iter()
            .map(|(lane, release)| Acquired { release, epoch, step, thread: thread(lane) })
            .collect()
    }
}

impl Releases {
    /// A thread writes a word by an atomic or volatile access: an atomic one (`updates`) keeps what is
    /// released there.
    pub fn write(&mut self, address: u64, thread: &Thread, updates: bool) {
        let fenced = thread.clock.fenced[usize::from(thread.thread % WARP)];
        let before = if updates { self.0.get(&address).cloned() } else { None };
        if fenced == 0 {
            if before.is_none() {
                self.0.remove(&address);
            }
            return;
        }
        let mut earlier: Vec<_> = thread.known().cloned().collect();
        earlier.extend(before);
        let release = Release {
            block: thread.block,
            epoch: thread.epoch,
            thread: thread.thread,
            fenced,
            synced: thread.clock.synced[usize::from(thread.thread % WARP)].min(fenced),
            earlier,
        };
        self.0.insert(address, Rc::new(release));
    }

    /// A thread reads a word by an atomic or volatile access.
    pub fn read(&self, address: u64, lane: u16, clock: &mut Clock) {
        let Some(release) = self.0.get(&address) else { return };
        let known = |(by, other): &(u16, Rc<Release>)| *by == lane && Rc::ptr_eq(other, release);
        if !clock.seen.iter().any(known) {
            clock.seen.push((lane, release.clone()));
        }
    }

    /// Forgets all of them: a launch is over.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests;

//! Asynchronous copies from global to shared memory, and the mbarriers that count their bytes (PTX ISA, sections
//! 9.7.9.25 and 9.7.13.15). A copy is executed when it is issued. The checks find accesses that rely on this: only a
//! wait for its mbarrier orders them after the copy.

use super::checks::Span;
use super::state::Warp;
use super::turn::{Pause, Turn};
use crate::block::{self, Block, MAX_EXPECTED};
use crate::fault::Checked;
use crate::lanes::{LANES, Mask, Slot, lanes};
use crate::memory::GLOBAL;
use crate::model::recorder::WarpAccess;
use crate::model::trace::Path;
use crate::program::{Copies, EVICT_FIRST, Mbarrier, MbarrierAction, Space};
use crate::race::{Acquired, Unordered};

/// The unit of addresses and sizes of a copy in bytes.
const UNIT: u64 = 16;
const SIZE: usize = 8;
/// With checks, one of so many waits for a complete phase ends early, as if the phase were not complete.
const EARLY_ENDS_ONE_IN: u32 = 3;

/// Returns the number that identifies a phase of an mbarrier within its block.
fn key(offset: u64, phase: u32) -> u64 {
    offset / SIZE as u64 * (1 << 32) + u64::from(phase)
}

/// Returns the number that identifies an mbarrier within its block.
fn number(offset: u64) -> u16 {
    (offset / SIZE as u64) as u16
}

fn mbarrier_at(address: u64) -> Span {
    Span { space: Space::Shared, address, size: SIZE }
}

impl Warp {
    /// Describes what the mbarrier lacks for which the warp has waited last; `None` if it has not waited in vain.
    pub fn lacks(&self, block: &Block) -> Option<String> {
        let barrier = block.mbarriers.get(&self.awaited?)?;
        let arrivals = barrier.missing;
        let bytes = barrier.bytes;
        Some(format!("an mbarrier whose phase lacks {arrivals} arrivals and {bytes} bytes"))
    }
}

impl Turn<'_, '_> {
    /// Executes an operation on an mbarrier. Returns the pause of a warp that waits in vain.
    pub fn mbarrier<const CHECKS: bool>(&mut self, operation: &Mbarrier, mask: Mask) -> Checked<Option<Pause>> {
        let addresses = self.warp.addresses(operation.address);
        self.check_bounds(&WarpAccess {
            space: Space::Shared,
            path: Path::Atomic,
            answers: true,
            addresses,
            mask,
            size: SIZE,
        })?;
        match operation.action {
            MbarrierAction::Init(count) => {
                for lane in lanes(mask) {
                    let count = self.warp.registers.words[usize::from(count)][lane];
                    self.initialise::<CHECKS>(lane, addresses[lane], count)?;
                }
            }
            MbarrierAction::Arrive { to, bytes } => {
                for lane in lanes(mask) {
                    let word = |slot: Slot| self.warp.registers.words[usize::from(slot)][lane];
                    let bytes = bytes.map_or(0, word);
                    let phase = self.arrive_at::<CHECKS>(lane, addresses[lane], bytes)?;
                    self.warp.registers.doubles[usize::from(to)][lane] = phase.into();
                }
            }
            MbarrierAction::Wait { to, parity, blocks } => {
                let parities = self.warp.registers.words[usize::from(parity)];
                let complete = self.wait::<CHECKS>(&addresses, &parities, mask, blocks)?;
                // A wait that cannot succeed before other lanes have run must end.
                if complete != mask && blocks && !CHECKS && self.warp.others.is_empty() {
                    // The warp executes the same instruction again.
                    self.warp.again = self.engine.kernel.code[self.warp.at].stretch > 0;
                    return Ok(Some(Pause::Polled));
                }
                self.warp.registers.set_predicate(to, mask, complete);
                if complete != mask {
                    return Ok(Some(self.poll()));
                }
            }
        }
        Ok(None)
    }

    fn initialise<const CHECKS: bool>(&mut self, lane: usize, address: u64, count: u32) -> Checked {
        if CHECKS {
            self.check_order(lane, address, false)?;
        }
        let begun = CHECKS.then(|| self.thread(lane).moment(false));
        let Some(barrier) = block::Mbarrier::new(count.into(), begun) else {
            let what = format!("initialises an mbarrier with {count} arrivals, not 1 to {MAX_EXPECTED},");
            return self.fail(lane, what);
        };
        if self.block.mbarriers.insert(address, barrier).is_some() {
            let place = self.place(mbarrier_at(address));
            let what = format!("initialises an mbarrier twice, {place},");
            return self.fail(lane, what);
        }
        Ok(())
    }

    /// Arrives at an mbarrier that then expects `bytes` more bytes. Returns the phase.
    fn arrive_at<const CHECKS: bool>(&mut self, lane: usize, address: u64, bytes: u32) -> Checked<u32> {
        self.find::<CHECKS>(lane, address)?;
        self.count_bytes(lane, address, bytes.into())?;
        let release = CHECKS.then(|| {
            self.fence(1 << lane);
            self.thread(lane).arrives()
        });
        let barrier = self.block.mbarriers.get_mut(&address).expect("it was found");
        barrier.arrived.extend(release);
        let phase = barrier.phases;
        if !barrier.arrive() {
            let what = "arrives at an mbarrier whose phase expects no more arrivals,";
            return self.fail(lane, what);
        }
        barrier.complete(number(address), self.block.number);
        self.engine.progress = true;
        self.record(|recorder, id| recorder.arrived(id, key(address, phase)));
        Ok(phase)
    }

    fn wait<const CHECKS: bool>(
        &mut self,
        addresses: &[u64; LANES],
        parities: &[u32; LANES],
        mask: Mask,
        blocks: bool,
    ) -> Checked<Mask> {
        let mut complete = 0;
        for lane in lanes(mask) {
            self.find::<CHECKS>(lane, addresses[lane])?;
            if parities[lane] > 1 {
                let what = format!("waits for an mbarrier with the parity {},", parities[lane]);
                return self.fail(lane, what);
            }
            let barrier = &self.block.mbarriers[&addresses[lane]];
            complete |= Mask::from(barrier.has_completed(parities[lane])) << lane;
        }
        self.warp.awaited = lanes(mask & !complete).next().map(|lane| addresses[lane]);
        if complete != mask && blocks && !CHECKS {
            return Ok(complete);
        }
        let random = self.engine.random.as_mut();
        if CHECKS && random.is_some_and(|random| random.below(EARLY_ENDS_ONE_IN) == 0) {
            return Ok(0);
        }
        let mut observed = None;
        for lane in lanes(complete) {
            let address = addresses[lane];
            let Some(phase) = self.acquire::<CHECKS>(lane, address) else { continue };
            if observed.replace(address) != Some(address) {
                self.record(|recorder, id| recorder.waited(id, key(address, phase)));
            }
        }
        Ok(complete)
    }

    /// Records that a lane knows that the last phase of an mbarrier is complete. Returns its number.
    fn acquire<const CHECKS: bool>(&mut self, lane: usize, address: u64) -> Option<u32> {
        let barrier = self.block.mbarriers.get_mut(&address).expect("it was found");
        let phase = barrier.phases.checked_sub(1)?;
        barrier.waited = barrier.phases;
        if let (true, Some(release)) = (CHECKS, barrier.completed.clone()) {
            let epoch = self.block.epoch;
            let thread = self.warp.thread(lane);
            self.block.acquired.push(Acquired::new(release, epoch, thread, &self.warp.clock));
        }
        Some(phase)
    }

    /// Checks that an mbarrier is at an address, and that its initialisation happens before.
    fn find<const CHECKS: bool>(&mut self, lane: usize, address: u64) -> Checked {
        if !self.block.mbarriers.contains_key(&address) {
            let place = self.place(mbarrier_at(address));
            let what = format!("uses an mbarrier that was not initialised, {place},");
            return self.fail(lane, what);
        }
        if CHECKS { self.check_order(lane, address, true) } else { Ok(()) }
    }

    /// Checks that an operation on an mbarrier does not race with its initialisation or with ordinary accesses.
    fn check_order(&mut self, lane: usize, address: u64, strong: bool) -> Checked {
        let span = mbarrier_at(address);
        self.access(lane, span, |thread, word| thread.write(word, strong))
            .map_err(|other| self.race(lane, span, "writes", other))
    }

    fn count_bytes(&mut self, lane: usize, address: u64, bytes: i64) -> Checked {
        let barrier = self.block.mbarriers.get_mut(&address).expect("it was found");
        if barrier.expect(bytes) {
            return Ok(());
        }
        let what = format!("expects {} bytes at an mbarrier, not {MAX_EXPECTED} at most,", barrier.bytes);
        self.fail(lane, what)
    }

    pub fn copy<const CHECKS: bool>(&mut self, copy: &Copies, mask: Mask) -> Checked {
        let [to, from, barrier] = [copy.to, copy.from, copy.mbarrier].map(|address| self.warp.addresses(address));
        for lane in lanes(mask) {
            let bytes = self.warp.registers.words[usize::from(copy.bytes)][lane];
            let policy = copy.policy.map(|slot| self.warp.registers.value(true, slot, lane));
            let size = bytes as usize;
            let at = barrier[lane];
            let to = Span { space: Space::Shared, address: to[lane], size };
            let from = Span { space: Space::Global, address: from[lane], size };
            self.check_copy(lane, to, from)?;
            self.find::<CHECKS>(lane, at)?;
            let phase = self.block.mbarriers[&at].phases;
            if CHECKS {
                self.check_mbarrier(lane, at)?;
                self.check_source(lane, from)?;
                self.check_target(lane, to, (number(at), phase))?;
            }
            let start = (from.address - GLOBAL) as usize;
            let target = &mut self.block.shared[to.address as usize..to.address as usize + size];
            target.copy_from_slice(&self.engine.memory.bytes()[start..start + size]);
            self.count_bytes(lane, at, -i64::from(bytes))?;
            let barrier = self.block.mbarriers.get_mut(&at).expect("it was found");
            barrier.copied = phase + 1;
            barrier.complete(number(at), self.block.number);
            self.engine.progress = true;
            let here = self.warp.at;
            let once = policy == Some(EVICT_FIRST);
            let source = (from.address, bytes);
            self.record(|recorder, id| recorder.copied(id, here, key(at, phase), source, once));
        }
        Ok(())
    }

    /// Checks that the addresses and the size of a copy are multiples of 16 bytes, and that it stays within its
    /// buffers.
    fn check_copy(&self, lane: usize, to: Span, from: Span) -> Checked {
        let bytes = to.size;
        let parts = [("target", to.address), ("source", from.address), ("size", bytes as u64)];
        if let Some((part, number)) = parts.iter().find(|(_, number)| number % UNIT != 0) {
            let what = format!("copies with a {part} of {number:#x}, no multiple of 16 bytes,");
            return self.fail(lane, what);
        }
        for (span, verb) in [(to, "to"), (from, "from")] {
            if self.engine.window(span.space, span.address, bytes).is_none() {
                let what = format!("copies {bytes} bytes {verb} memory {},", self.place(span));
                return self.fail(lane, what);
            }
        }
        Ok(())
    }

    /// Checks that copies may use an mbarrier: a proxy fence must be after its initialisation.
    fn check_mbarrier(&self, lane: usize, address: u64) -> Checked {
        let begun = self.block.mbarriers[&address].begun.expect("it is recorded with checks");
        if self.thread(lane).may_copy_after(&begun, &self.block.proxy_fences) {
            return Ok(());
        }
        let what = "copies with an mbarrier that no `fence.mbarrier_init` or `fence.proxy.async` \
                    has made visible to copies,";
        self.fail(lane, what)
    }

    /// Checks that the source was written before this launch.
    fn check_source(&mut self, lane: usize, from: Span) -> Checked {
        self.check_written(lane, from)?;
        self.access(lane, from, |thread, word| thread.read_constant(word).and_then(|()| thread.read(word, false)))
            .map_err(|other| self.changed(lane, format!("copies {}", self.bytes(from)), &other))
    }

    /// Checks that earlier accesses to the target of a copy happen before it, and records the copy.
    fn check_target(&mut self, lane: usize, to: Span, phase: (u16, u32)) -> Checked {
        let fences = std::mem::take(&mut self.block.proxy_fences);
        let ordered = self.access(lane, to, |thread, word| thread.copies(word, phase, &fences));
        self.block.proxy_fences = fences;
        match ordered {
            Ok(()) => {
                self.mark_written(to);
                Ok(())
            }
            Err(Unordered::Race(other)) => Err(self.race(lane, to, "writes", other)),
            Err(Unordered::Proxy(other)) => {
                let why = format!("{} wrote without a later `fence.proxy.async`", other.by());
                self.fail(lane, format!("copies {}, which {why},", self.bytes(to)))
            }
        }
    }

    /// Checks, when the last warp of a block exits, that its copies have been waited for.
    pub fn check_copies(&self, mask: Mask) -> Checked {
        let waits = self.block.mbarriers.values().all(|barrier| barrier.copied <= barrier.waited);
        if self.block.live > 1 || waits {
            return Ok(());
        }
        let what = "exits, and no thread of the block has waited for its last copies,";
        self.fail(mask.trailing_zeros() as usize, what)
    }
}

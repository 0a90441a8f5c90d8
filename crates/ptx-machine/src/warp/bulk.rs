//! Asynchronous copies from global to shared memory, and the mbarriers that count their bytes (PTX ISA, sections
//! 9.7.9.25 and 9.7.13.15). A copy is executed when it is issued. The checks find accesses that rely on this: only a wait
//! for its mbarrier orders them after the copy.

use super::Warp;
use super::access::Place;
use super::run::Engine;
use crate::block::Block;
use crate::fault::{Fault, Kind};
use crate::lanes::{LANES, Mask, lanes};
use crate::mbarrier::{self, MOST};
use crate::memory::GLOBAL;
use crate::observer::{Action, Observer, WarpId};
use crate::program::{Copies, EVICT_FIRST, Mbarrier, MbarrierAction};
use crate::race::{Acquired, Thread, Unordered, Word};

/// The unit of addresses and sizes of a copy in bytes.
const UNIT: u64 = 16;
/// The size of an mbarrier in bytes.
const SIZE: usize = 8;
/// With checks, one of so many waits for a complete phase ends early, as if the phase were not complete.
const EARLY: u32 = 3;

/// How a warp continues after an operation on an mbarrier.
pub enum Progress {
    /// It executes the next instruction.
    GoesOn,
    /// Other warps run before it executes the next instruction.
    Polls,
    /// Other warps run before it executes the same instruction again.
    Again,
}

/// Returns the number that identifies a phase of an mbarrier within its block.
fn key(offset: u64, phase: u32) -> u64 {
    offset / SIZE as u64 * (1 << 32) + u64::from(phase)
}

impl Warp {
    /// Describes what the mbarrier lacks for which the warp has waited last; `None` if it has not waited in vain.
    pub fn lacks(&self, block: &Block) -> Option<String> {
        let barrier = block.mbarriers.get(&self.awaited?)?;
        let (arrivals, bytes) = (barrier.missing, barrier.bytes);
        Some(format!("an mbarrier whose phase lacks {arrivals} arrivals and {bytes} bytes"))
    }
}

impl<O: Observer> Engine<'_, O> {
    /// Executes an operation on an mbarrier for the lanes of `mask`.
    pub fn mbarrier<const CHECKS: bool>(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        operation: &Mbarrier,
        mask: Mask,
    ) -> Result<Progress, Box<Fault>> {
        let addresses = warp.addresses(operation.address);
        let action = Action::Atomic(true);
        self.check_bounds(block, warp, Place::Shared, action, &addresses, mask, SIZE)?;
        match operation.action {
            MbarrierAction::Init(count) => {
                let counts = warp.registers.words[usize::from(count)];
                for lane in lanes(mask) {
                    self.initialise::<CHECKS>(block, warp, lane, addresses[lane], counts[lane])?;
                }
            }
            MbarrierAction::Arrive { to, bytes } => {
                let bytes = bytes.map(|bytes| warp.registers.words[usize::from(bytes)]);
                for lane in lanes(mask) {
                    let bytes = bytes.map_or(0, |bytes| bytes[lane]);
                    let phase =
                        self.arrive_at::<CHECKS>(block, warp, lane, addresses[lane], bytes)?;
                    warp.registers.doubles[usize::from(to)][lane] = phase.into();
                }
            }
            MbarrierAction::Wait { to, parity, blocks } => {
                let parities = warp.registers.words[usize::from(parity)];
                let complete =
                    self.wait::<CHECKS>(block, warp, &addresses, &parities, mask, blocks)?;
                // A wait that cannot succeed before other lanes have run must end.
                if complete != mask && blocks && !CHECKS && warp.others.is_empty() {
                    return Ok(Progress::Again);
                }
                let predicate = &mut warp.registers.predicates[usize::from(to)];
                *predicate = *predicate & !mask | complete;
                if complete != mask {
                    return Ok(Progress::Polls);
                }
            }
        }
        Ok(Progress::GoesOn)
    }

    /// Initialises the mbarrier at an address.
    fn initialise<const CHECKS: bool>(
        &mut self,
        block: &mut Block,
        warp: &Warp,
        lane: usize,
        address: u64,
        count: u32,
    ) -> Result<(), Box<Fault>> {
        if CHECKS {
            self.check_order(block, warp, lane, address, false)?;
        }
        let begun = CHECKS.then(|| self.thread(block, warp, lane).initialises());
        let place = self.describe(Place::Shared, address);
        let Some(barrier) = mbarrier::Mbarrier::new(count.into(), begun) else {
            let what = format!("initialises an mbarrier with {count} arrivals, not 1 to {MOST},");
            return Err(self.fault(Kind::Synchronisation, block, warp, lane, what));
        };
        if block.mbarriers.insert(address, barrier).is_some() {
            let what = format!("initialises an mbarrier twice, {place},");
            return Err(self.fault(Kind::Synchronisation, block, warp, lane, what));
        }
        Ok(())
    }

    /// Arrives at an mbarrier that then expects `bytes` more bytes. Returns the phase.
    fn arrive_at<const CHECKS: bool>(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        lane: usize,
        address: u64,
        bytes: u32,
    ) -> Result<u32, Box<Fault>> {
        self.find::<CHECKS>(block, warp, lane, address)?;
        self.count_bytes(block, warp, lane, address, bytes.into())?;
        let release = CHECKS.then(|| {
            let acquired = warp.clock.fence(1 << lane, warp.number, block.epoch);
            block.acquired.extend(acquired);
            self.thread(block, warp, lane).arrives()
        });
        let barrier = block.mbarriers.get_mut(&address).expect("it was found");
        barrier.arrived.extend(release);
        let phase = barrier.phases;
        if !barrier.arrive(1) {
            let what = "arrives at an mbarrier whose phase expects no more arrivals,".into();
            return Err(self.fault(Kind::Synchronisation, block, warp, lane, what));
        }
        barrier.complete((address / SIZE as u64) as u16, block.number);
        self.progress = true;
        let id = WarpId { block: block.number, warp: warp.number };
        self.observer.arrived(id, key(address, phase));
        Ok(phase)
    }

    /// Returns the lanes whose phases are complete.
    fn wait<const CHECKS: bool>(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        addresses: &[u64; LANES],
        parities: &[u32; LANES],
        mask: Mask,
        blocks: bool,
    ) -> Result<Mask, Box<Fault>> {
        let mut complete = 0;
        for lane in lanes(mask) {
            self.find::<CHECKS>(block, warp, lane, addresses[lane])?;
            if parities[lane] > 1 {
                let what = format!("waits for an mbarrier with the parity {},", parities[lane]);
                return Err(self.fault(Kind::Synchronisation, block, warp, lane, what));
            }
            let barrier = &block.mbarriers[&addresses[lane]];
            complete |= Mask::from(barrier.has_completed(parities[lane])) << lane;
        }
        warp.awaited = lanes(mask & !complete).next().map(|lane| addresses[lane]);
        if complete != mask && blocks && !CHECKS {
            return Ok(complete);
        }
        if CHECKS && self.random.as_mut().is_some_and(|random| random.below(EARLY) == 0) {
            return Ok(0);
        }
        let mut observed = None;
        for lane in lanes(complete) {
            let address = addresses[lane];
            let Some(phase) = self.acquire::<CHECKS>(block, warp, lane, address) else { continue };
            if observed.replace(address) != Some(address) {
                let id = WarpId { block: block.number, warp: warp.number };
                self.observer.waited(id, key(address, phase));
            }
        }
        Ok(complete)
    }

    /// Records that a lane knows that the last phase of an mbarrier is complete. Returns its number.
    fn acquire<const CHECKS: bool>(
        &mut self,
        block: &mut Block,
        warp: &Warp,
        lane: usize,
        address: u64,
    ) -> Option<u32> {
        let barrier = block.mbarriers.get_mut(&address).expect("it was found");
        let phase = barrier.phases.checked_sub(1)?;
        barrier.waited = barrier.phases;
        if let (true, Some(release)) = (CHECKS, barrier.completed.clone()) {
            let (epoch, thread) = (block.epoch, warp.thread(lane));
            block.acquired.push(Acquired::by_thread(release, epoch, thread, &warp.clock));
        }
        Some(phase)
    }

    /// Checks that an mbarrier is at an address, and that its initialisation happens before.
    fn find<const CHECKS: bool>(
        &mut self,
        block: &mut Block,
        warp: &Warp,
        lane: usize,
        address: u64,
    ) -> Result<(), Box<Fault>> {
        if !block.mbarriers.contains_key(&address) {
            let place = self.describe(Place::Shared, address);
            let what = format!("uses an mbarrier that was not initialised, {place},");
            return Err(self.fault(Kind::Synchronisation, block, warp, lane, what));
        }
        if CHECKS { self.check_order(block, warp, lane, address, true) } else { Ok(()) }
    }

    /// Checks that an operation on an mbarrier does not race with its initialisation or with ordinary accesses.
    fn check_order(
        &mut self,
        block: &mut Block,
        warp: &Warp,
        lane: usize,
        address: u64,
        strong: bool,
    ) -> Result<(), Box<Fault>> {
        let at = (address, SIZE);
        let write = |thread: &Thread, word: &mut Word| thread.write(word, strong);
        match self.note(block, warp, Place::Shared, lane, at, write) {
            Some(other) => {
                Err(self.race(block, warp, Place::Shared, lane, address, SIZE, true, other))
            }
            None => Ok(()),
        }
    }

    /// Adds to the bytes that the current phase of an mbarrier expects.
    fn count_bytes(
        &self,
        block: &mut Block,
        warp: &Warp,
        lane: usize,
        address: u64,
        bytes: i64,
    ) -> Result<(), Box<Fault>> {
        let barrier = block.mbarriers.get_mut(&address).expect("it was found");
        if barrier.expect(bytes) {
            return Ok(());
        }
        let what = format!("expects {} bytes at an mbarrier, not {MOST} at most,", barrier.bytes);
        Err(self.fault(Kind::Synchronisation, block, warp, lane, what))
    }

    /// Executes a copy for each lane of `mask`.
    pub fn copy<const CHECKS: bool>(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        copy: &Copies,
        mask: Mask,
    ) -> Result<(), Box<Fault>> {
        let [to, from, barrier] =
            [copy.to, copy.from, copy.mbarrier].map(|address| warp.addresses(address));
        let bytes = warp.registers.words[usize::from(copy.bytes)];
        let policies = copy.policy.map(|policy| warp.registers.doubles[usize::from(policy)]);
        for lane in lanes(mask) {
            let (to, from, at, bytes) = (to[lane], from[lane], barrier[lane], bytes[lane]);
            self.check_copy(block, warp, lane, (to, from, bytes))?;
            self.find::<CHECKS>(block, warp, lane, at)?;
            let barrier = &block.mbarriers[&at];
            let (number, phase) = ((at / SIZE as u64) as u16, barrier.phases);
            if CHECKS {
                self.check_mbarrier(block, warp, lane, at)?;
                self.check_source(block, warp, lane, from, bytes as usize)?;
                self.check_target(block, warp, lane, (to, bytes as usize), (number, phase))?;
            }
            let once = policies.is_some_and(|policies| policies[lane] == EVICT_FIRST);
            let (start, size) = ((from - GLOBAL) as usize, bytes as usize);
            let target = &mut block.shared[to as usize..to as usize + size];
            target.copy_from_slice(&self.memory.bytes()[start..start + size]);
            self.count_bytes(block, warp, lane, at, -i64::from(bytes))?;
            let barrier = block.mbarriers.get_mut(&at).expect("it was found");
            barrier.copied = phase + 1;
            barrier.complete(number, block.number);
            self.progress = true;
            let id = WarpId { block: block.number, warp: warp.number };
            self.observer.copied(id, warp.at, key(at, phase), (from, bytes.into()), once);
        }
        Ok(())
    }

    /// Checks that the addresses and the size of a copy are multiples of 16 bytes, and that it stays within its buffers.
    fn check_copy(
        &self,
        block: &Block,
        warp: &Warp,
        lane: usize,
        (to, from, bytes): (u64, u64, u32),
    ) -> Result<(), Box<Fault>> {
        let parts = [("target", to), ("source", from), ("size", bytes.into())];
        if let Some((part, number)) = parts.iter().find(|(_, number)| number % UNIT != 0) {
            let what = format!("copies with a {part} of {number:#x}, no multiple of 16 bytes,");
            return Err(self.fault(Kind::Misaligned, block, warp, lane, what));
        }
        for (place, address, verb) in [(Place::Shared, to, "to"), (Place::Global, from, "from")] {
            if self.window(place, address, bytes as usize).is_none() {
                let place = self.describe(place, address);
                let what = format!("copies {bytes} bytes {verb} memory {place},");
                return Err(self.fault(Kind::OutOfBounds, block, warp, lane, what));
            }
        }
        Ok(())
    }

    /// Checks that copies may use an mbarrier: a proxy fence must be after its initialisation.
    fn check_mbarrier(
        &self,
        block: &Block,
        warp: &Warp,
        lane: usize,
        address: u64,
    ) -> Result<(), Box<Fault>> {
        let begun = block.mbarriers[&address].begun.expect("it is recorded with checks");
        let thread = self.thread(block, warp, lane);
        if thread.may_copy_after(&begun, &block.proxy_fences) {
            return Ok(());
        }
        let what = "copies with an mbarrier that no `fence.mbarrier_init` or `fence.proxy.async` \
                    has made visible to copies,";
        Err(self.fault(Kind::Race, block, warp, lane, what.into()))
    }

    /// Checks that the source was written before this launch.
    fn check_source(
        &mut self,
        block: &mut Block,
        warp: &Warp,
        lane: usize,
        address: u64,
        size: usize,
    ) -> Result<(), Box<Fault>> {
        self.check_written(block, warp, Place::Global, lane, address, size)?;
        let read = |thread: &Thread, word: &mut Word| {
            thread.was_written(word).map_or_else(|| thread.read(word, false), Err)
        };
        let Some(other) = self.note(block, warp, Place::Global, lane, (address, size), read) else {
            return Ok(());
        };
        let (place, by) = (self.describe(Place::Global, address), other.by());
        let what =
            format!("copies {size} bytes {place}, but {by} wrote them while this launch may run,");
        Err(self.fault(Kind::Race, block, warp, lane, what))
    }

    /// Checks that earlier accesses to the target of a copy happen before it, and records the copy.
    fn check_target(
        &mut self,
        block: &mut Block,
        warp: &Warp,
        lane: usize,
        (address, size): (u64, usize),
        phase: (u16, u32),
    ) -> Result<(), Box<Fault>> {
        let fences = std::mem::take(&mut block.proxy_fences);
        let copy = |thread: &Thread, word: &mut Word| thread.copies(word, phase, &fences);
        let unordered = self.note(block, warp, Place::Shared, lane, (address, size), copy);
        block.proxy_fences = fences;
        match unordered {
            None => {
                self.mark_written(block, Place::Shared, address, size);
                Ok(())
            }
            Some(Unordered::Race(other)) => {
                Err(self.race(block, warp, Place::Shared, lane, address, size, true, other))
            }
            Some(Unordered::Proxy(other)) => {
                let (place, by) = (self.describe(Place::Shared, address), other.by());
                let what = format!(
                    "copies {size} bytes {place}, which {by} wrote without a later \
                     `fence.proxy.async`,"
                );
                Err(self.fault(Kind::Race, block, warp, lane, what))
            }
        }
    }

    /// Checks, when the last warp of a block exits, that its copies have been waited for.
    pub fn check_copies(&self, block: &Block, warp: &Warp, mask: Mask) -> Result<(), Box<Fault>> {
        let waits = block.mbarriers.values().all(|barrier| barrier.copied <= barrier.waited);
        if block.live > 1 || waits {
            return Ok(());
        }
        let lane = mask.trailing_zeros() as usize;
        let what = "exits, and no thread of the block has waited for its last copies,".into();
        Err(self.fault(Kind::Synchronisation, block, warp, lane, what))
    }
}

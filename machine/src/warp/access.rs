//! Loads and stores: where they are, whether they may be, and the bytes.

use super::run::Engine;
use super::{Warp, element};
use crate::block::Block;
use crate::fault::{Fault, Kind};
use crate::lanes::{LANES, Mask, lanes};
use crate::memory::{GLOBAL, LOCAL_WINDOW, SHARED_WINDOW, WINDOW};
use crate::observer::{Action, Observer, WarpId};
use crate::program::{Access, Address, Order, Space};
use crate::race::{Other, Thread, Word};

/// Which memory the bytes of a warp's access are in, and for which lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Global,
    Shared,
    Local,
}

impl Warp {
    /// By lane, where an access is.
    #[inline(always)]
    pub fn addresses(&self, address: Address) -> [u64; LANES] {
        let register = usize::from(address.register);
        match address.wide {
            true => self.registers.doubles[register]
                .map(|base| base.wrapping_add(address.offset as u64)),
            false => self.registers.words[register]
                .map(|base| u64::from(base.wrapping_add(address.offset as u32))),
        }
    }
}

/// The memories that an access is in, each with its lanes and the offset that its addresses have there.
#[inline(always)]
pub fn places(space: Space, addresses: &[u64; LANES], mask: Mask) -> [(Place, Mask, u64); 3] {
    let none = (Place::Global, 0, 0);
    match space {
        Space::Global | Space::Constant => [(Place::Global, mask, 0), none, none],
        Space::Shared => [(Place::Shared, mask, 0), none, none],
        Space::Local => [(Place::Local, mask, 0), none, none],
        Space::Generic => {
            let within = |window: u64| {
                let inside = |&lane: &usize| addresses[lane].wrapping_sub(window) < WINDOW;
                lanes(mask).filter(inside).fold(0, |mask, lane| mask | 1 << lane)
            };
            let (shared, local) = (within(SHARED_WINDOW), within(LOCAL_WINDOW));
            [
                (Place::Global, mask & !shared & !local, 0),
                (Place::Shared, shared, SHARED_WINDOW),
                (Place::Local, local, LOCAL_WINDOW),
            ]
        }
    }
}

impl<O: Observer> Engine<'_, O> {
    /// A load.
    #[inline(always)]
    pub fn load<const CHECKS: bool>(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        access: &Access,
        mask: Mask,
    ) -> Result<(), Box<Fault>> {
        let addresses = warp.addresses(access.address);
        let size = access.size();
        let action = match access.order {
            Order::Weak => Action::Load,
            Order::ReadOnly => Action::ReadOnly,
            _ => Action::Strong,
        };
        for (place, mask, window) in places(access.space, &addresses, mask) {
            if mask == 0 {
                continue;
            }
            let addresses = addresses.map(|address| address.wrapping_sub(window));
            self.check_bounds(block, warp, place, action, &addresses, mask, size)?;
            self.observe(block, warp, place, action, &addresses, mask, size);
            if CHECKS && place != Place::Local {
                for lane in lanes(mask) {
                    self.check_read(block, warp, place, lane, addresses[lane], access, action)?;
                }
            }
            let bytes = match place {
                Place::Global => self.memory.bytes(),
                Place::Shared => &block.shared,
                Place::Local => &warp.local,
            };
            let offsets = self.offsets(place, &addresses);
            fetch(&mut warp.registers, bytes, &offsets, mask, access);
        }
        Ok(())
    }

    /// A store.
    #[inline(always)]
    pub fn store<const CHECKS: bool>(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        access: &Access,
        mask: Mask,
    ) -> Result<(), Box<Fault>> {
        let addresses = warp.addresses(access.address);
        let size = access.size();
        for (place, mask, window) in places(access.space, &addresses, mask) {
            if mask == 0 {
                continue;
            }
            let addresses = addresses.map(|address| address.wrapping_sub(window));
            self.check_bounds(block, warp, place, Action::Store, &addresses, mask, size)?;
            self.observe(block, warp, place, Action::Store, &addresses, mask, size);
            let offsets = self.offsets(place, &addresses);
            if CHECKS && place != Place::Local {
                // Lane by lane, so that each sees what those before it have written.
                for lane in lanes(mask) {
                    self.check_write(block, warp, place, lane, addresses[lane], access)?;
                    let bytes = bytes_mut(self.memory, block, &mut warp.local, place);
                    self.progress |= deposit(&warp.registers, bytes, &offsets, 1 << lane, access);
                }
            } else {
                let bytes = bytes_mut(self.memory, block, &mut warp.local, place);
                self.progress |= deposit(&warp.registers, bytes, &offsets, mask, access);
            }
        }
        Ok(())
    }

    /// By lane, the offset among the bytes of a memory.
    #[inline(always)]
    pub fn offsets(&self, place: Place, addresses: &[u64; LANES]) -> [usize; LANES] {
        match place {
            Place::Global => addresses.map(|address| address.wrapping_sub(GLOBAL) as usize),
            Place::Shared => addresses.map(|address| address as usize),
            Place::Local => {
                let bytes = self.kernel.local_bytes;
                std::array::from_fn(|lane| addresses[lane] as usize + lane * bytes)
            }
        }
    }

    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    pub fn observe(
        &mut self,
        block: &Block,
        warp: &Warp,
        place: Place,
        action: Action,
        addresses: &[u64; LANES],
        mask: Mask,
        size: usize,
    ) {
        let id = WarpId { block: block.number, warp: warp.number };
        match place {
            Place::Global => self.observer.global(id, warp.at, action, size, addresses, mask),
            Place::Shared => self.observer.shared(id, warp.at, action, size, addresses, mask),
            Place::Local => (),
        }
    }

    /// Every lane's access is aligned, and within one buffer or array.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    pub fn check_bounds(
        &mut self,
        block: &Block,
        warp: &Warp,
        place: Place,
        action: Action,
        addresses: &[u64; LANES],
        mask: Mask,
        size: usize,
    ) -> Result<(), Box<Fault>> {
        let (start, bytes) = self.windows[warp.at];
        let last = bytes.wrapping_sub(size as u64);
        let (mut outside, mut misaligned) = (0, 0);
        for (lane, &address) in addresses.iter().enumerate() {
            outside |=
                Mask::from(bytes < size as u64 || address.wrapping_sub(start) > last) << lane;
            misaligned |= Mask::from(address & (size as u64 - 1) != 0) << lane;
        }
        if misaligned & mask != 0 {
            let lane = (misaligned & mask).trailing_zeros() as usize;
            let verb = verb(action);
            let what = format!(
                "{verb} {size} bytes {}, which is not aligned to them",
                self.describe(place, addresses[lane])
            );
            return Err(self.fault(Kind::Misaligned, block, warp, lane, what));
        }
        if outside & mask != 0 {
            self.find_windows(block, warp, place, action, addresses, outside & mask, size)?;
        }
        Ok(())
    }

    /// Looks for the buffers that the lanes access.
    #[cold]
    #[allow(clippy::too_many_arguments)]
    fn find_windows(
        &mut self,
        block: &Block,
        warp: &Warp,
        place: Place,
        action: Action,
        addresses: &[u64; LANES],
        mask: Mask,
        size: usize,
    ) -> Result<(), Box<Fault>> {
        for lane in lanes(mask) {
            match self.window(place, addresses[lane], size) {
                Some(window) => self.windows[warp.at] = window,
                None => {
                    let place = self.describe(place, addresses[lane]);
                    let what = format!("{} {size} bytes {place}", verb(action));
                    return Err(self.fault(Kind::OutOfBounds, block, warp, lane, what));
                }
            }
        }
        Ok(())
    }

    /// The buffer or array around an access.
    fn window(&self, place: Place, address: u64, size: usize) -> Option<(u64, u64)> {
        let fits = |start: u64, bytes: u64| {
            let within = address >= start && address + size as u64 <= start + bytes;
            within.then_some((start, bytes))
        };
        match place {
            Place::Global => {
                let (offset, bytes) = self.memory.buffer(address, size)?;
                Some((GLOBAL + offset as u64, bytes as u64))
            }
            Place::Shared => {
                let arrays = self.kernel.shared.iter();
                let arrays = arrays.map(|array| (array.offset as u64, array.bytes as u64));
                let dynamic = (self.kernel.shared_end as u64, self.dynamic_shared as u64);
                arrays.chain([dynamic]).find_map(|(start, bytes)| fits(start, bytes))
            }
            Place::Local => fits(0, self.kernel.local_bytes as u64),
        }
    }

    /// Where an address is, in words.
    pub fn describe(&self, place: Place, address: u64) -> String {
        match place {
            Place::Global => self.memory.describe(address),
            Place::Local => format!("at offset {address} of the thread's own arrays"),
            Place::Shared => {
                let distance = |offset: usize| address as i64 - offset as i64;
                let arrays = self.kernel.shared.iter().filter(|array| array.bytes > 0);
                let beyond = |offset: usize, bytes: usize| {
                    (distance(offset) - bytes as i64 + 1).max(-distance(offset)).max(0)
                };
                let nearest = arrays.min_by_key(|array| beyond(array.offset, array.bytes));
                let dynamic = (self.kernel.shared_end, self.dynamic_shared);
                match nearest {
                    Some(array)
                        if dynamic.1 == 0
                            || beyond(array.offset, array.bytes) < beyond(dynamic.0, dynamic.1) =>
                    {
                        let (name, bytes) = (array_name(&array.name), array.bytes);
                        let offset = distance(array.offset);
                        format!("at offset {offset} of the shared array `{name}` of {bytes} bytes")
                    }
                    _ => format!(
                        "at offset {} of {} bytes of dynamic shared memory",
                        distance(dynamic.0),
                        dynamic.1
                    ),
                }
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn check_read(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        place: Place,
        lane: usize,
        address: u64,
        access: &Access,
        action: Action,
    ) -> Result<(), Box<Fault>> {
        self.check_written(block, warp, place, lane, address, access.size())?;
        let strong = access.order.is_strong();
        let race = self.note(block, warp, place, lane, (address, access.size()), |thread, word| {
            match action {
                Action::ReadOnly => thread.was_written(word).map_or(Ok(()), Err),
                _ => thread.read(word, strong),
            }
        });
        match race {
            Some(other) if action == Action::ReadOnly => {
                let place = self.describe(place, address);
                let (size, by) = (access.size(), other.by());
                let what = format!(
                    "reads {size} bytes {place} as if no kernel wrote them while it runs (`__ldg`, or \
                     `const` and `__restrict__`), but {by} wrote them:"
                );
                return Err(self.fault(Kind::Race, block, warp, lane, what));
            }
            Some(other) => {
                let size = access.size();
                return Err(self.race(block, warp, place, lane, address, size, false, other));
            }
            None => (),
        }
        if strong && place == Place::Global {
            self.releases.read(address, lane as u16, &mut warp.clock);
            if access.order == Order::Acquire {
                let acquired = warp.clock.fence(1 << lane, warp.number, block.epoch);
                block.acquired.extend(acquired);
            }
        }
        Ok(())
    }

    /// All bytes were written by somebody.
    pub fn check_written(
        &self,
        block: &Block,
        warp: &Warp,
        place: Place,
        lane: usize,
        address: u64,
        size: usize,
    ) -> Result<(), Box<Fault>> {
        let written = match place {
            Place::Global => self.memory.is_written((address - GLOBAL) as usize, size),
            _ => block.written[address as usize..address as usize + size].iter().all(|&w| w),
        };
        if written {
            return Ok(());
        }
        let place = self.describe(place, address);
        let what = format!("reads {size} bytes that nobody wrote {place}");
        Err(self.fault(Kind::Uninitialised, block, warp, lane, what))
    }

    fn check_write(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        place: Place,
        lane: usize,
        address: u64,
        access: &Access,
    ) -> Result<(), Box<Fault>> {
        let (strong, size) = (access.order.is_strong(), access.size());
        if access.order == Order::Release {
            let acquired = warp.clock.fence(1 << lane, warp.number, block.epoch);
            block.acquired.extend(acquired);
        }
        let race = self.note(block, warp, place, lane, (address, size), |thread, word| {
            thread.write(word, strong)
        });
        if let Some(other) = race
            && !(other.wrote && self.holds(block, warp, place, lane, address, access))
        {
            return Err(self.race(block, warp, place, lane, address, size, true, other));
        }
        self.mark_written(block, place, address, size);
        if strong && place == Place::Global {
            self.releases.write(address, &self.thread(block, warp, lane), false);
        }
        Ok(())
    }

    /// Notes an access of a lane to the words of some bytes; the other access of a race.
    pub fn note(
        &mut self,
        block: &mut Block,
        warp: &Warp,
        place: Place,
        lane: usize,
        (address, size): (u64, usize),
        access: impl Fn(&Thread, &mut Word) -> Result<(), Other>,
    ) -> Option<Other> {
        let Block { words: shared, acquired, number, epoch, .. } = block;
        let thread = Thread {
            launch: self.launch,
            block: *number,
            epoch: *epoch,
            thread: warp.thread(lane),
            bytes: if size < 4 { ((1 << size) - 1) << (address % 4) } else { 0xf },
            clock: &warp.clock,
            acquired,
        };
        let (words, offset) = match place {
            Place::Global => (&mut *self.words, (address - GLOBAL) as usize),
            _ => (&mut shared[..], address as usize),
        };
        let mut touched = words[offset / 4..(offset + size).div_ceil(4)].iter_mut();
        touched.find_map(|word| access(&thread, word).err())
    }

    /// Notes that bytes were written.
    pub fn mark_written(&mut self, block: &mut Block, place: Place, address: u64, size: usize) {
        match place {
            Place::Global => self.memory.mark_written((address - GLOBAL) as usize, size),
            _ => block.written[address as usize..address as usize + size].fill(true),
        }
    }

    /// Whether the memory holds what a lane is about to write: several that write the same do no harm.
    fn holds(
        &self,
        block: &Block,
        warp: &Warp,
        place: Place,
        lane: usize,
        address: u64,
        access: &Access,
    ) -> bool {
        let bytes = match place {
            Place::Global => &self.memory.bytes()[(address - GLOBAL) as usize..],
            _ => &block.shared[address as usize..],
        };
        let count = usize::from(access.bytes);
        access.registers[..usize::from(access.count)].iter().enumerate().all(|(k, &slot)| {
            let value = match access.wide {
                true => warp.registers.doubles[usize::from(slot)][lane],
                false => warp.registers.words[usize::from(slot)][lane].into(),
            };
            bytes[k * count..(k + 1) * count] == value.to_le_bytes()[..count]
        })
    }

    /// The thread of a lane, for what orders its accesses.
    pub fn thread<'a>(&self, block: &'a Block, warp: &'a Warp, lane: usize) -> Thread<'a> {
        Thread {
            launch: self.launch,
            block: block.number,
            epoch: block.epoch,
            thread: warp.thread(lane),
            bytes: 0xf,
            clock: &warp.clock,
            acquired: &block.acquired,
        }
    }

    #[cold]
    #[allow(clippy::too_many_arguments)]
    pub fn race(
        &self,
        block: &Block,
        warp: &Warp,
        place: Place,
        lane: usize,
        address: u64,
        size: usize,
        writes: bool,
        other: Other,
    ) -> Box<Fault> {
        let verb = if writes { "writes" } else { "reads" };
        let place = self.describe(place, address);
        let by = other.by();
        let action = if other.wrote { "wrote" } else { "read" };
        let what =
            format!("{verb} {size} bytes {place}, which {by} {action}: nothing orders the two");
        self.fault(Kind::Race, block, warp, lane, what)
    }
}

fn verb(action: Action) -> &'static str {
    match action {
        Action::Load | Action::ReadOnly | Action::Strong => "reads",
        Action::Store => "writes",
        Action::Atomic(_) => "updates",
    }
}

fn bytes_mut<'a>(
    memory: &'a mut crate::memory::Memory,
    block: &'a mut Block,
    local: &'a mut [u8],
    place: Place,
) -> &'a mut [u8] {
    match place {
        Place::Global => memory.bytes_mut(),
        Place::Shared => &mut block.shared,
        Place::Local => local,
    }
}

/// Whether the lanes access elements that lie side by side, in order.
#[inline(always)]
fn side_by_side(offsets: &[usize; LANES], mask: Mask, access: &Access) -> bool {
    let bytes = usize::from(access.bytes);
    let apart = |lane: usize| offsets[lane] ^ offsets[0].wrapping_add(lane * bytes);
    mask == Mask::MAX
        && access.count == 1
        && (0..LANES).fold(0, |apart_so_far, lane| apart_so_far | apart(lane)) == 0
}

/// Reads memory into registers.
#[inline(always)]
fn fetch(
    registers: &mut crate::lanes::Registers,
    memory: &[u8],
    offsets: &[usize; LANES],
    mask: Mask,
    access: &Access,
) {
    let bytes = usize::from(access.bytes);
    if side_by_side(offsets, mask, access) && bytes == if access.wide { 8 } else { 4 } {
        let slot = usize::from(access.registers[0]);
        let memory = &memory[offsets[0]..offsets[0] + LANES * bytes];
        if access.wide {
            let elements = memory.as_chunks::<8>().0.iter();
            let lanes = registers.doubles[slot].iter_mut().zip(elements);
            lanes.for_each(|(lane, bytes)| *lane = u64::from_le_bytes(*bytes));
        } else {
            let elements = memory.as_chunks::<4>().0.iter();
            let lanes = registers.words[slot].iter_mut().zip(elements);
            lanes.for_each(|(lane, bytes)| *lane = u32::from_le_bytes(*bytes));
        }
        return;
    }
    for (k, &slot) in access.registers[..usize::from(access.count)].iter().enumerate() {
        let slot = usize::from(slot);
        let at = |lane: usize| &memory[offsets[lane] + k * bytes..];
        match (access.wide, bytes) {
            (true, 8) => lanes(mask).for_each(|lane| {
                let bytes = at(lane).first_chunk().expect("within bounds");
                registers.doubles[slot][lane] = u64::from_le_bytes(*bytes);
            }),
            (false, 4) => lanes(mask).for_each(|lane| {
                let bytes = at(lane).first_chunk().expect("within bounds");
                registers.words[slot][lane] = u32::from_le_bytes(*bytes);
            }),
            (true, _) => lanes(mask).for_each(|lane| {
                registers.doubles[slot][lane] = element(at(lane), bytes, access.signed);
            }),
            (false, _) => lanes(mask).for_each(|lane| {
                registers.words[slot][lane] = element(at(lane), bytes, access.signed) as u32;
            }),
        }
    }
}

/// Writes registers to memory; whether that changes it.
#[inline(always)]
fn deposit(
    registers: &crate::lanes::Registers,
    memory: &mut [u8],
    offsets: &[usize; LANES],
    mask: Mask,
    access: &Access,
) -> bool {
    let bytes = usize::from(access.bytes);
    if side_by_side(offsets, mask, access) && bytes == if access.wide { 8 } else { 4 } {
        let slot = usize::from(access.registers[0]);
        let memory = &mut memory[offsets[0]..offsets[0] + LANES * bytes];
        if access.wide {
            let elements = memory.as_chunks_mut::<8>().0.iter_mut();
            return elements.zip(&registers.doubles[slot]).fold(false, |changes, (bytes, lane)| {
                let old = u64::from_le_bytes(std::mem::replace(bytes, lane.to_le_bytes()));
                changes | (old != *lane)
            });
        } else {
            let elements = memory.as_chunks_mut::<4>().0.iter_mut();
            return elements.zip(&registers.words[slot]).fold(false, |changes, (bytes, lane)| {
                let old = u32::from_le_bytes(std::mem::replace(bytes, lane.to_le_bytes()));
                changes | (old != *lane)
            });
        }
    }
    let mut changes = false;
    for (k, &slot) in access.registers[..usize::from(access.count)].iter().enumerate() {
        let slot = usize::from(slot);
        for lane in lanes(mask) {
            let value = match access.wide {
                true => registers.doubles[slot][lane],
                false => registers.words[slot][lane].into(),
            };
            let at = offsets[lane] + k * bytes;
            let (memory, value) = (&mut memory[at..at + bytes], &value.to_le_bytes()[..bytes]);
            changes |= memory != value;
            memory.copy_from_slice(value);
        }
    }
    changes
}

/// The name of an array in the source: `_ZZ5mergeE5items` is `items` in the function `merge`.
fn array_name(symbol: &str) -> &str {
    let name = symbol.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('_');
    let ends = name.char_indices().filter(|&(_, c)| c == 'E').map(|(at, _)| &name[at + 1..]);
    let named = |rest: &str| {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        (rest[..digits].parse() == Ok(rest.len() - digits)).then_some(digits)
    };
    let found = ends.rev().find_map(|rest| named(rest).map(|digits| &rest[digits..]));
    found.unwrap_or(symbol)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_named_as_in_the_source() {
        assert_eq!(array_name("_ZZ11merge_tilesE5items"), "items");
        assert_eq!(array_name("_ZZ11merge_tilesE12warp_carries"), "warp_carries");
        assert_eq!(array_name("_ZZ5tEstEE1a"), "a");
        assert_eq!(array_name("plain"), "plain");
    }

    #[test]
    fn generic_addresses_are_told_apart() {
        let mut addresses = [GLOBAL; LANES];
        (addresses[1], addresses[2]) = (SHARED_WINDOW + 8, LOCAL_WINDOW);
        let places = places(Space::Generic, &addresses, 0b1111);
        assert_eq!(
            places,
            [
                (Place::Global, 0b1001, 0),
                (Place::Shared, 0b10, SHARED_WINDOW),
                (Place::Local, 0b100, LOCAL_WINDOW)
            ]
        );
    }
}

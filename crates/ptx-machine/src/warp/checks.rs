//! The checks of accesses for undefined behaviour: bounds, alignment, uninitialised bytes, and data races.

use super::Warp;
use super::access::Place;
use super::run::Engine;
use crate::block::Block;
use crate::fault::{Fault, Kind};
use crate::lanes::{LANES, Mask, lanes, which};
use crate::memory::GLOBAL;
use crate::observer::{Action, Observer};
use crate::program::{Access, Order};
use crate::race::{Other, Thread, Word};

impl<O: Observer> Engine<'_, O> {
    /// Checks that the access of every lane is aligned and within one buffer or array.
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
        let too_small = bytes < size as u64;
        let outside = which(|lane| too_small || addresses[lane].wrapping_sub(start) > last);
        let misaligned = which(|lane| addresses[lane] & (size as u64 - 1) != 0);
        if misaligned & mask != 0 {
            let lane = (misaligned & mask).trailing_zeros() as usize;
            let verb = verb(action);
            let what = format!(
                "{verb} {size} bytes {}: the address is not a multiple of {size},",
                self.describe(place, addresses[lane])
            );
            return Err(self.fault(Kind::Misaligned, block, warp, lane, what));
        }
        if outside & mask != 0 {
            self.find_windows(block, warp, place, action, addresses, outside & mask, size)?;
        }
        Ok(())
    }

    /// Finds the buffers that the lanes access, and caches the last one for this instruction.
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

    /// Returns the start and the size of the buffer or array that contains an access.
    pub fn window(&self, place: Place, address: u64, size: usize) -> Option<(u64, u64)> {
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

    /// Describes an address by the nearest buffer or array.
    pub fn describe(&self, place: Place, address: u64) -> String {
        match place {
            Place::Global => self.memory.describe(address),
            Place::Local => format!("at offset {address} of the thread's local memory"),
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

    /// Checks that a lane reads initialised bytes and that the read does not race with a write.
    #[allow(clippy::too_many_arguments)]
    pub fn check_read(
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
                    "reads {size} bytes {place} as read-only data (`__ldg`, or `const` and \
                     `__restrict__`), but {by} wrote them while this launch may run,"
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

    /// Checks that all bytes were written.
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
        let what = format!("reads {size} bytes that were never written, {place}");
        Err(self.fault(Kind::Uninitialised, block, warp, lane, what))
    }

    /// Checks that a write of a lane does not race with another access.
    pub fn check_write(
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

    /// Records an access of a lane to all words that it touches. Returns the earlier access if there is a race.
    pub fn note<E>(
        &mut self,
        block: &mut Block,
        warp: &Warp,
        place: Place,
        lane: usize,
        (address, size): (u64, usize),
        access: impl Fn(&Thread, &mut Word) -> Result<(), E>,
    ) -> Option<E> {
        let Block { words: shared, acquired, number, epoch, .. } = block;
        let thread = Thread {
            launch: self.launch,
            since: self.since(warp, lane),
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

    /// Records that bytes were written.
    pub fn mark_written(&mut self, block: &mut Block, place: Place, address: u64, size: usize) {
        match place {
            Place::Global => self.memory.mark_written((address - GLOBAL) as usize, size),
            _ => block.written[address as usize..address as usize + size].fill(true),
        }
    }

    /// Returns whether the memory already contains the value that a lane is about to write. Such a write is not
    /// reported as a race with another write.
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

    /// Returns the thread of a lane for the race detection.
    pub fn thread<'a>(&self, block: &'a Block, warp: &'a Warp, lane: usize) -> Thread<'a> {
        Thread {
            launch: self.launch,
            since: self.since(warp, lane),
            block: block.number,
            epoch: block.epoch,
            thread: warp.thread(lane),
            bytes: 0xf,
            clock: &warp.clock,
            acquired: &block.acquired,
        }
    }

    /// Returns the number of the first launch that may not have ended for a lane.
    fn since(&self, warp: &Warp, lane: usize) -> u32 {
        if warp.waited >> lane & 1 == 1 { self.launch } else { self.overlaps }
    }

    /// Returns the fault of a data race.
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
        let what = format!(
            "{verb} {size} bytes {place}, which {by} {action}: data race, nothing orders the two accesses"
        );
        self.fault(Kind::Race, block, warp, lane, what)
    }
}

fn verb(action: Action) -> &'static str {
    match action {
        Action::Load | Action::ReadOnly | Action::Strong | Action::Once => "reads",
        Action::Store => "writes",
        Action::Atomic(_) => "updates",
    }
}

/// Returns the name of an array in the source: `_ZZ5mergeE5items` is `items` in the function `merge`.
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
}

//! The checks of accesses for undefined behaviour: bounds, alignment, uninitialised bytes, and data races.

use std::ops::Range;

use super::turn::{Engine, Turn};
use crate::arithmetic::Function;
use crate::fault::{Checked, Fault};
use crate::lanes::{Mask, lanes, which};
use crate::memory::GLOBAL;
use crate::model::recorder::WarpAccess;
use crate::model::trace::Path;
use crate::program::{Access, Operation, Order, Space};
use crate::race::{Other, Thread, Word};

/// The bytes that a lane accesses in global or shared memory.
#[derive(Clone, Copy)]
pub struct Span {
    pub space: Space,
    pub address: u64,
    pub size: usize,
}

impl Span {
    /// Returns what a lane accesses.
    pub fn of(access: &WarpAccess, lane: usize) -> Self {
        let &WarpAccess { space, size, ref addresses, .. } = access;
        Self { space, address: addresses[lane], size }
    }

    fn offset(&self) -> usize {
        match self.space {
            Space::Global => (self.address - GLOBAL) as usize,
            _ => self.address as usize,
        }
    }

    fn range(&self) -> Range<usize> {
        self.offset()..self.offset() + self.size
    }
}

impl Turn<'_, '_> {
    /// Checks that the access of every lane is aligned and within one buffer or array.
    #[inline(always)]
    pub fn check_bounds(&mut self, access: &WarpAccess) -> Checked {
        let &WarpAccess { path, ref addresses, mask, size, .. } = access;
        let (start, bytes) = self.engine.windows[self.warp.at];
        let last = bytes.wrapping_sub(size as u64);
        let too_small = bytes < size as u64;
        let outside = which(|lane| too_small || addresses[lane].wrapping_sub(start) > last);
        let misaligned = which(|lane| addresses[lane] & (size as u64 - 1) != 0);
        if misaligned & mask != 0 {
            let lane = (misaligned & mask).trailing_zeros() as usize;
            let bytes = self.bytes(Span::of(access, lane));
            let why = format!("the address is not a multiple of {size}");
            return self.fail(lane, format!("{} {bytes}: {why},", verb(path)));
        }
        if outside & mask != 0 {
            self.find_windows(access, outside & mask)?;
        }
        Ok(())
    }

    /// Finds the buffers that some lanes access, and caches the last one for this instruction.
    #[cold]
    fn find_windows(&mut self, access: &WarpAccess, some: Mask) -> Checked {
        let &WarpAccess { space, path, ref addresses, size, .. } = access;
        for lane in lanes(some) {
            let Some(window) = self.engine.window(space, addresses[lane], size) else {
                let bytes = self.bytes(Span::of(access, lane));
                return self.fail(lane, format!("{} {bytes}", verb(path)));
            };
            self.engine.windows[self.warp.at] = window;
        }
        Ok(())
    }

    /// Checks that a lane reads initialised bytes and that the read does not race with a write.
    pub fn check_read(&mut self, lane: usize, span: Span, order: Order) -> Checked {
        self.check_written(lane, span)?;
        if order == Order::ReadOnly {
            let read = self.access(lane, span, |thread, word| thread.read_constant(word));
            let how = "as read-only data (`__ldg`, or `const` and `__restrict__`)";
            return read.map_err(|other| self.changed(lane, format!("reads {} {how}", self.bytes(span)), &other));
        }
        let strong = order.is_strong();
        self.access(lane, span, |thread, word| thread.read(word, strong))
            .map_err(|other| self.race(lane, span, "reads", other))?;
        if strong && span.space == Space::Global {
            self.engine.releases.read(span.address, lane as u16, &mut self.warp.clock);
            if order == Order::Acquire {
                self.fence(1 << lane);
            }
        }
        Ok(())
    }

    pub fn check_written(&self, lane: usize, span: Span) -> Checked {
        let written = match span.space {
            Space::Global => self.engine.memory.is_written(span.offset(), span.size),
            _ => self.block.written[span.range()].iter().all(|&written| written),
        };
        if written {
            return Ok(());
        }
        let size = span.size;
        let place = self.place(span);
        let what = format!("reads {size} bytes that were never written, {place}");
        self.fail(lane, what)
    }

    /// Checks that a write of a lane does not race with another access.
    pub fn check_write(&mut self, lane: usize, span: Span, access: &Access) -> Checked {
        let strong = access.order.is_strong();
        if access.order == Order::Release {
            self.fence(1 << lane);
        }
        let raced = self.access(lane, span, |thread, word| thread.write(word, strong));
        if let Err(other) = raced
            && !(other.wrote && self.holds(lane, span, access))
        {
            return Err(self.race(lane, span, "writes", other));
        }
        self.mark_written(span);
        if strong && span.space == Space::Global {
            self.release(lane, span.address, false);
        }
        Ok(())
    }

    /// Checks an access of a lane with all words that it touches, which record it. Returns the earlier access if there
    /// is a race.
    pub fn access<E>(
        &mut self,
        lane: usize,
        span: Span,
        access: impl Fn(&Thread, &mut Word) -> Result<(), E>,
    ) -> Result<(), E> {
        let global = std::mem::take(&mut self.engine.words);
        let mut shared = std::mem::take(&mut self.block.words);
        let words = if span.space == Space::Global { &mut *global } else { &mut shared[..] };
        let range = span.range();
        let bytes = if span.size < 4 { ((1 << span.size) - 1) << (range.start % 4) } else { 0xf };
        let thread = Thread { bytes, ..self.thread(lane) };
        let mut touched = words[range.start / 4..range.end.div_ceil(4)].iter_mut();
        let result = touched.try_for_each(|word| access(&thread, word));
        (self.engine.words, self.block.words) = (global, shared);
        result
    }

    pub fn mark_written(&mut self, span: Span) {
        match span.space {
            Space::Global => self.engine.memory.mark_written(span.offset(), span.size),
            _ => self.block.written[span.range()].fill(true),
        }
    }

    /// Returns whether the memory already contains the value that a lane is about to write. Such a write is not
    /// reported as a race with another write.
    fn holds(&self, lane: usize, span: Span, access: &Access) -> bool {
        let bytes = match span.space {
            Space::Global => &self.engine.memory.bytes()[span.offset()..],
            _ => &self.block.shared[span.offset()..],
        };
        let elements = bytes.chunks(access.bytes.into());
        access.registers().iter().zip(elements).all(|(&slot, element)| {
            let value = self.warp.registers.value(access.wide, slot, lane);
            *element == value.to_le_bytes()[..element.len()]
        })
    }

    /// Records a strong write to global memory. With `updates`, it is an atomic update.
    pub fn release(&mut self, lane: usize, address: u64, updates: bool) {
        let mut releases = std::mem::take(&mut self.engine.releases);
        releases.write(address, &self.thread(lane), updates);
        self.engine.releases = releases;
    }

    pub fn thread(&self, lane: usize) -> Thread<'_> {
        // The lane knows that earlier launches have ended if it has waited for them.
        let waited = self.warp.waited >> lane & 1 == 1;
        Thread {
            launch: self.engine.number,
            since: if waited { self.engine.number } else { self.engine.overlaps },
            block: self.block.number,
            epoch: self.block.epoch,
            thread: self.warp.thread(lane),
            bytes: 0xf,
            clock: &self.warp.clock,
            acquired: &self.block.acquired,
        }
    }

    #[cold]
    pub fn race(&self, lane: usize, span: Span, verb: &str, other: Other) -> Box<Fault> {
        let bytes = self.bytes(span);
        let by = other.by();
        let action = if other.wrote { "wrote" } else { "read" };
        let why = "data race, nothing orders the two accesses";
        self.fault(lane, format!("{verb} {bytes}, which {by} {action}: {why}"))
    }

    /// Returns the fault of a lane that reads what another thread has written although it must not change.
    #[cold]
    pub fn changed(&self, lane: usize, reads: String, other: &Other) -> Box<Fault> {
        let by = other.by();
        self.fault(lane, format!("{reads}, but {by} wrote them while this launch may run,"))
    }

    /// Describes the bytes of an access and their place.
    pub fn bytes(&self, span: Span) -> String {
        format!("{} bytes {}", span.size, self.place(span))
    }

    pub fn place(&self, span: Span) -> String {
        self.engine.describe(span.space, span.address)
    }

    pub fn check_divisor(&self, operation: &Operation, mask: Mask) -> Checked {
        use Function::{Div, Rem};
        let &Operation::Compute { function: Div | Rem, kind, of: [_, divisor, ..], .. } = operation else {
            return Ok(());
        };
        let is_zero = |&lane: &usize| self.warp.registers.value(kind.is_wide(), divisor, lane) == 0;
        match lanes(mask).find(is_zero) {
            Some(lane) => self.fail(lane, "divides an integer by zero"),
            None => Ok(()),
        }
    }

    /// Checks that the lanes of a dependent launch have waited before they exit.
    pub fn check_waited(&self, mask: Mask) -> Checked {
        let left = mask & !self.warp.waited;
        if self.engine.overlaps == self.engine.number || left == 0 {
            return Ok(());
        }
        let what = "ends without having waited for the kernels before this dependent one (griddepcontrol.wait), so \
                    that a later kernel could overlap with them";
        self.fail(left.trailing_zeros() as usize, what)
    }
}

impl Engine<'_> {
    /// Returns the start and the size of the buffer or array that contains an access.
    pub fn window(&self, space: Space, address: u64, size: usize) -> Option<(u64, u64)> {
        let within = |&(start, bytes): &(u64, u64)| address >= start && address + size as u64 <= start + bytes;
        match space {
            Space::Global => {
                let (offset, bytes) = self.memory.buffer(address, size)?;
                Some((GLOBAL + offset as u64, bytes as u64))
            }
            Space::Shared => {
                let arrays = self.kernel.shared.iter();
                let arrays = arrays.map(|array| (array.offset as u64, array.bytes as u64));
                let dynamic = (self.kernel.shared_end as u64, self.launch.dynamic_shared as u64);
                arrays.chain([dynamic]).find(within)
            }
            _ => Some((0, self.kernel.local_bytes as u64)).filter(within),
        }
    }

    pub fn describe(&self, space: Space, address: u64) -> String {
        match space {
            Space::Global => self.memory.describe(address),
            Space::Shared => self.describe_shared(address),
            _ => format!("at offset {address} of the thread's local memory"),
        }
    }

    fn describe_shared(&self, address: u64) -> String {
        let distance = |offset: usize| address as i64 - offset as i64;
        let beyond = |offset: usize, bytes: usize| (distance(offset) - bytes as i64 + 1).max(-distance(offset)).max(0);
        let arrays = self.kernel.shared.iter().filter(|array| array.bytes > 0);
        let nearest = arrays.min_by_key(|array| beyond(array.offset, array.bytes));
        let start = self.kernel.shared_end;
        let dynamic = self.launch.dynamic_shared;
        let nearer = nearest.filter(|array| dynamic == 0 || beyond(array.offset, array.bytes) < beyond(start, dynamic));
        match nearer {
            Some(array) => {
                let name = array_name(&array.name);
                let bytes = array.bytes;
                let offset = distance(array.offset);
                format!("at offset {offset} of the shared array `{name}` of {bytes} bytes")
            }
            None => {
                let offset = distance(start);
                format!("at offset {offset} of {dynamic} bytes of dynamic shared memory")
            }
        }
    }
}

fn verb(path: Path) -> &'static str {
    match path {
        Path::Store => "writes",
        Path::Atomic => "updates",
        _ => "reads",
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

//! The allocation of buffers in global memory.

use std::collections::BTreeMap;
use std::fmt;

/// The size of the gap between two buffers in bytes. No access may touch it.
const GAP: usize = 256;
/// The alignment of buffers in bytes, which is that of CUDA.
const ALIGNMENT: usize = 256;
/// The maximum distance in bytes at which an address is described relative to a buffer.
const NEAR: usize = 1 << 20;

/// The state of a range of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nature {
    /// An allocated buffer.
    Buffer,
    /// A released buffer.
    Released,
}

impl fmt::Display for Nature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Buffer => "buffer",
            Self::Released => "released buffer",
        })
    }
}

/// The allocated and released ranges of memory.
pub struct Regions {
    room: usize,
    /// Whether released memory is reused as late as possible, so that accesses to it are detected.
    late: bool,
    /// Size and state of each range by offset. A released range is stored until a new buffer overlaps it.
    regions: BTreeMap<usize, (usize, Nature)>,
    /// The end of the newest buffer.
    top: usize,
    buffers: usize,
    held: u64,
    peak: u64,
}

impl Regions {
    pub fn new(room: usize, late: bool) -> Self {
        Self { room, late, regions: BTreeMap::new(), top: 0, buffers: 0, held: 0, peak: 0 }
    }

    /// Allocates a buffer and returns its offset; `None` if there is not enough memory.
    pub fn allocate(&mut self, bytes: usize) -> Option<usize> {
        if self.buffers == 0 {
            self.top = 0;
        }
        let offset = self.place(bytes)?;
        self.top = offset + bytes;
        self.buffers += 1;
        self.held += bytes as u64;
        self.peak = self.peak.max(self.held);
        let overlapped = |(&start, &(size, _)): (&usize, &(usize, Nature))| {
            start + size > offset || start >= offset
        };
        let before =
            self.regions.range(..offset + bytes.max(1)).rev().take_while(|&r| overlapped(r));
        let replaced: Vec<_> = before.map(|(&start, _)| start).collect();
        replaced.iter().for_each(|start| {
            self.regions.remove(start);
        });
        self.regions.insert(offset, (bytes, Nature::Buffer));
        Some(offset)
    }

    /// Returns the offset for a new buffer: the first gap that is large enough. If released memory is reused late, the
    /// space after the newest buffer is tried first.
    fn place(&self, bytes: usize) -> Option<usize> {
        let live = || self.regions.iter().filter(|(_, (_, nature))| *nature == Nature::Buffer);
        let behind = |end: usize| (end + GAP).next_multiple_of(ALIGNMENT);
        let limit = |start: usize| {
            live().map(|(&offset, _)| offset).find(|&offset| offset >= start).unwrap_or(self.room)
        };
        let newest = self.late.then(|| behind(self.top));
        let gaps = live().map(|(offset, (bytes, _))| behind(offset + bytes));
        let mut starts = newest.into_iter().chain([behind(0)]).chain(gaps);
        starts.find(|&start| start.saturating_add(bytes).saturating_add(GAP) <= limit(start))
    }

    /// Releases a buffer. Returns false if no buffer starts at this offset.
    pub fn release(&mut self, offset: usize) -> bool {
        match self.regions.get_mut(&offset) {
            Some((bytes, nature)) if *nature == Nature::Buffer => {
                *nature = Nature::Released;
                self.buffers -= 1;
                self.held -= *bytes as u64;
                true
            }
            _ => false,
        }
    }

    pub fn buffers(&self) -> usize {
        self.buffers
    }

    pub fn allocated_bytes(&self) -> (u64, u64) {
        (self.held, self.peak)
    }

    /// Returns the offset and the size of the buffer that contains an offset.
    pub fn around(&self, offset: usize) -> Option<(usize, usize)> {
        let (&start, &(bytes, nature)) = self.regions.range(..=offset).next_back()?;
        (nature == Nature::Buffer && offset < start + bytes).then_some((start, bytes))
    }

    /// Returns the nearest range: the distance from its start, its size and its state. `None` if none is near.
    pub fn nearest(&self, offset: u64) -> Option<(i64, usize, Nature)> {
        let offset = usize::try_from(offset).ok()?;
        let before = self.regions.range(..=offset).next_back();
        let after = self.regions.range(offset..).next();
        let gap_before =
            before.map_or(usize::MAX, |(start, (bytes, _))| offset.saturating_sub(start + bytes));
        let gap_after = after.map_or(usize::MAX, |(start, _)| start - offset);
        let (start, (bytes, nature)) = if gap_before <= gap_after { before? } else { after? };
        let near = gap_before.min(gap_after) < NEAR;
        near.then_some((offset as i64 - *start as i64, *bytes, *nature))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn released_memory_is_reused_when_the_end_is_reached() {
        let size = 4096;
        let mut regions = Regions::new(4 * size, true);
        let first = regions.allocate(size).unwrap();
        let second = regions.allocate(size).unwrap();
        let third = regions.allocate(size).unwrap();
        assert_eq!(regions.allocate(size), None);
        assert!(regions.release(second));
        assert_eq!(regions.allocate(size + 1), None);
        let small = regions.allocate(100).unwrap();
        assert!(small > third, "the space after the newest buffer is used first");
        assert_eq!(regions.allocate(size), Some(second));
        assert_eq!(regions.around(second + size - 1), Some((second, size)));
        assert_eq!(regions.around(second + size), None);
        assert!([first, second, third, small].iter().all(|&offset| regions.release(offset)));
        assert_eq!((regions.buffers(), regions.allocated_bytes()), (0, (0, 3 * 4096 + 100)));
    }

    #[test]
    fn without_checks_released_memory_is_reused_at_once() {
        let mut regions = Regions::new(1 << 20, false);
        let first = regions.allocate(1000).unwrap();
        regions.allocate(1000).unwrap();
        regions.release(first);
        assert_eq!(regions.allocate(900), Some(first));
    }
}

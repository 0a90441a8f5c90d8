//! Where buffers are in global memory.

use std::collections::BTreeMap;
use std::fmt;

/// Bytes between two buffers that no access may touch.
const GAP: usize = 256;
/// Buffers begin at a multiple of it, as those of CUDA do.
const ALIGNMENT: usize = 256;
/// How far from a buffer an address may be that is described by it.
const NEAR: usize = 1 << 20;

/// What a range of memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nature {
    /// In use.
    Buffer,
    /// No longer in use.
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

/// The ranges of memory.
pub struct Regions {
    room: usize,
    /// Whether released memory is used again as late as possible, so that accesses to it are found.
    late: bool,
    /// Size and nature by offset. A released range stays until another takes its place.
    regions: BTreeMap<usize, (usize, Nature)>,
    top: usize,
    buffers: usize,
    held: u64,
    peak: u64,
}

impl Regions {
    pub fn new(room: usize, late: bool) -> Self {
        Self { room, late, regions: BTreeMap::new(), top: 0, buffers: 0, held: 0, peak: 0 }
    }

    /// The offset of a new buffer.
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

    /// Behind the newest buffer or in the first gap that is wide enough; which of both first depends on
    /// what released memory is for.
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

    /// Ends a buffer.
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

    pub fn held(&self) -> (u64, u64) {
        (self.held, self.peak)
    }

    /// The buffer that an offset is in: where it begins and its size.
    pub fn around(&self, offset: usize) -> Option<(usize, usize)> {
        let (&start, &(bytes, nature)) = self.regions.range(..=offset).next_back()?;
        (nature == Nature::Buffer && offset < start + bytes).then_some((start, bytes))
    }

    /// The range around an offset or next to it: the offset in it, its size and nature.
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
    fn released_memory_is_used_again_when_the_end_is_reached() {
        let size = 4096;
        let mut regions = Regions::new(4 * size, true);
        let first = regions.allocate(size).unwrap();
        let second = regions.allocate(size).unwrap();
        let third = regions.allocate(size).unwrap();
        assert_eq!(regions.allocate(size), None);
        assert!(regions.release(second));
        assert_eq!(regions.allocate(size + 1), None);
        let small = regions.allocate(100).unwrap();
        assert!(small > third, "the end first");
        assert_eq!(regions.allocate(size), Some(second));
        assert_eq!(regions.around(second + size - 1), Some((second, size)));
        assert_eq!(regions.around(second + size), None);
        assert!([first, second, third, small].iter().all(|&offset| regions.release(offset)));
        assert_eq!((regions.buffers(), regions.held()), (0, (0, 3 * 4096 + 100)));
    }

    #[test]
    fn where_memory_counts_it_is_used_again_at_once() {
        let mut regions = Regions::new(1 << 20, false);
        let first = regions.allocate(1000).unwrap();
        regions.allocate(1000).unwrap();
        regions.release(first);
        assert_eq!(regions.allocate(900), Some(first));
    }
}

//! A set-associative cache with lines of four sectors and least-recently-used replacement.

use crate::coalesce::LINE;

/// The number of ways of a set.
const WAYS: usize = 16;
/// The mask of the sectors of a line.
const SECTORS: u64 = 0xf;

/// A cache. An entry contains, from high to low bits, the number of the line plus one, the mask of the dirty sectors,
/// and the mask of the valid sectors. The most recently used entry of a set is the first.
pub struct Cache {
    sets: u64,
    entries: Vec<u64>,
}

/// The result of an access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The mask of the accessed sectors that were valid.
    pub hits: u8,
    /// The number of dirty sectors that were evicted and written back to memory.
    pub written_back: u32,
}

impl Cache {
    /// Creates an empty cache of `bytes` bytes, with at least one set.
    pub fn new(bytes: usize) -> Self {
        let sets = (bytes / LINE as usize / WAYS).max(1);
        Self { sets: sets as u64, entries: vec![0; sets * WAYS] }
    }

    /// Accesses sectors of a line, which are valid afterwards, and dirty if `writes`.
    pub fn access(&mut self, line: u64, sectors: u8, writes: bool) -> Found {
        // The set is chosen by a hash, as on GPUs, so that strided accesses use all sets.
        let hash = line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let first = ((hash * self.sets) >> 32) as usize * WAYS;
        let set = &mut self.entries[first..first + WAYS];
        let new = u64::from(sectors) | if writes { u64::from(sectors) << 4 } else { 0 };
        // The line moves to the first way; the entries before its old way move by one.
        let mut moving = (line + 1) << 8 | new;
        for place in 0..WAYS {
            let entry = std::mem::replace(&mut set[place], moving);
            if entry >> 8 == line + 1 {
                set[0] |= entry;
                return Found { hits: (entry & SECTORS) as u8 & sectors, written_back: 0 };
            }
            moving = entry;
        }
        Found { hits: 0, written_back: (moving >> 4 & SECTORS).count_ones() }
    }

    /// Writes back all dirty sectors and returns their number.
    pub fn write_back(&mut self) -> u64 {
        self.entries.iter_mut().fold(0, |count, entry| {
            let written = *entry >> 4 & SECTORS;
            *entry &= !(SECTORS << 4);
            count + u64::from(written.count_ones())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(cache: &mut Cache, line: u64, sectors: u8) -> u8 {
        cache.access(line, sectors, false).hits
    }

    #[test]
    fn accessed_sectors_are_valid() {
        let mut cache = Cache::new(1 << 16);
        assert_eq!(hits(&mut cache, 7, 0b0011), 0);
        assert_eq!(hits(&mut cache, 7, 0b0110), 0b0010);
        assert_eq!(hits(&mut cache, 7, 0b1111), 0b0111);
        assert_eq!(hits(&mut cache, 8, 0b1111), 0);
    }

    #[test]
    fn the_least_recently_used_line_is_evicted() {
        let mut cache = Cache::new(0);
        (0..WAYS as u64).for_each(|line| assert_eq!(hits(&mut cache, line, 1), 0));
        assert_eq!(hits(&mut cache, 0, 1), 1);
        assert_eq!(hits(&mut cache, 100, 1), 0);
        assert_eq!((hits(&mut cache, 0, 1), hits(&mut cache, 1, 1)), (1, 0));
    }

    #[test]
    fn written_sectors_are_written_back_once() {
        let mut cache = Cache::new(0);
        cache.access(0, 0b0111, true);
        let others = (1..=WAYS as u64).map(|line| cache.access(line, 1, true).written_back);
        assert_eq!(others.sum::<u32>(), 3);
        assert_eq!((cache.write_back(), cache.write_back()), (WAYS as u64, 0));
    }
}

//! A cache with lines of four sectors, of which the least recently used leaves.

use crate::coalesce::LINE;

/// Places of a set.
const WAYS: usize = 16;
/// One bit for each sector of a line.
const SECTORS: u64 = 0xf;

/// A cache. An entry is the line's number and one, a bit for each sector that has been written, and one for
/// each that is there; the most recent of a set stands first.
pub struct Cache {
    sets: u64,
    entries: Vec<u64>,
}

/// What an access finds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The sectors that are there.
    pub hits: u8,
    /// How many sectors had to leave that memory does not have yet.
    pub written_back: u32,
}

impl Cache {
    /// An empty cache of so many bytes; one set at least.
    pub fn new(bytes: usize) -> Self {
        let sets = (bytes / LINE as usize / WAYS).max(1);
        Self { sets: sets as u64, entries: vec![0; sets * WAYS] }
    }

    /// Accesses sectors of a line, which are there afterwards.
    pub fn access(&mut self, line: u64, sectors: u8, writes: bool) -> Found {
        // Sets are chosen by a hash, as on GPUs, so that no stride prefers one.
        let hash = line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let first = ((hash * self.sets) >> 32) as usize * WAYS;
        let set = &mut self.entries[first..first + WAYS];
        let new = u64::from(sectors) | if writes { u64::from(sectors) << 4 } else { 0 };
        // It comes to the first place, and each moves on by one up to the place where it was.
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

    /// Sectors that memory does not have yet, which it has from now on.
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
    fn sectors_are_there_once_they_were_accessed() {
        let mut cache = Cache::new(1 << 16);
        assert_eq!(hits(&mut cache, 7, 0b0011), 0);
        assert_eq!(hits(&mut cache, 7, 0b0110), 0b0010);
        assert_eq!(hits(&mut cache, 7, 0b1111), 0b0111);
        assert_eq!(hits(&mut cache, 8, 0b1111), 0);
    }

    #[test]
    fn the_least_recently_used_line_leaves() {
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

//! A set-associative cache with lines of four sectors and least-recently-used replacement.

use crate::coalesce::LINE;

/// The number of ways of a set.
const WAYS: usize = 16;
/// The mask of the sectors of a line.
const SECTORS: u64 = 0xf;

/// The lowest bit of the number of a line in an entry.
const NUMBER: u32 = 9;
/// The bit of an entry whose data are used once.
const ONCE: u64 = 1 << 8;

/// A cache. An entry contains, from high to low bits, the number of the line plus one, whether its data are used once,
/// the mask of the dirty sectors, and the mask of the valid sectors. The lines that are used once follow the others in
/// a set, and in both groups the most recently used line is the first. The last line is evicted.
pub struct Cache {
    sets: u64,
    entries: Vec<u64>,
}

/// The kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A load.
    Reads,
    /// A load of data that are used once. Their line is evicted before those of other kinds.
    ReadsOnce,
    /// A store or an atomic operation.
    Writes,
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

    /// Accesses sectors of a line, which are valid afterwards, and dirty if they are written.
    pub fn access(&mut self, line: u64, sectors: u8, kind: Kind) -> Found {
        // The set is chosen by a hash, as on GPUs, so that strided accesses use all sets.
        let hash = line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let first = ((hash * self.sets) >> 32) as usize * WAYS;
        let set = &mut self.entries[first..first + WAYS];
        let dirty = if kind == Kind::Writes { u64::from(sectors) << 4 } else { 0 };
        let new = (line + 1) << NUMBER | u64::from(sectors) | dirty;
        if kind == Kind::ReadsOnce {
            return Self::read_once(set, new);
        }
        // The line moves to the first way; the entries before its old way move by one.
        let mut moving = new;
        for place in 0..WAYS {
            let entry = std::mem::replace(&mut set[place], moving);
            if entry >> NUMBER == line + 1 {
                set[0] |= entry & !ONCE;
                return Found { hits: (entry & SECTORS) as u8 & sectors, written_back: 0 };
            }
            moving = entry;
        }
        Found { hits: 0, written_back: (moving >> 4 & SECTORS).count_ones() }
    }

    /// Moves the line of `new` to the first place after the lines that are not used once.
    fn read_once(set: &mut [u64], new: u64) -> Found {
        let same = |entry: &u64| *entry >> NUMBER == new >> NUMBER;
        let known = set.iter().position(same);
        let from = known.unwrap_or(WAYS - 1);
        let old = std::mem::take(&mut set[from]);
        set[from..].rotate_left(1);
        let to = set.iter().take_while(|entry| **entry != 0 && *entry & ONCE == 0).count();
        set[to..].rotate_right(1);
        let place = &mut set[to];
        *place = new | ONCE;
        if known.is_none() {
            return Found { hits: 0, written_back: (old >> 4 & SECTORS).count_ones() };
        }
        *place |= old;
        Found { hits: (old & new & SECTORS) as u8, written_back: 0 }
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
        cache.access(line, sectors, Kind::Reads).hits
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
    fn data_that_are_used_once_are_the_first_to_be_evicted() {
        let mut cache = Cache::new(0);
        let once = |cache: &mut Cache, line| cache.access(line, 1, Kind::ReadsOnce).hits;
        (0..14).for_each(|line| assert_eq!(hits(&mut cache, line, 1), 0));
        // Two places are left. The least recently used of these lines is evicted.
        assert_eq!([100, 101, 100, 102, 100].map(|line| once(&mut cache, line)), [0, 0, 1, 0, 1]);
        assert_eq!(once(&mut cache, 101), 0);
        (0..14).for_each(|line| assert_eq!(hits(&mut cache, line, 1), 1));
        // A line that is used again is kept like the others, and a line that is then used once is not.
        assert_eq!((hits(&mut cache, 101, 1), once(&mut cache, 5)), (1, 1));
        assert_eq!([103, 104, 101].map(|line| once(&mut cache, line)), [0, 0, 1]);
        assert_eq!((hits(&mut cache, 5, 1), hits(&mut cache, 6, 1)), (0, 1));
        let mut full = Cache::new(0);
        (0..WAYS as u64).for_each(|line| _ = full.access(line, 0b111, Kind::Writes));
        assert_eq!(full.access(100, 1, Kind::ReadsOnce).written_back, 3);
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
        cache.access(0, 0b0111, Kind::Writes);
        let others = (1..=WAYS as u64).map(|line| cache.access(line, 1, Kind::Writes).written_back);
        assert_eq!(others.sum::<u32>(), 3);
        assert_eq!((cache.write_back(), cache.write_back()), (WAYS as u64, 0));
    }
}

//! A set-associative cache with lines of four sectors and least-recently-used replacement.

use std::ops::Range;

use crate::coalesce::LINE;

const WAYS: usize = 16;
/// The mask of the sectors of a line.
const SECTORS: u64 = 0xf;

/// The lowest bit of the number of a line in an entry.
const NUMBER: u32 = 10;
/// The bit of an entry that persists.
const PERSISTS: u64 = 1 << 9;
/// The bit of an entry whose data are used once.
const ONCE: u64 = 1 << 8;

/// A cache. An entry contains, from high to low bits, the number of the line plus one, whether it persists, whether its
/// data are used once, the mask of the dirty sectors, and the mask of the valid sectors. In a set, the lines that persist
/// precede the others, and those that are used once follow them. In each of the three groups the most recently used line
/// is the first. The last line is evicted.
pub struct Cache {
    sets: u64,
    entries: Vec<u64>,
    window: Window,
}

/// The lines of the persisting window, and the part of the cache that is set aside for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Window {
    first: u64,
    lines: u64,
    /// The number of its lines, of 2^32, that persist. The others are used once.
    persist: u64,
    /// The number of ways of a set that are set aside. If more lines of a set persist, the least recently used one becomes
    /// a line like others.
    ways: usize,
}

impl Window {
    /// Returns whether a line persists, or `None` for lines outside the window.
    fn persists(&self, line: u64) -> Option<bool> {
        let chosen = line.wrapping_mul(0xd6e8_feb8_6659_fd93) >> 32;
        (line.wrapping_sub(self.first) < self.lines).then_some(chosen < self.persist)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    Reads,
    /// A load of data that are used once. Their line is evicted before those of other kinds.
    ReadsOnce,
    Writes,
}

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
        Self { sets: sets as u64, entries: vec![0; sets * WAYS], window: Window::default() }
    }

    /// Removes all lines. They are not written back.
    pub fn empty(&mut self) {
        self.entries.fill(0);
    }

    /// Lets the `share` (0 to 1) of these lines persist in a part (0 to 1) of the cache, as an access policy window does.
    /// No other line persists any more.
    pub fn persist(&mut self, first: u64, lines: u64, share: f64, part: f64) {
        self.entries.iter_mut().for_each(|entry| *entry &= !PERSISTS);
        let persist = (share * 2f64.powi(32)) as u64;
        let ways = ((part * WAYS as f64).ceil() as usize).clamp(1, WAYS - 1);
        self.window = Window { first, lines, persist, ways };
    }

    /// Records that a copy or a fill has written lines. Lines from the host are also in memory; the others are dirty and
    /// are written back later.
    pub fn fill(&mut self, lines: Range<u64>, from_host: bool) {
        let kind = if from_host { Request::Reads } else { Request::Writes };
        lines.for_each(|line| _ = self.access(line, 0xf, kind));
    }

    /// Accesses sectors of a line, which are valid afterwards, and dirty if they are written.
    pub(super) fn access(&mut self, line: u64, sectors: u8, kind: Request) -> Found {
        // The set is chosen by a hash, as on GPUs, so that strided accesses use all sets.
        let hash = line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let first = ((hash * self.sets) >> 32) as usize * WAYS;
        let set = &mut self.entries[first..first + WAYS];
        let dirty = if kind == Request::Writes { u64::from(sectors) << 4 } else { 0 };
        let new = (line + 1) << NUMBER | u64::from(sectors) | dirty;
        let persists = self.window.persists(line);
        if persists == Some(false) || persists.is_none() && kind == Request::ReadsOnce {
            return Self::read_once(set, new);
        }
        let window = persists == Some(true);
        let persisting = set.iter().take_while(|entry| **entry & PERSISTS != 0).count();
        let to = if window { 0 } else { persisting };
        // The line moves to the first way of its group; the entries before its old way move by one.
        let (mut moving, mut found) = (if window { new | PERSISTS } else { new }, None);
        for place in to..WAYS {
            moving = std::mem::replace(&mut set[place], moving);
            if moving >> NUMBER == line + 1 {
                set[to] |= moving & !ONCE;
                found = Some((moving & SECTORS) as u8 & sectors);
                break;
            }
        }
        if window {
            set[self.window.ways] &= !PERSISTS;
        }
        match found {
            Some(hits) => Found { hits, written_back: 0 },
            None => Found { hits: 0, written_back: (moving >> 4 & SECTORS).count_ones() },
        }
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
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(cache: &mut Cache, line: u64, sectors: u8) -> u8 {
        cache.access(line, sectors, Request::Reads).hits
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
        let once = |cache: &mut Cache, line| cache.access(line, 1, Request::ReadsOnce).hits;
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
        (0..WAYS as u64).for_each(|line| _ = full.access(line, 0b111, Request::Writes));
        assert_eq!(full.access(100, 1, Request::ReadsOnce).written_back, 3);
    }

    #[test]
    fn lines_that_persist_are_the_last_to_be_evicted() {
        let mut cache = Cache::new(0);
        cache.persist(100, 8, 1.0, 0.25);
        (100..104).for_each(|line| assert_eq!(hits(&mut cache, line, 1), 0));
        (0..50).for_each(|line| assert_eq!(hits(&mut cache, line, 1), 0));
        (100..104).for_each(|line| assert_eq!(hits(&mut cache, line, 1), 1));
        // Four ways are set aside, so the line that was used first does not persist any more.
        assert_eq!(hits(&mut cache, 104, 1), 0);
        (0..50).for_each(|line| assert_eq!(hits(&mut cache, line, 1), 0));
        let found = [101, 102, 103, 104, 100].map(|line| hits(&mut cache, line, 1));
        assert_eq!(found, [1, 1, 1, 1, 0]);
        // Without a window, all lines are equal again.
        cache.persist(0, 0, 0.0, 0.0);
        (0..WAYS as u64).for_each(|line| _ = hits(&mut cache, line, 1));
        assert_eq!([101, 104, 3].map(|line| hits(&mut cache, line, 1)), [0, 0, 1]);
    }

    #[test]
    fn the_part_of_a_window_that_does_not_persist_is_used_once() {
        let mut cache = Cache::new(1 << 20);
        cache.persist(1 << 20, 16 << 10, 0.25, 0.5);
        let window = 1 << 20..(1 << 20) + (16 << 10);
        for pass in 0..2 {
            let found: u64 = window.clone().map(|line| u64::from(hits(&mut cache, line, 1))).sum();
            assert!(if pass == 0 { found == 0 } else { (3700..4500).contains(&found) }, "{found}");
        }
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
        cache.access(0, 0b0111, Request::Writes);
        let others =
            (1..=WAYS as u64).map(|line| cache.access(line, 1, Request::Writes).written_back);
        assert_eq!(others.sum::<u32>(), 3);
    }
}

//! A set-associative cache with lines of four sectors and random replacement.

use std::ops::Range;

use crate::coalesce::LINE;
use crate::random::Random;

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
/// data are used once, the mask of the dirty sectors, and the mask of the valid sectors. A new line takes the place of
/// a random one: an empty one if there is any, otherwise one that is used once, one without a flag, or one that
/// persists.
///
/// With the eviction of the least recently used line, data that are slightly larger than a cache would always miss when
/// they are read again and again. Products on GPUs do not show that.
pub struct Cache {
    sets: u64,
    entries: Vec<u64>,
    window: Window,
    random: Random,
}

/// The lines of the persisting window, and the part of the cache that is set aside for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Window {
    first: u64,
    lines: u64,
    /// The number of its lines, of 2^32, that persist. The others are used once.
    persist: u64,
    /// The number of ways of a set that are set aside. If more lines of a set persist, one of them becomes a line like
    /// others.
    ways: usize,
}

impl Window {
    /// Returns whether a line persists, or `None` for lines outside the window.
    fn persists(&self, line: u64) -> Option<bool> {
        let chosen = line.wrapping_mul(0xd6e8_feb8_6659_fd93) >> 32;
        (line.wrapping_sub(self.first) < self.lines).then_some(chosen < self.persist)
    }

    /// Lets at most as many lines of a set persist as ways are set aside, with the one in `newest` among them.
    fn limit(&self, set: &mut [u64], newest: usize) {
        let persisting = |&place: &usize| set[place] & PERSISTS != 0 && place != newest;
        let mut others = (0..set.len()).filter(persisting).skip(self.ways - 1);
        if let Some(place) = others.next() {
            set[place] &= !PERSISTS;
        }
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
        let (entries, random) = (vec![0; sets * WAYS], Random::new(0, 0));
        Self { sets: sets as u64, entries, window: Window::default(), random }
    }

    /// Removes all lines. They are not written back.
    pub fn empty(&mut self) {
        self.entries.fill(0);
    }

    /// Lets the `share` (0 to 1) of these lines persist in a part (0 to 1) of the cache, as an access policy window
    /// does. No other line persists any more.
    pub fn persist(&mut self, first: u64, lines: u64, share: f64, part: f64) {
        self.entries.iter_mut().for_each(|entry| *entry &= !PERSISTS);
        let persist = (share * 2f64.powi(32)) as u64;
        let ways = ((part * WAYS as f64).ceil() as usize).clamp(1, WAYS - 1);
        self.window = Window { first, lines, persist, ways };
    }

    /// Records that a copy or a fill has written lines. Lines from the host are also in memory; the others are dirty
    /// and are written back later.
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
        let flag = match self.window.persists(line) {
            Some(true) => PERSISTS,
            Some(false) => ONCE,
            None => u64::from(kind == Request::ReadsOnce) * ONCE,
        };
        let known = set.iter().position(|entry| *entry >> NUMBER == line + 1);
        let place = known.unwrap_or_else(|| least(set, &mut self.random));
        let old = set[place];
        let same = if known.is_some() { old } else { 0 };
        set[place] = (line + 1) << NUMBER | flag | dirty | u64::from(sectors) | same & (SECTORS << 4 | SECTORS);
        if flag == PERSISTS {
            self.window.limit(set, place);
        }
        let written_back = if known.is_some() { 0 } else { (old >> 4 & SECTORS).count_ones() };
        Found { hits: (same & SECTORS) as u8 & sectors, written_back }
    }
}

/// Returns the place of a random line among those of a set that are evicted first.
fn least(set: &[u64], random: &mut Random) -> usize {
    let rank = |entry: u64| match entry & (PERSISTS | ONCE) {
        _ if entry == 0 => 0,
        ONCE => 1,
        0 => 2,
        _ => 3,
    };
    let lowest = set.iter().map(|&entry| rank(entry)).min();
    let places = || (0..set.len()).filter(|&place| Some(rank(set[place])) == lowest);
    let chosen = random.below(places().count() as u32) as usize;
    places().nth(chosen).unwrap_or(0)
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
        // Two places are left for data that are used once.
        (100..200).for_each(|line| assert_eq!(once(&mut cache, line), 0));
        let left: u8 = (100..200).map(|line| once(&mut cache, line)).sum();
        assert!(left <= 2, "{left}");
        (0..14).for_each(|line| assert_eq!(hits(&mut cache, line, 1), 1));
        // A line that is used again is kept like the others, and a line that is then used once is not.
        assert_eq!((once(&mut cache, 300), hits(&mut cache, 300, 1), once(&mut cache, 5)), (0, 1, 1));
        (100..200).for_each(|line| assert_eq!(once(&mut cache, line), 0));
        assert_eq!([300, 5, 6].map(|line| hits(&mut cache, line, 1)), [1, 0, 1]);
        let mut full = Cache::new(0);
        (0..WAYS as u64).for_each(|line| _ = full.access(line, 0b111, Request::Writes));
        assert_eq!(full.access(100, 1, Request::ReadsOnce).written_back, 3);
    }

    #[test]
    fn lines_that_persist_are_the_last_to_be_evicted() {
        let mut cache = Cache::new(0);
        cache.persist(100, 8, 1.0, 0.25);
        let kept = |cache: &mut Cache| {
            (0..200).for_each(|line| _ = hits(cache, line + 1000, 1));
            (100..108).map(|line| hits(cache, line, 1)).collect::<Vec<_>>()
        };
        (100..104).for_each(|line| assert_eq!(hits(&mut cache, line, 1), 0));
        assert_eq!(kept(&mut cache), [1, 1, 1, 1, 0, 0, 0, 0]);
        // Four ways are set aside, so only four of these lines persist, the last one among them.
        let found = kept(&mut cache);
        assert!(found[7] == 1 && found.iter().sum::<u8>() <= 4, "{found:?}");
        // Without a window, all lines are equal again.
        cache.persist(0, 0, 0.0, 0.0);
        assert!(kept(&mut cache).iter().sum::<u8>() <= 1);
    }

    #[test]
    fn the_part_of_a_window_that_does_not_persist_is_used_once() {
        let mut cache = Cache::new(1 << 20);
        cache.persist(1 << 20, 16 << 10, 0.25, 0.5);
        let window = 1 << 20..(1 << 20) + (16 << 10);
        for pass in 0..2 {
            let found: u64 = window.clone().map(|line| u64::from(hits(&mut cache, line, 1))).sum();
            assert!(if pass == 0 { found == 0 } else { (3700..5500).contains(&found) }, "{found}");
        }
    }

    /// Of data that are slightly larger than the cache, a part is found again in each pass.
    #[test]
    fn random_lines_are_evicted() {
        let mut cache = Cache::new(1 << 20);
        let lines = (9 << 20) / 8 / LINE;
        let mut pass = || (0..lines).map(|line| u64::from(hits(&mut cache, line, 1))).sum::<u64>();
        let passes = [0; 4].map(|_| pass());
        assert!(passes[0] == 0 && (lines / 2..lines).contains(&passes[3]), "{lines} {passes:?}");
    }

    #[test]
    fn written_sectors_are_written_back_once() {
        let mut cache = Cache::new(0);
        cache.access(0, 0b0111, Request::Writes);
        let others = (1..=WAYS as u64).map(|line| cache.access(line, 1, Request::Writes).written_back);
        assert_eq!(others.sum::<u32>(), 3);
    }
}

//! What one access of a warp costs the memory system: sectors of global memory, and turns of the banks of
//! shared memory. These are exact quantities, those of the profiler's counters of the same names.

use crate::lanes::{LANES, Mask, lanes, which};

/// Bytes of a line of the caches.
pub const LINE: u64 = 128;
/// Bytes of a sector: what is moved at least.
pub const SECTOR: u64 = 32;
/// Banks of shared memory, each four bytes wide.
const BANKS: usize = 32;
const BANK_BYTES: usize = 4;

/// The lines that an access touches, each as a word of [`line`].
pub struct Lines {
    lines: [u64; LANES],
    count: usize,
}

/// A line's number, and one bit for each of its four sectors, from a word that holds both.
pub fn line(word: u64) -> (u64, u8) {
    (word >> 8, word as u8)
}

impl Lines {
    /// Those of the lanes of `mask`, each of which accesses bytes of one sector.
    #[inline(always)]
    pub fn of(addresses: &[u64; LANES], mask: Mask) -> Self {
        let mut found = Self { lines: [0; LANES], count: 0 };
        // By the hash of a line: one more than its place.
        let mut places = [0u8; 2 * LANES];
        for lane in lanes(mask & !repeats(addresses, mask)) {
            let (line, sector) = (addresses[lane] / LINE, addresses[lane] % LINE / SECTOR);
            match found.lines[..found.count].last_mut() {
                // Most lanes touch the line of the lane before.
                Some(last) if *last >> 8 == line => *last |= 1 << sector,
                _ => found.add(line, 1 << sector, &mut places),
            }
        }
        found
    }

    /// Adds a sector to its line, which may be a new one.
    #[inline(always)]
    fn add(&mut self, line: u64, sector: u64, places: &mut [u8; 2 * LANES]) {
        let mut hash = (line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize;
        while let Some(place) = usize::from(places[hash]).checked_sub(1) {
            if self.lines[place] >> 8 == line {
                self.lines[place] |= sector;
                return;
            }
            hash = (hash + 1) % (2 * LANES);
        }
        self.lines[self.count] = line << 8 | sector;
        self.count += 1;
        places[hash] = self.count as u8;
    }

    /// The lines, in the order in which the lanes touch them first.
    pub fn get(&self) -> &[u64] {
        &self.lines[..self.count]
    }

    /// Leaves only the first `count` sectors, as if the others' data were in these.
    pub fn keep_sectors(&mut self, count: u32) {
        let mut left = count;
        let mut lines = 0;
        while lines < self.count && left > 0 {
            let word = &mut self.lines[lines];
            while sectors(*word) > left {
                *word &= *word - 1;
            }
            left -= sectors(*word);
            lines += 1;
        }
        self.count = lines;
    }

    /// How many sectors they have together.
    pub fn sectors(&self) -> u32 {
        self.get().iter().map(|&word| sectors(word)).sum()
    }
}

/// How many sectors a word names.
fn sectors(word: u64) -> u32 {
    line(word).1.count_ones()
}

/// The lanes that touch the sector of the lane before, which is active.
#[inline(always)]
fn repeats(addresses: &[u64; LANES], mask: Mask) -> Mask {
    which(|lane| (addresses[lane] ^ addresses[lane.saturating_sub(1)]) < SECTOR) & mask << 1
}

/// The turns that the banks of shared memory need for an access of `bytes` bytes for each lane. Lanes that
/// together move 128 bytes are served at once where no two of them need different words of one bank.
#[inline(always)]
pub fn wavefronts(offsets: &[u64; LANES], mask: Mask, bytes: usize) -> u32 {
    let at_once = LANES * BANK_BYTES / bytes.max(BANK_BYTES);
    let group = Mask::MAX >> (LANES - at_once);
    let mut sum = 0;
    for first in (0..LANES).step_by(at_once) {
        sum += turns(offsets, mask & group << first, bytes);
    }
    sum
}

/// The most different words that some of the lanes need of one bank.
#[inline(always)]
fn turns(offsets: &[u64; LANES], mask: Mask, bytes: usize) -> u32 {
    // By bank: one more than the word that was needed first, and how many were needed.
    let (mut firsts, mut needed) = ([0u32; BANKS], [0u8; BANKS]);
    // Words of banks that had another one before.
    let (mut others, mut count) = ([0u32; LANES], 0);
    let mut most = 0;
    for lane in lanes(mask) {
        let first = offsets[lane] as u32 / BANK_BYTES as u32 + 1;
        for word in first..first + bytes.div_ceil(BANK_BYTES) as u32 {
            let bank = word as usize % BANKS;
            if firsts[bank] == 0 {
                firsts[bank] = word;
            } else if firsts[bank] == word || others[..count].contains(&word) {
                continue;
            } else {
                others[count] = word;
                count += 1;
            }
            needed[bank] += 1;
            most = most.max(needed[bank]);
        }
    }
    most.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(of: impl Fn(u64) -> u64) -> [u64; LANES] {
        std::array::from_fn(|lane| of(lane as u64))
    }

    fn found(lines: &Lines) -> Vec<(u64, u8)> {
        lines.get().iter().map(|&word| line(word)).collect()
    }

    #[test]
    fn neighbours_share_sectors() {
        let sectors = |addresses| Lines::of(&addresses, !0).sectors();
        assert_eq!(sectors(addresses(|lane| 4 * lane)), 4);
        assert_eq!(sectors(addresses(|lane| 8 * lane)), 8);
        assert_eq!(sectors(addresses(|lane| 4 * lane + 16)), 5);
        assert_eq!(sectors(addresses(|_| 64)), 1);
        assert_eq!(sectors(addresses(|lane| 4096 * lane)), 32);
        // Back and forth between two lines.
        assert_eq!(sectors(addresses(|lane| lane % 2 * 4096)), 2);
        assert_eq!(found(&Lines::of(&addresses(|lane| 128 * lane), 0b101)), [(0, 1), (2, 1)]);
        assert_eq!(found(&Lines::of(&addresses(|_| 64), 0b1010)), [(0, 0b100)]);
        let mut few = Lines::of(&addresses(|lane| 40 * lane), !0);
        assert_eq!(found(&few)[..2], [(0, 0xf), (1, 0xe)]);
        few.keep_sectors(6);
        assert_eq!((few.sectors(), found(&few)), (6, vec![(0, 0xf), (1, 0xc)]));
    }

    #[test]
    fn banks_serve_different_words_in_turns() {
        let all = |bytes, of: fn(u64) -> u64| wavefronts(&addresses(of), !0, bytes);
        assert_eq!(all(4, |lane| 4 * lane), 1);
        assert_eq!(all(4, |_| 12), 1, "one word for all");
        assert_eq!(all(4, |lane| 8 * lane), 2);
        assert_eq!(all(4, |lane| 128 * lane), 32);
        assert_eq!(all(8, |lane| 8 * lane), 2);
        assert_eq!(all(16, |lane| 16 * lane), 4);
        assert_eq!(wavefronts(&addresses(|lane| 128 * lane), 0b11, 4), 2);
        assert_eq!(all(4, |lane| lane % 3 * 128), 3, "words that come back");
        assert_eq!(all(2, |lane| 2 * lane), 1, "two lanes in a word");
    }
}

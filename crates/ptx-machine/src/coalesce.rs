//! The memory transactions of one access of a warp: the sectors of global memory and the wavefronts of shared memory.
//! They are exact and correspond to the profiler's counters of the same names.

use crate::lanes::{LANES, Mask, lanes, which};

pub const LINE: u64 = 128;
/// The size of a sector in bytes, which is the smallest unit of transfer.
pub const SECTOR: u64 = 32;
const BANKS: usize = 32;
/// The width of a bank in bytes.
const BANK_BYTES: usize = 4;

/// The cache lines that an access touches, each encoded as for [`line`](fn@line).
pub struct Lines {
    lines: [u64; LANES],
    count: usize,
}

/// Decodes a word into the number of a cache line and a mask of its four sectors.
pub fn line(word: u64) -> (u64, u8) {
    (word >> 8, word as u8)
}

impl Lines {
    /// Returns the lines of an access by the lanes in `mask`. Each lane accesses bytes of one sector.
    #[inline(always)]
    pub fn of(addresses: &[u64; LANES], mask: Mask) -> Self {
        let mut found = Self { lines: [0; LANES], count: 0 };
        // A hash table: the position of a line in `lines`, plus one; 0 for none.
        let mut places = [0u8; 2 * LANES];
        for lane in lanes(mask & !repeats(addresses, mask)) {
            let (line, sector) = (addresses[lane] / LINE, addresses[lane] % LINE / SECTOR);
            match found.lines[..found.count].last_mut() {
                // Most lanes touch the same line as the previous lane.
                Some(last) if *last >> 8 == line => *last |= 1 << sector,
                _ => found.add(line, 1 << sector, &mut places),
            }
        }
        found
    }

    /// Adds a sector to its line, and the line if it is new.
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

    /// Returns the lines in the order in which the lanes touch them first.
    pub fn get(&self) -> &[u64] {
        &self.lines[..self.count]
    }

    /// Removes all sectors but the first `count`.
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

    pub fn sectors(&self) -> u32 {
        self.get().iter().map(|&word| sectors(word)).sum()
    }
}

fn sectors(word: u64) -> u32 {
    line(word).1.count_ones()
}

/// Returns the lanes that touch the same sector as the previous lane, if that lane is active.
#[inline(always)]
fn repeats(addresses: &[u64; LANES], mask: Mask) -> Mask {
    which(|lane| (addresses[lane] ^ addresses[lane.saturating_sub(1)]) < SECTOR) & mask << 1
}

/// Returns the number of wavefronts of an access to shared memory with `bytes` bytes for each lane. Lanes that
/// together access 128 bytes need one wavefront if they have no bank conflict, that is, if no two of them access
/// different words of one bank.
#[inline(always)]
pub fn wavefronts(offsets: &[u64; LANES], mask: Mask, bytes: usize) -> u32 {
    let at_once = LANES * BANK_BYTES / bytes.max(BANK_BYTES);
    let group = Mask::MAX >> (LANES - at_once);
    let firsts = (0..LANES).step_by(at_once);
    firsts.map(|first| turns(offsets, mask & group << first, bytes)).sum()
}

/// Returns the wavefronts of a group of lanes: the maximum number of different words in one bank.
#[inline(always)]
fn turns(offsets: &[u64; LANES], mask: Mask, bytes: usize) -> u32 {
    // For each bank: its first accessed word, plus one, and the number of different words.
    let (mut firsts, mut needed) = ([0u32; BANKS], [0u8; BANKS]);
    // Words that are not the first one of their bank.
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
        // The lanes alternate between two lines.
        assert_eq!(sectors(addresses(|lane| lane % 2 * 4096)), 2);
        assert_eq!(found(&Lines::of(&addresses(|lane| 128 * lane), 0b101)), [(0, 1), (2, 1)]);
        assert_eq!(found(&Lines::of(&addresses(|_| 64), 0b1010)), [(0, 0b100)]);
        let mut few = Lines::of(&addresses(|lane| 40 * lane), !0);
        assert_eq!(found(&few)[..2], [(0, 0xf), (1, 0xe)]);
        few.keep_sectors(6);
        assert_eq!((few.sectors(), found(&few)), (6, vec![(0, 0xf), (1, 0xc)]));
    }

    #[test]
    fn different_words_of_a_bank_need_separate_wavefronts() {
        let all = |bytes, of: fn(u64) -> u64| wavefronts(&addresses(of), !0, bytes);
        assert_eq!(all(4, |lane| 4 * lane), 1);
        assert_eq!(all(4, |_| 12), 1, "one word for all");
        assert_eq!(all(4, |lane| 8 * lane), 2);
        assert_eq!(all(4, |lane| 128 * lane), 32);
        assert_eq!(all(8, |lane| 8 * lane), 2);
        assert_eq!(all(16, |lane| 16 * lane), 4);
        assert_eq!(wavefronts(&addresses(|lane| 128 * lane), 0b11, 4), 2);
        assert_eq!(all(4, |lane| lane % 3 * 128), 3, "repeated words");
        assert_eq!(all(2, |lane| 2 * lane), 1, "two lanes in a word");
    }
}

//! What one access of a warp costs the memory system: sectors of global memory, and turns of the banks of
//! shared memory. These are exact quantities, those of the profiler's counters of the same names.

use crate::lanes::{LANES, Mask, lanes};

/// Bytes of a line of the caches.
pub const LINE: u64 = 128;
/// Bytes of a sector: what is moved at least.
pub const SECTOR: u64 = 32;
/// Banks of shared memory, each four bytes wide.
const BANKS: usize = 32;
const BANK_BYTES: usize = 4;

/// The lines that an access touches, each with one bit for each of its four sectors.
pub struct Lines {
    lines: [(u64, u8); LANES],
    count: usize,
}

impl Lines {
    /// Those of the lanes of `mask`, each of which accesses bytes of one sector.
    pub fn of(addresses: &[u64; LANES], mask: Mask) -> Self {
        let mut found = Self { lines: [(0, 0); LANES], count: 0 };
        // By the hash of a line: one more than its place.
        let mut places = [0u8; 2 * LANES];
        for lane in lanes(mask) {
            let (line, sector) = (addresses[lane] / LINE, addresses[lane] % LINE / SECTOR);
            // Most lanes touch the line of the lane before.
            if let Some((last, sectors)) = found.lines[..found.count].last_mut()
                && *last == line
            {
                *sectors |= 1 << sector;
                continue;
            }
            let mut hash = (line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize;
            loop {
                match usize::from(places[hash]) {
                    0 => {
                        found.lines[found.count] = (line, 1 << sector);
                        found.count += 1;
                        places[hash] = found.count as u8;
                        break;
                    }
                    place if found.lines[place - 1].0 == line => {
                        found.lines[place - 1].1 |= 1 << sector;
                        break;
                    }
                    _ => hash = (hash + 1) % (2 * LANES),
                }
            }
        }
        found
    }

    /// The lines, in the order in which the lanes touch them first.
    pub fn get(&self) -> &[(u64, u8)] {
        &self.lines[..self.count]
    }

    /// Leaves only the first `count` sectors, as if the others' data were in these.
    pub fn keep_sectors(&mut self, count: u32) {
        let mut left = count;
        let mut lines = 0;
        while lines < self.count && left > 0 {
            let (_, sectors) = &mut self.lines[lines];
            while sectors.count_ones() > left {
                *sectors &= *sectors - 1;
            }
            left -= sectors.count_ones();
            lines += 1;
        }
        self.count = lines;
    }

    /// How many sectors they have together.
    pub fn sectors(&self) -> u32 {
        self.get().iter().map(|(_, sectors)| sectors.count_ones()).sum()
    }
}

/// The turns that the banks of shared memory need for an access of `bytes` bytes for each lane. Lanes that
/// together move 128 bytes are served at once where no two of them need different words of one bank.
pub fn wavefronts(offsets: &[u64; LANES], mask: Mask, bytes: usize) -> u32 {
    let at_once = LANES * BANK_BYTES / bytes.max(BANK_BYTES);
    (0..LANES)
        .step_by(at_once)
        .map(|first| turns(offsets, mask, first..first + at_once, bytes))
        .sum()
}

/// The most different words that some of the lanes need of one bank.
fn turns(offsets: &[u64; LANES], mask: Mask, lanes: std::ops::Range<usize>, bytes: usize) -> u32 {
    let mut needed = [(0, 0); LANES];
    let mut count = 0;
    let mut most = 0;
    let mut by_bank = [0u32; BANKS];
    for lane in lanes.filter(|lane| mask >> lane & 1 == 1) {
        let first = offsets[lane] as usize / BANK_BYTES;
        for word in first..first + bytes.div_ceil(BANK_BYTES) {
            let bank = word % BANKS;
            if needed[..count].contains(&(bank, word)) {
                continue;
            }
            needed[count] = (bank, word);
            count += 1;
            by_bank[bank] += 1;
            most = most.max(by_bank[bank]);
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(of: impl Fn(u64) -> u64) -> [u64; LANES] {
        std::array::from_fn(|lane| of(lane as u64))
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
        assert_eq!(Lines::of(&addresses(|lane| 128 * lane), 0b101).get(), [(0, 1), (2, 1)]);
        let mut few = Lines::of(&addresses(|lane| 40 * lane), !0);
        assert_eq!(few.get()[..2], [(0, 0xf), (1, 0xe)]);
        few.keep_sectors(6);
        assert_eq!((few.sectors(), few.get()), (6, &[(0, 0xf), (1, 0xc)][..]));
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
    }
}

//! The positions of the separators in a text: blanks, line ends and other control characters.

use std::arch::x86_64::{__m256i, _mm256_cmpgt_epi8, _mm256_movemask_epi8, _mm256_set1_epi8};

/// The number of bytes in which separators are searched for at once.
pub const PIECE: usize = 1 << 11;
/// The number of bytes that are compared at once.
const BLOCK: usize = 64;
/// The number of positions that are written at once.
const GROUP: usize = 10;

pub struct Marks {
    /// The positions. Those from `count` on have no meaning.
    at: [u16; PIECE + BLOCK + GROUP],
    count: usize,
}

impl Marks {
    pub const fn new() -> Self {
        Self { at: [0; PIECE + BLOCK + GROUP], count: 0 }
    }

    #[inline]
    #[target_feature(enable = "avx2,bmi1,popcnt")]
    pub fn find(&mut self, text: &[u8]) {
        self.count = 0;
        let piece = &text[..text.len().min(PIECE)];
        let (blocks, rest) = piece.as_chunks::<BLOCK>();
        for (number, block) in blocks.iter().enumerate() {
            self.append(separators(block), number * BLOCK);
        }
        let mut last = [b'0'; BLOCK];
        last[..rest.len()].copy_from_slice(rest);
        self.append(separators(&last), blocks.len() * BLOCK);
    }

    pub fn positions(&self) -> &[u16] {
        &self.at[..self.count]
    }

    #[inline]
    #[target_feature(enable = "avx2,bmi1,popcnt")]
    fn append(&mut self, mut bits: u64, start: usize) {
        let (mut end, count) = (self.count, bits.count_ones() as usize);
        self.count += count;
        loop {
            // A loop with as many steps as there are bits would be mispredicted.
            for place in &mut self.at[end..end + GROUP] {
                *place = (start + bits.trailing_zeros() as usize) as u16;
                bits &= bits.wrapping_sub(1);
            }
            end += GROUP;
            if end >= self.count {
                break;
            }
        }
    }
}

/// Returns the bits of the bytes that are not above the blank, with the first byte in the lowest bit. Bytes that are not
/// ASCII are among them.
#[inline]
#[target_feature(enable = "avx2")]
fn separators(block: &[u8; BLOCK]) -> u64 {
    let [low, high]: [__m256i; 2] = bytemuck::cast(*block);
    let after = _mm256_set1_epi8(b' ' as i8 + 1);
    let bits = |bytes| _mm256_movemask_epi8(_mm256_cmpgt_epi8(after, bytes)) as u32;
    u64::from(bits(high)) << 32 | u64::from(bits(low))
}

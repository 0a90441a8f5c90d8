//! The fastest parser, for lines in the plainest form: indices of at most eight digits and a value of at most 19
//! digits, separated by single blanks, or by two before the value. It first finds all separators of a piece of text, so
//! that no line has to wait for the end of the line before it. Then it converts all digits of a number at once, with
//! the instructions of AVX2. It leaves all other lines to the parser in `scan`.

use std::arch::x86_64::*;
use std::hint::select_unpredictable;

use super::super::super::entry::Entry;
use super::decimal::scaled;
use super::header::Header;
use super::scan::is_blank;

/// The number of bytes in which separators are searched for at once.
const PIECE: usize = 1 << 11;
/// The number of bytes that are compared at once.
const BLOCK: usize = 64;
/// The number of positions that are written at once.
const GROUP: usize = 10;
/// The largest number of lines in a piece of text: the shortest line is `1 1` with its end.
const MAX_LINES: usize = PIECE / 4;
/// A piece from which fewer lines than this are parsed was hardly worth the search for separators.
const WORTHWHILE_LINES: usize = 8;
/// The largest number of lines that are left to the other parser before this one is tried again.
const LONGEST_PAUSE: u32 = 256;
/// The key of a line that is left to the other parser.
const LEFT_TO_OTHER: u64 = u64::MAX;

pub fn is_supported() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

/// The lines of a piece of text, as far as this parser can parse them.
pub struct Lines {
    marks: Marks,
    starts: [usize; MAX_LINES],
    /// The positions, with the row in the upper and the column in the lower half.
    keys: [u64; MAX_LINES],
    /// The values. They stay 1 for a pattern.
    values: [f64; MAX_LINES],
    /// The number of lines that are left to the other parser before the next piece, and how many there were before
    /// the last piece.
    pause: u32,
    last_pause: u32,
}

impl Lines {
    pub const fn new() -> Self {
        let (starts, keys, values) = ([0; MAX_LINES], [0; MAX_LINES], [1.0; MAX_LINES]);
        Self { marks: Marks::new(), starts, keys, values, pause: 0, last_pause: 0 }
    }

    /// Parses lines from position `at` on, at least one. Returns their number and the end of those that are not left to
    /// the other parser.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub fn parse<const PATTERN: bool>(&mut self, text: &[u8], at: usize, header: &Header) -> (usize, usize) {
        if self.pause == 0 {
            self.marks.find(&text[at..]);
            let (count, end) = match PATTERN {
                true => self.parse_indices::<2>(text, at, header),
                false => self.parse_indices::<3>(text, at, header),
            };
            if !PATTERN {
                self.parse_values(text, at, count);
            }
            if count >= WORTHWHILE_LINES {
                self.last_pause /= 2;
            } else {
                self.last_pause = (2 * self.last_pause + 1).min(LONGEST_PAUSE);
                self.pause = self.last_pause;
            }
            if count > 0 {
                return (count, end);
            }
        }
        self.pause -= 1;
        (self.starts[0], self.keys[0]) = (at, LEFT_TO_OTHER);
        (1, at)
    }

    /// Returns the entry of a line, or the line's start if it is left to the other parser.
    #[inline(always)]
    pub fn get(&self, line: usize, header: &Header) -> Result<Entry, usize> {
        let (key, value) = (self.keys[line], self.values[line]);
        let entry = Entry { row: (key >> 32) as u32, col: key as u32, value };
        let left = key == LEFT_TO_OTHER || header.doubts(&entry);
        if left { Err(self.starts[line]) } else { Ok(entry) }
    }

    /// Parses the indices of lines of `WORDS` words from position `at` on, up to the first line in another form.
    /// Returns the number of lines and their end.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn parse_indices<const WORDS: usize>(&mut self, text: &[u8], at: usize, header: &Header) -> (usize, usize) {
        let (lines, _) = self.marks.positions().as_chunks::<WORDS>();
        let (mut start, mut count) = (at, 0);
        for ((line, key), kept) in lines.iter().zip(&mut self.keys).zip(&mut self.starts) {
            let [first, second, end] = [line[0], line[1], line[WORDS - 1]].map(|mark| at + usize::from(mark));
            let Some((row, col)) = indices(text, start, first, second) else { break };
            let (row, col) = (row.wrapping_sub(1), col.wrapping_sub(1));
            let inside = row < header.rows as u64 && col < header.cols as u64;
            if !(inside && text[end] == b'\n' && (WORDS == 2 || is_blank(text[second]))) {
                break;
            }
            (*key, *kept) = (row << 32 | col, start);
            start = end + 1;
            count += 1;
        }
        (count, start)
    }

    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn parse_values(&mut self, text: &[u8], at: usize, count: usize) {
        let (lines, _) = self.marks.positions().as_chunks::<3>();
        for (number, line) in lines[..count].iter().enumerate() {
            let [_, second, end] = line.map(|mark| at + usize::from(mark));
            match value(text, second + 1, end) {
                Some(value) => self.values[number] = value,
                None => self.keys[number] = LEFT_TO_OTHER,
            }
        }
    }
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn indices(text: &[u8], start: usize, first: usize, second: usize) -> Option<(u64, u64)> {
    let row = index_digits(text, start, first)?;
    let col = index_digits(text, first + 1, second)?;
    let digits = _mm_set_epi64x(col as i64, row as i64);
    let surplus = _mm_subs_epu8(digits, _mm_set1_epi8(9));
    if !is_blank(text[first]) || _mm_testz_si128(surplus, surplus) == 0 {
        return None;
    }
    let pairs = _mm_maddubs_epi16(digits, _mm_set1_epi16(10 | 1 << 8));
    let fours = _mm_madd_epi16(pairs, _mm_set1_epi32(100 | 1 << 16));
    let eights = _mm_madd_epi16(_mm_packus_epi32(fours, fours), _mm_set1_epi32(10_000 | 1 << 16));
    let both = _mm_cvtsi128_si64(eights) as u64;
    Some((both & 0xffff_ffff, both >> 32))
}

/// Returns the bytes from `start` to `end`, each XORed with '0', as the upper bytes of a word whose other bytes are 0.
/// Returns `None` unless there are one to eight bytes, and at the first bytes of the text.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn index_digits(text: &[u8], start: usize, end: usize) -> Option<u64> {
    let length = end.wrapping_sub(start);
    let bytes = text.get(end.wrapping_sub(8)..end)?.first_chunk()?;
    let digits = u64::from_le_bytes(*bytes) ^ u64::from_le_bytes([b'0'; 8]);
    (1..=8).contains(&length).then(|| digits & u64::MAX << (64 - 8 * length))
}

/// Parses the value from `start` to `end`, which a blank may precede, and rounds it correctly. Returns `None` if it has
/// no digits or more than 19, an exponent of more than two digits, or an exponent outside the fast path of `decimal`.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn value(text: &[u8], mut start: usize, mut end: usize) -> Option<f64> {
    start = select_unpredictable(is_blank(text[start]), start + 1, start);
    let negative = text[start] == b'-';
    start = select_unpredictable(negative, start + 1, start);
    let last = u32::from_le_bytes(*text.get(end.wrapping_sub(4)..end)?.first_chunk()?);
    // The bytes that are `e` or `E` become 0. The lowest bit of `found` is that of the first of them.
    let others = (last | 0x2020_2020) ^ u32::from_le_bytes([b'e'; 4]);
    let found = others.wrapping_sub(0x0101_0101) & !others & 0x8080_8080;
    let mut exponent = 0;
    if found != 0 {
        let letter = end - 4 + found.trailing_zeros() as usize / 8;
        exponent = short_exponent(&text[letter + 1..end])?;
        end = letter;
    }
    let (digits, fraction) = value_digits(text, start, end)?;
    let value = scaled(number(digits)?, exponent - fraction as i64)?;
    Some(select_unpredictable(negative, -value, value))
}

/// Parses one or two digits after an optional sign.
#[inline]
fn short_exponent(text: &[u8]) -> Option<i64> {
    let (digits, negative) = match text {
        [sign @ (b'+' | b'-'), digits @ ..] => (digits, *sign == b'-'),
        digits => (digits, false),
    };
    let (tens, ones) = match *digits {
        [tens, ones] => (tens.wrapping_sub(b'0'), ones.wrapping_sub(b'0')),
        [ones] => (0, ones.wrapping_sub(b'0')),
        _ => return None,
    };
    let power = (tens <= 9 && ones <= 9).then(|| i64::from(tens * 10 + ones))?;
    Some(if negative { -power } else { power })
}

/// Returns the bytes from `start` to `end` without a decimal point, each XORed with '0', as the last bytes of a vector
/// whose other bytes are 0, and the number of those after the point. Returns `None` unless there are one to 19, and at
/// the first bytes of the text.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn value_digits(text: &[u8], start: usize, end: usize) -> Option<(__m256i, usize)> {
    let length = end.wrapping_sub(start);
    if !(1..=20).contains(&length) {
        return None;
    }
    let bytes: &[u8; 33] = text.get(end.wrapping_sub(33)..end)?.first_chunk()?;
    let unshifted: __m256i = bytemuck::cast(*bytes.last_chunk::<32>()?);
    let shifted: __m256i = bytemuck::cast(*bytes.first_chunk::<32>()?);
    let points = _mm256_cmpeq_epi8(unshifted, _mm256_set1_epi8(b'.' as i8));
    let points = _mm256_movemask_epi8(points) as u32 & u32::MAX << (32 - length);
    let after = points.leading_zeros() as usize;
    let (fraction, count) = if points == 0 { (0, length) } else { (after, length - 1) };
    if !(1..=19).contains(&count) {
        return None;
    }
    // The digits before the point move by one byte to its place.
    let digits = _mm256_blendv_epi8(shifted, unshifted, last_bytes(after));
    let digits = _mm256_xor_si256(digits, _mm256_set1_epi8(b'0' as i8));
    Some((_mm256_and_si256(digits, last_bytes(count)), fraction))
}

/// Returns a vector whose last `count` bytes have all bits set, and the others none.
#[inline]
#[target_feature(enable = "avx2")]
fn last_bytes(count: usize) -> __m256i {
    static BYTES: [u8; 64] = {
        let mut bytes = [0; 64];
        let mut at = 32;
        while at < 64 {
            bytes[at] = 0xff;
            at += 1;
        }
        bytes
    };
    bytemuck::cast(*BYTES[count % 33..].first_chunk::<32>().expect("32 bytes remain"))
}

/// Returns the number of at most 19 decimal digits at the end of a vector, or `None` if a byte is not a digit.
#[inline]
#[target_feature(enable = "avx2")]
fn number(digits: __m256i) -> Option<u64> {
    let surplus = _mm256_subs_epu8(digits, _mm256_set1_epi8(9));
    if _mm256_testz_si256(surplus, surplus) == 0 {
        return None;
    }
    let pairs = _mm256_maddubs_epi16(digits, _mm256_set1_epi16(10 | 1 << 8));
    let fours = _mm256_madd_epi16(pairs, _mm256_set1_epi32(100 | 1 << 16));
    let eights = _mm256_madd_epi16(_mm256_packus_epi32(fours, fours), _mm256_set1_epi32(10_000 | 1 << 16));
    // The halves of the vector are packed separately: three groups of eight digits are in three words.
    let low = _mm256_extract_epi64::<2>(eights) as u64;
    let high = _mm_cvtsi128_si64(_mm256_castsi256_si128(eights)) as u64 >> 32;
    Some(high * 10_000_000_000_000_000 + (low & 0xffff_ffff) * 100_000_000 + (low >> 32))
}

/// The positions of the separators in a text: blanks, line ends and other control characters. Of several in a row, only
/// the first counts.
struct Marks {
    /// The positions. Those from `count` on have no meaning.
    at: [u16; PIECE + BLOCK + GROUP],
    count: usize,
}

impl Marks {
    const fn new() -> Self {
        Self { at: [0; PIECE + BLOCK + GROUP], count: 0 }
    }

    #[inline]
    #[target_feature(enable = "avx2,bmi1,popcnt")]
    fn find(&mut self, text: &[u8]) {
        self.count = 0;
        let piece = &text[..text.len().min(PIECE)];
        let (blocks, rest) = piece.as_chunks::<BLOCK>();
        let mut last = [b'0'; BLOCK];
        last[..rest.len()].copy_from_slice(rest);
        // Whether the block before ends with a separator.
        let mut before = 0;
        for (number, block) in blocks.iter().chain([&last]).enumerate() {
            let bits = separators(block);
            self.append(bits & !(bits << 1 | before), number * BLOCK);
            before = bits >> (BLOCK - 1);
        }
    }

    fn positions(&self) -> &[u16] {
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

/// Returns the bits of the bytes that are not above the blank, with the first byte in the lowest bit. Bytes that are
/// not ASCII are among them.
#[inline]
#[target_feature(enable = "avx2")]
fn separators(block: &[u8; BLOCK]) -> u64 {
    let [low, high]: [__m256i; 2] = bytemuck::cast(*block);
    let after = _mm256_set1_epi8(b' ' as i8 + 1);
    let bits = |bytes| _mm256_movemask_epi8(_mm256_cmpgt_epi8(after, bytes)) as u32;
    u64::from(bits(high)) << 32 | u64::from(bits(low))
}

#[cfg(test)]
mod tests {
    use super::super::super::super::field::{Field, Symmetry};
    use super::super::header::Layout;
    use super::*;

    /// Parses all lines of a text. Returns the values, or `None` for each line that is left to the other parser and not
    /// parsed.
    fn parse<const PATTERN: bool>(text: &str) -> Vec<Option<f64>> {
        let (layout, field, symmetry) = (Layout::Coordinate, Field::Real, Symmetry::General);
        let (rows, cols) = (99_999_999, 99_999_999);
        let header = Header { layout, field, symmetry, rows, cols, stored: 0, bytes: 0 };
        let (mut lines, mut at, mut values) = (Lines::new(), 0, Vec::new());
        while at < text.len() {
            // SAFETY: the tests check that the instructions are supported.
            let (count, end) = unsafe { lines.parse::<PATTERN>(text.as_bytes(), at, &header) };
            values.extend((0..count).map(|line| Some(lines.get(line, &header).ok()?.value)));
            at = if end > at { end } else { at + text[at..].find('\n').unwrap() + 1 };
        }
        values
    }

    #[test]
    fn hardly_any_plain_line_is_left_to_the_other_parser() {
        if !is_supported() {
            return println!("skipped: the processor has no AVX2");
        }
        let text: String = (1..9999).map(|k| format!("{k} {} {}\n", 9001 * k, f64::from(k).sin())).collect();
        let left = |values: Vec<Option<f64>>| values.iter().filter(|value| value.is_none()).count();
        // The value of `sin` has more than 19 digits if it is small.
        assert!(left(parse::<false>(&text)) < 40, "{}", left(parse::<false>(&text)));
        let text: String = (1..9999).map(|k| format!("{k} {}\n", 9001 * k)).collect();
        // The first 8 bytes do not precede a separator by 8 bytes.
        assert!(left(parse::<true>(&text)) <= 4, "{}", left(parse::<true>(&text)));
        let values = "7 -0.5 .5 5. -1.25e-01 1E+03 -2.5e7 1e-8 3E12 9999999999999999999 0.123456789012345678";
        let lines = values.split(' ').map(|value| format!("12345678 1 {value}\n1 1  {value}\n"));
        let text = "1 1 0.25\n".repeat(50) + &lines.collect::<String>();
        assert_eq!(left(parse::<false>(&text)[50..].to_vec()), 0);
    }
}

//! The bytes of a line for the fast parsers, which read eight bytes at a time.

/// The largest length of a line for this parser, in bytes.
pub const LINE: usize = 128;
/// The size of a window in bytes: a line, plus 8 bytes so that eight bytes can be read at any position.
pub const WINDOW: usize = LINE + 8;

/// The text from the start of a line. The size is fixed, and positions are taken modulo `LINE`, a power of two,
/// so that no access needs a bounds check.
#[derive(Clone, Copy)]
pub struct Window<'a>(&'a [u8; WINDOW]);

impl<'a> Window<'a> {
    /// Creates a window at the start of `text`, or of a copy in `room` if `text` is too short.
    #[inline(always)]
    pub fn new(text: &'a [u8], room: &'a mut [u8; WINDOW]) -> Self {
        Self(text.first_chunk().unwrap_or_else(|| {
            room.fill(0);
            room[..text.len()].copy_from_slice(text);
            room
        }))
    }

    /// Returns a buffer for the copy of the end of a text.
    pub const fn room() -> [u8; WINDOW] {
        [0; WINDOW]
    }

    #[inline(always)]
    pub fn byte(self, at: usize) -> u8 {
        self.0[at % LINE]
    }

    /// Returns the bytes from position `at` on.
    pub fn rest(self, at: usize) -> &'a [u8] {
        &self.0[at % LINE..]
    }

    /// Returns the eight bytes at `at`, each XORed with '0', and the number of digits before the first byte that
    /// is not a digit.
    #[inline(always)]
    pub fn leading_digits(self, at: usize) -> (u64, usize) {
        let at = at % LINE;
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&self.0[at..at + 8]);
        let word = u64::from_le_bytes(bytes) ^ u64::from_le_bytes([b'0'; 8]);
        // Bytes up to 9 stay below 16 when 6 is added. A carry out of the first other byte changes only the
        // bytes after it.
        let others = (word | word.wrapping_add(0x0606_0606_0606_0606)) & 0xf0f0_f0f0_f0f0_f0f0;
        (word, others.trailing_zeros() as usize / 8)
    }

    /// Advances `at` while `wanted` returns true, but at most to the end of the longest line.
    #[inline(always)]
    pub fn skip(self, at: &mut usize, mut wanted: impl FnMut(u8) -> bool) {
        while *at < LINE && wanted(self.byte(*at)) {
            *at += 1;
        }
    }

    /// Returns the length of the line with its end, if only blanks follow position `at`.
    #[inline(always)]
    pub fn line_end(self, mut at: usize) -> Option<usize> {
        self.skip(&mut at, |byte| is_blank(byte) || byte == b'\r');
        (at < LINE && self.byte(at) == b'\n').then_some(at + 1)
    }
}

/// Returns whether a byte separates words within a line.
pub fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Returns the number whose digits are the bytes of `word`, with the first digit in the lowest byte.
#[inline(always)]
pub fn eight_digits(word: u64) -> u64 {
    const PAIRS: u64 = 0x0000_00ff_0000_00ff;
    let pairs = word.wrapping_mul(10).wrapping_add(word >> 8);
    let high = (pairs & PAIRS).wrapping_mul(100 + (1_000_000 << 32));
    let low = ((pairs >> 16) & PAIRS).wrapping_mul(1 + (10_000 << 32));
    high.wrapping_add(low) >> 32
}

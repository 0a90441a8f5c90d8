//! The form of a line: its end, its longest length, and its words.

/// The largest length of a line in bytes, without its end. The format itself allows 1024 characters.
pub const LONGEST_LINE: usize = 1 << 16;
const BANNER: &[u8] = b"%%MatrixMarket";
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Returns the line that begins at `at`, with its end, or `None` if it is longer than allowed.
pub fn line_at(text: &[u8], at: usize) -> Option<&[u8]> {
    let rest = &text[at..];
    let near = &rest[..rest.len().min(LONGEST_LINE + 1)];
    match near.iter().position(|&byte| byte == b'\n') {
        Some(end) => Some(&rest[..=end]),
        None => (near.len() <= LONGEST_LINE).then_some(rest),
    }
}

/// Returns the words of a line up to a comment.
pub fn tokens(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
        .take_while(|word| word[0] != b'%')
}

/// Returns a text after the first word of a Matrix Market banner, if it begins with that word.
pub fn after_banner(text: &[u8]) -> Option<&[u8]> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let (first, rest) = text.split_at_checked(BANNER.len())?;
    let ends = rest.first().is_none_or(u8::is_ascii_whitespace);
    (ends && first.eq_ignore_ascii_case(BANNER)).then_some(rest)
}

//! The lines of texts, their words, and the banner of Matrix Market, in which formats are recognized and read.

/// The largest length of a line in bytes, without its end. Matrix Market itself allows 1024 characters.
pub const LONGEST_LINE: usize = 1 << 16;
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
const BANNER: &[u8] = b"MatrixMarket";

/// Returns the line that begins at `at`, with its end, or `None` if it is longer than allowed.
pub fn line_at(text: &[u8], at: usize) -> Option<&[u8]> {
    let rest = &text[at..];
    let near = &rest[..rest.len().min(LONGEST_LINE + 1)];
    match near.iter().position(|&byte| byte == b'\n') {
        Some(end) => Some(&rest[..=end]),
        None => (near.len() <= LONGEST_LINE).then_some(rest),
    }
}

/// Returns the words of a line, which blanks separate.
pub fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// Returns the words of a line up to a comment or to the zeros and the end-of-file mark of DOS that pad some files.
pub fn tokens(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let is_padding = |word: &[u8]| word.iter().all(|byte| matches!(byte, 0 | 0x1a));
    words(line).take_while(move |word| word[0] != b'%' && !is_padding(word))
}

pub fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

/// Returns a text after the first word of a Matrix Market banner, if it begins with that word. Blanks and empty lines
/// before it are accepted, as MUMPS writes them, and a single percent sign, as the Network Repository does.
pub fn after_banner(text: &[u8]) -> Option<&[u8]> {
    let text = without_mark(text).trim_ascii_start();
    let text = text.strip_prefix(b"%%").or_else(|| text.strip_prefix(b"%"))?;
    let (first, rest) = text.split_at_checked(BANNER.len())?;
    let ends = rest.first().is_none_or(u8::is_ascii_whitespace);
    (ends && first.eq_ignore_ascii_case(BANNER)).then_some(rest)
}

/// Returns a text from the first line on that is neither empty nor a comment of any of the formats.
pub fn body(text: &[u8]) -> &[u8] {
    let mut body = without_mark(text);
    while !body.is_empty() {
        let line = first_line(body);
        let first = words(line).next().unwrap_or_default();
        let begins: [&[u8]; 3] = [b"#", b"%", b"//"];
        let is_comment = first.is_empty() || begins.iter().any(|begin| first.starts_with(begin));
        if !is_comment && first != b"c" && first != b"*" {
            break;
        }
        body = body.get(line.len() + 1..).unwrap_or_default();
    }
    body
}

pub fn first_line(text: &[u8]) -> &[u8] {
    text.split(|&byte| byte == b'\n').next().unwrap_or_default()
}

/// Returns whether the first line that is no comment begins with numbers.
pub fn begins_with_numbers(text: &[u8]) -> bool {
    let line = first_line(body(text));
    let words = line.split(|byte| b" \t\r,;".contains(byte)).filter(|word| !word.is_empty());
    let is_of_number = |byte: &u8| byte.is_ascii_digit() || b".+-eE\"".contains(byte);
    let first: Vec<_> = words.take(2).collect();
    first.iter().any(|word| word.iter().any(u8::is_ascii_digit))
        && first.iter().all(|word| word.iter().all(is_of_number))
}

//! The words and signs of CUDA programs, so that a program may be formatted in any way.

use std::ops::Range;

/// Signs of several characters, longer ones first.
const SIGNS: [&str; 21] = [
    "<<=", ">>=", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=", "/=", "%=", "&=",
    "|=", "^=",
];

/// A word, a number or a sign, and where it is in its text.
#[derive(Clone, Copy, Debug)]
pub struct Token<'t> {
    pub text: &'t str,
    pub start: usize,
    /// Whether it is in a text between quotation marks, which are tokens too.
    pub is_quoted: bool,
}

impl Token<'_> {
    pub fn end(&self) -> usize {
        self.start + self.text.len()
    }

    pub fn is_word(&self) -> bool {
        self.text.starts_with(|c: char| c.is_alphabetic() || c == '_')
    }
}

/// Returns the tokens of a text, without comments and lines of the preprocessor.
pub fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let (mut start, mut is_quoted) = (0, false);
    while let Some(first) = text[start..].chars().next() {
        let rest = &text[start..];
        let length = if rest.starts_with("//") && !is_quoted || first == '#' {
            rest.find('\n').unwrap_or(rest.len())
        } else if first.is_whitespace() {
            first.len_utf8()
        } else {
            let length = length(rest, first);
            is_quoted ^= first == '"';
            tokens.push(Token { text: &rest[..length], start, is_quoted });
            length
        };
        start += length;
    }
    tokens
}

fn length(rest: &str, first: char) -> usize {
    if first.is_alphanumeric() || first == '_' {
        return rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    }
    let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
    sign.map_or(first.len_utf8(), |sign| sign.len())
}

/// Returns where a part of a text is, in whatever way both are formatted.
pub fn find(text: &str, part: &str) -> Option<Range<usize>> {
    let (tokens, part) = (tokens(text), tokens(part));
    let is_same = |there: &[Token]| there.iter().zip(&part).all(|(a, b)| a.text == b.text);
    let found = tokens.windows(part.len()).find(|there| is_same(there))?;
    Some(found[0].start..found[found.len() - 1].end())
}

#[test]
fn a_text_is_found_in_every_format() {
    let text = "// a (b)\n#define a\nif (a <= b->c)  // why\n    x >>= 2u;\nasm(\"add.u32 %0;\");";
    let found = |part: &str| find(text, part).map(|range| &text[range]);
    assert_eq!(found("b->c)x>>=2u;"), Some("b->c)  // why\n    x >>= 2u;"));
    assert_eq!(found("add.u32 %0"), Some("add.u32 %0"));
    assert_eq!((found("a (b)"), found("x >> = 2u")), (None, None));
}

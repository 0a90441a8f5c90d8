//! The lexer: splits PTX text into tokens.

use super::syntax::error_at;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Token<'a> {
    pub lexeme: Lexeme<'a>,
    /// The line in the text, from 1.
    pub line: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lexeme<'a> {
    /// A name: an instruction with its modifiers, a directive, a register, a label, or a symbol.
    Word(&'a str),
    /// An integer or the bits of a floating-point number, as written.
    Number(&'a str),
    /// A string, without its quotation marks.
    Text(&'a str),
    /// Any other character.
    Mark(char),
}

fn begins_word(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '_' | '$' | '%' | '.')
}

/// Returns the length of the word at the start of `text`. Double colons are a part of a word, as in `shared::cta`.
fn word_length(text: &str) -> usize {
    let ends = |c: char| !begins_word(c) && !c.is_ascii_digit();
    let end = |from: usize| text[from..].find(ends).map_or(text.len(), |length| from + length);
    let mut length = end(0);
    while text[length..].starts_with("::") {
        length = end(length + 2);
    }
    length
}

/// Returns the tokens of `text` without white space and comments.
pub fn tokens(text: &str) -> Result<Vec<Token<'_>>, String> {
    let (mut rest, mut line) = (text, 1);
    let mut tokens = Vec::new();
    while let Some(first) = rest.chars().next() {
        let unterminated = |what| error_at(text, line, &format!("this {what} is not terminated"));
        let (length, lexeme) = match first {
            _ if rest.starts_with("//") => (rest.find('\n').unwrap_or(rest.len()), None),
            _ if rest.starts_with("/*") => (rest.find("*/").ok_or_else(|| unterminated("comment"))? + 2, None),
            _ if first.is_whitespace() => (first.len_utf8(), None),
            '"' => {
                let end = rest[1..].find('"').ok_or_else(|| unterminated("string"))?;
                (end + 2, Some(Lexeme::Text(&rest[1..=end])))
            }
            _ if begins_word(first) => {
                let end = word_length(rest);
                (end, Some(Lexeme::Word(&rest[..end])))
            }
            _ if first.is_ascii_digit() => {
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
                (end, Some(Lexeme::Number(&rest[..end])))
            }
            _ => (first.len_utf8(), Some(Lexeme::Mark(first))),
        };
        tokens.extend(lexeme.map(|lexeme| Token { lexeme, line }));
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unterminated_comments_and_strings_are_errors() {
        let error = tokens("\n/* never").unwrap_err();
        assert_eq!(error, "line 2: this comment is not terminated: `/* never`");
        assert!(tokens("\"never").is_err());
    }
}

//! The lexer: splits PTX text into tokens.

use super::Error;

/// A token with its line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Token<'a> {
    /// The kind and the text of the token.
    pub kind: Kind<'a>,
    /// The line in the text, from 1.
    pub line: usize,
}

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind<'a> {
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

fn continues_word(c: char) -> bool {
    begins_word(c) || c.is_ascii_digit()
}

/// Returns the length of the word at the start of `text`. Double colons are a part of a word, as in `shared::cta`.
fn word_length(text: &str) -> usize {
    let end = |from: usize| {
        text[from..].find(|c| !continues_word(c)).map_or(text.len(), |length| from + length)
    };
    let mut length = end(0);
    while text[length..].starts_with("::") {
        length = end(length + 2);
    }
    length
}

/// Returns the tokens of `text` without white space and comments.
///
/// # Errors
/// Returns an error if a comment or a string is not terminated.
pub fn tokens(text: &str) -> Result<Vec<Token<'_>>, Error> {
    let (mut rest, mut line) = (text, 1);
    let mut tokens = Vec::new();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            _ if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            _ if rest.starts_with("/*") => {
                rest.find("*/")
                    .ok_or_else(|| Error::at(text, line, "this comment is not terminated"))?
                    + 2
            }
            _ if first.is_whitespace() => first.len_utf8(),
            '"' => {
                let end = rest[1..].find('"');
                let end =
                    end.ok_or_else(|| Error::at(text, line, "this string is not terminated"))?;
                tokens.push(Token { kind: Kind::Text(&rest[1..=end]), line });
                end + 2
            }
            _ if begins_word(first) => {
                let end = word_length(rest);
                tokens.push(Token { kind: Kind::Word(&rest[..end]), line });
                end
            }
            _ if first.is_ascii_digit() => {
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
                tokens.push(Token { kind: Kind::Number(&rest[..end]), line });
                end
            }
            _ => {
                tokens.push(Token { kind: Kind::Mark(first), line });
                first.len_utf8()
            }
        };
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_numbers_strings_and_marks() {
        let kinds: Vec<_> = tokens("@!%p1 ld.global.u32 %r2, [%rd3+-4]; // end\n\"a b\"").unwrap();
        let of = |kind, line| Token { kind, line };
        assert_eq!(
            kinds,
            [
                of(Kind::Mark('@'), 1),
                of(Kind::Mark('!'), 1),
                of(Kind::Word("%p1"), 1),
                of(Kind::Word("ld.global.u32"), 1),
                of(Kind::Word("%r2"), 1),
                of(Kind::Mark(','), 1),
                of(Kind::Mark('['), 1),
                of(Kind::Word("%rd3"), 1),
                of(Kind::Mark('+'), 1),
                of(Kind::Mark('-'), 1),
                of(Kind::Number("4"), 1),
                of(Kind::Mark(']'), 1),
                of(Kind::Mark(';'), 1),
                of(Kind::Text("a b"), 2),
            ]
        );
    }

    #[test]
    fn lines_are_counted_through_comments() {
        let tokens = tokens("/* one\ntwo */ add\n\nsub").unwrap();
        assert_eq!(tokens.iter().map(|token| token.line).collect::<Vec<_>>(), [2, 4]);
    }

    #[test]
    fn unterminated_comments_and_strings_are_errors() {
        let error = tokens("\n/* never").unwrap_err();
        assert_eq!(error.to_string(), "line 2: this comment is not terminated: `/* never`");
        assert!(tokens("\"never").is_err());
    }
}

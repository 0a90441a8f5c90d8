//! The recursive-descent parser of filters. The lowest precedence is that of ||, followed by &&, ! and
//! parentheses.

use super::rule::{Field, Filtered, Rule};
use spmv_matrix::near::did_you_mean;

/// The largest depth of ! and parentheses; deeper nesting could overflow the stack.
const MAX_DEPTH: usize = 64;

type Operator<V> = (&'static str, fn(&V, &V) -> bool);

/// The operators on numbers. Longer ones precede their prefixes.
const OF_NUMBERS: &[Operator<f64>] = &[
    ("<=", f64::le),
    (">=", f64::ge),
    ("!=", f64::ne),
    ("<", f64::lt),
    (">", f64::gt),
    ("==", f64::eq),
    ("=", f64::eq),
];
const OF_WORDS: &[Operator<str>] = &[("!=", str::ne), ("==", str::eq), ("=", str::eq), ("~", contains)];

fn contains(text: &str, part: &str) -> bool {
    text.to_ascii_lowercase().contains(&part.to_ascii_lowercase())
}

/// Parses the filter that is the end of `text`, from the byte `start` on.
pub(super) fn rule<T: Filtered>(text: &str, start: usize) -> Result<Rule<T>, String> {
    let mut parser = Parser { text, at: start, depth: 0 };
    let rule = parser.any()?;
    parser.rest().is_empty().then_some(rule).ok_or_else(|| parser.misfit("&&, || or the end"))
}

struct Parser<'t> {
    text: &'t str,
    /// The current position in bytes, at the start of a character.
    at: usize,
    /// The number of open parentheses and negations.
    depth: usize,
}

impl<'t> Parser<'t> {
    fn any<T: Filtered>(&mut self) -> Result<Rule<T>, String> {
        self.joined("||", Self::all, Rule::Any)
    }

    fn all<T: Filtered>(&mut self) -> Result<Rule<T>, String> {
        self.joined("&&", Self::one, Rule::All)
    }

    fn joined<T: Filtered>(
        &mut self,
        sign: &str,
        part: fn(&mut Self) -> Result<Rule<T>, String>,
        join: fn(Vec<Rule<T>>) -> Rule<T>,
    ) -> Result<Rule<T>, String> {
        let mut parts = vec![part(self)?];
        while self.takes(sign) {
            parts.push(part(self)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { join(parts) })
    }

    fn one<T: Filtered>(&mut self) -> Result<Rule<T>, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.misfit("at most 64 levels of ! and parentheses"));
        }
        let rule = if self.takes("!") {
            Rule::Not(Box::new(self.one()?))
        } else if self.takes("(") {
            let rule = self.any()?;
            self.takes(")").then_some(rule).ok_or_else(|| self.misfit("&&, || or )"))?
        } else {
            self.plain()?
        };
        self.depth -= 1;
        Ok(rule)
    }

    fn plain<T: Filtered>(&mut self) -> Result<Rule<T>, String> {
        let end = self.rest().find(|c: char| !c.is_ascii_alphanumeric() && !"_:".contains(c));
        let name = &self.rest()[..end.unwrap_or(self.rest().len())];
        let Some(field) = T::field(name) else {
            let hint = did_you_mean(name, T::names()).map(|it| format!(" ({it})"));
            let misfit = self.misfit(&format!("{}, ! or (", T::expected()));
            return Err(misfit + &hint.unwrap_or_default());
        };
        self.at += name.len();
        Ok(match field {
            Field::Property(has) => Rule::Property(has),
            Field::Number(number) => {
                let compare = self.operator(OF_NUMBERS, "<, <=, >, >=, = or !=")?;
                Rule::Number(name.to_owned(), number, compare, self.number()?)
            }
            Field::Word(word) => {
                let compare = self.operator(OF_WORDS, "=, != or ~")?;
                Rule::Word(name.to_owned(), word, compare, self.word()?.to_owned())
            }
        })
    }

    fn operator<V: ?Sized>(&mut self, operators: &[Operator<V>], allowed: &str) -> Result<fn(&V, &V) -> bool, String> {
        let taken = operators.iter().find(|(sign, _)| self.takes(sign));
        taken.map(|(_, compare)| *compare).ok_or_else(|| self.misfit(allowed))
    }

    fn number(&mut self) -> Result<f64, String> {
        let rest = self.rest();
        let end = rest.find(|c: char| c.is_whitespace() || "&|)".contains(c));
        let word = &rest[..end.unwrap_or(rest.len())];
        match word.replace('_', "").parse::<f64>() {
            Ok(value) if !value.is_nan() => {
                self.at += word.len();
                Ok(value)
            }
            _ => Err(self.misfit("a number such as 1e7 or 10_000")),
        }
    }

    /// Parses a text in quotes, or up to the next `&&`, `||` or `)`.
    fn word(&mut self) -> Result<&'t str, String> {
        let rest = self.rest();
        if let Some(quote) = rest.chars().next().filter(|c| "'\"".contains(*c)) {
            let end = rest[1..].find(quote).ok_or_else(|| self.misfit("a text with a closing quote"))?;
            self.at += end + 2;
            return Ok(&rest[1..=end]);
        }
        let ends = ["&&", "||", ")"].iter().filter_map(|sign| rest.find(sign));
        let value = rest[..ends.min().unwrap_or(rest.len())].trim_end();
        if value.is_empty() {
            return Err(self.misfit("a text"));
        }
        if let Some(end) = value.find(" and ") {
            self.at += end;
            return Err(self.misfit("&& or ||"));
        }
        self.at += value.len();
        Ok(value)
    }

    /// Skips blanks and returns the rest of the text.
    fn rest(&mut self) -> &'t str {
        let rest = self.text[self.at..].trim_start();
        self.at = self.text.len() - rest.len();
        rest
    }

    fn takes(&mut self, sign: &str) -> bool {
        let taken = self.rest().starts_with(sign);
        self.at += if taken { sign.len() } else { 0 };
        taken
    }

    /// Returns the error that `allowed` was expected instead of the word at the current position.
    fn misfit(&mut self, allowed: &str) -> String {
        let found = match self.rest().split_whitespace().next() {
            None => "the end".to_owned(),
            Some("and") => "'and' (write &&, or put a text with 'and' in quotes)".to_owned(),
            Some(word) => format!("'{word:.40}'"),
        };
        let column = 1 + self.text[..self.at].chars().count();
        format!("filter, character {column}: expected {allowed}, but found {found}")
    }
}

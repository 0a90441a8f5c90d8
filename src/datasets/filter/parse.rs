//! The recursive-descent parser of filters. The lowest precedence is that of ||, followed by &&, ! and
//! parentheses.

use crate::near::did_you_mean;

use super::{Attribute, Comparison, FilterError, Match, Property, Quantity, Rule};

/// The largest depth of ! and parentheses; deeper nesting could overflow the stack.
const MAX_DEPTH: usize = 64;

/// The kind of condition that begins with a word.
#[derive(Clone, Copy)]
enum Word {
    Quantity(Quantity),
    Attribute(Attribute),
    Property(Property),
}

const WORDS: &[(&str, Word)] = &[
    ("rows", Word::Quantity(Quantity::Rows)),
    ("cols", Word::Quantity(Quantity::Cols)),
    ("nnz", Word::Quantity(Quantity::Nnz)),
    ("entries", Word::Quantity(Quantity::Entries)),
    ("archive", Word::Quantity(Quantity::Archive)),
    ("symmetry", Word::Quantity(Quantity::Symmetry)),
    ("group", Word::Attribute(Attribute::Group)),
    ("name", Word::Attribute(Attribute::Name)),
    ("kind", Word::Attribute(Attribute::Kind)),
    ("square", Word::Property(Property::Square)),
    ("symmetric", Word::Property(Property::Symmetric)),
    ("binary", Word::Property(Property::Binary)),
    ("real", Word::Property(Property::Real)),
    ("complex", Word::Property(Property::Complex)),
];
pub(super) const BEGINNINGS: &str = "one of rows, cols, nnz, entries, archive, symmetry, group, name, kind, \
                          square, symmetric, binary, real, complex, ! or (";

/// The comparison operators. Longer ones precede their prefixes.
const COMPARISONS: &[(&str, Comparison)] = &[
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("!=", Comparison::Unequal),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
    ("=", Comparison::Equal),
];
const MATCHES: &[(&str, Match)] =
    &[("!=", Match::Unequal), ("=", Match::Equal), ("~", Match::Contains)];

/// Parses a whole filter.
pub(super) fn rule(text: &str) -> Result<Rule, FilterError> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    let rule = parser.any()?;
    match parser.rest().is_empty() {
        true => Ok(rule),
        false => Err(parser.misfit("&&, || or the end")),
    }
}

struct Parser<'t> {
    text: &'t str,
    /// The current position in bytes, at the start of a character.
    at: usize,
    /// The number of open parentheses and negations.
    depth: usize,
}

impl<'t> Parser<'t> {
    fn any(&mut self) -> Result<Rule, FilterError> {
        self.joined("||", Self::all, Rule::Any)
    }

    fn all(&mut self) -> Result<Rule, FilterError> {
        self.joined("&&", Self::one, Rule::All)
    }

    fn joined(
        &mut self,
        sign: &str,
        part: fn(&mut Self) -> Result<Rule, FilterError>,
        join: fn(Vec<Rule>) -> Rule,
    ) -> Result<Rule, FilterError> {
        let first = part(self)?;
        let mut parts = vec![first];
        while self.takes(sign) {
            parts.push(part(self)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { join(parts) })
    }

    fn one(&mut self) -> Result<Rule, FilterError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.misfit("at most 64 levels of ! and parentheses"));
        }
        let rule = if self.takes("!") {
            Ok(Rule::Not(Box::new(self.one()?)))
        } else if self.takes("(") {
            let rule = self.any()?;
            if self.takes(")") { Ok(rule) } else { Err(self.misfit("&&, || or )")) }
        } else {
            self.plain()
        };
        self.depth -= 1;
        rule
    }

    /// Parses a comparison or a property.
    fn plain(&mut self) -> Result<Rule, FilterError> {
        let end = self.rest().find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let word = &self.rest()[..end.unwrap_or(self.rest().len())];
        let Some((_, known)) = WORDS.iter().find(|(name, _)| *name == word) else {
            let misfit = self.misfit(BEGINNINGS);
            let question = did_you_mean(word, WORDS.iter().map(|(name, _)| *name));
            let found = misfit.found + &question.map_or(String::new(), |it| format!(" ({it})"));
            return Err(FilterError { found, ..misfit });
        };
        self.at += word.len();
        match *known {
            Word::Property(property) => Ok(Rule::Is(property)),
            Word::Quantity(quantity) => {
                let comparison = self.sign(COMPARISONS, "<, <=, >, >=, = or !=")?;
                Ok(Rule::Number(quantity, comparison, self.number()?))
            }
            Word::Attribute(attribute) => {
                let wanted = self.sign(MATCHES, "=, != or ~")?;
                Ok(Rule::Text(attribute, wanted, self.value()?.to_owned()))
            }
        }
    }

    fn sign<T: Copy>(
        &mut self,
        signs: &[(&str, T)],
        allowed: &'static str,
    ) -> Result<T, FilterError> {
        match signs.iter().find(|(sign, _)| self.takes(sign)) {
            Some((_, meaning)) => Ok(*meaning),
            None => Err(self.misfit(allowed)),
        }
    }

    fn number(&mut self) -> Result<f64, FilterError> {
        let rest = self.rest();
        let end = rest.find(|c: char| c.is_whitespace() || "&|)".contains(c));
        let word = &rest[..end.unwrap_or(rest.len())];
        match word.replace('_', "").parse::<f64>() {
            Ok(value) if value.is_finite() => {
                self.at += word.len();
                Ok(value)
            }
            _ => Err(self.misfit("a number such as 1e7 or 10_000")),
        }
    }

    /// Parses a text in quotes, or up to the next `&&`, `||` or `)`.
    fn value(&mut self) -> Result<&'t str, FilterError> {
        let rest = self.rest();
        if let Some(quote) = rest.chars().next().filter(|c| "'\"".contains(*c)) {
            let inside = &rest[1..];
            let Some(end) = inside.find(quote) else {
                return Err(self.misfit("a text with a closing quote"));
            };
            self.at += end + 2;
            return Ok(&inside[..end]);
        }
        let ends = ["&&", "||", ")"].iter().filter_map(|sign| rest.find(sign));
        let value = rest[..ends.min().unwrap_or(rest.len())].trim_end();
        if value.is_empty() {
            return Err(self.misfit("a text"));
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
    fn misfit(&mut self, allowed: &'static str) -> FilterError {
        let word = self.rest().split_whitespace().next();
        let found = word.map_or("the end".to_owned(), |word| format!("'{word:.40}'"));
        FilterError { column: 1 + self.text[..self.at].chars().count(), found, allowed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_names_every_word() {
        for (word, _) in WORDS {
            assert!(super::super::FORMS.contains(word) && BEGINNINGS.contains(word), "{word}");
        }
    }
}

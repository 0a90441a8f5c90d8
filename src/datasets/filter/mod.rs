//! Filters that select matrices, as in `nnz < 1e7 && (kind ~ circuit || !square)`.

mod parse;

use std::cmp::Ordering;

use super::Matrix;

/// The description of the grammar, for help texts.
pub const FORMS: &str = "rows, cols, nnz, entries, archive (estimated bytes) or symmetry (of the \
     pattern, 0 to 1) with <, <=, >, >=, = or != and a number (1e7, 10_000); group, name or kind \
     with =, != or ~ (contains) and a text; square, symmetric (A = A^T), binary, real, complex; joined \
     by &&, ||, ! and parentheses";

/// A condition that selects matrices.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter(Rule);

/// The reason why a text is not a valid filter, and the position.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("filter, character {column}: expected {allowed}, but found {found}")]
pub struct FilterError {
    /// The position of the error in characters, counted from 1.
    pub column: usize,
    found: String,
    allowed: &'static str,
}

#[derive(Clone, Debug, PartialEq)]
enum Rule {
    All(Vec<Rule>),
    Any(Vec<Rule>),
    Not(Box<Rule>),
    Number(Quantity, Comparison, f64),
    Text(Attribute, Match, String),
    Is(Property),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Quantity {
    Rows,
    Cols,
    Nnz,
    Entries,
    Archive,
    Symmetry,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Attribute {
    Group,
    Name,
    Kind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Property {
    Square,
    Symmetric,
    Binary,
    Real,
    Complex,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Comparison {
    Less,
    AtMost,
    Greater,
    AtLeast,
    Equal,
    Unequal,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Match {
    Equal,
    Unequal,
    Contains,
}

impl Filter {
    /// Parses a filter.
    ///
    /// # Errors
    /// Returns the position of the first invalid word and the words that are valid there.
    pub fn parse(text: &str) -> Result<Self, FilterError> {
        parse::rule(text).map(Self)
    }

    /// Returns whether the matrix passes. A comparison with an unknown property is false.
    pub fn passes(&self, matrix: &Matrix) -> bool {
        self.0.holds(matrix)
    }
}

impl Rule {
    fn holds(&self, matrix: &Matrix) -> bool {
        match self {
            Self::All(rules) => rules.iter().all(|rule| rule.holds(matrix)),
            Self::Any(rules) => rules.iter().any(|rule| rule.holds(matrix)),
            Self::Not(rule) => !rule.holds(matrix),
            Self::Number(quantity, comparison, value) => quantity
                .of(matrix)
                .and_then(|found| found.partial_cmp(value))
                .is_some_and(|order| comparison.allows(order)),
            Self::Text(attribute, wanted, value) => wanted.holds(attribute.of(matrix), value),
            Self::Is(property) => property.holds(matrix),
        }
    }
}

impl Quantity {
    fn of(self, matrix: &Matrix) -> Option<f64> {
        Some(match self {
            Self::Rows => matrix.rows as f64,
            Self::Cols => matrix.cols as f64,
            Self::Nnz => matrix.nnz as f64,
            Self::Entries => matrix.entries as f64,
            Self::Archive => matrix.archive_bytes_estimate() as f64,
            Self::Symmetry => return matrix.pattern_symmetry,
        })
    }
}

impl Attribute {
    fn of(self, matrix: &Matrix) -> &str {
        match self {
            Self::Group => matrix.group(),
            Self::Name => matrix.name(),
            Self::Kind => &matrix.kind,
        }
    }
}

impl Property {
    fn holds(self, matrix: &Matrix) -> bool {
        match self {
            Self::Square => matrix.rows == matrix.cols,
            Self::Symmetric => matrix.numerical_symmetry == Some(1.0),
            Self::Binary => matrix.binary,
            Self::Real => matrix.real,
            Self::Complex => !matrix.real,
        }
    }
}

impl Comparison {
    fn allows(self, order: Ordering) -> bool {
        match self {
            Self::Less => order.is_lt(),
            Self::AtMost => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::AtLeast => order.is_ge(),
            Self::Equal => order.is_eq(),
            Self::Unequal => order.is_ne(),
        }
    }
}

impl Match {
    fn holds(self, found: &str, value: &str) -> bool {
        match self {
            Self::Equal => found == value,
            Self::Unequal => found != value,
            Self::Contains => found.to_ascii_lowercase().contains(&value.to_ascii_lowercase()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::parse::BEGINNINGS;
    use super::*;

    fn matrix() -> Matrix {
        Matrix {
            kind: "circuit simulation problem".into(),
            pattern_symmetry: Some(0.9999998517635799),
            numerical_symmetry: Some(0.4198865531852634),
            ..Matrix::of_size("Freescale/circuit5M", 5_558_326, 5_558_326, 59_524_291)
        }
    }

    #[test]
    fn filters_select_the_expected_matrices() {
        for (text, expected) in [
            ("nnz>5e7", true),
            ("nnz < 1e7 && kind~circuit", false),
            ("kind ~ 'CIRCUIT sim'", true),
            ("name ~ CIRCUIT5m", true),
            ("kind = circuit", false),
            ("kind = circuit simulation problem && real", true),
            ("name=\"circuit5M\"", true),
            ("group != Freescale", false),
            ("rows = 5_558_326", true),
            ("archive >= 416670037 && archive <= 416670037", true),
            ("symmetry >= 0.99 && symmetry < 1", true),
            ("square", true),
            ("symmetric || binary || complex", false),
            ("!symmetric", true),
            ("!!square", true),
            // && has a higher precedence than ||, and ! than both.
            ("square || square && binary", true),
            ("(square || square) && binary", false),
            ("!binary && square", true),
            ("!(binary && square)", true),
            ("!square && binary", false),
            ("!square || square", true),
            ("kind~nothing || (kind~circuit)", true),
        ] {
            let filter = Filter::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(filter.passes(&matrix()), expected, "{text}");
        }
    }

    /// A symmetric pattern alone is not sufficient.
    #[test]
    fn matrices_are_symmetric_by_their_values() {
        let of = |pattern, numerical| {
            let symmetries = (Some(pattern), Some(numerical));
            let (pattern_symmetry, numerical_symmetry) = symmetries;
            let matrix = Matrix { pattern_symmetry, numerical_symmetry, ..matrix() };
            Filter::parse("symmetric").unwrap().passes(&matrix)
        };
        assert_eq!((of(1.0, 0.9), of(1.0, 1.0)), (false, true));
    }

    #[test]
    fn an_unknown_property_fails_every_comparison() {
        let unknown = Matrix { pattern_symmetry: None, ..matrix() };
        for text in ["symmetry >= 0", "symmetry < 1", "symmetry != 0.5"] {
            assert!(!Filter::parse(text).unwrap().passes(&unknown), "{text}");
        }
    }

    #[test]
    fn errors_name_the_position_and_the_valid_words() {
        for (text, column, allowed, found) in [
            ("", 1, BEGINNINGS, "the end"),
            ("nzn<1", 1, BEGINNINGS, "'nzn<1' (did you mean nnz?)"),
            ("nnz ~ 5", 5, "<, <=, >, >=, = or !=", "'~'"),
            ("nnz<1e7 kind~x", 9, "&&, || or the end", "'kind~x'"),
            ("nnz<many", 5, "a number such as 1e7 or 10_000", "'many'"),
            ("nnz<inf", 5, "a number such as 1e7 or 10_000", "'inf'"),
            ("(square", 8, "&&, || or )", "the end"),
            ("square)", 7, "&&, || or the end", "')'"),
            ("kind<x", 5, "=, != or ~", "'<x'"),
            ("kind~ && real", 7, "a text", "'&&'"),
            ("kind~'x", 6, "a text with a closing quote", "''x'"),
            ("real && ü", 9, BEGINNINGS, "'ü'"),
        ] {
            let error = Filter::parse(text).unwrap_err().to_string();
            let place = format!("filter, character {column}");
            assert_eq!(error, format!("{place}: expected {allowed}, but found {found}"));
        }
    }

    #[test]
    fn nesting_has_a_limit() {
        let nested = |depth| format!("{}real{}", "(".repeat(depth), ")".repeat(depth));
        assert!(Filter::parse(&nested(60)).unwrap().passes(&matrix()));
        let error = Filter::parse(&nested(100_000)).unwrap_err().to_string();
        assert!(error.contains(": expected at most 64 levels of ! and"), "{error:.100}");
        assert!(Filter::parse(&format!("{}real", "!".repeat(100_000))).is_err());
    }
}

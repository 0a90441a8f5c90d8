//! The fields of matrices that filters can use.

use super::Matrix;
use crate::filter::{Field, Kind, Value};

/// The description of the grammar, for help texts.
pub const FORMS: &str = "rows, cols, nnz, entries, archive (estimated bytes) or symmetry (of the \
     pattern, 0 to 1) with <, <=, >, >=, = or != and a number (1e7, 10_000); group, name or kind \
     with =, != or ~ (contains) and a text; square, symmetric (A = A^T), binary, real, complex; joined \
     by &&, ||, ! and parentheses";

/// A field of matrices, as the function that returns its value.
#[derive(Clone, Copy, Debug)]
pub enum MatrixField {
    /// A number.
    Number(fn(&Matrix) -> Option<f64>),
    /// A text.
    Word(fn(&Matrix) -> &str),
    /// A property.
    Property(fn(&Matrix) -> bool),
}

const FIELDS: &[(&str, MatrixField)] = &[
    ("rows", MatrixField::Number(|matrix| Some(matrix.rows as f64))),
    ("cols", MatrixField::Number(|matrix| Some(matrix.cols as f64))),
    ("nnz", MatrixField::Number(|matrix| Some(matrix.nnz as f64))),
    ("entries", MatrixField::Number(|matrix| Some(matrix.entries as f64))),
    ("archive", MatrixField::Number(|matrix| Some(matrix.archive_bytes_estimate() as f64))),
    ("symmetry", MatrixField::Number(|matrix| matrix.pattern_symmetry)),
    ("group", MatrixField::Word(Matrix::group)),
    ("name", MatrixField::Word(Matrix::name)),
    ("kind", MatrixField::Word(|matrix| &matrix.kind)),
    ("square", MatrixField::Property(|matrix| matrix.rows == matrix.cols)),
    ("symmetric", MatrixField::Property(|matrix| matrix.numerical_symmetry == Some(1.0))),
    ("binary", MatrixField::Property(|matrix| matrix.binary)),
    ("real", MatrixField::Property(|matrix| matrix.real)),
    ("complex", MatrixField::Property(|matrix| !matrix.real)),
];

impl Field for MatrixField {
    type Item = Matrix;

    fn find(name: &str) -> Option<Self> {
        FIELDS.iter().find(|(known, _)| *known == name).map(|(_, field)| *field)
    }

    fn names() -> impl Iterator<Item = &'static str> {
        FIELDS.iter().map(|(name, _)| *name)
    }

    fn expected() -> String {
        format!("one of {}", Self::names().collect::<Vec<_>>().join(", "))
    }

    fn kind(&self) -> Kind {
        match self {
            Self::Number(_) => Kind::Number,
            Self::Word(_) => Kind::Word,
            Self::Property(_) => Kind::Property,
        }
    }

    fn value<'m>(&self, matrix: &'m Matrix) -> Value<'m> {
        match self {
            Self::Number(number) => Value::Number(number(matrix)),
            Self::Word(word) => Value::Word(word(matrix)),
            Self::Property(has) => Value::Property(has(matrix)),
        }
    }
}

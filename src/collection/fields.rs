//! The fields of matrices that filters can use.

use super::matrix::Matrix;
use spmv_results::filter::{Field, Filtered};

/// The grammar, for help texts.
pub const FORMS: &str = "rows, cols, nnz, entries, archive (estimated bytes) or symmetry (of the \
     pattern, 0 to 1) with <, <=, >, >=, = or != and a number (1e7, 10_000); group, name or kind \
     with =, != or ~ (contains) and a text; square, symmetric (A = A^T), binary, real, complex; joined \
     by &&, ||, ! and parentheses";

type MatrixField = Field<Matrix>;

const FIELDS: &[(&str, MatrixField)] = &[
    ("rows", MatrixField::Number(|matrix, _| Some(matrix.rows as f64))),
    ("cols", MatrixField::Number(|matrix, _| Some(matrix.cols as f64))),
    ("nnz", MatrixField::Number(|matrix, _| Some(matrix.nnz as f64))),
    ("entries", MatrixField::Number(|matrix, _| Some(matrix.entries as f64))),
    ("archive", MatrixField::Number(|matrix, _| Some(matrix.archive_bytes_estimate() as f64))),
    ("symmetry", MatrixField::Number(|matrix, _| matrix.pattern_symmetry)),
    ("group", MatrixField::Word(|matrix, _| matrix.group())),
    ("name", MatrixField::Word(|matrix, _| matrix.name())),
    ("kind", MatrixField::Word(|matrix, _| &matrix.kind)),
    ("square", MatrixField::Property(|matrix| matrix.rows == matrix.cols)),
    ("symmetric", MatrixField::Property(|matrix| matrix.numerical_symmetry == Some(1.0))),
    ("binary", MatrixField::Property(|matrix| matrix.binary)),
    ("real", MatrixField::Property(|matrix| matrix.real)),
    ("complex", MatrixField::Property(|matrix| !matrix.real)),
];

impl Filtered for Matrix {
    fn field(name: &str) -> Option<Field<Self>> {
        FIELDS.iter().find(|(known, _)| *known == name).map(|(_, field)| field.clone())
    }

    fn names() -> impl Iterator<Item = &'static str> {
        FIELDS.iter().map(|(name, _)| *name)
    }

    fn expected() -> String {
        format!("one of {}", Self::names().collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests;

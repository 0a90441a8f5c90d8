//! What is known of a matrix before a method runs on it.

use serde::{Deserialize, Serialize};

use super::Row;
use crate::settings::Values;
use spmv_matrix::Csr;
use spmv_matrix::order::{bandwidth, profile};
use spmv_matrix::reader::MatrixName;
use spmv_matrix::stats::{Shape, distinct_values};

/// The properties of a matrix, which every row of it repeats. An unknown property is `None`, an empty cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MatrixFacts {
    /// The file or generator specification as given on the command line.
    pub file: String,
    /// The size and the row statistics; `None` if the matrix could not be read.
    #[serde(flatten)]
    pub shape: Option<Shape>,
    pub pattern_symmetry: Option<f64>,
    /// The kind of problem according to the collection, or a note that the matrix is generated.
    pub kind: Option<String>,
    pub distinct_values: Option<usize>,
    pub values: Option<Values>,
    /// Bandwidth and profile of a square matrix in its natural order.
    pub bandwidth: Option<usize>,
    pub profile: Option<u64>,
}

impl MatrixFacts {
    pub fn of(
        file: String,
        kind: Option<String>,
        pattern_symmetry: Option<f64>,
        csr: &Csr<f64>,
        values: Values,
    ) -> Self {
        let (shape, values) = (Some(Shape::of(csr)), Some(values));
        let distinct_values = distinct_values(csr.values());
        let square = (csr.rows() == csr.cols()).then_some(csr);
        let (bandwidth, profile) = (square.map(bandwidth), square.map(profile));
        Self { file, shape, pattern_symmetry, kind, distinct_values, values, bandwidth, profile }
    }
}

impl Row {
    /// Creates the row of a matrix on which no method ran.
    pub fn of_matrix(matrix: &MatrixFacts, run_id: &str) -> Self {
        let shape = matrix.shape.as_ref();
        let statistics = shape.map(|shape| &shape.row_length);
        Self {
            file: matrix.file.clone(),
            num_rows: shape.map(|s| s.rows),
            num_cols: shape.map(|s| s.cols),
            num_nonzeros: shape.map(|s| s.nnz),
            row_length_mean: statistics.and_then(|s| s.mean),
            row_length_std_dev: statistics.and_then(|s| s.std_dev),
            row_length_variation: statistics.and_then(|s| s.variation),
            row_length_skewness: statistics.and_then(|s| s.skewness),
            max_row_length: statistics.map(|s| s.max),
            empty_rows: statistics.map(|s| s.empty),
            variance: statistics.and_then(|s| s.variance),
            pattern_symmetry: matrix.pattern_symmetry,
            kind: matrix.kind.clone(),
            distinct_values: matrix.distinct_values,
            values: matrix.values,
            bandwidth: matrix.bandwidth,
            profile: matrix.profile,
            run_id: run_id.to_owned(),
            ..Self::default()
        }
    }
}

/// Returns `cant` for `ufl_mtx/cant.mtx.gz` and `surrogate:Williams/cant`, and the specification of a generator.
pub fn matrix_name(file: &str) -> &str {
    if file.starts_with("gen:") {
        return file;
    }
    let name = file.rsplit(SEPARATORS).next().unwrap_or(file);
    MatrixName::of(name).map_or(name, |name| name.stem)
}

/// Returns the folders and the name of a matrix: `MM`, `Williams`, `cant` for `MM/Williams/cant.mtx`, and also for
/// `MM/Williams/cant/cant.mtx`, because an archive of the collection is extracted into a folder of its own. A surrogate
/// has the group as its folder, and a generated matrix has none.
pub fn matrix_parts(file: &str) -> Vec<&str> {
    let name = matrix_name(file);
    let path = file.strip_prefix("surrogate:").unwrap_or(file);
    let Some((folders, _)) = path.rsplit_once(SEPARATORS).filter(|_| name != file) else {
        return vec![name];
    };
    let folders = folders.split(SEPARATORS).filter(|folder| !["", "."].contains(folder));
    let mut parts: Vec<_> = folders.collect();
    parts.pop_if(|own| *own == name);
    parts.push(name);
    parts
}

/// The characters between the folders of a path, also of a path that another system wrote.
const SEPARATORS: [char; 2] = ['/', '\\'];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_is_named_without_folder_and_extension() {
        for (file, name) in [
            ("ufl_mtx/cant.mtx.gz", "cant"),
            ("cant.mtx", "cant"),
            ("a\\b.c.tar.gz", "b.c"),
            ("surrogate:Williams/cant", "cant"),
            ("gen:dense,cols=4", "gen:dense,cols=4"),
            ("A/CANT.MTX", "CANT"),
            ("cant.tgz", "cant"),
        ] {
            assert_eq!(matrix_name(file), name);
        }
    }

    #[test]
    fn the_folder_of_an_extracted_archive_is_no_part() {
        for (file, parts) in [
            ("MM/G/a/a.mtx", &["MM", "G", "a"][..]),
            ("./MM//G/a.tar.gz", &["MM", "G", "a"]),
            ("/a/a/a.mtx", &["a", "a"]),
            ("G/a/a_b.mtx", &["G", "a", "a_b"]),
            ("surrogate:G/a", &["G", "a"]),
            ("a", &["a"]),
            ("gen:dense,cols=4", &["gen:dense,cols=4"]),
        ] {
            assert_eq!(matrix_parts(file), parts, "{file}");
        }
    }
}

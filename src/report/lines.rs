//! Reads result files as rows.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use csv::StringRecord;

use super::ginkgo;
use crate::record::cells::unguarded;
use crate::record::ginkgo::Unit;
use crate::record::row::{Row, matrix_name};

/// A row of a result file, including columns that other programs added to it.
#[derive(Clone, Debug)]
pub struct RecordedRow {
    /// The columns that this program defines.
    pub row: Row,
    cells: StringRecord,
    headers: Arc<StringRecord>,
}

/// Why a file cannot be read as rows.
#[derive(Debug, thiserror::Error)]
pub enum LinesError {
    /// The file does not exist or cannot be read.
    #[error("cannot read {path}: {error}")]
    Unreadable {
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        error: std::io::Error,
    },
    /// The file is not a CSV file of rows.
    #[error("{path}:{line}: {what}; expected a file written by spmv-bench with --format csv")]
    Malformed {
        /// The path of the file.
        path: PathBuf,
        /// The line number, from 1.
        line: u64,
        /// The problem.
        what: String,
    },
    /// The file is JSON, but does not contain results of products.
    #[error(
        "{path}: {what}; expected a file written by spmv-bench with --format csv or ginkgo, or the results of Ginkgo's \
         spmv benchmark"
    )]
    Foreign {
        /// The path of the file.
        path: PathBuf,
        /// The problem.
        what: String,
    },
    /// The unit of the file's times is unknown.
    #[error("{path}: {what}")]
    Unit {
        /// The path of the file.
        path: PathBuf,
        /// The reason, and what to do.
        what: String,
    },
}

/// Reads the rows of a CSV file.
///
/// # Errors
/// Returns an error if the file cannot be read or does not contain rows.
pub fn read(path: &Path) -> Result<Vec<RecordedRow>, LinesError> {
    parse(path, &text(path)?)
}

/// Reads the rows of a file in any supported form. For a file in Ginkgo's form, also returns a note for the
/// reader; `unit` is the unit of its times.
///
/// # Errors
/// Returns an error in the cases of [`read`], and if the unit is not plausible.
pub fn read_any(
    path: &Path,
    unit: Option<Unit>,
) -> Result<(Vec<RecordedRow>, Option<String>), LinesError> {
    let text = text(path)?;
    if !ginkgo::is_json(&text) {
        return Ok((parse(path, &text)?, None));
    }
    ginkgo::parse(path, &text, unit).map(|(lines, note)| (lines, Some(note)))
}

fn text(path: &Path) -> Result<Vec<u8>, LinesError> {
    let text = std::fs::read(path);
    text.map_err(|error| LinesError::Unreadable { path: path.to_owned(), error })
}

/// Parses the rows of a file with this text.
///
/// # Errors
/// Returns an error if the text does not contain rows.
pub fn parse(path: &Path, text: &[u8]) -> Result<Vec<RecordedRow>, LinesError> {
    let malformed = |line, what| LinesError::Malformed { path: path.to_owned(), line, what };
    let no_header = |error: csv::Error| malformed(1, error.to_string());
    let mut reader = csv::Reader::from_reader(text);
    let headers = Arc::new(reader.headers().map_err(no_header)?.clone());
    for needed in ["file", "method_name", "avg_spmv_ms", "run_id"] {
        if headers.iter().all(|header| header != needed) {
            return Err(malformed(1, format!("no column {needed}")));
        }
    }
    let mut lines = Vec::new();
    for record in reader.records() {
        let cells = record.map(unguarded);
        let read = cells.and_then(|cells| Ok((cells.deserialize(Some(&headers))?, cells)));
        let (row, cells) = read.map_err(|error| {
            malformed(error.position().map_or(0, csv::Position::line), describe(&error, &headers))
        })?;
        lines.push(RecordedRow { row, cells, headers: Arc::clone(&headers) });
    }
    Ok(lines)
}

/// Returns the error message, with the name of the column where it is known.
fn describe(error: &csv::Error, headers: &StringRecord) -> String {
    match error.kind() {
        csv::ErrorKind::Deserialize { err, .. } => {
            let column = err.field().and_then(|field| headers.get(field as usize));
            format!("{}: {}", column.unwrap_or("row"), err.kind())
        }
        _ => error.to_string(),
    }
}

impl RecordedRow {
    /// Returns the text in a column, or `None` if it is empty or there is no such column.
    pub fn cell(&self, column: &str) -> Option<&str> {
        let index = self.headers.iter().position(|header| header == column)?;
        self.cells.get(index).filter(|cell| !cell.is_empty())
    }

    /// Returns the number in a column, or `None` if there is none.
    pub fn number(&self, column: &str) -> Option<f64> {
        self.cell(column)?.parse().ok()
    }

    /// Returns the row with one more column.
    pub fn with(mut self, column: &str, cell: Option<String>) -> Self {
        let mut headers = StringRecord::clone(&self.headers);
        headers.push_field(column);
        self.headers = Arc::new(headers);
        self.cells.push_field(&cell.unwrap_or_default());
        self
    }

    /// Whether the result is correct and has a time.
    pub fn is_ok(&self) -> bool {
        self.row.is_ok()
    }

    /// Whether the result is wrong or the method failed.
    pub fn is_bad(&self) -> bool {
        self.row.is_bad()
    }

    /// Returns the method with its parameters, or an empty string for a matrix that was not measured.
    pub fn method(&self) -> &str {
        self.row.method_name.as_deref().unwrap_or_default()
    }

    /// Returns the name of the matrix: its file name without folders and extensions, or its generator.
    pub fn matrix(&self) -> &str {
        matrix_name(&self.row.file)
    }

    /// Whether the matrix is a generated stand-in for a matrix of the collection.
    pub fn is_stand_in(&self) -> bool {
        let kind = self.row.kind.as_deref();
        self.row.file.starts_with("stand-in:")
            || kind.is_some_and(|kind| kind.starts_with("stand-in for "))
    }

    /// Returns a value of the specification that the matrix was generated from.
    pub fn generator(&self, key: &str) -> Option<&str> {
        let spec = self.row.file.strip_prefix("gen:")?;
        spec.split(',')
            .filter_map(|part| part.split_once('='))
            .find(|pair| pair.0 == key)
            .map(|p| p.1)
    }
}

impl From<Row> for RecordedRow {
    /// Converts a row as if it had been written to a file and read back.
    fn from(row: Row) -> Self {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.serialize(&row).expect("a row is plain");
        let text = writer.into_inner().expect("memory takes all");
        let mut reader = csv::Reader::from_reader(&text[..]);
        let headers = Arc::new(reader.headers().expect("the row's own").clone());
        let cells = reader.records().next().expect("one row").expect("the row's own");
        Self { row, cells, headers }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::column::Column;

    #[test]
    fn columns_are_read_derived_and_foreign() {
        let row = Row {
            file: "gen:dense,nnz=600,cols=4".into(),
            num_nonzeros: Some(600),
            num_rows: Some(150),
            empty_rows: Some(15),
            setup_ms: Some(6.0),
            avg_spmv_ms: Some(0.003),
            ..Row::default()
        };
        let line = RecordedRow::from(row);
        let number = |name: &str| Column::of(name).of_line(&line);
        assert_eq!(number("gen:cols"), Some(4.0));
        assert_eq!(number("gen:rows"), None);
        assert_eq!(number("setup_products"), Some(2000.0));
        assert_eq!(number("ns_per_nonzero"), Some(5.0));
        assert_eq!(number("empty_percent"), Some(10.0));
        assert_eq!(number("extra_bytes_per_nonzero"), None);
        assert_eq!(number("achieved_occupancy"), None);
    }

    #[test]
    fn older_files_and_added_columns_are_read_and_others_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.csv");
        let read_text = |text: &str| {
            std::fs::write(&path, text).unwrap();
            read(&path).map_err(|e| e.to_string().replace(&dir.path().display().to_string(), "DIR"))
        };
        let head = "file,method_name,avg_spmv_ms,run_id,achieved_occupancy\n";
        let lines = read_text(&format!("{head}a.mtx,merge,0.5,r,70\n")).unwrap();
        assert_eq!(lines[0].row.avg_spmv_ms, Some(0.5));
        assert_eq!(lines[0].row.distinct_results, None);
        assert_eq!(Column::of("achieved_occupancy").of_line(&lines[0]), Some(70.0));
        let error = read_text(&format!("{head}a.mtx,merge,soon,r,70\n")).unwrap_err();
        assert!(error.starts_with("DIR/a.csv:2: ") && error.contains("avg_spmv_ms"), "{error}");
        let error = read_text("a,b\n1,2\n").unwrap_err();
        assert!(error.starts_with("DIR/a.csv:1: no column file; expected a file"), "{error}");
    }
}

//! The rows of result files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use csv::StringRecord;

use super::ginkgo;
use crate::record::cells::unguarded;
use crate::record::ginkgo::Unit;
use crate::record::row::{Row, matrix_name};

/// A row of a result file, with the columns that others added to it.
#[derive(Clone, Debug)]
pub struct RecordedRow {
    /// What this program knows of it.
    pub row: Row,
    cells: StringRecord,
    headers: Arc<StringRecord>,
}

/// Why a file cannot be read as rows.
#[derive(Debug, thiserror::Error)]
pub enum LinesError {
    /// Not there, or not readable.
    #[error("cannot read {path}: {error}")]
    Unreadable {
        /// Of the file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// Something else than rows.
    #[error("{path}:{line}: {what}; rows are what spmv-bench writes with --format csv")]
    Malformed {
        /// Of the file.
        path: PathBuf,
        /// From 1.
        line: u64,
        /// What is wrong.
        what: String,
    },
    /// JSON, but no results of products.
    #[error(
        "{path}: {what}; rows are what spmv-bench writes with --format csv or ginkgo, or what the benchmarks of Ginkgo \
         write of their operation spmv"
    )]
    Foreign {
        /// Of the file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// The unit of its times is not known.
    #[error("{path}: {what}")]
    Unit {
        /// Of the file.
        path: PathBuf,
        /// Why, and what to do.
        what: String,
    },
}

/// The rows of a file.
///
/// # Errors
/// When it is unreadable or has something else in it.
pub fn read(path: &Path) -> Result<Vec<RecordedRow>, LinesError> {
    parse(path, &text(path)?)
}

/// The rows of a file in any form that is read; of one in Ginkgo's form also what a reader of them must know. `unit`
/// is that of the times of these.
///
/// # Errors
/// As [`read`], and when the unit is not plausible.
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

/// The rows of a file that has this text.
///
/// # Errors
/// When it has something else in it.
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

/// What is wrong, with the column's name.
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
    /// What stands in a column; `None` where that is empty or missing.
    pub fn cell(&self, column: &str) -> Option<&str> {
        let index = self.headers.iter().position(|header| header == column)?;
        self.cells.get(index).filter(|cell| !cell.is_empty())
    }

    /// The number in a column.
    pub fn number(&self, column: &str) -> Option<f64> {
        self.cell(column)?.parse().ok()
    }

    /// The same with one more column.
    pub fn with(mut self, column: &str, cell: Option<String>) -> Self {
        let mut headers = StringRecord::clone(&self.headers);
        headers.push_field(column);
        self.headers = Arc::new(headers);
        self.cells.push_field(&cell.unwrap_or_default());
        self
    }

    /// Right, and timed.
    pub fn is_ok(&self) -> bool {
        self.row.is_ok()
    }

    /// Wrong, or ended in an error.
    pub fn is_bad(&self) -> bool {
        self.row.is_bad()
    }

    /// The method with its parameters, or nothing for a matrix that was not measured.
    pub fn method(&self) -> &str {
        self.row.method_name.as_deref().unwrap_or_default()
    }

    /// The matrix: its file without folders and endings, or its generator.
    pub fn matrix(&self) -> &str {
        matrix_name(&self.row.file)
    }

    /// Whether the matrix is a generated one in the place of one of the collection.
    pub fn is_stand_in(&self) -> bool {
        let kind = self.row.kind.as_deref();
        self.row.file.starts_with("stand-in:")
            || kind.is_some_and(|kind| kind.starts_with("stand-in for "))
    }

    /// A value of the specification that the matrix was generated from.
    pub fn generator(&self, key: &str) -> Option<&str> {
        let spec = self.row.file.strip_prefix("gen:")?;
        spec.split(',')
            .filter_map(|part| part.split_once('='))
            .find(|pair| pair.0 == key)
            .map(|p| p.1)
    }
}

impl From<Row> for RecordedRow {
    /// As it would be read back.
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
        assert!(error.starts_with("DIR/a.csv:1: no column file; rows are what"), "{error}");
    }
}

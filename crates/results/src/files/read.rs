use std::path::Path;

use anyhow::{Result, anyhow};
use csv::{ErrorKind, Position, StringRecord};
use rayon::prelude::*;
use serde::Deserialize;

use crate::files::cells::check_lines;
use crate::files::foreign::{self, Columns, NEEDED};
use crate::files::ginkgo::{Unit, parse as ginkgo};
use crate::matrix::MatrixReport;
use crate::row::{GroupKey, Row, Status, matrix_name};
use spmv_matrix::device::Device;
use spmv_matrix::method_name::MethodName;

/// A row of a result file.
#[derive(Clone, Debug)]
pub struct RecordedRow {
    pub row: Row,
    pub added: Added,
    /// The name of the matrix among all matrices, as `name_matrices` in `report::identity` gives it.
    pub name: Option<String>,
}

/// The columns that only some result files have, in the order of `foreign::ADDED`.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Added {
    pub published_ms: Option<f64>,
    /// The part of the published time that is launching and waiting, in milliseconds.
    pub waiting_ms: Option<f64>,
    /// The number of rows in a super-row, in files of `tune`.
    pub srs: Option<u32>,
    /// The number of super-rows in a super-super-row, in files of `tune`.
    pub ssrs: Option<u32>,
}

/// Reads the rows of a file in CSV, or in the JSON of this program.
pub fn read(path: &Path) -> Result<Vec<RecordedRow>> {
    parse(path, &text(path)?)
}

/// Reads the rows of a file in any form. A file in Ginkgo's form, with times in `unit`, also has a note on it.
pub fn read_any(path: &Path, unit: Option<Unit>) -> Result<(Vec<RecordedRow>, Option<String>)> {
    let text = text(path)?;
    if !ginkgo::is_list(&text) {
        return Ok((parse(path, &text)?, None));
    }
    let (rows, note) = ginkgo::parse(path, &text, unit)?;
    Ok((rows.into_iter().map(RecordedRow::from).collect(), Some(note)))
}

fn text(path: &Path) -> Result<Vec<u8>> {
    foreign::contents(path).map_err(|error| anyhow!("cannot read {}: {error}", path.display()))
}

/// Parses the text of a file in CSV, or in the JSON of this program. An error names the path and the line.
pub fn parse(path: &Path, text: &[u8]) -> Result<Vec<RecordedRow>> {
    let path = path.display();
    let rows = match text.trim_ascii_start().first() {
        None => Err(" is empty; expected".into()),
        Some(b'{') => rows_of_json(text).map_err(|what| format!(": {what}; {OF_JSON}")),
        Some(_) => rows_of_csv(text).map_err(|(line, what)| format!(":{line}: {what}; expected")),
    };
    rows.map_err(|what| anyhow!("{path}{what} a file written by spmv-bench with --format csv"))
}

const OF_JSON: &str = "a run record and the JSON of Google Benchmark have no rows; use an object per matrix, as --format \
                       json writes them, or";

fn rows_of_json(text: &[u8]) -> serde_json::Result<Vec<RecordedRow>> {
    let mut rows = Vec::new();
    for report in serde_json::Deserializer::from_slice(text).into_iter::<MatrixReport>() {
        rows.extend(report?.rows().cloned().map(RecordedRow::from));
    }
    Ok(rows)
}

/// The number of records that are parsed at once, by all threads.
const AT_ONCE: usize = 4096;

/// Parses CSV. An error has the number of its line.
fn rows_of_csv(text: &[u8]) -> Result<Vec<RecordedRow>, (u64, String)> {
    let separator = foreign::separator(text).map(|(separator, _)| separator);
    if separator.is_none()
        && let Some(what) = foreign::objection(text)
    {
        return Err((1, what));
    }
    check_lines(text).map_err(|(line, what)| (line as u64, what))?;
    let separator = separator.unwrap_or(',') as u8;
    let mut reader = csv::ReaderBuilder::new().delimiter(separator).from_reader(text);
    let columns = Columns::of(reader.headers().map_err(unread)?);
    if let Some(needed) = NEEDED.iter().find(|needed| !columns.has(needed)) {
        return Err((1, format!("no column {needed}")));
    }
    if let Some(name) = columns.twice() {
        return Err((1, format!("there are two columns {name}")));
    }
    let (mut records, mut rows) = (reader.into_records(), Vec::new());
    loop {
        let some: Vec<_> = records.by_ref().take(AT_ONCE).collect();
        if some.is_empty() {
            return Ok(rows);
        }
        let some = some.into_par_iter().map(|record| row_of(record.map_err(unread)?, &columns));
        for row in some.collect::<Vec<_>>() {
            rows.extend(row?);
        }
    }
}

/// Parses a record. Returns `None` for a header that is repeated.
fn row_of(record: StringRecord, columns: &Columns) -> Result<Option<RecordedRow>, (u64, String)> {
    let line = record.position().map_or(0, Position::line);
    if columns.are_repeated(&record).map_err(|what| (line, String::from(what)))? {
        return Ok(None);
    }
    let cells = columns.cells(record);
    let row = RecordedRow::of(&cells, columns);
    row.map(Some).map_err(|error| (line, describe(&error, columns, &cells)))
}

/// Describes a record that cannot be read, with its line.
fn unread(error: csv::Error) -> (u64, String) {
    let what = match error.kind() {
        ErrorKind::Utf8 { .. } => "the text is not UTF-8: save it as UTF-8".into(),
        ErrorKind::UnequalLengths { expected_len, len, .. } => format!(
            "{len} cells instead of {expected_len}: the line is incomplete, or files with different columns were joined"
        ),
        _ => error.to_string(),
    };
    (error.position().map_or(1, Position::line), what)
}

/// Describes a cell that cannot be read.
fn describe(error: &csv::Error, columns: &Columns, cells: &StringRecord) -> String {
    let ErrorKind::Deserialize { err, .. } = error.kind() else { return error.to_string() };
    let place = err.field().map(|field| field as usize);
    let named = place.and_then(|place| Some((columns.name(place)?, cells.get(place)?)));
    let Some((name, cell)) = named else { return format!("row: {}", err.kind()) };
    let comma = if cell.contains(',') { "; numbers have a point and no comma" } else { "" };
    let cell: String = cell.chars().take(40).collect();
    format!("{name}: '{cell}': {}{comma}", err.kind())
}

impl RecordedRow {
    fn of(cells: &StringRecord, columns: &Columns) -> csv::Result<Self> {
        let (mut row, added): (Row, Added) = cells.deserialize(None)?;
        if !columns.has("picked") {
            complete_older(&mut row);
        }
        Ok(Self { row, added, name: None })
    }

    pub fn is_ok(&self) -> bool {
        self.row.is_ok()
    }

    pub fn status(&self) -> &'static str {
        self.row.status.map_or("unknown", Status::name)
    }

    /// Returns the method with its parameters, or an empty string for a matrix that was not measured.
    pub fn method(&self) -> &str {
        self.row.method_name.as_deref().unwrap_or_default()
    }

    pub fn group_key(&self) -> GroupKey {
        GroupKey::from(&self.row)
    }

    pub fn device(&self) -> &'static str {
        self.row.device.map_or("", Device::name)
    }

    /// Returns the file name without extension, with the folders that make it unique, or the generator.
    pub fn matrix(&self) -> &str {
        self.name.as_deref().unwrap_or_else(|| matrix_name(&self.row.file))
    }

    /// Whether the matrix is a generated surrogate for a matrix of the collection.
    pub fn is_surrogate(&self) -> bool {
        let kind = self.row.kind.as_deref();
        self.row.file.starts_with("surrogate:") || kind.is_some_and(|kind| kind.starts_with("surrogate for "))
    }

    pub fn generator(&self, key: &str) -> Option<&str> {
        let spec = self.row.file.strip_prefix("gen:")?;
        let mut pairs = spec.split(',').filter_map(|part| part.split_once('='));
        pairs.find(|pair| pair.0 == key).map(|pair| pair.1)
    }
}

/// Sets the columns that older files have only as remarks.
fn complete_older(row: &mut Row) {
    let method = row.method_name.as_deref().map(|name| MethodName::parse(name).method);
    let may_pick = matches!(method, Some("auto" | "gpu-auto"));
    let reason = row.reason.text().unwrap_or_default();
    let after = |begin: &str, end: &str| -> Option<String> {
        let note = reason.split("; ").find_map(|note| note.strip_prefix(begin))?;
        Some(note.split(end).next()?.to_owned())
    };
    let picked = after("picked ", ": ").filter(|_| may_pick);
    let times = after("less accurate than its precision explains: ", " times");
    row.likely_ratio = times.and_then(|times| times.parse().ok());
    row.picked = picked;
}

impl From<Row> for RecordedRow {
    fn from(row: Row) -> Self {
        Self { row, added: Added::default(), name: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::numeric::Column;

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
        for (name, expected) in [
            ("gen:cols", Some(4.0)),
            ("gen:rows", None),
            ("setup_products", Some(2000.0)),
            ("ns_per_nonzero", Some(5.0)),
            ("empty_percent", Some(10.0)),
            ("extra_bytes_per_nonzero", None),
        ] {
            assert_eq!(Column::of(name).of_line(&line), expected, "{name}");
        }
    }

    #[test]
    fn older_files_and_added_columns_are_read_and_others_refused() {
        let read_text = |text: &str| parse("a.csv".as_ref(), text.as_bytes()).map_err(|error| error.to_string());
        let head = "file,method_name,avg_spmv_ms,run_id,achieved_occupancy\n";
        let lines = read_text(&format!("{head}a.mtx,merge,0.5,r,70\n")).unwrap();
        assert_eq!(lines[0].row.avg_spmv_ms, Some(0.5));
        assert_eq!(lines[0].row.distinct_results, None);
        assert_eq!(Column::of("achieved_occupancy").of_line(&lines[0]), Some(70.0));
        for (method, reason, picked, ratio) in [
            ("auto:products=9", "noisy; picked csr5:sigma=8", Some("csr5:sigma=8"), None),
            ("gpu-auto", "picked gpu-ell: rows are alike; other", Some("gpu-ell"), None),
            ("mine", "picked seq", None, None),
            ("b", "less accurate than its precision explains: 9 times what", None, Some(9.0)),
        ] {
            let head = "file,method_name,avg_spmv_ms,run_id,reason";
            let row = &read_text(&format!("{head}\na,{method},1,r,{reason}\n")).unwrap()[0].row;
            assert_eq!((row.picked.as_deref(), row.likely_ratio), (picked, ratio), "{method}");
            let new = format!("{head},picked\na,{method},1,r,{reason},\n");
            assert_eq!(read_text(&new).unwrap()[0].row.picked, None, "{method}");
        }
        let error = read_text(&format!("{head}a.mtx,merge,soon,r,70\n")).unwrap_err();
        assert!(error.starts_with("a.csv:2: ") && error.contains("avg_spmv_ms"), "{error}");
        let error = read_text("a,b\n1,2\n").unwrap_err();
        assert!(error.starts_with("a.csv:1: no column file; expected a file"), "{error}");
    }
}

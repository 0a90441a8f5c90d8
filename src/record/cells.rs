//! Writes and reads CSV files so that no cell is a formula. A spreadsheet evaluates a cell that begins with `=`, `+`,
//! `-` or `@`, and the formula may run programs. Text from other sources, such as the kind of a matrix, could begin
//! so. Such cells get an apostrophe in front, which spreadsheets take as a mark for text and which the reader in this
//! module removes. Numbers are not changed.

use std::borrow::Cow;
use std::io::Read;

use csv::StringRecord;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub fn to_csv<R: Serialize>(rows: &[R], with_header: bool) -> csv::Result<Vec<u8>> {
    let mut plain = csv::WriterBuilder::new().has_headers(with_header).from_writer(Vec::new());
    rows.iter().try_for_each(|row| plain.serialize(row))?;
    let plain = plain.into_inner().map_err(|error| error.into_error())?;
    let mut records = csv::ReaderBuilder::new().has_headers(false).from_reader(&plain[..]);
    let mut guarded = csv::Writer::from_writer(Vec::with_capacity(plain.len()));
    for record in records.records() {
        guarded.write_record(record?.iter().map(|cell| guard(cell).into_owned()))?;
    }
    Ok(guarded.into_inner().map_err(|error| error.into_error())?)
}

pub fn of_csv<R: DeserializeOwned>(text: impl Read) -> csv::Result<Vec<R>> {
    let mut reader = csv::Reader::from_reader(text);
    let headers = reader.headers()?.clone();
    let records = reader.records();
    records.map(|record| unguarded(record?).deserialize(Some(&headers))).collect()
}

/// Removes the apostrophes from the cells of a record that was read.
pub fn unguarded(record: StringRecord) -> StringRecord {
    match record.iter().any(|cell| unguard(cell) != cell) {
        true => record.iter().map(unguard).collect(),
        false => record,
    }
}

fn guard(cell: &str) -> Cow<'_, str> {
    match is_formula(cell) && cell.parse::<f64>().is_err() {
        true => Cow::Owned(format!("'{cell}")),
        false => Cow::Borrowed(cell),
    }
}

fn unguard(text: &str) -> &str {
    text.strip_prefix('\'').filter(|_| is_formula(text)).unwrap_or(text)
}

/// Whether a cell begins like a formula, also after an apostrophe or white space, which some spreadsheets skip.
fn is_formula(cell: &str) -> bool {
    cell.trim_start_matches(|c: char| c == '\'' || c.is_whitespace())
        .starts_with(['=', '+', '-', '@'])
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMULAS: [&str; 7] =
        ["=1+1", "+A1", "-A1", "@SUM(A1)", "=HYPERLINK(\"http://a\")", "'=1", "\t=1"];

    #[test]
    fn a_guarded_cell_is_not_a_formula_and_is_read_unchanged() {
        for cell in FORMULAS {
            assert!(guard(cell).starts_with('\''), "{cell}");
            assert_eq!(unguard(&guard(cell)), cell);
        }
        for cell in ["", "a=1", "-1.5e-3", "+1", "-inf", "'", "'a", "''", "0", "–"] {
            assert_eq!((guard(cell).as_ref(), unguard(cell)), (cell, cell));
        }
    }

    #[derive(Serialize, serde::Deserialize, PartialEq, Debug, Clone)]
    struct Named {
        name: String,
        value: Option<f64>,
    }

    #[test]
    fn rows_are_read_as_they_were_written() {
        let named = |name: &&str| Named { name: (*name).into(), value: Some(-0.5) };
        let rows: Vec<Named> = FORMULAS.iter().chain(&["a,b\"c\nd", "-7"]).map(named).collect();
        let text = to_csv(&rows, true).unwrap();
        let shown = String::from_utf8(text.clone()).unwrap();
        assert!(shown.starts_with("name,value\n'=1+1,-0.5\n"), "{shown}");
        assert_eq!(of_csv::<Named>(&text[..]).unwrap(), rows);
    }
}

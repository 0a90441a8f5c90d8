//! Writes and reads CSV files so that no cell is a formula. A spreadsheet evaluates a cell that begins with `=`, `+`,
//! `-` or `@`, and the formula may run programs. Text from other sources, such as the kind of a matrix, could begin
//! so, also behind a semicolon, where a spreadsheet in many languages begins a new cell. Such text gets an apostrophe
//! in front, which spreadsheets take as a mark for text and which the reader in this module removes. Numbers are not
//! changed.

use std::borrow::Cow;
use std::io::Read;

use csv::StringRecord;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The maximum length of a line in bytes. A longer one is not a row, and a parser needs several times its size.
const MAX_LINE_BYTES: usize = 1 << 20;

/// Returns the number of the first line that is too long for a row, with the problem: `3: the line has …`.
pub fn check_lines(text: &[u8]) -> Result<(), (usize, String)> {
    let lines = text.split(|&byte| byte == b'\n').map(<[u8]>::len);
    let too_long = (1..).zip(lines).find(|&(_, length)| length > MAX_LINE_BYTES);
    too_long.map_or(Ok(()), |(line, length)| {
        Err((line, format!("the line has {length} bytes; a row has at most {MAX_LINE_BYTES}")))
    })
}

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
    if !record.as_slice().contains('\'') {
        return record;
    }
    record.iter().map(|cell| unguard(cell).into_owned()).collect()
}

/// Where a program with another dialect of CSV than this one begins a new cell.
const SEPARATORS: [char; 4] = [';', '\t', '\n', '\r'];

fn guard(cell: &str) -> Cow<'_, str> {
    let parts = || cell.split_inclusive(SEPARATORS);
    let is_number = |part: &str| part.trim_end_matches(SEPARATORS).parse::<f64>().is_ok();
    let is_guarded = |part: &str| is_formula(part) && !is_number(part);
    if !parts().any(is_guarded) {
        return Cow::Borrowed(cell);
    }
    Cow::Owned(parts().flat_map(|part| [if is_guarded(part) { "'" } else { "" }, part]).collect())
}

fn unguard(cell: &str) -> Cow<'_, str> {
    if !cell.contains('\'') {
        return Cow::Borrowed(cell);
    }
    let unguarded = |part| str::strip_prefix(part, '\'').filter(|_| is_formula(part)).unwrap_or(part);
    Cow::Owned(cell.split_inclusive(SEPARATORS).map(unguarded).collect())
}

/// Whether a part of a cell begins like a formula, also after an apostrophe or white space, which some spreadsheets
/// skip.
fn is_formula(part: &str) -> bool {
    part.trim_start_matches(|c: char| c == '\'' || c.is_whitespace()).starts_with(['=', '+', '-', '@'])
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMULAS: [&str; 10] = [
        "=1+1",
        "+A1",
        "-A1",
        "@SUM(A1)",
        "=HYPERLINK(\"http://a\")",
        "'=1",
        "a;=1",
        "a\t'@b;+c",
        "-1; -2 %",
        "b\n=1",
    ];

    #[test]
    fn a_guarded_cell_is_not_a_formula_and_is_read_unchanged() {
        for cell in FORMULAS {
            let guarded = guard(cell);
            let is_text = |part: &str| !part.trim_start().starts_with(['=', '+', '@']);
            assert!(guarded.split(SEPARATORS).all(is_text) && guarded != cell, "{guarded}");
            assert_eq!(unguard(&guarded), cell);
        }
        for cell in ["", "a=1", "-1.5e-3", "+1", "-inf", "-1;-2", "'", "'a;b", "''", "0", "–"] {
            assert_eq!((guard(cell).as_ref(), unguard(cell).as_ref()), (cell, cell));
        }
    }

    #[test]
    fn a_line_has_a_limit() {
        let line = |length: usize| "x".repeat(length) + "\n";
        assert_eq!(check_lines((line(MAX_LINE_BYTES) + &line(2)).as_bytes()), Ok(()));
        let (number, what) = check_lines((line(2) + &line(MAX_LINE_BYTES + 1)).as_bytes()).unwrap_err();
        assert_eq!((number, &*what), (2, "the line has 1048577 bytes; a row has at most 1048576"));
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

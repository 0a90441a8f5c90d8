//! What editors, spreadsheets and other programs make of result files. What is unambiguous is read; for the rest, the
//! error names the cause and the cure.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::Path;

use csv::StringRecord;

use crate::files::cells::unguarded;
use crate::row::Row;
use crate::row::column::{ColumnInfo, Kind};
use spmv_matrix::reader::decompressed;

/// The mark with which some editors say at the beginning of a text that it is UTF-8.
pub const MARK: &[u8] = b"\xef\xbb\xbf";
/// The columns that a file of rows needs.
pub const NEEDED: [&str; 4] = ["file", "method_name", "avg_spmv_ms", "run_id"];
/// The columns that only some files have, of which the last two are counts.
pub const ADDED: [&str; 4] = ["published_ms", "waiting_ms", "srs", "ssrs"];
/// The most bytes that the contents of a compressed file may have.
const MOST_BYTES: u64 = 1 << 30;
/// The characters that may be between columns, and what they are called.
const SEPARATORS: [(char, &str); 3] = [(',', "commas"), (';', "semicolons"), ('\t', "tabs")];
/// What stands for an unknown value in files of R, pandas, spreadsheets and databases.
const MISSING: [&str; 8] = ["NA", "<NA>", "N/A", "#N/A", "NaN", "nan", "NULL", "None"];
/// What a file is that begins so, with the cure.
const BEGINNINGS: [(&[u8], &str); 6] = [
    (b"PK\x03\x04", "it is a zip archive or a spreadsheet's own file: save the rows as CSV"),
    (b"\xff\xfe", "its text is UTF-16: save it as UTF-8"),
    (b"\xfe\xff", "its text is UTF-16: save it as UTF-8"),
    (b"<", "it is HTML or XML: name the CSV file with the rows"),
    (b"sep=", "this line is a spreadsheet's own: remove it"),
    (b"%%MatrixMarket", "it is a matrix: name a file with results"),
];

/// Reads a file, decompressed and without a mark at its beginning.
pub fn contents(path: &Path) -> io::Result<Vec<u8>> {
    let mut contents = decompressed(fs::read(path)?, MOST_BYTES)?;
    if contents.starts_with(MARK) {
        contents.drain(..MARK.len());
    }
    Ok(contents)
}

/// Returns the character between the columns and what it is called, if a text begins with a header of rows.
pub fn separator(text: &[u8]) -> Option<(char, &'static str)> {
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    SEPARATORS.into_iter().find(|&(separator, _)| is_header(line, separator))
}

fn is_header(line: &[u8], separator: char) -> bool {
    let line = String::from_utf8_lossy(line);
    let is_around = |c: char| c.is_whitespace() || ['"', '\u{feff}'].contains(&c);
    let names: Vec<_> = line.split(separator).map(|name| name.trim_matches(is_around)).collect();
    NEEDED.iter().all(|needed| names.iter().any(|name| name.eq_ignore_ascii_case(needed)))
}

/// Returns why a text does not begin with a header of rows, with the cure, if that is known.
pub fn objection(text: &[u8]) -> Option<String> {
    let known = BEGINNINGS.iter().find(|(beginning, _)| text.starts_with(beginning));
    let moved = || {
        let mut lines = (1..).zip(text.split(|&byte| byte == b'\n')).skip(1);
        let (line, _) = lines.find(|(_, line)| is_header(line, ','))?;
        Some(format!("the header is line {line}: move it to the beginning"))
    };
    known.map(|(_, what)| String::from(*what)).or_else(moved)
}

/// The columns of a file of rows.
pub struct Columns {
    /// The names as this program writes them.
    names: StringRecord,
    /// The place in a record of each column of rows and each added one, and its kind if its cells may be changed.
    places: Vec<(Option<usize>, Option<Kind>)>,
    /// The place of the mean time.
    time: Option<usize>,
}

/// Returns the names of the columns of rows and the added ones, in this order.
fn known() -> impl Iterator<Item = &'static str> {
    Row::COLUMNS.iter().map(|column| column.name).chain(ADDED)
}

impl Columns {
    pub fn of(header: &StringRecord) -> Self {
        let name = |name| named(name).map_or(name, |column| column.name);
        let names: StringRecord = header.iter().map(|it| name(it.trim())).collect();
        let place = |name| names.iter().position(|it| it == name);
        let places = known().map(|name| (place(name), kind(name))).collect();
        let time = place("avg_spmv_ms");
        Self { names, places, time }
    }

    /// Returns a column that is there twice.
    pub fn twice(&self) -> Option<&'static str> {
        known().find(|name| self.names.iter().filter(|it| it == name).count() > 1)
    }

    /// Returns the name of the column in this place of [`cells`](Self::cells).
    pub fn name(&self, place: usize) -> Option<&'static str> {
        known().nth(place)
    }

    pub fn has(&self, name: &str) -> bool {
        self.names.iter().any(|it| it == name)
    }

    /// Whether a record is the header of a file that was appended; an error if that has other columns.
    pub fn are_repeated(&self, record: &StringRecord) -> Result<bool, &'static str> {
        // Most rows have a time, and no name begins with a digit.
        let time = self.time.and_then(|time| record.get(time)).unwrap_or_default();
        if begins_with_digit(time) {
            return Ok(false);
        }
        let cells = || record.iter().map(|cell| cell.trim_start_matches('\u{feff}').trim());
        if !NEEDED.iter().all(|name| cells().any(|cell| cell.eq_ignore_ascii_case(name))) {
            return Ok(false);
        }
        let are_same = cells().zip(&self.names).all(|(cell, name)| cell.eq_ignore_ascii_case(name));
        let why = "a header with other columns: files of different versions were joined; name each by itself";
        if are_same { Ok(true) } else { Err(why) }
    }

    /// Returns the cells of a record as this program writes them, in the order of the columns of rows and added ones:
    /// to find the column of each cell by its name takes longer than all else.
    pub fn cells(&self, record: StringRecord) -> StringRecord {
        let record = unguarded(record);
        let cell = |place: Option<usize>| place.and_then(|place| record.get(place)).unwrap_or_default();
        let mut cells = StringRecord::with_capacity(record.as_slice().len(), self.places.len());
        cells.extend(self.places.iter().map(|&(place, kind)| usual(kind, cell(place))));
        cells
    }
}

fn named(name: &str) -> Option<&'static ColumnInfo> {
    Row::COLUMNS.iter().find(|column| column.name.eq_ignore_ascii_case(name))
}

fn kind(name: &str) -> Option<Kind> {
    let added = ADDED[2..].contains(&name).then_some(Kind::Count);
    let kind = named(name).map_or(added, |column| Some(column.kind))?;
    // The collection's description of a matrix may be any text.
    (kind != Kind::Name && name != "kind").then_some(kind)
}

fn usual(kind: Option<Kind>, cell: &str) -> Cow<'_, str> {
    let plain = cell.trim();
    match kind {
        None => cell.into(),
        Some(Kind::Number) if ["NaN", "nan"].contains(&plain) => plain.into(),
        Some(_) if !begins_with_digit(plain) && MISSING.contains(&plain) => "".into(),
        Some(Kind::Text) => cell.into(),
        Some(Kind::Boolean) => boolean(plain).into(),
        Some(Kind::Count) => whole(plain).map_or(plain.into(), |count| count.to_string().into()),
        Some(_) => plain.into(),
    }
}

fn begins_with_digit(cell: &str) -> bool {
    cell.starts_with(|c: char| c.is_ascii_digit())
}

fn boolean(cell: &str) -> &str {
    let words = [("true", ["true", "t", "1", "1.0"]), ("false", ["false", "f", "0", "0.0"])];
    let is_one = |(_, of): &(&str, [&str; 4])| of.iter().any(|it| it.eq_ignore_ascii_case(cell));
    words.into_iter().find(is_one).map_or(cell, |(word, _)| word)
}

/// Returns a whole number that is written as `3.0` or `1E+05`.
fn whole(cell: &str) -> Option<u64> {
    if cell.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: f64 = cell.parse().ok()?;
    let is_exact = number.fract() == 0.0 && (0.0..=2f64.powi(53)).contains(&number);
    is_exact.then_some(number as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::cells::to_csv;
    use crate::files::read::parse;
    use crate::row::Status;

    /// Two rows, of which one says why a matrix was not measured.
    fn rows() -> [Row; 2] {
        let row = |file: &str| Row { file: file.into(), run_id: "r".into(), ..Row::default() };
        let measured = Row {
            num_rows: Some(100_000),
            method_name: Some("seq".into()),
            avg_spmv_ms: Some(0.25),
            threads: Some(3),
            transpose: Some(false),
            status: Some(Status::Ok),
            break_even: Some(f64::INFINITY),
            kind: Some("NA".into()),
            ..row("a;b, c.mtx")
        };
        [measured, row("b").ended(Status::Failed, "a, b; it is small".into())]
    }

    fn text() -> String {
        String::from_utf8(to_csv(&rows(), true).unwrap()).unwrap()
    }

    fn with(from: &str, to: &str) -> String {
        assert!(text().contains(from), "{from}: {}", text());
        text().replace(from, to)
    }

    fn separated_by(separator: u8) -> String {
        let mut writer = csv::WriterBuilder::new().delimiter(separator).from_writer(Vec::new());
        let text = text();
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
        reader.records().for_each(|record| writer.write_record(&record.unwrap()).unwrap());
        String::from_utf8(writer.into_inner().unwrap()).unwrap()
    }

    fn read(text: impl AsRef<[u8]>) -> Result<Vec<Row>, String> {
        let lines = parse("a.csv".as_ref(), text.as_ref()).map_err(|error| error.to_string())?;
        Ok(lines.into_iter().map(|line| line.row).collect())
    }

    #[test]
    fn rows_that_other_programs_wrote_are_the_same() {
        let header = text().lines().next().unwrap().to_owned();
        for (number, text) in [
            text(),
            format!("\u{feff}{}", text()),
            with("\n", "\r\n"),
            with(",false,ok", ",FALSE,ok"),
            with(",false,ok", ",False,ok"),
            with(",false,ok", ",0.0,ok"),
            with(",3,false", ",3.0,false"),
            with(",100000,", ",1E+05,"),
            with("100000,,,,,,,seq", "100000,NA,nan,NULL,,NA,NA,seq"),
            with("effective_GBs", "effective_gbs"),
            with("\nb,", &format!("\n{header}\nb,")),
            with("\nb,", &format!("\n\u{feff}{header}\nb,")),
            separated_by(b';'),
            separated_by(b'\t'),
            text().lines().map(|line| format!("\"\",{line}\n")).collect(),
        ]
        .into_iter()
        .enumerate()
        {
            assert_eq!(read(&text).as_deref(), Ok(&rows()[..]), "{number}: {text}");
        }
    }

    #[test]
    fn what_is_ambiguous_is_refused_with_the_cure() {
        let text = text();
        let (header, body) = text.split_once('\n').unwrap();
        let utf16 = text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
        let other = header.replace("kind", "sort");
        let latin1 = with("a, b", "\u{fc}").into_bytes().into_iter().filter(|byte| *byte != 0xc3);
        let shorter = "file,method_name,avg_spmv_ms,run_id";
        let cases: [(Vec<u8>, &str); 13] = [
            (" \n".into(), "a.csv is empty; expected a file"),
            (separated_by(b';').replace("0.25", "0,25").into(), "a.csv:2: avg_spmv_ms: '0,25': "),
            (with("100000", "\"100,000\"").into(), "a.csv:2: num_rows: '100,000': invalid digit "),
            (with(",3,", ",3.5,").into(), "a.csv:2: threads: '3.5': invalid digit "),
            (with(",false,", ",perhaps,").into(), "a.csv:2: transpose: 'perhaps': "),
            (format!("{body}{header}\n").into(), "a.csv:1: the header is line 3: move it to "),
            (format!("sep=;\n{text}").into(), "a.csv:1: this line is a spreadsheet's own: "),
            (with("\nb,", &format!("\n{shorter}\nb,")).into(), "a.csv:3: 4 cells instead of "),
            (with("\nb,", &format!("\n{other}\nb,")).into(), "a.csv:3: a header with other "),
            ([&b"\xff\xfe"[..], &utf16].concat(), "a.csv:1: its text is UTF-16: save it as UTF-8"),
            (b"PK\x03\x04\x14".into(), "a.csv:1: it is a zip archive or a spreadsheet's own file"),
            (latin1.collect(), "a.csv:3: the text is not UTF-8: save it as UTF-8"),
            (b"{\"context\": {}}".into(), "a.csv: missing field `"),
        ];
        for (text, expected) in cases {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}

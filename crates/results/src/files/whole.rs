//! How much of a text is complete rows of this program: an interrupted run may leave a part of the last one.

use std::io;
use std::path::Path;

use serde::Serialize;

use super::cells::{check_lines, to_csv};
use super::foreign::{self, MARK};

/// Reads a file of rows `R` without an incomplete last row. A file with other contents is returned as it is.
pub fn complete_rows<R: Serialize + Default>(path: &Path) -> io::Result<Vec<u8>> {
    let mut text = foreign::contents(path)?;
    if let Ok(end) = whole::<R>(&text) {
        text.truncate(end as usize);
    }
    Ok(text)
}

/// Returns the length of [`whole_rows`] of a text that may begin with the mark of an editor.
pub fn whole<R: Serialize + Default>(text: &[u8]) -> Result<u64, String> {
    let Some(rest) = text.strip_prefix(MARK) else { return whole_rows::<R>(text) };
    let end = whole_rows::<R>(rest)?;
    Ok(if end == 0 { 0 } else { end + MARK.len() as u64 })
}

/// Returns the length in bytes of CSV text up to the end of the last complete row. Cells may contain line breaks,
/// so the last line break is not sufficient: a row is complete if it ends with a line break and has as many cells
/// as the header. Only the last row may be incomplete; otherwise this program did not write the text. The error is the
/// number of the first line that does not belong to a row, and the problem in it: `3: 2 cells instead of 3`.
fn whole_rows<R: Serialize + Default>(text: &[u8]) -> Result<u64, String> {
    let header = to_csv(&[R::default()], true).expect("rows can be written to memory");
    let header = &header[..=header.iter().position(|&byte| byte == b'\n').expect("a header")];
    if header.starts_with(text) {
        return Ok(if text == header { text.len() as u64 } else { 0 });
    }
    if !text.starts_with(header) {
        return Err(format!("1: {}", other_header(text, header)));
    }
    check_lines(text).map_err(|(line, what)| format!("{line}: {what}"))?;
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text);
    let mut record = csv::ByteRecord::new();
    let mut end = 0;
    let mut cells = None;
    while reader.read_byte_record(&mut record).unwrap_or(false) {
        let next = reader.position().byte();
        let found = record.len();
        let needed = *cells.get_or_insert(found);
        let has_end = text[..next as usize].ends_with(b"\n");
        if found == needed && has_end {
            end = next;
            continue;
        }
        let is_last = next == text.len() as u64;
        if is_last && !has_rows(&text[end as usize..], needed) {
            break;
        }
        let what = if is_last {
            "a quote that is not closed".into()
        } else if has_end {
            format!("{found} cells instead of {needed}")
        } else {
            "a line end that is not a single line feed".into()
        };
        let line = record.position().map_or(0, csv::Position::line);
        return Err(format!("{line}: {what}"));
    }
    Ok(end)
}

/// Describes a text that does not begin with this header.
fn other_header(text: &[u8], header: &[u8]) -> String {
    let columns = header.trim_ascii_end();
    if text.strip_prefix(columns).is_some_and(|rest| rest.starts_with(b"\r\n")) {
        return "its lines end with CR LF: convert them to LF, as by sed -i 's/\\r$//'".into();
    }
    match foreign::separator(text) {
        Some((',', _)) => "its columns are those of another version, or in quotes or another order".into(),
        Some((_, name)) => format!("its columns are separated by {name}: save it with commas"),
        None => foreign::objection(text).unwrap_or_else(|| "its columns are not those of result rows".into()),
    }
}

fn has_rows(text: &[u8], cells: usize) -> bool {
    let mut lines = text.split_inclusive(|&byte| byte == b'\n');
    lines.any(|line| {
        let reader = csv::ReaderBuilder::new().has_headers(false).from_reader(line);
        let mut rows = reader.into_byte_records().flatten();
        line.ends_with(b"\n") && rows.any(|row| row.len() == cells)
    })
}

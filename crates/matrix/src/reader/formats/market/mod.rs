//! Matrix Market: a banner, comments, the sizes, and a line for each entry.
//!
//! The text is split at line ends into chunks. All threads parse the chunks (`chunk`, with `plain` and `scan` for
//! ordinary lines and `line` for all others) and group the entries by ranges of rows. Then the entries are placed range
//! by range into the CSR arrays (`assemble`). The threads only detect that the file has a defect. The first defect is
//! then searched for by a sequential pass from the start, so that the message does not depend on the number of threads.

mod array;
mod chunk;
mod coordinate;
#[cfg(target_arch = "x86_64")]
mod decimal;
pub mod header;
pub mod line;
#[cfg(target_arch = "x86_64")]
mod plain;
mod scan;
pub mod write;

use super::super::arrays::check_count;
use super::super::error::{Defect, Fault, Stop};
use super::super::field::Symmetry;
use super::super::lines::Lines;
use super::super::matrix::ReadMatrix;
use super::super::options::Options;
use super::super::syntax::after_banner;
use super::super::text::Text;
use super::format::Format;
use crate::memory::SizeHint;
use header::{Header, Layout};

pub static FORMAT: Format = Format {
    name: "Matrix Market",
    // The second one is that of GraphChallenge.
    extensions: &[".mtx", ".mmio"],
    common_extensions: &[],
    document: [
        "its banner",
        "as stored; 1 for a pattern",
        "`coordinate` and `array`; all fields but `complex`; all symmetries. Accepted with a remark: one percent sign. \
         Accepted: blanks and empty lines before the banner, `1.25-120` for `1.25e-120`, zeros or Ctrl-Z at the end",
    ],
    sniff: |signs| after_banner(signs.head).is_some(),
    size_hint: Some(|text, options| {
        let (header, _) = Header::read(&mut text.lines(options.chunk))?;
        Ok(size_hint(&header, text, options))
    }),
    read: |text, options| parse(text, options).map_err(|stop| stop.unwrap_or_else(|| defect(text, options))),
};

/// Returns the size of the matrix and the temporary memory according to the header.
fn size_hint(header: &Header, text: &Text, options: &Options) -> SizeHint {
    let mirrored = options.expand && header.symmetry != Symmetry::General;
    let stored = header.stored.min(text.most_entries());
    let nnz = stored.saturating_mul(if mirrored { 2 } else { 1 });
    let scratch = match header.layout {
        Layout::Coordinate => coordinate::scratch_bytes(header.field, nnz),
        Layout::Array => array::scratch_bytes(stored),
    };
    SizeHint { rows: header.rows, cols: header.cols, nnz, scratch }
}

fn parse(text: &Text, options: &Options) -> Result<ReadMatrix, Stop> {
    let mut lines = text.lines(options.chunk);
    let (header, kind) = Header::read(&mut lines)?;
    check_count(header.stored, "entries").map_err(|defect| lines.fault(defect))?;
    let needs = size_hint(&header, text, options).bytes();
    text.input.bounds.allow(needs).map_err(Fault::from)?;
    let (built, bytes) = match header.layout {
        Layout::Coordinate => {
            let bounds = text.input.bounds.beside(needs);
            let most = text.most_entries();
            coordinate::matrix(&header, options.expand, most, bounds, lines.remainder())?
        }
        Layout::Array => array::matrix(&header, options.expand, lines.remainder())?,
    };
    Ok(ReadMatrix {
        csr: built.csr,
        field: header.field,
        symmetry: header.symmetry,
        stored: header.stored,
        kind,
        duplicates: built.duplicates,
        triangles: built.triangles,
        text_bytes: header.bytes + bytes,
        file_bytes: text.input.size,
        remarks: one_percent_sign(&text.head).into_iter().collect(),
    })
}

fn one_percent_sign(head: &[u8]) -> Option<String> {
    let percents = head.iter().skip_while(|&&byte| byte != b'%').take_while(|&&byte| byte == b'%');
    (percents.count() == 1).then(|| "the banner has one percent sign instead of two".to_owned())
}

/// Searches for the first defect of a file that could not be parsed, from the start.
pub fn defect(text: &Text, options: &Options) -> Fault {
    let found = search(&mut text.lines(options.chunk));
    found.err().unwrap_or_else(|| Defect::changed().into())
}

fn search(lines: &mut Lines) -> Result<(), Fault> {
    let (header, _) = Header::read(lines)?;
    let stored = header.stored;
    let mut found = 0;
    while let Some(text) = lines.next()? {
        let is_entry = match header.layout {
            Layout::Coordinate => line::coordinate(text, &header).map(|entry| entry.is_some()),
            Layout::Array => line::element(text, &header).map(|value| value.is_some()),
        };
        found += u64::from(is_entry.map_err(|defect| lines.fault(defect))?);
        if found > stored {
            let most = format!("the {stored} given in the size line");
            return Err(lines.fault(format!("there are more entries than {most}")));
        }
    }
    if found < stored {
        return Err(lines.fault(format!("the file ends after {found} of {stored} entries")));
    }
    Ok(())
}

//! The search for the first defect of a file, by a second sequential pass from the start.

use super::entry;
use super::error::{Defect, Fault};
use super::header::{Format, Header};
use super::text::{Lines, Text};

/// Returns the first defect of a file that could not be parsed.
pub fn first(text: &Text, chunk: usize) -> Fault {
    match search(&mut text.lines(chunk)) {
        Err(fault) => fault,
        Ok(()) => Defect::Changed.into(),
    }
}

fn search(lines: &mut Lines) -> Result<(), Fault> {
    let (header, _) = Header::read(lines)?;
    let (mut found, stored) = (0, header.stored);
    while let Some(line) = lines.next()? {
        let entry = match header.format {
            Format::Coordinate => entry::coordinate(line, &header).map(|entry| entry.is_some()),
            Format::Array => entry::element(line, &header).map(|value| value.is_some()),
        };
        found += u64::from(entry.map_err(|defect| lines.fault(defect))?);
        if found > stored {
            return Err(lines.fault(Defect::SurplusEntries(stored)));
        }
    }
    match found < stored {
        true => Err(lines.fault(Defect::EntriesMissing { found, stored })),
        false => Ok(()),
    }
}

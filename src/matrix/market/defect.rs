//! The search for the first defect of a file, by a second sequential pass from the start.

use super::entry;
use super::error::{Fault, Reason};
use super::header::{Format, Header};
use super::text::{Lines, Text};

/// Returns the first defect of a file that could not be parsed.
pub fn first(text: &Text, chunk: usize) -> Fault {
    let changed = || Reason::Broken("the file changed while it was being read".into());
    match search(&mut text.lines(chunk)) {
        Err(fault) => fault,
        Ok(()) => Fault::whole(changed()),
    }
}

fn search(lines: &mut Lines) -> Result<(), Fault> {
    let (header, _) = Header::read(lines)?;
    let mut found = 0;
    while let Some(line) = lines.next()? {
        let entry = match header.format {
            Format::Coordinate => entry::coordinate(line, &header).map(|entry| entry.is_some()),
            Format::Array => entry::element(line, &header).map(|value| value.is_some()),
        };
        found += u64::from(entry.map_err(|message| lines.broken(message))?);
        if found > header.stored {
            return Err(lines.broken(surplus(header.stored)));
        }
    }
    match found < header.stored {
        true => {
            Err(lines.broken(format!("the file ends after {found} of {} entries", header.stored)))
        }
        false => Ok(()),
    }
}

fn surplus(stored: u64) -> String {
    format!("there are more entries than the {stored} given in the size line")
}

//! The settings that a time depends on in addition to matrix and method, and their names.

use crate::record::column::Value;
use crate::record::read::RecordedRow;
use crate::report::grouped::grouped;
use crate::report::names::{count, join};
use crate::report::select::Select;

/// The columns that a time depends on in addition to the matrix and the method.
pub(super) const SETTINGS: [&str; 6] =
    ["precision", "device", "threads", "cache", "order", "transpose"];

/// Settings that usually follow from the method. They are part of a name only if one method has several values.
pub(super) const OF_METHOD: [&str; 2] = ["device", "threads"];

/// Settings in which rows must be the same for times on one matrix to be comparable.
pub(super) const APART: [&str; 3] = ["precision", "cache", "transpose"];

/// Returns those of the settings in which the rows differ.
pub(super) fn varying<'s>(lines: &[&RecordedRow], settings: &[&'s str]) -> Vec<&'s str> {
    let differ = |setting: &&str| {
        lines.windows(2).any(|pair| word(pair[0], setting) != word(pair[1], setting))
    };
    settings.iter().copied().filter(differ).collect()
}

/// Returns the settings of a row as text.
pub(super) fn setting(line: &RecordedRow, settings: &[&str]) -> String {
    join(settings.iter().filter_map(|setting| word(line, setting)), " ")
}

/// Returns the text of a setting if all rows have the same value.
pub(super) fn shared(lines: &[&RecordedRow], setting: &str) -> Option<String> {
    let word = word(lines.first()?, setting).filter(|_| varying(lines, &[setting]).is_empty())?;
    match setting {
        "cache" | "order" => Some(format!("{word} {setting}")),
        _ => Some(word),
    }
}

/// Returns the text of a setting of a row. There is no text for a product that is not transposed.
fn word(line: &RecordedRow, setting: &str) -> Option<String> {
    match (setting, line.row.value(setting)?) {
        ("transpose", value) => (value == Value::Text("true")).then(|| "transposed".into()),
        ("threads", value) => Some(count(value.number()? as usize, "thread")),
        (_, value) => Some(value.text()?.into()),
    }
}

/// Returns a note if the rows that `select` selects differ in method or setting, so that only the fastest on each
/// matrix is used.
pub(super) fn note_on_choice(lines: &[&RecordedRow], select: &Select) -> Option<String> {
    let selected: Vec<_> = lines.iter().copied().filter(|line| select.meets(line)).collect();
    let comparable: Vec<_> = SETTINGS.into_iter().filter(|name| *name != "precision").collect();
    let settings = varying(&selected, &comparable);
    let kinds =
        grouped(selected, |line| join([line.method().into(), setting(line, &settings)], " "));
    let names = join(kinds.iter().map(|kind| kind.0.clone()), ", ");
    (kinds.len() > 1).then(|| format!("{select}: on each matrix the fastest of {names}"))
}

//! What besides the matrix and the method a time depends on, and how that and other things are called.

use std::collections::BTreeMap;

use crate::report::lines::RecordedRow;
use crate::report::matched::Matrix;
use crate::report::select::Select;

/// What besides the matrix and the method a time depends on.
pub(super) const SETTINGS: [&str; 6] =
    ["precision", "device", "threads", "cache", "order", "transpose"];

/// Of these, what follows from the method, unless one and the same has several.
pub(super) const OF_METHOD: [&str; 2] = ["device", "threads"];

/// Of these, what makes times of one matrix incomparable.
pub(super) const APART: [&str; 3] = ["precision", "cache", "transpose"];

/// Those of the settings in which rows differ.
pub(super) fn varying<'s>(lines: &[&RecordedRow], settings: &[&'s str]) -> Vec<&'s str> {
    let differ = |setting: &&str| {
        lines.windows(2).any(|pair| word(pair[0], setting) != word(pair[1], setting))
    };
    settings.iter().copied().filter(differ).collect()
}

/// A row's settings, in words.
pub(super) fn setting(line: &RecordedRow, settings: &[&str]) -> String {
    join(settings.iter().filter_map(|setting| word(line, setting)), " ")
}

/// The word for a setting that all rows have in common.
pub(super) fn shared(lines: &[&RecordedRow], setting: &str) -> Option<String> {
    let word = word(lines.first()?, setting).filter(|_| varying(lines, &[setting]).is_empty())?;
    match setting {
        "cache" | "order" => Some(format!("{word} {setting}")),
        _ => Some(word),
    }
}

/// Nothing stands for a product that is not by the transpose.
fn word(line: &RecordedRow, setting: &str) -> Option<String> {
    let cell = line.cell(setting)?;
    match setting {
        "transpose" => (cell == "true").then(|| "transposed".into()),
        "threads" => Some(count(cell.parse().ok()?, "thread")),
        _ => Some(cell.into()),
    }
}

/// What differs in rows that `select` means and of which only the fastest counts.
pub(super) fn note_on_choice(lines: &[&RecordedRow], select: &Select) -> Option<String> {
    let meant: Vec<_> = lines.iter().copied().filter(|line| select.meets(line)).collect();
    let comparable: Vec<_> = SETTINGS.into_iter().filter(|name| *name != "precision").collect();
    let settings = varying(&meant, &comparable);
    let kinds = grouped(meant, |line| join([line.method().into(), setting(line, &settings)], " "));
    let names = join(kinds.iter().map(|kind| kind.0.clone()), ", ");
    (kinds.len() > 1).then(|| format!("{select}: on each matrix the fastest of {names}"))
}

/// How a matrix is called; a stand-in is marked.
pub(super) fn label((name, is_stand_in, _): Matrix) -> String {
    format!("{name}{}", if is_stand_in { "*" } else { "" })
}

/// A number of things.
pub(super) fn count(number: usize, thing: &str) -> String {
    match (number, thing) {
        (1, _) => format!("1 {thing}"),
        (_, "matrix") => format!("{number} matrices"),
        _ => format!("{number} {thing}s"),
    }
}

/// Those that are not empty.
pub(super) fn join(words: impl IntoIterator<Item = String>, between: &str) -> String {
    let words: Vec<_> = words.into_iter().filter(|word| !word.is_empty()).collect();
    words.join(between)
}

/// By key, in the order in which keys appear.
pub(super) fn grouped<K: Ord + Clone, T>(
    items: impl IntoIterator<Item = T>,
    key: impl Fn(&T) -> K,
) -> Vec<(K, Vec<T>)> {
    let (mut places, mut groups) = (BTreeMap::new(), Vec::<(K, Vec<T>)>::new());
    for item in items {
        let key = key(&item);
        let place = *places.entry(key.clone()).or_insert(groups.len());
        if place == groups.len() {
            groups.push((key, Vec::new()));
        }
        groups[place].1.push(item);
    }
    groups
}

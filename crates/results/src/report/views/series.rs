//! Series: the rows of one method in one setting. The setting is what a time depends on in addition to matrix and
//! method.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use crate::files::read::RecordedRow;
use crate::report::groups::grouped;
use crate::report::matched::{self, Fastest, Matrix, Numbers};
use crate::report::names::join;
use crate::report::numeric::Column;
use crate::row::GroupKey;

/// Settings that usually follow from the method. They are part of a name only if one method has several values.
const OF_METHOD: [&str; 2] = ["device", "threads"];

/// Settings in which rows must be the same for times on one matrix to be comparable.
pub(super) const COMPARED_WITHIN: [&str; 3] = ["precision", "cache", "transpose"];

/// Returns those of the settings in which the rows differ.
pub(super) fn varying<'s>(lines: &[&RecordedRow], settings: &[&'s str]) -> Vec<&'s str> {
    // Files have tens of thousands of rows in few settings.
    let mut all = Vec::new();
    for line in lines {
        let key = line.group_key();
        if all.last() != Some(&key) {
            all.push(key);
        }
    }
    let differ = |name: &&str| all.windows(2).any(|pair| pair[0].word(name) != pair[1].word(name));
    settings.iter().copied().filter(differ).collect()
}

/// The rows of one method in one setting.
pub(super) struct Series<'a> {
    /// The name of the method, followed by the setting if there are several.
    pub name: String,
    pub lines: Vec<&'a RecordedRow>,
    times: OnceLock<Fastest<'a>>,
}

impl<'a> Series<'a> {
    fn of(name: String, lines: Vec<&'a RecordedRow>) -> Self {
        Self { name, lines, times: OnceLock::new() }
    }

    pub fn times(&self) -> &Fastest<'a> {
        self.times.get_or_init(|| matched::fastest(self.lines.iter().copied()))
    }

    /// Returns the speed-ups over a baseline, where both have a time.
    pub fn speeds(&self, over: &Fastest) -> Numbers<'a> {
        matched::ratios(self.times(), over)
    }

    pub fn numbers(&self, column: &Column) -> Numbers<'a> {
        matched::numbers(self.lines.iter().copied(), column)
    }

    pub fn points(&self, columns: [&Column; 2]) -> Vec<(&'a RecordedRow, (f64, f64))> {
        matched::points(self.lines.iter().copied(), columns)
    }

    pub fn fastest(&self) -> BTreeMap<Matrix<'a>, &'a RecordedRow> {
        self.times().iter().map(|(&(matrix, _), &(line, _))| (matrix, line)).collect()
    }
}

/// Groups rows into series. Settings in `along` split no series.
pub(super) fn series<'a>(lines: &[&'a RecordedRow], along: &[&str]) -> Vec<Series<'a>> {
    let mut of_all = varying(lines, &GroupKey::NAMES);
    of_all.retain(|name| !OF_METHOD.contains(name));
    let mut series = Vec::new();
    for (method, lines) in grouped(lines.iter().copied(), |line| line.method()) {
        let mut settings = [&of_all[..], &varying(&lines, &OF_METHOD)].concat();
        settings.retain(|setting| !along.contains(setting));
        if settings.is_empty() {
            series.push(Series::of(method.into(), lines));
            continue;
        }
        let named = grouped(lines, |line| name(method, line.group_key(), &settings));
        series.extend(named.into_iter().map(|(name, lines)| Series::of(name, lines)));
    }
    series
}

/// Returns a method or matrix, followed by the settings of these names.
pub(super) fn name(of: &str, setting: GroupKey, names: &[&str]) -> String {
    join([of.to_owned(), setting.words(names)], " ")
}

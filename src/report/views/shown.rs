//! The rows that a view shows, grouped into series by method and setting. The setting is what a time depends on in
//! addition to matrix and method.

use std::collections::{BTreeMap, BTreeSet};

use crate::record::column::Value;
use crate::record::read::RecordedRow;
use crate::report::column::Column;
use crate::report::grouped;
use crate::report::matched::{self, Fastest, Matrix, Numbers, timed};
use crate::report::names::{count, join};
use crate::report::select::{Conditions, Select};

const SETTINGS: [&str; 6] = ["precision", "device", "threads", "cache", "order", "transpose"];

/// Settings that usually follow from the method. They are part of a name only if one method has several values.
const OF_METHOD: [&str; 2] = ["device", "threads"];

/// Settings in which rows must be the same for times on one matrix to be comparable.
pub(super) const APART: [&str; 3] = ["precision", "cache", "transpose"];

/// Returns those of the settings in which the rows differ.
pub(super) fn varying<'s>(lines: &[&RecordedRow], settings: &[&'s str]) -> Vec<&'s str> {
    let differ = |setting: &&str| {
        lines.windows(2).any(|pair| word(pair[0], setting) != word(pair[1], setting))
    };
    settings.iter().copied().filter(differ).collect()
}

pub(super) fn setting(line: &RecordedRow, settings: &[&str]) -> String {
    join(settings.iter().filter_map(|setting| word(line, setting)), " ")
}

/// Returns the text of a setting if all rows have the same value.
fn shared(lines: &[&RecordedRow], setting: &str) -> Option<String> {
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
    let settings = varying(&selected, &SETTINGS[1..]);
    let kinds =
        grouped(selected, |line| join([line.method().into(), setting(line, &settings)], " "));
    let names = join(kinds.iter().map(|kind| kind.0.clone()), ", ");
    (kinds.len() > 1).then(|| format!("{select}: on each matrix the fastest of {names}"))
}

pub(super) struct Shown<'a> {
    /// The rows, in the order of the selections.
    pub lines: Vec<&'a RecordedRow>,
    /// The same rows, grouped by method and setting.
    pub series: Vec<Series<'a>>,
    /// The number of matrices on which no method ran.
    unmeasured: usize,
}

/// The rows of one method in one setting.
pub(super) struct Series<'a> {
    /// The name of the method, followed by the setting if there are several.
    pub name: String,
    /// The rows, in their original order.
    pub lines: Vec<&'a RecordedRow>,
}

impl<'a> Shown<'a> {
    /// Selects the rows that meet `conditions` and any selection in `of`, or all rows that meet the conditions if
    /// `of` is empty. Series are not split by the settings in `along`, which an axis or each row of a table
    /// shows.
    pub fn of(
        lines: &[&'a RecordedRow],
        conditions: &Conditions,
        of: &[Select],
        along: &[&str],
    ) -> Self {
        let met = lines.iter().copied().filter(|line| conditions.passes(line));
        let (mut lines, unmeasured): (Vec<_>, Vec<_>) =
            met.partition(|line| !line.method().is_empty());
        if !of.is_empty() {
            let first = |line: &RecordedRow| of.iter().position(|select| select.meets(line));
            lines.retain(|line| first(line).is_some());
            lines.sort_by_key(|line| first(line));
        }
        let series = series(&lines, along);
        Self { lines, series, unmeasured: unmeasured.len() }
    }

    /// Returns the matrices that have a time, sorted by their nonzeros, each with its first row.
    pub fn matrices(&self) -> Vec<(Matrix<'a>, &'a RecordedRow)> {
        let rows = grouped(timed(self.lines.iter().copied()), |line| matched::matrix(line));
        let mut matrices: Vec<_> =
            rows.into_iter().map(|(matrix, rows)| (matrix, rows[0])).collect();
        matrices.sort_by_key(|&((name, _, nonzeros), _)| (nonzeros, name));
        matrices
    }

    /// Returns the fastest rows of the baseline `over` in all rows, and notes on them.
    pub fn baseline(
        &self,
        lines: &[&'a RecordedRow],
        conditions: &Conditions,
        over: &Select,
    ) -> (Fastest<'a>, [Option<String>; 2]) {
        let met: Vec<_> = lines.iter().copied().filter(|line| conditions.passes(line)).collect();
        let times = matched::selected(&met, over);
        let known: BTreeSet<_> = times.keys().map(|key| key.0).collect();
        let lacking = self.matrices().iter().filter(|(of, _)| !known.contains(of)).count();
        let lack = format!("left out: {} on which {over} has no time", count(lacking, "matrix"));
        (times, [note_on_choice(&met, over), (lacking > 0).then_some(lack)])
    }

    /// Returns what `compare` makes of each series except those of the baseline `over`, with the name of the series.
    /// Series of which nothing can be compared are left out.
    pub fn compared<T>(
        &self,
        over: &Select,
        compare: impl Fn(&Series<'a>) -> Vec<T>,
    ) -> Vec<(&str, Vec<T>)> {
        let of_baseline = |series: &Series| series.lines.iter().all(|line| over.meets(line));
        let others = self.series.iter().filter(|series| !of_baseline(series));
        let compared = others.map(|series| (&series.name[..], compare(series)));
        compared.filter(|(_, of)| !of.is_empty()).collect()
    }

    /// Describes the number of matrices and stand-ins and the common settings, in one sentence.
    pub fn summary(&self) -> String {
        let (mut text, stand_ins) = self.count();
        if stand_ins > 0 {
            text += &format!(" (generated stand-ins: {stand_ins})");
        }
        join([text, self.setting()], "; ")
    }

    /// Returns the number of matrices as text, and the number of stand-ins.
    fn count(&self) -> (String, usize) {
        let matrices = self.matrices();
        let stand_ins = matrices.iter().filter(|(matrix, _)| matrix.1).count();
        (count(matrices.len(), "matrix"), stand_ins)
    }

    fn setting(&self) -> String {
        join(SETTINGS.iter().filter_map(|setting| shared(&self.lines, setting)), ", ")
    }

    /// Returns notes on the matrices, the common settings, stand-ins, and missing times, followed by the given ones.
    pub fn notes(&self, further: impl IntoIterator<Item = Option<String>>) -> Vec<String> {
        let (matrices, stand_ins) = self.count();
        let mut notes = vec![join([matrices, self.setting()], "; ")];
        if stand_ins > 0 {
            notes.push(format!(
                "marked *: generated stand-ins for matrices of the collection ({stand_ins})"
            ));
        }
        let matrices = self.matrices().len();
        let lacking = self.series.iter().filter_map(|series| {
            let lacking = matrices - series.fastest().len();
            (lacking > 0).then(|| format!("{} on {}", series.name, count(lacking, "matrix")))
        });
        let lacking = join(lacking, ", ");
        if !lacking.is_empty() {
            notes.push(format!("without a time: {lacking}"));
        }
        if self.unmeasured > 0 {
            notes.push(format!("not measured at all: {}", count(self.unmeasured, "matrix")));
        }
        notes.extend(further.into_iter().flatten());
        notes
    }

    /// Returns a note if several rows of one matrix are in a series, of which only the fastest is used.
    pub fn note_on_several(&self) -> Option<String> {
        let several = |series: &&Series| {
            let timed = timed(series.lines.iter().copied());
            let comparable = timed.map(|line| (matched::matrix(line), setting(line, &APART)));
            grouped(comparable, Clone::clone).iter().any(|(_, rows)| rows.len() > 1)
        };
        let names =
            join(self.series.iter().filter(several).map(|series| series.name.clone()), ", ");
        let note = format!("several rows per matrix, of which the fastest is used: {names}");
        (!names.is_empty()).then_some(note)
    }
}

impl<'a> Series<'a> {
    /// Returns the fastest row of each matrix and precision.
    pub fn times(&self) -> Fastest<'a> {
        matched::fastest(self.lines.iter().copied())
    }

    /// Returns a number of each row that is correct and timed.
    pub fn numbers(&self, column: &Column) -> Numbers<'a> {
        matched::numbers(self.lines.iter().copied(), column)
    }

    /// Returns two finite numbers of each row that is correct and timed.
    pub fn points(&self, columns: [&Column; 2]) -> Vec<(&'a RecordedRow, (f64, f64))> {
        matched::points(self.lines.iter().copied(), columns)
    }

    pub fn fastest(&self) -> BTreeMap<Matrix<'a>, &'a RecordedRow> {
        self.times().into_iter().map(|((matrix, _), (line, _))| (matrix, line)).collect()
    }
}

fn series<'a>(lines: &[&'a RecordedRow], along: &[&str]) -> Vec<Series<'a>> {
    let of_all: Vec<_> = SETTINGS.into_iter().filter(|name| !OF_METHOD.contains(name)).collect();
    let of_all = varying(lines, &of_all);
    let mut series = Vec::new();
    for (method, lines) in grouped(lines.iter().copied(), |line| line.method()) {
        let mut settings = [&of_all[..], &varying(&lines, &OF_METHOD)].concat();
        settings.retain(|setting| !along.contains(setting));
        for (setting, lines) in grouped(lines, |line| setting(line, &settings)) {
            series.push(Series { name: join([method.to_owned(), setting], " "), lines });
        }
    }
    series
}

//! The rows that a view shows, grouped into series by method and setting.

use std::collections::{BTreeMap, BTreeSet};

use super::setting::{APART, OF_METHOD, SETTINGS, note_on_choice, setting, shared, varying};
use crate::record::read::RecordedRow;
use crate::report::column::Column;
use crate::report::grouped::grouped;
use crate::report::matched::{self, Fastest, Matrix, Numbers, timed};
use crate::report::names::{count, join};
use crate::report::select::{Conditions, Select};

/// The rows that a view shows.
pub(super) struct Shown<'a> {
    /// The rows, in the order of the selections.
    pub lines: Vec<&'a RecordedRow>,
    /// The same rows, grouped by method and setting.
    pub series: Vec<Series<'a>>,
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
        let (measured, unmeasured): (Vec<_>, Vec<_>) =
            met.partition(|line| !line.method().is_empty());
        let first = |line: &RecordedRow| of.iter().position(|select| select.meets(line));
        let mut lines = measured;
        if !of.is_empty() {
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
        let matrices = self.matrices();
        let lacking = matrices.iter().filter(|(matrix, _)| !known.contains(matrix)).count();
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
        let matrices = self.matrices();
        let of_all = count(matrices.len(), "matrix");
        let matrices = match matrices.iter().filter(|(matrix, _)| matrix.1).count() {
            0 => of_all,
            stand_ins => format!("{of_all} (generated stand-ins: {stand_ins})"),
        };
        join([matrices, self.setting()], "; ")
    }

    /// Returns the settings that all rows have in common.
    fn setting(&self) -> String {
        join(SETTINGS.iter().filter_map(|setting| shared(&self.lines, setting)), ", ")
    }

    /// Returns notes on the matrices, the common settings, stand-ins, and missing times, followed by the given ones.
    pub fn notes(&self, further: impl IntoIterator<Item = Option<String>>) -> Vec<String> {
        let matrices = self.matrices();
        let mut notes = vec![join([count(matrices.len(), "matrix"), self.setting()], "; ")];
        let stand_ins = matrices.iter().filter(|(matrix, _)| matrix.1).count();
        if stand_ins > 0 {
            notes.push(format!(
                "marked *: generated stand-ins for matrices of the collection ({stand_ins})"
            ));
        }
        let lacking = self.series.iter().filter_map(|series| {
            let lacking = matrices.len() - series.matrices();
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

    /// Returns the fastest row of each matrix.
    pub fn fastest(&self) -> BTreeMap<Matrix<'a>, &'a RecordedRow> {
        self.times().into_iter().map(|((matrix, _), (line, _))| (matrix, line)).collect()
    }

    /// Returns a number of the fastest row of each matrix.
    pub fn by_matrix(&self, column: &Column) -> BTreeMap<Matrix<'a>, f64> {
        let number = |(matrix, line)| Some((matrix, column.of_line(line)?));
        self.fastest().into_iter().filter_map(number).collect()
    }

    /// Returns the number of matrices on which the series has a time.
    fn matrices(&self) -> usize {
        self.times().into_keys().map(|key| key.0).collect::<BTreeSet<_>>().len()
    }
}

fn series<'a>(lines: &[&'a RecordedRow], along: &[&str]) -> Vec<Series<'a>> {
    let named = |setting: &&str| !along.contains(setting);
    let of_all: Vec<_> = SETTINGS.into_iter().filter(|name| !OF_METHOD.contains(name)).collect();
    let of_all = varying(lines, &of_all);
    let methods = grouped(lines.iter().copied(), |line| line.method());
    let split = |(method, lines): (&'a str, Vec<&'a RecordedRow>)| {
        let own = varying(&lines, &OF_METHOD);
        let settings: Vec<_> = [&of_all[..], &own].concat().into_iter().filter(named).collect();
        let parts = grouped(lines, |line| setting(line, &settings));
        parts.into_iter().map(move |(setting, lines)| {
            let name = join([method.to_owned(), setting], " ");
            Series { name, lines }
        })
    };
    methods.into_iter().flat_map(split).collect()
}

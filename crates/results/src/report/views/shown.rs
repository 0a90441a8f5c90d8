//! The rows that a view shows, and what views need of them.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use super::contest::Contest;
use super::recorded::Recorded;
use super::series::{Series, name, series, varying};
use crate::files::read::RecordedRow;
use crate::report::groups::grouped;
use crate::report::matched::{self, Fastest, Matrix, timed};
use crate::report::means::Kinds;
use crate::report::names::{count, join};
use crate::report::select::{Conditions, Select};
use crate::row::GroupKey;

/// Returns a note if selected rows differ in method or setting, so that only the fastest on each matrix is used.
pub(super) fn note_on_choice(lines: &[&RecordedRow], select: &Select) -> Option<String> {
    let selected: Vec<_> = lines.iter().copied().filter(|line| select.meets(line)).collect();
    let settings = varying(&selected, &GroupKey::NAMES[1..]);
    let kinds = grouped(selected, |line| name(line.method(), line.group_key(), &settings));
    let names = join(kinds.iter().map(|kind| kind.0.clone()), ", ");
    (kinds.len() > 1).then(|| format!("{select}: on each matrix the fastest of {names}"))
}

/// The rows that a view shows. What several views need of the same rows is computed once.
pub(super) struct Shown<'r, 'a> {
    /// What the rows are chosen from, and the conditions that they meet.
    pub recorded: &'r Recorded<'a>,
    pub conditions: &'r Conditions,
    /// The rows, in the order of the selections.
    pub lines: Vec<&'a RecordedRow>,
    pub series: Vec<Series<'a>>,
    /// The number of matrices on which no method ran.
    unmeasured: usize,
    known: Known<'a>,
}

/// What was computed of the rows for one view, and other views may need.
#[derive(Default)]
struct Known<'a> {
    matrices: OnceLock<Vec<(Matrix<'a>, &'a RecordedRow)>>,
    contests: OnceLock<Vec<Contest<'a>>>,
    winners: OnceLock<Vec<Contest<'a>>>,
    notes: OnceLock<Vec<String>>,
    on_several: OnceLock<Option<String>>,
    foot: OnceLock<String>,
}

impl<'r, 'a> Shown<'r, 'a> {
    /// Selects the rows that meet `conditions` and any of `of`, if it names some. Settings in `along` split no series.
    pub fn of(recorded: &'r Recorded<'a>, conditions: &'r Conditions, of: &[Select], along: &[&str]) -> Self {
        let met = recorded.lines.iter().copied().filter(|line| conditions.passes(line));
        let (mut lines, unmeasured): (Vec<_>, Vec<_>) = met.partition(|line| !line.method().is_empty());
        let first = |line: &RecordedRow| of.iter().position(|select| select.meets(line));
        lines.retain(|line| of.is_empty() || first(line).is_some());
        lines.sort_by_key(|line| first(line));
        let series = series(&lines, along);
        let unmeasured = unmeasured.len();
        Self { recorded, conditions, lines, series, unmeasured, known: Known::default() }
    }

    /// Returns the matrices that have a time, sorted by their nonzeros, each with its first row.
    pub fn matrices(&self) -> &[(Matrix<'a>, &'a RecordedRow)] {
        self.known.matrices.get_or_init(|| {
            let rows = grouped(timed(self.lines.iter().copied()), |line| matched::matrix(line));
            let mut matrices: Vec<_> = rows.into_iter().map(|(of, rows)| (of, rows[0])).collect();
            matrices.sort_by_key(|&((name, _, nonzeros), _)| (nonzeros, name));
            matrices
        })
    }

    /// Returns the contests of all rows, sorted by the nonzeros of the matrices.
    pub fn contests(&self) -> &[Contest<'a>] {
        self.known.contests.get_or_init(|| Contest::all(&self.series))
    }

    /// Returns the contests among the methods that did not choose another method that was measured: for who wins.
    pub fn winners(&self) -> &[Contest<'a>] {
        self.known.winners.get_or_init(|| self.contests().iter().map(Contest::of_contestants).collect())
    }

    /// Returns the foot of a chart of these rows.
    pub fn foot(&self) -> &str {
        self.known.foot.get_or_init(|| self.recorded.foot(&self.lines))
    }

    /// Returns the kinds of the matrices, which have means of their own unless they are `together`.
    pub fn kinds(&self) -> Kinds {
        self.recorded.kinds(&self.lines)
    }

    /// Returns what `compare` makes of each series and the fastest rows of the baseline `over`, where there is anything,
    /// and the notes. The series of the baseline are left out.
    pub fn compared<T>(
        &self,
        over: &Select,
        meaning: String,
        compare: impl Fn(&Series<'a>, &Fastest<'a>) -> Vec<T>,
    ) -> (Vec<(&str, Vec<T>)>, Vec<String>) {
        let all = self.recorded.lines.iter().copied();
        let met: Vec<_> = all.filter(|line| self.conditions.passes(line)).collect();
        let times = matched::selected(&met, over);
        let known: BTreeSet<_> = times.keys().map(|key| key.0).collect();
        let lacking = self.matrices().iter().filter(|(of, _)| !known.contains(of)).count();
        let lack = format!("left out: {} on which {over} has no time", count(lacking, "matrix"));
        let notes = self.notes([
            note_on_choice(&met, over),
            (lacking > 0).then_some(lack),
            self.note_on_several(),
            Some(meaning),
        ]);
        let compared = self.each(|series| {
            let is_over = series.lines.iter().all(|line| over.meets(line));
            if is_over { Vec::new() } else { compare(series, &times) }
        });
        (compared, notes)
    }

    /// Returns what `make` makes of each series, where there is anything.
    pub fn each<T>(&self, make: impl Fn(&Series<'a>) -> Vec<T>) -> Vec<(&str, Vec<T>)> {
        let made = self.series.iter().map(|series| (&series.name[..], make(series)));
        made.filter(|(_, of)| !of.is_empty()).collect()
    }

    /// Describes the number of matrices and surrogates and the common settings, in one sentence.
    pub fn summary(&self) -> String {
        let [matrices, surrogates] = self.counts();
        let of_these = (surrogates > 0).then(|| format!(" (generated surrogates: {surrogates})"));
        let matrices = count(matrices, "matrix") + &of_these.unwrap_or_default();
        join([matrices, self.setting()], "; ")
    }

    /// Returns the numbers of matrices and of surrogates among them.
    fn counts(&self) -> [usize; 2] {
        let matrices = self.matrices();
        [matrices.len(), matrices.iter().filter(|(matrix, _)| matrix.1).count()]
    }

    /// Describes the settings that all rows share.
    fn setting(&self) -> String {
        let varying = varying(&self.lines, &GroupKey::NAMES);
        let shared = GroupKey::NAMES.into_iter().filter_map(|name| {
            let word = self.lines.first()?.group_key().word(name);
            let word = word.filter(|_| !varying.contains(&name))?;
            Some(if ["cache", "order"].contains(&name) { format!("{word} {name}") } else { word })
        });
        join(shared, ", ")
    }

    /// Returns notes on the matrices, the common settings, surrogates, and missing times, followed by the given ones.
    pub fn notes(&self, further: impl IntoIterator<Item = Option<String>>) -> Vec<String> {
        let notes = self.known.notes.get_or_init(|| self.own_notes());
        notes.iter().cloned().chain(further.into_iter().flatten()).collect()
    }

    fn own_notes(&self) -> Vec<String> {
        let [matrices, surrogates] = self.counts();
        let lacking = self.series.iter().filter_map(|series| {
            let lacking = matrices - series.fastest().len();
            (lacking > 0).then(|| format!("{} on {}", series.name, count(lacking, "matrix")))
        });
        let lacking = join(lacking, ", ");
        let unmeasured = count(self.unmeasured, "matrix");
        let on_surrogates = "marked *: generated surrogates for matrices of the collection";
        let notes = [
            Some(join([count(matrices, "matrix"), self.setting()], "; ")),
            (surrogates > 0).then(|| format!("{on_surrogates} ({surrogates})")),
            (!lacking.is_empty()).then(|| format!("without a time: {lacking}")),
            (self.unmeasured > 0).then(|| format!("not measured at all: {unmeasured}")),
            self.note_on_one_thread(),
        ];
        notes.into_iter().flatten().collect()
    }

    /// Returns a note on the methods that have one thread, if others have several.
    fn note_on_one_thread(&self) -> Option<String> {
        let has_several = self.lines.iter().any(|line| line.row.threads > Some(1));
        let on_one = self.series.iter().filter(|series| series.lines.iter().all(|line| line.row.threads == Some(1)));
        let names = join(on_one.map(|series| series.name.clone()), ", ");
        (has_several && !names.is_empty()).then(|| format!("on one thread: {names}"))
    }

    /// Returns a note if several rows of one matrix are in a series, of which only the fastest is used.
    pub fn note_on_several(&self) -> Option<String> {
        self.known.on_several.get_or_init(|| self.several()).clone()
    }

    fn several(&self) -> Option<String> {
        let several = self.series.iter().filter(|series| {
            let comparable = grouped(timed(series.lines.iter().copied()), |line| {
                let GroupKey { precision, cache, transpose, .. } = line.group_key();
                (matched::matrix(line), precision, cache, transpose)
            });
            comparable.iter().any(|(_, rows)| rows.len() > 1)
        });
        let names = join(several.map(|series| series.name.clone()), ", ");
        (!names.is_empty()).then(|| format!("several rows per matrix, of which the fastest is used: {names}"))
    }
}

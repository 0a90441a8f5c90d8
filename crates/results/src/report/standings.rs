//! The speed-ups of methods: over one baseline, and over the best of all baselines on each matrix.

use std::collections::{BTreeMap, BTreeSet};

use super::groups::least;
use super::matched;
use super::means::{Kinds, between};
use crate::files::read::RecordedRow;
use crate::row::baseline::{BASELINES, Baseline};
use crate::row::{Row, Timing};
use crate::statistics::Statistic;
use crate::statistics::interval::{Interval, mean_interval};
use crate::table::{Columns, Table};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Time {
    pub matrix: usize,
    pub method: String,
    pub time: Timing,
    pub values_repeat: Option<bool>,
    /// The method that this one chose, if it chooses.
    pub picked: Option<String>,
}

pub fn times(lines: &[&RecordedRow]) -> Vec<Time> {
    let mut matrices = BTreeMap::new();
    let times = lines.iter().filter_map(|line| {
        let next = matrices.len();
        Time::of(&line.row, *matrices.entry(matched::matrix(line)).or_insert(next))
    });
    times.collect()
}

impl Time {
    pub fn of(row: &Row, matrix: usize) -> Option<Self> {
        let time = row.timing(None).filter(|_| row.is_ok())?;
        let (method, picked) = (row.method_name.clone()?, row.picked.clone());
        Some(Self { matrix, method, time, values_repeat: row.values_repeat(), picked })
    }
}

/// The speed-ups of the methods in one precision and on one device.
#[derive(Clone, Debug)]
pub struct Standings<'a> {
    /// The baseline of the first speed-up: the one that is asked for, or the first in the list of baselines with a
    /// time.
    pub reference: Option<&'a str>,
    /// The number of matrices on which any method has a time.
    matrices: usize,
    pub kinds: Kinds,
    /// The methods, those with a time on every matrix first, each group sorted from fastest to slowest.
    methods: Vec<Standing<'a>>,
}

/// The speed-ups of one method, time of the baseline / time of the method, each with whether the values repeat.
#[derive(Clone, Debug, Default)]
pub struct Standing<'a> {
    method: &'a str,
    matrices: usize,
    over_reference: Vec<(Option<bool>, f64)>,
    over_best: Vec<(Option<bool>, f64)>,
    /// The interval of the last of them.
    interval: Option<Interval>,
}

impl<'a> Standings<'a> {
    /// Returns the standings with a method as the baseline of the first speed-up; `None`: the first one with a time.
    pub fn over(times: &'a [Time], baseline: Option<&'a str>) -> Self {
        let matrices = times.iter().map(|time| time.matrix).collect::<BTreeSet<_>>().len();
        let has_time = |name: &&str| times.iter().any(|time| time.method == *name);
        let first = || BASELINES.iter().map(|baseline| baseline.name).find(has_time);
        let reference = baseline.or_else(first);
        let of_reference = fastest(times, |method| Some(method) == reference);
        let of_best = fastest(times, |method| Baseline::named(method).is_some());
        let mut methods = BTreeMap::<&str, Standing>::new();
        for Time { matrix, method, time, values_repeat, .. } in times {
            let standing = methods.entry(method).or_default();
            let over_reference = of_reference.get(matrix).map(|(of, _)| of.time.over(time));
            let over_best = of_best.get(matrix).map(|(of, _)| of.time.over(time));
            standing.method = method;
            standing.matrices += 1;
            standing.over_reference.extend(over_reference.map(|over| (*values_repeat, over.value)));
            standing.over_best.extend(over_best.map(|over| (*values_repeat, over.value)));
            standing.interval = over_best.and_then(|over| over.interval());
        }
        let mut methods: Vec<_> = methods.into_values().collect();
        methods.sort_by(|a, b| b.mean().total_cmp(&a.mean()));
        methods.sort_by_key(|standing| standing.matrices < matrices);
        let kinds = Kinds::of(times.iter().map(|time| time.values_repeat));
        Self { reference, matrices, kinds, methods }
    }

    /// Gives matrices whose values repeat and others no means of their own.
    pub fn together(self) -> Self {
        Self { kinds: self.kinds.together(), ..self }
    }

    pub fn table(&self) -> Table {
        let table = Table::of(&self.methods).column("method", |standing| standing.method);
        let table = self.columns(table, |standing| standing);
        let interval = |standing: &Standing| match self.matrices {
            1 => standing.interval,
            _ => mean_interval(standing.over_best.iter().map(|number| number.1)),
        };
        let heading = "× best baseline, 95 % interval";
        table.column(heading, |standing| interval(standing).map(between)).build()
    }

    /// Adds the speed-ups of an item's method: geometric means, extremes, and the number of matrices with a time.
    pub fn columns<'t, T>(&'t self, table: Columns<'t, T>, of: impl Fn(&'t T) -> &'t Standing<'t>) -> Columns<'t, T> {
        let (kinds, mean) = (self.kinds, Statistic::GeometricMean);
        let reference = format!("× {}", self.reference.unwrap_or("no baseline"));
        table
            .means(kinds, (&reference, mean), |item| &of(item).over_reference)
            .means(kinds, ("× best baseline", mean), |item| &of(item).over_best)
            .column("least", |item| Statistic::Min.over(&of(item).over_best))
            .column("greatest", |item| Statistic::Max.over(&of(item).over_best))
            .column("matrices", |item| format!("{} of {}", of(item).matrices, self.matrices))
    }

    pub fn method(&self, name: &str) -> Option<&Standing<'a>> {
        self.methods.iter().find(|standing| standing.method == name)
    }

    pub fn notes(&self) -> Vec<String> {
        let mut notes = vec![self.meaning(), self.why()];
        if self.methods.iter().any(|standing| standing.matrices < self.matrices) {
            let partial = "Methods without a time on some of the matrices come last: their means are over fewer \
                           matrices than those of the others and cannot be compared with them.";
            notes.push(partial.into());
        }
        notes
    }

    /// Says why there are several speed-ups.
    fn why(&self) -> String {
        let answer = match self.matrices {
            1 => "the fastest method without setup, which one would use otherwise",
            _ => "the baseline that comes closest if one is used for all",
        };
        let reference = self.reference.unwrap_or("no baseline");
        format!(
            "× {reference} is over one method that is the same everywhere, so that tables can be compared; × best \
             baseline is over the best choice on each matrix, which nobody knows before; the answer is over {answer}."
        )
    }

    pub fn meaning(&self) -> String {
        let baselines = self.methods.iter().filter_map(|s| Baseline::named(s.method));
        let baselines = baselines.map(|baseline| baseline.name).collect::<Vec<_>>().join(", ");
        format!(
            "Time of the baseline over that of the method, geometric means; above 1 the method is faster. The best \
             baseline is on each matrix the fastest of {baselines}; least and greatest are over it."
        )
    }
}

/// Returns the fastest time on each matrix of the methods that are meant.
fn fastest(times: &[Time], is_meant: impl Fn(&str) -> bool) -> BTreeMap<usize, (&Time, f64)> {
    let meant = times.iter().filter(|time| is_meant(&time.method));
    least(meant.map(|time| (time.matrix, (time, time.time.ms))))
}

impl Standing<'_> {
    /// Returns the geometric mean of the speed-ups over the best baseline, or 0 where there is none.
    fn mean(&self) -> f64 {
        Statistic::GeometricMean.over(&self.over_best).unwrap_or(0.0)
    }
}

/// Returns the times of the methods in the first line, a line per matrix; `-` is no time. Intervals are ± 10 %, unless
/// there are the times of several processes. A method `auto` chose the one before it. Values repeat only on the first
/// matrix.
#[cfg(test)]
pub(super) fn times_of(text: &str) -> Vec<Time> {
    let mut lines = text.split('/').map(|line| line.split_whitespace().collect::<Vec<_>>());
    let names = lines.next().unwrap();
    let mut times = Vec::new();
    for (matrix, line) in lines.enumerate() {
        for (place, cell) in line.iter().enumerate().filter(|(_, cell)| **cell != "-") {
            let processes: Vec<f64> = cell.split(',').map(|ms| ms.parse().unwrap()).collect();
            let ms = processes[0];
            let row = match processes.len() {
                1 => Row::default().with_median(ms, (0.9 * ms, 1.1 * ms)),
                _ => Row { median_ms: Some(ms), process_ms: Some(crate::row::Processes(processes)), ..Row::default() },
            };
            times.push(Time {
                matrix,
                method: names[place].to_owned(),
                time: row.timing(None).unwrap(),
                values_repeat: Some(matrix == 0),
                picked: (names[place] == "auto").then(|| names[place - 1].to_owned()),
            });
        }
    }
    times
}

#[cfg(test)]
mod tests {
    use expect_test::expect_file;

    use super::*;
    use crate::report::cases;

    #[test]
    fn standings_are_as_the_file_says() {
        let text = cases(include_str!("standings/cases.txt"), |times| {
            let times = times_of(times);
            let standings = Standings::over(&times, None);
            format!("{}\n{}\n", standings.notes().join("\n"), standings.table().to_markdown())
        });
        expect_file!["standings/cases.txt"].assert_eq(&text);
    }
}

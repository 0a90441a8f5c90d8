//! The speed-ups of methods: over one baseline, and over the best of all baselines on each matrix.

use std::collections::{BTreeMap, BTreeSet};

use super::means::{Kinds, between};
use super::{least, matched};
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
        let fastest = |is_meant: &dyn Fn(&str) -> bool| {
            let meant = times.iter().filter(|time| is_meant(&time.method));
            least(meant.map(|time| (time.matrix, (time, time.time.ms))))
        };
        let of_reference = fastest(&|method| Some(method) == reference);
        let of_best = fastest(&|method| Baseline::named(method).is_some());
        let mut methods = BTreeMap::<&str, Standing>::new();
        for Time { matrix, method, time, values_repeat, .. } in times {
            let standing = methods.entry(method).or_default();
            let over = |(baseline, _): &(&Time, f64)| baseline.time.over(time);
            let speed = |baseline: &_| (*values_repeat, over(baseline).value);
            standing.method = method;
            standing.matrices += 1;
            standing.over_reference.extend(of_reference.get(matrix).map(speed));
            standing.over_best.extend(of_best.get(matrix).map(speed));
            standing.interval = of_best.get(matrix).and_then(|best| over(best).interval());
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
    pub fn columns<'t, T>(
        &'t self,
        table: Columns<'t, T>,
        of: impl Fn(&'t T) -> &'t Standing<'t>,
    ) -> Columns<'t, T> {
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
        let partial = self.methods.iter().any(|standing| standing.matrices < self.matrices);
        let partial = partial.then(|| {
            "Methods without a time on some of the matrices come last: their means are over fewer matrices than those \
             of the others and cannot be compared with them.".into()
        });
        [self.meaning(), self.why()].into_iter().chain(partial).collect()
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

impl Standing<'_> {
    /// Returns the geometric mean of the speed-ups over the best baseline, or 0 where there is none.
    fn mean(&self) -> f64 {
        Statistic::GeometricMean.over(&self.over_best).unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Processes;
    use crate::table::Cell;

    fn times(rows: &[(usize, &str, f64, bool)]) -> Vec<Time> {
        let time = |&(matrix, method, ms, repeat): &(usize, &str, f64, bool)| Time {
            matrix,
            method: method.into(),
            time: Row { median_ms: Some(ms), ..Row::default() }.timing(None).unwrap(),
            values_repeat: Some(repeat),
            ..Time::default()
        };
        rows.iter().map(time).collect()
    }

    fn lines(standings: &Standings) -> Vec<String> {
        let table = standings.table();
        let rows = table.rows.iter().map(|row| row.iter().map(Cell::show).collect::<Vec<_>>());
        [table.columns.clone()].into_iter().chain(rows).map(|row| row.join(" | ")).collect()
    }

    /// mkl-ie is slow on matrix 2: packed is 12 times as fast as mkl-ie there, but only 3 times as fast as merge.
    #[test]
    fn a_slow_library_call_does_not_make_a_method_look_fast() {
        let times = times(&[
            (1, "mkl-ie", 4.0, true),
            (1, "merge", 8.0, true),
            (1, "packed", 1.0, true),
            (2, "mkl-ie", 12.0, false),
            (2, "merge", 3.0, false),
            (2, "packed", 1.0, false),
            (2, "dia", 0.25, false),
        ]);
        let standings = Standings::over(&times, None);
        let expected = [
            "method | × mkl-ie | × mkl-ie, values repeat | × mkl-ie, values differ | × best baseline | \
             × best baseline, values repeat | × best baseline, values differ | least | greatest | matrices | \
             × best baseline, 95 % interval",
            "packed | 6.93 | 4.00 | 12.0 | 3.46 | 4.00 | 3.00 | 3.00 | 4.00 | 2 of 2 | 3.00 to 4.00",
            "merge | 1.41 | 0.500 | 4.00 | 0.707 | 0.500 | 1.00 | 0.500 | 1.00 | 2 of 2 | 0.500 to 1.00",
            "mkl-ie | 1.00 | 1.00 | 1.00 | 0.500 | 1.00 | 0.250 | 0.250 | 1.00 | 2 of 2 | 0.250 to 1.00",
            "dia | 48.0 |  | 48.0 | 12.0 |  | 12.0 | 12.0 | 12.0 | 1 of 2 | ",
        ];
        assert_eq!(lines(&standings), expected);
        assert_eq!(standings.notes().len(), 3);
        assert!(standings.notes()[0].contains("the fastest of merge, mkl-ie; "));
    }

    #[test]
    fn without_a_baseline_there_are_no_speedups() {
        let times = times(&[(1, "packed", 1.0, true), (1, "ell", 2.0, true)]);
        let standings = Standings::over(&times, None);
        let expected = [
            "method | × no baseline | × best baseline | least | greatest | matrices | × best baseline, 95 % interval",
            "ell |  |  |  |  | 1 of 1 | ",
            "packed |  |  |  |  | 1 of 1 | ",
        ];
        assert_eq!(lines(&standings), expected);
    }

    /// On one matrix there is no mean over matrices, and the interval is that of the ratio of both times: of 2, 1.905 and
    /// 2.045, whose logarithms have the mean 0.6844 and the standard deviation 0.03645: half is 4.303 * 0.03645 / sqrt(3).
    #[test]
    fn a_single_matrix_has_the_interval_of_its_processes() {
        let time = |method: &str, times: [f64; 3]| {
            let process_ms = Some(Processes(times.to_vec()));
            let row = Row { process_ms, ..crate::report::row("a.mtx", method, times[0]) };
            Time::of(&row, 1).unwrap()
        };
        let times = [time("merge", [2.0, 4.0, 9.0]), time("packed", [1.0, 2.1, 4.4])];
        let standings = Standings::over(&times, None);
        let expected = [
            "method | × merge | × best baseline | least | greatest | matrices | × best baseline, 95 % interval",
            "packed | 1.98 | 1.98 | 1.98 | 1.98 | 1 of 1 | 1.81 to 2.17",
            "merge | 1.00 | 1.00 | 1.00 | 1.00 | 1 of 1 | 1.00 to 1.00",
        ];
        assert_eq!(lines(&standings), expected);
    }
}

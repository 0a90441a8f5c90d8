//! How fast methods are over many matrices: over one baseline, and over the best of all baselines on each matrix.

use std::collections::{BTreeMap, BTreeSet};

use super::lines::RecordedRow;
use super::matched;
use super::statistics::Statistic;
use super::table::{Cell, Table};
use super::values::Kinds;
use crate::methods::{BASELINES, Baseline};
use crate::record::row::Row;

/// The time of a method on a matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Time {
    /// A number for the matrix.
    pub matrix: usize,
    /// The method with its parameters.
    pub method: String,
    /// Of a product: see [`Row::typical_ms`].
    pub ms: f64,
    /// Of the matrix: see [`Row::values_repeat`].
    pub values_repeat: Option<bool>,
}

/// The times of rows.
pub fn times(lines: &[&RecordedRow]) -> Vec<Time> {
    let mut matrices = BTreeMap::new();
    let times = lines.iter().filter_map(|line| {
        let next = matrices.len();
        Time::of(&line.row, *matrices.entry(matched::matrix(line)).or_insert(next))
    });
    times.collect()
}

impl Time {
    /// That of a row; `None` unless it is right and timed.
    pub fn of(row: &Row, matrix: usize) -> Option<Self> {
        let (method, ms) = (row.method_name.clone()?, row.typical_ms().filter(|_| row.is_ok())?);
        Some(Self { matrix, method, ms, values_repeat: row.values_repeat() })
    }
}

/// The methods of one precision and device.
#[derive(Clone, Debug)]
pub struct Standings<'a> {
    /// The best baseline that has a time, which all are set against first.
    pub reference: Option<&'static str>,
    /// Matrices with a time of any method.
    matrices: usize,
    kinds: Kinds,
    /// Those with a time on every matrix, the fastest first, then the others.
    methods: Vec<Standing<'a>>,
}

/// One method's speeds: time of a baseline over that of the method, where both have one, and whether the matrix'
/// values repeat.
#[derive(Clone, Debug, Default)]
struct Standing<'a> {
    method: &'a str,
    /// On which it has a time.
    matrices: usize,
    over_reference: Vec<(Option<bool>, f64)>,
    over_best: Vec<(Option<bool>, f64)>,
}

impl<'a> Standings<'a> {
    /// Of these times.
    pub fn of(times: &'a [Time]) -> Self {
        let matrices = times.iter().map(|time| time.matrix).collect::<BTreeSet<_>>().len();
        let has_time = |name: &&str| times.iter().any(|time| time.method == *name);
        let reference = BASELINES.iter().map(|baseline| baseline.name).find(has_time);
        let of_reference = fastest(times, |method| Some(method) == reference);
        let of_best = fastest(times, |method| Baseline::named(method).is_some());
        let mut methods = BTreeMap::<&str, Standing>::new();
        for Time { matrix, method, ms, values_repeat } in times {
            let standing = methods.entry(method).or_default();
            let speed = |baseline: &f64| (*values_repeat, baseline / ms);
            standing.method = method;
            standing.matrices += 1;
            standing.over_reference.extend(of_reference.get(matrix).map(speed));
            standing.over_best.extend(of_best.get(matrix).map(speed));
        }
        let mut methods: Vec<_> = methods.into_values().collect();
        methods.sort_by(|a, b| b.mean().total_cmp(&a.mean()));
        methods.sort_by_key(|standing| standing.matrices < matrices);
        let kinds = Kinds::of(times.iter().map(|time| time.values_repeat));
        Self { reference, matrices, kinds, methods }
    }

    /// A line per method.
    pub fn table(&self) -> Table {
        let row =
            |standing: &Standing| [vec![Cell::text(standing.method)], self.row(standing)].concat();
        let columns = std::iter::once("method".into()).chain(self.columns());
        Table { columns: columns.collect(), rows: self.methods.iter().map(row).collect() }
    }

    /// What [`speeds`](Self::speeds) are.
    pub fn columns(&self) -> impl Iterator<Item = String> {
        let reference = format!("× {}", self.reference.unwrap_or("no baseline"));
        let over =
            self.kinds.columns(reference).chain(self.kinds.columns("× best baseline".into()));
        over.chain(["least", "greatest", "matrices"].map(String::from))
    }

    /// Those of a method: geometric means, extremes, and on how many matrices it has a time.
    pub fn speeds(&self, method: &str) -> Option<Vec<Cell>> {
        Some(self.row(self.methods.iter().find(|standing| standing.method == method)?))
    }

    fn row(&self, standing: &Standing) -> Vec<Cell> {
        let means = |speeds: &[_]| self.kinds.means(speeds, Statistic::GeometricMean);
        let ratios: Vec<_> = standing.over_best.iter().map(|speed| speed.1).collect();
        let ends = [Statistic::Min, Statistic::Max].map(|end| Cell::from(end.of(&ratios)));
        let matrices = Cell::text(format!("{} of {}", standing.matrices, self.matrices));
        let over = [means(&standing.over_reference), means(&standing.over_best)].concat();
        over.into_iter().map(Cell::from).chain(ends).chain([matrices]).collect()
    }

    /// What the table must be read with.
    pub fn notes(&self) -> Vec<String> {
        let partial = self.methods.iter().any(|standing| standing.matrices < self.matrices);
        let partial = partial.then(|| {
            "Methods with a time on only some of the matrices come last: their means are over other matrices.".into()
        });
        self.meaning().chain(partial).collect()
    }

    /// What the numbers are.
    pub fn meaning(&self) -> impl Iterator<Item = String> {
        let baselines = self.methods.iter().filter_map(|s| Baseline::named(s.method));
        let baselines = baselines.map(|baseline| baseline.name).collect::<Vec<_>>().join(", ");
        let meaning = format!(
            "Time of the baseline over that of the method, geometric means; above 1 the method is faster. The best \
             baseline is on each matrix the fastest of {baselines}; least and greatest are over it."
        );
        std::iter::once(meaning).chain(self.kinds.note())
    }
}

/// On each matrix the time of the fastest of those methods.
fn fastest(times: &[Time], is_meant: impl Fn(&str) -> bool) -> BTreeMap<usize, f64> {
    let mut fastest = BTreeMap::new();
    for time in times.iter().filter(|time| is_meant(&time.method)) {
        let ms = fastest.entry(time.matrix).or_insert(time.ms);
        *ms = time.ms.min(*ms);
    }
    fastest
}

impl Standing<'_> {
    /// Over the best baseline, or where there is none nothing.
    fn mean(&self) -> f64 {
        let ratios: Vec<_> = self.over_best.iter().map(|speed| speed.1).collect();
        Statistic::GeometricMean.of(&ratios).unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(rows: &[(usize, &str, f64, bool)]) -> Vec<Time> {
        let time = |&(matrix, method, ms, repeat): &(usize, &str, f64, bool)| Time {
            matrix,
            method: method.into(),
            ms,
            values_repeat: Some(repeat),
        };
        rows.iter().map(time).collect()
    }

    fn lines(standings: &Standings) -> Vec<String> {
        let line = |row: &Vec<Cell>| row.iter().map(Cell::show).collect::<Vec<_>>().join(" | ");
        standings.table().rows.iter().map(line).collect()
    }

    /// mkl-ie is slow on matrix 2, so that 12 times its speed there is 3 times that of merge.
    #[test]
    fn a_slow_library_call_makes_no_fast_method() {
        let times = times(&[
            (1, "mkl-ie", 4.0, true),
            (1, "merge", 8.0, true),
            (1, "packed", 1.0, true),
            (2, "mkl-ie", 12.0, false),
            (2, "merge", 3.0, false),
            (2, "packed", 1.0, false),
            (2, "dia", 0.25, false),
        ]);
        let standings = Standings::of(&times);
        assert_eq!(
            standings.table().columns,
            [
                "method",
                "× mkl-ie",
                "× mkl-ie, values repeat",
                "× mkl-ie, values differ",
                "× best baseline",
                "× best baseline, values repeat",
                "× best baseline, values differ",
                "least",
                "greatest",
                "matrices"
            ]
        );
        assert_eq!(
            lines(&standings),
            [
                "packed | 6.93 | 4.00 | 12.0 | 3.46 | 4.00 | 3.00 | 3.00 | 4.00 | 2 of 2",
                "merge | 1.41 | 0.500 | 4.00 | 0.707 | 0.500 | 1.00 | 0.500 | 1.00 | 2 of 2",
                "mkl-ie | 1.00 | 1.00 | 1.00 | 0.500 | 1.00 | 0.250 | 0.250 | 1.00 | 2 of 2",
                "dia | 48.0 |  | 48.0 | 12.0 |  | 12.0 | 12.0 | 12.0 | 1 of 2",
            ]
        );
        assert_eq!(standings.notes().len(), 3);
        assert!(standings.notes()[0].contains("the fastest of merge, mkl-ie; "));
    }

    #[test]
    fn without_a_baseline_nothing_is_set_off() {
        let times = times(&[(1, "packed", 1.0, true), (1, "ell", 2.0, true)]);
        let standings = Standings::of(&times);
        assert_eq!(standings.table().columns[1..3], ["× no baseline", "× best baseline"]);
        assert_eq!(lines(&standings), ["ell |  |  |  |  | 1 of 1", "packed |  |  |  |  | 1 of 1"]);
    }
}

//! The views that rank the methods on each matrix: `heat`, `winners` and `losses`.

use super::*;
use crate::report::matched::fastest_by;
use crate::row::contest::contest;
use crate::row::paired::fastest;
use crate::row::{Row, Timing};
use crate::statistics::estimate::Estimate;

pub(super) type Run<'a> = (&'a RecordedRow, &'a str);

/// The rows of one matrix that may be compared: in one precision, with one cache state, of the same product.
#[derive(Clone)]
pub(super) struct Contest<'a> {
    /// The name of the matrix, followed by the setting if there are several.
    name: String,
    /// The fastest row of each series with its time, or `None` if it has none.
    rows: Vec<Option<(&'a RecordedRow, Timing)>>,
    /// The indices of the series that compete, the fastest first, each with its time divided by that of the fastest.
    pub ranking: Vec<(usize, f64)>,
}

impl<'a> Contest<'a> {
    /// Returns the contests of all rows, sorted by the nonzeros of the matrices.
    pub(super) fn all(series: &[Series<'a>]) -> Vec<Self> {
        let key = |line: &'a RecordedRow| {
            let (name, is_surrogate, nonzeros) = matrix(line);
            ((nonzeros, name, is_surrogate), line.group_key().words(&COMPARED_WITHIN))
        };
        let fastest = series.iter().map(|series| fastest_by(series.lines.iter().copied(), key));
        let fastest: Vec<_> = fastest.collect();
        let lines: Vec<_> = series.iter().flat_map(|series| series.lines.iter().copied()).collect();
        let apart = varying(&lines, &COMPARED_WITHIN);
        let contest = |key| {
            let row = |fastest: &BTreeMap<_, (&'a RecordedRow, f64)>| {
                let (line, _) = *fastest.get(key)?;
                Some((line, line.row.timing(None)?))
            };
            let rows: Vec<_> = fastest.iter().map(row).collect();
            let ranking = ranking(&rows, 0..rows.len());
            let line = rows[ranking.first()?.0].as_ref()?.0;
            let name = name(&label(matrix(line)), line.group_key(), &apart);
            Some(Self { name, rows, ranking })
        };
        let keys: BTreeSet<_> = fastest.iter().flat_map(|fastest| fastest.keys()).collect();
        keys.into_iter().filter_map(contest).collect()
    }

    fn row(&self, series: usize) -> Option<&'a RecordedRow> {
        Some(self.rows[series].as_ref()?.0)
    }

    /// Leaves only methods that did not choose another method that was measured: for who wins.
    pub(super) fn of_contestants(self) -> Self {
        let row = |(series, _): &(usize, f64)| {
            let line = self.row(*series).expect("a series with a time has a row");
            ((), line.method(), line.row.picked.as_deref())
        };
        let places = contest(self.ranking.iter().copied(), row).into_iter();
        Self { ranking: ranking(&self.rows, places.map(|(series, _)| series)), ..self }
    }

    fn ranked(&self, place: usize) -> Option<&'a RecordedRow> {
        self.row(self.ranking.get(place)?.0)
    }

    /// Returns how many times as long the method in this place takes as the fastest.
    fn over_first(&self, place: usize) -> Option<Estimate> {
        Some(self.over(self.ranking.get(place)?.0)?.1)
    }

    fn over(&self, series: usize) -> Option<(&'a RecordedRow, Estimate)> {
        let (line, time) = self.rows[series].as_ref()?;
        let (_, first) = self.rows[self.ranking[0].0].as_ref()?;
        Some((line, time.over(first)))
    }

    /// Whether the fastest is told apart from the next `others`; `None` if nothing is known of any.
    pub(super) fn is_certain(&self, others: usize) -> Option<bool> {
        let others = (1..self.ranking.len()).take(others);
        let known = others.filter_map(|place| self.over_first(place)?.is_apart());
        known.reduce(|all, one| all && one)
    }

    /// Returns the time of a series divided by the fastest time, with the row.
    pub(super) fn loss(&self, series: usize) -> Option<(Run<'_>, f64)> {
        let (line, over) = self.over(series)?;
        Some(((line, &self.name), over.value))
    }
}

/// Ranks these series, with their times divided by that of the fastest.
fn ranking(
    rows: &[Option<(&RecordedRow, Timing)>],
    series: impl Iterator<Item = usize>,
) -> Vec<(usize, f64)> {
    let times: Vec<_> = series.filter_map(|of| Some((of, &rows[of].as_ref()?.1))).collect();
    let Some((_, first)) = fastest(&times, |(_, time)| time) else { return Vec::new() };
    let mut ranking: Vec<_> =
        times.iter().map(|(series, time)| (*series, time.over(first).value)).collect();
    ranking.sort_by(|a, b| a.1.total_cmp(&b.1));
    ranking
}

/// The number of matrices up to which the view `heat` has a chart.
const MOST_ROWS: usize = 200;

keys! {
    /// The speed of each method on each matrix, in percent of the fastest method's.
    Heat {}
}

impl Kind for Heat {
    fn view(&self, recorded: &Recorded) -> View {
        let shown = self.shown(recorded, &COMPARED_WITHIN);
        let contests = Contest::all(&shown.series);
        let cells = |of: &Contest| -> Vec<_> {
            (0..of.rows.len()).map(|series| Some(100.0 / of.loss(series)?.1)).collect()
        };
        let columns: Vec<_> = shown.series.iter().map(|series| series.name.clone()).collect();
        let table = Table::of(&contests).column("matrix", |of| &of.name[..]);
        let table = table.columns(&columns, cells);
        let chart = chart::Heat {
            label: "% of the fastest's GFLOP/s".into(),
            rows: contests.iter().map(|of| of.name.clone()).collect(),
            columns,
            cells: contests.iter().map(cells).collect(),
        };
        let meaning = "100 %: the fastest of these methods on that matrix".to_owned();
        let too_many = (contests.len() > MOST_ROWS)
            .then(|| format!("The chart is left out: it would have {} rows.", contests.len()));
        let chart = Some(Chart::Heat(chart)).filter(|_| too_many.is_none());
        View::of(shown.notes([shown.note_on_several(), Some(meaning), too_many]), chart, table)
    }
}

keys! {
    /// The fastest and the second fastest method on each matrix.
    Winners {}
}

impl Kind for Winners {
    fn view(&self, recorded: &Recorded) -> View {
        let shown = self.shown(recorded, &COMPARED_WITHIN);
        let contests: Vec<_> =
            Contest::all(&shown.series).into_iter().map(Contest::of_contestants).collect();
        let uncertain = contests.iter().filter(|of| of.is_certain(1) == Some(false)).count();
        let meaning = format!(
            "±: half the 95 % confidence interval, of the median or of how much longer the second takes, in percent; \
             where that contains 0, the order is uncertain: on {}",
            count(uncertain, "matrix")
        );
        let name =
            |of: &Contest, place: usize| Some(&shown.series[of.ranking.get(place)?.0].name[..]);
        let number =
            |of: &Contest, place, column: &str| Column::of(column).cell_of(of.ranked(place)?);
        let table = Table::of(&contests)
            .column("matrix", |of| &of.name[..])
            .column("nonzeros", |of| number(of, 0, "num_nonzeros"))
            .column("fastest", |of| name(of, 0))
            .column("GFLOP/s", |of| number(of, 0, "gflops"))
            .column("± (%)", |of| number(of, 0, "uncertainty"))
            .column("second", |of| name(of, 1))
            .column("takes longer by (%)", |of| Some(100.0 * (of.ranking.get(1)?.1 - 1.0)))
            .column("± (%)", |of| {
                of.over_first(1)
                    .filter(|over| over.half.is_some())
                    .map(|it| 100.0 * it.half_width())
            })
            .column("order", |of| {
                of.is_certain(1).map(|is| if is { "certain" } else { "uncertain" })
            });
        View::of(shown.notes([shown.note_on_several(), Some(meaning)]), None, table)
    }
}

/// The number of matrices that the view `losses` shows, and the least loss that it shows.
const SHOWN_LOSSES: usize = 10;
const LEAST_LOSS: f64 = 1.02;

keys! {
    /// The matrices on which the method with the least mean loss loses the most, with facts that may explain it.
    Losses {}
}

impl Kind for Losses {
    fn view(&self, recorded: &Recorded) -> View {
        let shown = self.shown(recorded, &COMPARED_WITHIN);
        let contests: Vec<_> =
            Contest::all(&shown.series).into_iter().map(Contest::of_contestants).collect();
        let losses = |place: usize| -> Vec<_> {
            contests.iter().filter_map(|of| Some((of, of.loss(place)?.1))).collect()
        };
        let mean = |place: &usize| Statistic::GeometricMean.over(&losses(*place));
        let runs = |place: &usize| losses(*place).len();
        let most = (0..shown.series.len()).map(|place| runs(&place)).max().unwrap_or(0);
        let complete = (0..shown.series.len()).filter(|place| runs(place) == most);
        let best = complete.min_by(|a, b| {
            let [a, b] = [a, b].map(|place| mean(place).unwrap_or(f64::INFINITY));
            a.total_cmp(&b)
        });
        let Some(best) = best else { return View::default() };
        let mut worst = losses(best);
        worst.retain(|(_, loss)| *loss >= LEAST_LOSS);
        worst.sort_by(|a, b| b.1.total_cmp(&a.1));
        worst.truncate(SHOWN_LOSSES);
        let number = |line: Option<&RecordedRow>, column: &str| Column::of(column).cell_of(line?);
        let imbalance = |row: &Row| {
            let share = row.num_nonzeros? as f64 / row.threads? as f64;
            Some(f64::from(row.max_row_length?) / share)
        };
        let table = Table::of(&worst)
            .column("matrix", |(of, _)| &of.name[..])
            .column("time / fastest", |(_, loss)| *loss)
            .column("fastest", |(of, _)| &shown.series[of.ranking[0].0].name[..])
            .column("nonzeros", |of| number(of.0.row(best), "num_nonzeros"))
            .column("per row", |of| number(of.0.row(best), "row_length_mean"))
            .column("longest row", |of| number(of.0.row(best), "max_row_length"))
            .column("longest row / share of a thread", |of| imbalance(&of.0.row(best)?.row))
            .column("% of peak", |of| number(of.0.row(best), "required_percent_of_peak"))
            .column("of the fastest", |(of, _)| number(of.ranked(0), "required_percent_of_peak"));
        let meaning = format!(
            "{}, the method with the least mean loss, on the matrices on which it loses the most; a row that is longer \
             than the share of a thread keeps one thread busy where rows are not divided",
            shown.series[best].name
        );
        View::of(shown.notes([Some(meaning)]), None, table)
    }
}

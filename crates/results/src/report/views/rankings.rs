//! The views that rank the methods on each matrix: `heat`, `winners` and `losses`.

use super::contest::Contest;
use super::kind::*;
use crate::report::ranking::Ranking;
use crate::row::Row;

/// The number of matrices up to which the view `heat` has a chart.
const MOST_ROWS: usize = 200;

keys! {
    /// The speed of each method on each matrix, in percent of the fastest method's.
    Heat {}
}

impl Kind for Heat {
    fn along(&self) -> Vec<&str> {
        COMPARED_WITHIN.to_vec()
    }

    fn view(&self, shown: &Shown) -> View {
        let contests = shown.contests();
        let cells = |of: &Contest| -> Vec<_> {
            (0..shown.series.len()).map(|series| Some(100.0 / of.loss(series)?.1)).collect()
        };
        let columns: Vec<_> = shown.series.iter().map(|series| series.name.clone()).collect();
        let table = Table::of(contests).column("matrix", |of| &of.name[..]);
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
    fn along(&self) -> Vec<&str> {
        COMPARED_WITHIN.to_vec()
    }

    fn view(&self, shown: &Shown) -> View {
        let contests = shown.winners();
        let uncertain = contests.iter().filter(|of| of.is_certain(1) == Some(false)).count();
        let meaning = format!(
            "±: half the 95 % confidence interval, of the median or of how much longer the second takes, in percent; \
             where that contains 0, the order is uncertain: on {}",
            count(uncertain, "matrix")
        );
        let [nonzeros, speed, half] = ["num_nonzeros", "gflops", "uncertainty"].map(|name| Column::of(name).cells());
        let table = Table::of(contests)
            .column("matrix", |of| &of.name[..])
            .column("nonzeros", |of| nonzeros(of.ranked(0)?))
            .column("fastest", |of| of.named(0, &shown.series))
            .column("GFLOP/s", |of| speed(of.ranked(0)?))
            .column("± (%)", |of| half(of.ranked(0)?))
            .column("second", |of| of.named(1, &shown.series))
            .column("takes longer by (%)", |of| Some(100.0 * (of.ranking.get(1)?.1 - 1.0)))
            .column("± (%)", |of| {
                let over = of.over_first(1).filter(|over| over.half.is_some())?;
                Some(100.0 * over.half_width())
            })
            .column("order", |of| Some(if of.is_certain(1)? { "certain" } else { "uncertain" }));
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
    fn along(&self) -> Vec<&str> {
        COMPARED_WITHIN.to_vec()
    }

    fn view(&self, shown: &Shown) -> View {
        let losses: Vec<_> = Contest::losses(shown.winners(), &shown.series).collect();
        let most = losses.iter().map(|(_, losses)| losses.len()).max().unwrap_or(0);
        let Some(best) = Ranking::of(losses, most, false).methods.into_iter().next() else {
            return View::of(shown.notes([]), None, None);
        };
        let mut worst = best.numbers;
        worst.retain(|(_, loss)| *loss >= LEAST_LOSS);
        worst.sort_by(|a, b| b.1.total_cmp(&a.1));
        worst.truncate(SHOWN_LOSSES);
        let table = Table::of(&worst)
            .column("matrix", |((_, of), _)| &of.name[..])
            .column("time / fastest", |(_, loss)| *loss)
            .column("fastest", |((_, of), _)| of.named(0, &shown.series))
            .column("nonzeros", |((line, _), _)| number(Some(line), "num_nonzeros"))
            .column("per row", |((line, _), _)| number(Some(line), "row_length_mean"))
            .column("longest row", |((line, _), _)| number(Some(line), "max_row_length"))
            .column("longest row / share of a thread", |((line, _), _)| imbalance(&line.row))
            .column("% of peak", |((line, _), _)| number(Some(line), PERCENT))
            .column("of the fastest", |((_, of), _)| number(of.ranked(0), PERCENT));
        let meaning = format!(
            "{}, the method with the least mean loss, on the matrices on which it loses the most; a row that is longer \
             than the share of a thread keeps one thread busy where rows are not divided",
            best.method
        );
        View::of(shown.notes([Some(meaning)]), None, table)
    }
}

const PERCENT: &str = "required_percent_of_peak";

fn number(line: Option<&RecordedRow>, column: &str) -> Option<Cell> {
    Column::of(column).cell_of(line?)
}

/// Returns the longest row over the nonzeros per thread.
fn imbalance(row: &Row) -> Option<f64> {
    let share = row.num_nonzeros? as f64 / row.threads? as f64;
    Some(f64::from(row.max_row_length?) / share)
}

//! The view `profile`: performance profiles (Dolan and Moré, 2002).

use super::contest::Contest;
use super::few;
use super::kind::*;

const FACTORS: [f64; 6] = [1.0, 1.1, 1.25, 1.5, 2.0, 4.0];

/// The number of steps that are drawn of a profile; of more, only some are.
const MOST_STEPS: usize = 200;

/// The largest factor that is drawn in profiles.
const LARGEST_FACTOR: f64 = 10.0;

keys! {
    /// Performance profiles (Dolan and Moré, 2002). Without a time on a matrix, a method is within no factor.
    Profile {}
}

impl Kind for Profile {
    fn view(&self, shown: &Shown) -> View {
        let contests = shown.contests();
        let curves = Contest::losses(contests, &shown.series).map(|(method, losses)| {
            let losses = sorted(losses.iter().map(|loss| loss.1));
            Curve { method, losses, matrices: contests.len() }
        });
        let mut curves: Vec<_> = curves.filter(|curve| !curve.losses.is_empty()).collect();
        curves.sort_by(|a, b| b.sum().total_cmp(&a.sum()));
        let meaning = "share of all matrices on which the method's time is at most the factor times that of the \
                       fastest method; with a factor of 1, the share on which it is the fastest";
        let headings = FACTORS.map(|factor| format!("within {factor} (%)"));
        let table = Table::of(&curves)
            .column("method", |curve| curve.method)
            .columns(headings, |curve| FACTORS.map(|factor| curve.share(factor)));
        let chart = chart::Plane {
            x: Axis::log("factor of the fastest method's time"),
            y: Axis::linear("share of the matrices (%)"),
            series: drawn(Mark::Trend, curves.iter().map(|curve| (curve.method, curve.steps()))),
            few: few::few(curves.iter().map(|curve| curve.method), Some(0)),
            guides: vec![],
        };
        View::of(shown.notes([Some(meaning.into())]), Chart::Plane(chart), table)
    }
}

/// The profile of a method.
struct Curve<'a> {
    method: &'a str,
    /// Its times divided by the fastest ones, sorted.
    losses: Vec<f64>,
    /// The number of all matrices.
    matrices: usize,
}

impl Curve<'_> {
    /// Returns the share of the matrices with a loss of at most the factor, in percent.
    fn share(&self, factor: f64) -> f64 {
        let within = self.losses.partition_point(|&loss| loss <= factor);
        100.0 * within as f64 / self.matrices as f64
    }

    fn sum(&self) -> f64 {
        FACTORS.iter().map(|&factor| self.share(factor)).sum()
    }

    /// Returns the corners of the step function up to [`LARGEST_FACTOR`].
    fn steps(&self) -> Vec<Point> {
        let is_drawn = |loss: &f64| *loss > 1.0 && *loss <= LARGEST_FACTOR;
        let drawn: Vec<_> = self.losses.iter().copied().filter(is_drawn).collect();
        let mut corners = vec![(1.0, self.share(1.0))];
        for &loss in drawn.iter().step_by(drawn.len().div_ceil(MOST_STEPS).max(1)) {
            let (_, before) = corners[corners.len() - 1];
            corners.extend([(loss, before), (loss, self.share(loss))]);
        }
        corners.push((LARGEST_FACTOR, self.share(LARGEST_FACTOR)));
        corners.into_iter().map(|(x, y)| Point { x, y, ..Point::default() }).collect()
    }
}

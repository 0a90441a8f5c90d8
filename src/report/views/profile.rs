//! The view `profile`: the share of matrices on which a method is within a factor of the fastest method.

use super::contest::Contest;
use super::few::few;
use super::{Kind, Recorded, drawn};
use crate::record::table::Table;
use crate::report::View;
use crate::report::chart::{Axis, Chart, Mark, Plane, Point};

/// The factors that have a column in the table.
const FACTORS: [f64; 6] = [1.0, 1.1, 1.25, 1.5, 2.0, 4.0];

/// The largest factor that is drawn.
const FARTHEST: f64 = 10.0;

keys! {
    /// Performance profiles (Dolan and Moré, Benchmarking optimization software, 2002): for each method and factor τ,
    /// the share of all matrices on which the method's time is at most τ times the time of the fastest method. A
    /// matrix on which the method has no time counts as not within any factor.
    Profile {}
}

/// The profile of a method.
struct Method<'a> {
    name: &'a str,
    /// The method's times divided by the fastest times, in ascending order.
    losses: Vec<f64>,
    matrices: usize,
}

impl Kind for Profile {
    fn view(&self, recorded: &Recorded) -> View {
        let shown = self.shown(recorded, &[]);
        let contests = Contest::all(&shown.series);
        let named = shown.series.iter().enumerate();
        let methods = named.map(|(place, series)| Method::of(place, &series.name, &contests));
        let mut methods: Vec<_> = methods.filter(|method| !method.losses.is_empty()).collect();
        methods.sort_by(|a, b| b.mean_share().total_cmp(&a.mean_share()));
        let meaning = "share of all matrices on which the method's time is at most the factor times that of the fastest \
                       method; with a factor of 1, the share on which it is the fastest";
        let headings = FACTORS.map(|factor| format!("within {factor} (%)"));
        let table = Table::of(&methods)
            .column("method", |method| method.name)
            .columns(headings, |method| FACTORS.map(|factor| method.share(factor)));
        View {
            notes: shown.notes([Some(meaning.into())]),
            chart: Some(chart(&methods)),
            table: Some(table.build()),
            ..View::default()
        }
    }
}

impl<'a> Method<'a> {
    fn of(place: usize, name: &'a str, contests: &[Contest]) -> Self {
        let losses = Contest::losses_of(place, contests).into_iter();
        let mut losses: Vec<_> = losses.map(|(_, loss)| loss).collect();
        losses.sort_by(f64::total_cmp);
        Self { name, losses, matrices: contests.len() }
    }

    /// Returns the share of matrices within a factor, in percent.
    fn share(&self, factor: f64) -> f64 {
        let within = self.losses.partition_point(|&loss| loss <= factor);
        100.0 * within as f64 / self.matrices as f64
    }

    fn mean_share(&self) -> f64 {
        FACTORS.iter().map(|&factor| self.share(factor)).sum()
    }

    /// Returns the corners of the step function.
    fn points(&self) -> Vec<Point> {
        let point = |x, y| Point { x, y, ..Point::default() };
        let mut points = vec![point(1.0, self.share(1.0))];
        for &loss in self.losses.iter().filter(|&&loss| loss > 1.0 && loss <= FARTHEST) {
            let before = points[points.len() - 1].y;
            points.extend([point(loss, before), point(loss, self.share(loss))]);
        }
        points.push(point(FARTHEST, self.share(FARTHEST)));
        points
    }
}

fn chart(methods: &[Method]) -> Chart {
    let names: Vec<_> = methods.iter().map(|method| method.name).collect();
    Chart::Plane(Plane {
        x: Axis::log("factor of the fastest method's time"),
        y: Axis::linear("share of the matrices (%)"),
        series: drawn(Mark::Trend, methods.iter().map(|method| (method.name, method.points()))),
        few: few(&names, Some(0)),
        ..Plane::default()
    })
}

//! The view `profile`: performance profiles (Dolan and Moré, 2002).

use super::rankings::Contest;
use super::*;

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
    fn view(&self, recorded: &Recorded) -> View {
        let shown = self.shown(recorded, &[]);
        let contests = Contest::all(&shown.series);
        let share = |losses: &[f64], factor: f64| {
            let within = losses.partition_point(|&loss| loss <= factor);
            100.0 * within as f64 / contests.len() as f64
        };
        let shares = |losses: &[f64]| FACTORS.map(|factor| share(losses, factor));
        let methods = shown.series.iter().enumerate().map(|(place, series)| {
            let losses = contests.iter().filter_map(|of| Some(of.loss(place)?.1));
            (&series.name[..], sorted(losses))
        });
        let mut methods: Vec<_> = methods.filter(|(_, losses)| !losses.is_empty()).collect();
        let sum = |losses: &[f64]| shares(losses).iter().sum::<f64>();
        methods.sort_by(|a, b| sum(&b.1).total_cmp(&sum(&a.1)));
        let meaning = "share of all matrices on which the method's time is at most the factor times that of the \
                       fastest method; with a factor of 1, the share on which it is the fastest";
        let headings = FACTORS.map(|factor| format!("within {factor} (%)"));
        let table = Table::of(&methods)
            .column("method", |(name, _)| *name)
            .columns(headings, |(_, losses)| shares(losses));
        let steps = |losses: &[f64]| steps(losses, |factor| share(losses, factor));
        let chart = chart::Plane {
            x: Axis::log("factor of the fastest method's time"),
            y: Axis::linear("share of the matrices (%)"),
            series: drawn(Mark::Trend, methods.iter().map(|(name, of)| (*name, steps(of)))),
            few: few::few(methods.iter().map(|(name, _)| *name), Some(0)),
            guides: vec![],
        };
        View::of(shown.notes([Some(meaning.into())]), Chart::Plane(chart), table)
    }
}

/// Returns the corners of a step function: the share of the matrices with a loss of at most x, up to
/// [`LARGEST_FACTOR`].
fn steps(losses: &[f64], share: impl Fn(f64) -> f64) -> Vec<Point> {
    let drawn: Vec<_> =
        losses.iter().filter(|&&loss| loss > 1.0 && loss <= LARGEST_FACTOR).collect();
    let drawn = drawn.iter().copied().step_by(drawn.len().div_ceil(MOST_STEPS).max(1));
    let mut corners = vec![(1.0, share(1.0))];
    for &loss in drawn {
        let (_, before) = corners[corners.len() - 1];
        corners.extend([(loss, before), (loss, share(loss))]);
    }
    corners.push((LARGEST_FACTOR, share(LARGEST_FACTOR)));
    corners.into_iter().map(|(x, y)| Point { x, y, ..Point::default() }).collect()
}

//! The view `scaling`: speed and efficiency against the number of threads.

use super::few;
use super::kind::*;
use crate::report::matched::fastest_by;

keys! {
    /// The speed of each method with more threads over its own with the fewest, on the same matrix.
    Scaling {}
}

/// The speeds of a method with a number of threads over those with the fewest.
struct Step {
    threads: usize,
    /// The number of threads over the fewest: the speed-up of a perfect method.
    perfect: f64,
    speeds: Vec<f64>,
}

impl Kind for Scaling {
    fn along(&self) -> Vec<&str> {
        vec!["threads"]
    }

    fn view(&self, shown: &Shown) -> View {
        let steps = shown.each(steps);
        let all: Vec<_> = steps.iter().flat_map(|(name, of)| of.iter().map(move |step| (*name, step))).collect();
        let mean = |step: &Step| Statistic::GeometricMean.of(&step.speeds);
        let table = Table::of(&all)
            .column("method", |(name, _)| *name)
            .column("threads", |(_, step)| step.threads)
            .column("speed-up", |(_, step)| mean(step))
            .column("least", |(_, step)| Statistic::Min.of(&step.speeds))
            .column("greatest", |(_, step)| Statistic::Max.of(&step.speeds))
            .column("efficiency (%)", |(_, step)| Some(100.0 * mean(step)? / step.perfect))
            .column("matrices", |(_, step)| step.speeds.len());
        let meaning = "speed with more threads over that of the same method with the fewest, geometric means over the \
                       matrices; efficiency: the speed-up over that of the threads";
        View::of(shown.notes([Some(meaning.into())]), chart(&steps), table)
    }
}

fn chart(steps: &[(&str, Vec<Step>)]) -> Chart {
    let point = |step: &Step| {
        let [y, least, most] =
            [Statistic::GeometricMean, Statistic::Min, Statistic::Max].map(|statistic| statistic.of(&step.speeds));
        Some(Point { x: step.threads as f64, y: y?, spread: least.zip(most), label: None })
    };
    let series = drawn(Mark::Line, steps.iter().map(|(name, steps)| (*name, steps.iter().filter_map(point).collect())));
    let perfect = steps.iter().flat_map(|(_, steps)| steps);
    let mut perfect: Vec<_> = perfect.map(|step| (step.threads as f64, step.perfect)).collect();
    perfect.sort_by(|a, b| a.0.total_cmp(&b.0));
    let guides = vec![Guide { name: "as many times as threads".into(), points: perfect }];
    let x = Axis { log: true, whole: true, label: "threads".into() };
    let few = few::of_points(&series, true);
    Chart::Plane(chart::Plane { x, y: Axis::log("speed-up"), series, guides, few })
}

/// Returns the speeds of a method with each number of threads, if there are several.
fn steps(series: &Series) -> Vec<Step> {
    let rows = series.lines.iter().copied().filter(|line| line.row.threads.is_some());
    let times = fastest_by(rows, |line| (line.row.threads.unwrap_or_default(), matrix(line)));
    let counts: BTreeSet<_> = times.keys().map(|(threads, _)| *threads).collect();
    let Some(&fewest) = counts.first().filter(|_| counts.len() > 1) else { return Vec::new() };
    let step = |&threads: &usize| {
        let own = times.iter().filter(|((count, _), _)| *count == threads);
        let speed =
            |(&(_, matrix), &(_, ms)): (&(usize, Matrix), &(_, f64))| Some(times.get(&(fewest, matrix))?.1 / ms);
        let speeds = own.filter_map(speed).collect();
        Step { threads, perfect: threads as f64 / fewest as f64, speeds }
    };
    counts.iter().map(step).collect()
}

use Statistic::{GeometricMean, HarmonicMean, Max, Min};

use super::few;
use super::kind::*;
use crate::report::matched::{best_share, selected, speeds};

keys! {
    /// The speed-up of each method in `of` over a baseline on each matrix: time of `over` / time of the method.
    Speedup {
        pub over: Select,
        #[serde(default = "nonzeros")]
        pub x: Column,
    }
}

impl Kind for Speedup {
    fn over(&self) -> Vec<Select> {
        vec![self.over.clone()]
    }

    fn along(&self) -> Vec<&str> {
        vec![self.x.name()]
    }

    fn view(&self, shown: &Shown) -> View {
        let meaning = format!("time of {} / time of the method: above 1 the method is faster", self.over);
        let (speeds, notes) = shown.compared(&self.over, meaning, Series::speeds);
        let kinds = shown.kinds();
        let table = Table::of(&speeds)
            .column("method", |(name, _)| *name)
            .column("matrices", |(_, speeds)| speeds.len())
            .column("min", |(_, speeds)| Min.over(speeds))
            .column("max", |(_, speeds)| Max.over(speeds))
            .means(kinds, ("harmonic mean", HarmonicMean), |(_, speeds)| speeds)
            .means(kinds, ("geometric mean", GeometricMean), |(_, speeds)| speeds)
            .interval("95 % interval", |(_, speeds)| speeds)
            .column("% faster", |(_, speeds)| percentage(speeds.iter().map(|speed| speed.1 > 1.0)));
        View { kinds, ..View::of(notes, self.chart(&speeds), table) }
    }
}

impl Speedup {
    fn chart(&self, speeds: &[(&str, Numbers)]) -> Chart {
        let point = |&(line, y): &(&RecordedRow, f64)| Some(dot((line, (self.x.of_line(line)?, y))));
        let dots = |speeds: &Numbers| speeds.iter().filter_map(point).collect();
        let series = drawn(Mark::Dots, speeds.iter().map(|(name, speeds)| (*name, dots(speeds))));
        let points = ends(&series, self.x.is_log()).into_iter().map(|x| (x, 1.0)).collect();
        let guides = vec![Guide { name: "equally fast".into(), points }];
        let y = Axis::log(format!("speed-up over {}", self.over));
        let few = few::of_points(&series, true);
        Chart::Plane(chart::Plane { x: axis(&self.x), y, series, guides, few })
    }
}

keys! {
    /// The speed-up of the method `of` over each baseline in `over`: time of the baseline / time of `of`. The table
    /// has a row per baseline, as in merge-spmv-sc16, Figure 10, and hola-spmv-ics17, Tables 2 and 3.
    Speedups {
        pub of: Select,
        pub over: Vec<Select>,
        #[serde(default)]
        pub split: Vec<Part>,
    }
    |view| view.all().cloned().collect()
}

impl Kind for Speedups {
    fn view(&self, shown: &Shown) -> View {
        let of = &self.of;
        let meaning = format!("min, max, mean: time of the method / time of {of}; above 1 {of} is faster");
        let mut rows = Vec::new();
        let mut notes = shown.notes([Some(meaning)]);
        for (name, conditions) in parts(&self.conditions, &self.split) {
            let met = shown.lines.iter().copied().filter(|line| conditions.passes(line));
            let met: Vec<_> = met.collect();
            for choice in self.all().filter_map(|of| note_on_choice(&met, of)) {
                if !notes.contains(&choice) {
                    notes.push(choice);
                }
            }
            notes.push(self.rows(name, &met, &mut rows));
        }
        let kinds = shown.kinds();
        let table = (!shown.lines.is_empty()).then(|| self.table(&rows, kinds));
        View { kinds, ..View::of(notes, None, table) }
    }
}

struct Compared<'a> {
    part: &'a str,
    method: &'a Select,
    /// The number of matrices with a time of the method and of `of`.
    matrices: usize,
    speeds: Numbers<'a>,
    percent_best: Option<f64>,
}

impl Speedups {
    fn all(&self) -> impl Iterator<Item = &Select> {
        std::iter::once(&self.of).chain(&self.over)
    }

    /// Adds a row per baseline and one of the method itself. Returns a note on the matrices on which all are compared.
    fn rows<'a>(&'a self, part: &'a str, lines: &[&'a RecordedRow], rows: &mut Vec<Compared<'a>>) -> String {
        let all = self.over.iter().chain([&self.of]);
        let (among, missing): (Vec<_>, Vec<_>) = all.cloned().partition(|select| !selected(lines, select).is_empty());
        let row = |method, matrices, speeds| {
            let best = best_share(lines, method, &among, 1.0);
            let percent_best = best.map(|(share, _)| 100.0 * share);
            Compared { part, method, matrices, speeds, percent_best }
        };
        rows.extend(self.over.iter().map(|over| {
            let speeds = speeds(lines, &self.of, over);
            row(over, speeds.len(), speeds)
        }));
        rows.push(row(&self.of, selected(lines, &self.of).len(), Vec::new()));
        let matrices = best_share(lines, &self.of, &among, 1.0).map_or(0, |best| best.1);
        let matrices = count(matrices, "matrix");
        let note = format!("% best: in percent of {matrices} on which every method has a time");
        let names = join(missing.iter().map(Select::to_string), ", ");
        let missing = (!missing.is_empty()).then(|| format!(" (without any time: {names})"));
        join([part.to_owned(), note + &missing.unwrap_or_default()], ": ")
    }

    fn table(&self, rows: &[Compared], kinds: Kinds) -> Table {
        let parts = (!self.split.is_empty()).then_some("part");
        let better = |of: &Compared| percentage(of.speeds.iter().map(|speed| speed.1 < 1.0));
        Table::of(rows)
            .columns(parts, |of| parts.map(|_| of.part))
            .column("method", |of| of.method.to_string())
            .column("matrices", |of| of.matrices)
            .column("min", |of| Min.over(&of.speeds))
            .column("max", |of| Max.over(&of.speeds))
            .means(kinds, ("harmonic mean", HarmonicMean), |of| &of.speeds)
            .column(format!("% better than {}", self.of), better)
            .column("% best", |of| of.percent_best)
            .build()
    }
}

//! The view `speedup`: the speed-up of methods over one baseline.

use super::{Kind, Recorded, axis, dot, drawn, ends, few};
use crate::record::table::Table;
use crate::report::View;
use crate::report::chart::{Axis, Chart, Guide, Mark, Plane};
use crate::report::column::Column;
use crate::report::matched::{self, Numbers};
use crate::report::select::Select;
use crate::report::statistics::{Statistic, percentage};
use crate::report::values::Kinds;

keys! {
    /// The speed-up of each method in `of` over the baseline `over`: time of `over` / time of the method, on each
    /// matrix.
    Speedup {
        /// The baseline. Its fastest row of each matrix and precision is used.
        pub over: Select,
        /// The column of the horizontal axis.
        #[serde(default = "nonzeros")]
        pub x: Column,
    }
}

fn nonzeros() -> Column {
    Column::of("num_nonzeros")
}

impl Kind for Speedup {
    fn over(&self) -> &[Select] {
        std::slice::from_ref(&self.over)
    }

    fn view(&self, recorded: &Recorded) -> View {
        let shown = self.shown(recorded, &[self.x.name()]);
        let (over, [choice, lack]) = shown.baseline(&recorded.lines, &self.conditions, &self.over);
        let speeds = shown.compared(&self.over, |series| matched::ratios(&series.times(), &over));
        let kinds = Kinds::of_lines(&shown.lines);
        let meaning =
            format!("time of {} / time of the method: above 1 the method is faster", self.over);
        let several = shown.note_on_several();
        View {
            notes: shown.notes([choice, lack, several, Some(meaning), kinds.note()]),
            chart: Some(self.chart(&speeds)),
            table: Some(table(&speeds, kinds)),
            ..View::default()
        }
    }
}

impl Speedup {
    fn chart(&self, speeds: &[(&str, Numbers)]) -> Chart {
        let series = speeds.iter().map(|(name, speeds)| {
            let dots = speeds.iter();
            let dots = dots.filter_map(|&(line, y)| Some(dot((line, (self.x.of_line(line)?, y)))));
            (*name, dots.collect())
        });
        let series = drawn(Mark::Dots, series);
        let points = ends(&series, self.x.is_log()).into_iter().map(|x| (x, 1.0)).collect();
        let equal = Guide { name: "equally fast".into(), points };
        let y = Axis::log(format!("speed-up over {}", self.over));
        let few = few::of_points(&series, true);
        Chart::Plane(Plane { x: axis(&self.x), y, series, guides: vec![equal], few })
    }
}

fn table(speeds: &[(&str, Numbers)], kinds: Kinds) -> Table {
    use Statistic::{GeometricMean, HarmonicMean, Max, Min};
    let table = Table::of(speeds)
        .column("method", |(name, _)| *name)
        .column("matrices", |(_, speeds)| speeds.len())
        .column("min", |(_, speeds)| Min.over(speeds))
        .column("max", |(_, speeds)| Max.over(speeds))
        .means(kinds, ("harmonic mean", HarmonicMean), |(_, speeds)| speeds)
        .means(kinds, ("geometric mean", GeometricMean), |(_, speeds)| speeds)
        .column("% faster", |(_, speeds)| percentage(speeds, |speed| speed > 1.0));
    table.build()
}

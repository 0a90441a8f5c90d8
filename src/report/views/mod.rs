//! The views that an experiment's definition or a report can contain, and their construction from rows. The list
//! of kinds is closed.

#[macro_use]
mod keys;

mod agreement;
mod amortisation;
mod bars;
mod best;
mod bins;
mod contest;
mod correlations;
mod few;
mod heat;
mod listing;
mod matrices;
mod plane;
mod profile;
mod repeatability;
mod roofline;
mod roofs;
mod setting;
mod shown;
mod sizes;
mod speedup;
mod speedups;
mod stages;
#[cfg(test)]
mod tests;
mod winners;

use serde::Deserialize;
use serde_json::Value;

use agreement::Agreement;
use amortisation::Amortisation;
use bars::Bars;
use best::Best;
use correlations::Correlations;
use heat::Heat;
use listing::Listing;
use matrices::Matrices;
use plane::Plane;
use profile::Profile;
use repeatability::Repeatability;
use roofline::Roofline;
use sizes::Sizes;
use speedup::Speedup;
use speedups::Speedups;
use stages::Stages;
use winners::Winners;

use super::View;
use super::chart::{self, Axis, Chart, Mark, Point};
use super::column::Column;
use super::matched::{matrix, timed};
use super::names::{join, label};
use super::origin::origin;
use super::select::{Conditions, Select};
use super::statistics::Statistic;
use crate::record::read::RecordedRow;
use crate::record::stages::StageRow;
use keys::Keys;
use shown::Shown;

/// The recorded data from which views are made.
#[derive(Clone, Debug, Default)]
pub struct Recorded<'a> {
    /// The rows of methods on matrices.
    pub lines: Vec<&'a RecordedRow>,
    /// The rows of the stages of their products.
    pub stages: Vec<&'a StageRow>,
    /// The records of the runs that the rows belong to.
    pub runs: Vec<&'a Value>,
}

impl Recorded<'_> {
    /// Returns the foot of a chart that shows all rows: the matrices, their settings, and where and when they
    /// were measured.
    pub fn foot(&self) -> String {
        self.foot_of(&self.lines)
    }

    fn foot_of(&self, lines: &[&RecordedRow]) -> String {
        let timed: Vec<_> = timed(lines.iter().copied()).collect();
        let summary = Shown::of(&timed, &Conditions::default(), &[], &[]).summary();
        join([summary, origin(&timed, &self.runs)], "; ")
    }
}

/// A kind of view.
trait Kind: Keys {
    /// Returns the selections of the methods that the shown ones are compared with.
    fn over(&self) -> &[Select] {
        &[]
    }

    /// Builds the view without its title, including empty charts and tables.
    fn view(&self, recorded: &Recorded) -> View;

    /// Returns the rows that the view shows. Series are not split by the settings in `along`.
    fn shown<'a>(&self, recorded: &Recorded<'a>, along: &[&str]) -> Shown<'a> {
        Shown::of(&recorded.lines, self.conditions(), self.of(), along)
    }
}

/// Defines the list of kinds.
macro_rules! kinds {
    ($(#[$doc:meta])* $spec:ident { $($kind:ident),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Deserialize)]
        #[serde(tag = "kind", rename_all = "kebab-case")]
        #[allow(missing_docs)] // each kind is documented at its struct
        pub enum $spec {
            $($kind($kind)),*
        }

        impl $spec {
            fn kind(&self) -> &dyn Kind {
                match self {
                    $(Self::$kind(kind) => kind),*
                }
            }
        }
    };
}

kinds! {
    /// The definition of a view. All kinds have a title and conditions that rows must meet. Most have a list of
    /// methods, which also gives their order; without a list, all measured methods are shown. Each method is a series
    /// of its own. It is split further by precision, device, number of threads, cache, order and transpose if the
    /// rows differ in these.
    Spec {
        Plane,
        Speedup,
        Speedups,
        Bars,
        Heat,
        Correlations,
        Matrices,
        Listing,
        Amortisation,
        Roofline,
        Best,
        Winners,
        Profile,
        Repeatability,
        Sizes,
        Stages,
        Agreement,
    }
}

/// A named subset of the rows.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// The name in the table and the legend.
    pub name: String,
    /// The conditions that its rows meet; without any, all rows of the view.
    #[serde(default, rename = "where")]
    pub conditions: Conditions,
}

impl Spec {
    /// Returns all selections of rows that the view names.
    pub fn selections(&self) -> Vec<&Select> {
        self.kind().of().iter().chain(self.kind().over()).collect()
    }

    /// Builds the view from recorded data. Empty charts and tables are left out.
    pub fn view(&self, recorded: &Recorded) -> View {
        let View { notes, chart, table, .. } = self.kind().view(recorded);
        let (chart, table) = (chart.filter(shows), table.filter(|table| !table.rows.is_empty()));
        let foot = chart.iter().map(|_| recorded.foot_of(&self.shown(recorded))).collect();
        View { title: self.kind().title().to_owned(), notes, chart, table, foot }
    }

    /// Returns the rows that the view shows.
    fn shown<'a>(&self, recorded: &Recorded<'a>) -> Vec<&'a RecordedRow> {
        let is_meant = |line: &&RecordedRow| {
            let selected = || self.selections().iter().any(|select| select.meets(line));
            let all = self.kind().of().is_empty();
            self.kind().conditions().passes(line) && (all || selected())
        };
        recorded.lines.iter().copied().filter(is_meant).collect()
    }
}

/// Returns the parts of a split, each with its own conditions and those of the whole view. Without a split, the
/// whole view is a part without a name.
fn parts<'p>(whole: &Conditions, split: &'p [Part]) -> Vec<(&'p str, Conditions)> {
    if split.is_empty() {
        return vec![("", whole.clone())];
    }
    split.iter().map(|part| (&part.name[..], whole.and(&part.conditions))).collect()
}

/// Whether a chart contains any data.
fn shows(chart: &Chart) -> bool {
    match chart {
        Chart::Plane(plane) => plane.series.iter().any(|series| !series.points.is_empty()),
        Chart::Bars(bars) => bars.series.iter().any(|s| s.values.iter().any(Option::is_some)),
        Chart::Heat(heat) => heat.cells.iter().flatten().any(Option::is_some),
    }
}

fn axis(column: &Column) -> Axis {
    Axis { label: column.label().to_owned(), log: column.is_log(), whole: column.is_count() }
}

/// Returns the least and the greatest x of the points that an axis can show.
fn ends(series: &[chart::Series], log: bool) -> Vec<f64> {
    let x = series.iter().flat_map(|series| &series.points).map(|point| point.x);
    let x: Vec<_> = x.filter(|&x| x > 0.0 || !log).collect();
    [Statistic::Min, Statistic::Max].iter().filter_map(|end| end.of(&x)).collect()
}

/// Returns a point that is labelled with the matrix of its row.
fn dot((line, (x, y)): (&RecordedRow, (f64, f64))) -> Point {
    Point { x, y, label: Some(label(matrix(line))), ..Point::default() }
}

/// Returns series of points, each with a name. Series without points are left out.
fn drawn<'n>(
    mark: Mark,
    series: impl IntoIterator<Item = (&'n str, Vec<Point>)>,
) -> Vec<chart::Series> {
    let shown = series.into_iter().filter(|(_, points)| !points.is_empty());
    shown.map(|(name, points)| chart::Series { name: name.to_owned(), mark, points }).collect()
}

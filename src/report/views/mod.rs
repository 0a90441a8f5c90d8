//! The views that an experiment's definition or a report can contain, and their construction from rows. The list
//! of kinds is closed.

mod agreement;
mod amortisation;
mod bars;
mod best;
mod bins;
mod contest;
mod correlations;
mod few;
mod heat;
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

pub use agreement::Agreement;
pub use amortisation::Amortisation;
pub use bars::Bars;
pub use best::Best;
pub use correlations::Correlations;
pub use heat::Heat;
pub use matrices::Matrices;
pub use plane::Plane;
pub use profile::Profile;
pub use repeatability::Repeatability;
pub use roofline::Roofline;
pub use sizes::Sizes;
pub use speedup::Speedup;
pub use speedups::Speedups;
pub use stages::Stages;
pub use winners::Winners;

use super::View;
use super::chart::{Axis, Chart};
use super::column::Column;
use super::lines::RecordedRow;
use super::matched::time;
use super::origin::origin;
use super::select::{Conditions, Select};
use crate::record::stages::StageRow;
use setting::join;
use shown::Shown;

/// The recorded data from which views are made.
#[derive(Clone, Debug, Default)]
pub struct Recorded<'a> {
    /// The rows of methods on matrices.
    pub lines: Vec<&'a RecordedRow>,
    /// The rows of the stages of their products.
    pub stages: Vec<&'a StageRow>,
    /// The run records.
    pub runs: Vec<&'a Value>,
}

impl Recorded<'_> {
    /// Returns the foot of a chart that shows all rows: the matrices, their settings, and where and when they
    /// were measured.
    pub fn foot(&self) -> String {
        self.foot_of(&self.lines)
    }

    fn foot_of(&self, lines: &[&RecordedRow]) -> String {
        let timed: Vec<_> = lines.iter().copied().filter(|line| time(line).is_some()).collect();
        let summary = Shown::of(&timed, &Conditions::default(), &[], &[]).summary();
        join([summary, origin(&timed, &self.runs)], "; ")
    }
}

/// The definition of a view. All kinds have a title and conditions that rows must meet. Most have a list of
/// methods, which also gives their order; without a list, all measured methods are shown. Each method is a series
/// of its own. It is split further by precision, device, number of threads, cache, order and transpose if the
/// rows differ in these.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[allow(missing_docs)] // each kind is documented at its struct
pub enum Spec {
    Plane(Plane),
    Speedup(Speedup),
    Speedups(Speedups),
    Bars(Bars),
    Heat(Heat),
    Correlations(Correlations),
    Matrices(Matrices),
    Amortisation(Amortisation),
    Roofline(Roofline),
    Best(Best),
    Winners(Winners),
    Profile(Profile),
    Repeatability(Repeatability),
    Sizes(Sizes),
    Stages(Stages),
    Agreement(Agreement),
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
        let (of, over) = self.named();
        [of, over].concat()
    }

    /// Returns the selections of the methods that are shown, none if all are, and those of the methods that they
    /// are compared with.
    fn named(&self) -> (Vec<&Select>, Vec<&Select>) {
        match self {
            Self::Plane(Plane { of, .. })
            | Self::Bars(Bars { of, .. })
            | Self::Heat(Heat { of, .. })
            | Self::Correlations(Correlations { of, .. })
            | Self::Matrices(Matrices { of, .. })
            | Self::Roofline(Roofline { of, .. })
            | Self::Best(Best { of, .. })
            | Self::Winners(Winners { of, .. })
            | Self::Profile(Profile { of, .. })
            | Self::Repeatability(Repeatability { of, .. })
            | Self::Agreement(Agreement { of, .. })
            | Self::Stages(Stages { of, .. }) => (of.iter().collect(), Vec::new()),
            Self::Speedup(Speedup { of, over, .. })
            | Self::Amortisation(Amortisation { of, over, .. }) => {
                (of.iter().collect(), vec![over])
            }
            Self::Speedups(Speedups { of, over, .. }) => (vec![of], over.iter().collect()),
            Self::Sizes(_) => (Vec::new(), Vec::new()),
        }
    }

    /// Builds the view from recorded data. Empty charts and tables are left out.
    pub fn view(&self, recorded: &Recorded) -> View {
        let View { title, notes, chart, table, .. } = self.whole(recorded);
        let (chart, table) = (chart.filter(shows), table.filter(|table| !table.rows.is_empty()));
        let foot = chart.iter().map(|_| recorded.foot_of(&self.shown(recorded))).collect();
        View { title, notes, chart, table, foot }
    }

    /// Returns the rows that the view shows.
    fn shown<'a>(&self, recorded: &Recorded<'a>) -> Vec<&'a RecordedRow> {
        let (conditions, (of, over)) = (self.conditions(), self.named());
        let is_meant = |line: &&RecordedRow| {
            let selected = || of.iter().chain(&over).any(|select| select.meets(line));
            conditions.passes(line) && (of.is_empty() || selected())
        };
        recorded.lines.iter().copied().filter(is_meant).collect()
    }

    fn conditions(&self) -> &Conditions {
        match self {
            Self::Plane(Plane { conditions, .. })
            | Self::Speedup(Speedup { conditions, .. })
            | Self::Speedups(Speedups { conditions, .. })
            | Self::Bars(Bars { conditions, .. })
            | Self::Heat(Heat { conditions, .. })
            | Self::Correlations(Correlations { conditions, .. })
            | Self::Matrices(Matrices { conditions, .. })
            | Self::Amortisation(Amortisation { conditions, .. })
            | Self::Roofline(Roofline { conditions, .. })
            | Self::Best(Best { conditions, .. })
            | Self::Winners(Winners { conditions, .. })
            | Self::Profile(Profile { conditions, .. })
            | Self::Repeatability(Repeatability { conditions, .. })
            | Self::Sizes(Sizes { conditions, .. })
            | Self::Agreement(Agreement { conditions, .. })
            | Self::Stages(Stages { conditions, .. }) => conditions,
        }
    }

    /// Builds the view, including empty charts and tables.
    fn whole(&self, recorded: &Recorded) -> View {
        let lines = &recorded.lines[..];
        match self {
            Self::Plane(kind) => kind.view(lines),
            Self::Speedup(kind) => kind.view(lines),
            Self::Speedups(kind) => kind.view(lines),
            Self::Bars(kind) => kind.view(lines),
            Self::Heat(kind) => kind.view(lines),
            Self::Correlations(kind) => kind.view(lines),
            Self::Matrices(kind) => kind.view(lines),
            Self::Amortisation(kind) => kind.view(lines),
            Self::Roofline(kind) => kind.view(lines),
            Self::Best(kind) => kind.view(lines),
            Self::Winners(kind) => kind.view(lines),
            Self::Profile(kind) => kind.view(lines),
            Self::Repeatability(kind) => kind.view(lines),
            Self::Sizes(kind) => kind.view(lines),
            Self::Stages(kind) => kind.view(&recorded.stages),
            Self::Agreement(kind) => kind.view(lines),
        }
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

/// Returns the name of a method with a mean over matrices, followed by the number of matrices in brackets if that
/// is not all of them.
pub(super) fn counted(name: &str, matrices: usize, all: usize) -> String {
    if matrices == all { name.to_owned() } else { format!("{name} ({matrices})") }
}

/// Returns the note that explains these numbers in brackets, if any mean is over fewer than all matrices.
pub(super) fn on_fewer(mut matrices: impl Iterator<Item = usize>, all: usize) -> Option<String> {
    let note = "A number in brackets is the number of matrices of a mean over fewer than all. Such a mean cannot be \
                compared with the others.";
    matrices.any(|matrices| matrices < all).then(|| note.into())
}

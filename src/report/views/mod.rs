//! The closed grammar of views: what a definition may ask to be shown, and the making of it from rows.

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

/// What was recorded.
#[derive(Clone, Debug, Default)]
pub struct Recorded<'a> {
    /// The rows of methods on matrices.
    pub lines: Vec<&'a RecordedRow>,
    /// The rows of their products' parts.
    pub stages: Vec<&'a StageRow>,
    /// The records of the runs.
    pub runs: Vec<&'a Value>,
}

impl Recorded<'_> {
    /// What a picture of all these rows bears: of which matrices it is, how, where and when they were measured.
    pub fn foot(&self) -> String {
        self.foot_of(&self.lines)
    }

    fn foot_of(&self, lines: &[&RecordedRow]) -> String {
        let timed: Vec<_> = lines.iter().copied().filter(|line| time(line).is_some()).collect();
        let stands_on = Shown::of(&timed, &Conditions::default(), &[], &[]).stands_on();
        join([stands_on, origin(&timed, &self.runs)], "; ")
    }
}

/// A view that is asked for. All kinds have a title, conditions that rows must meet, and most a list of
/// methods, in whose order they are shown: all that were measured unless some are named. Each method is a
/// series of its own, and so is each precision, device, number of threads, cache, order and transpose
/// where rows differ in these.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[allow(missing_docs)] // each kind's struct is explained
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

/// Some of the rows, under a name.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// In the table and the legend.
    pub name: String,
    /// What its rows meet.
    #[serde(rename = "where")]
    pub conditions: Conditions,
}

impl Spec {
    /// The rows that it names.
    pub fn selections(&self) -> Vec<&Select> {
        let (of, over) = self.named();
        [of, over].concat()
    }

    /// The methods that it is of, or none if it is of all, and those that they are set against.
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

    /// Of these rows; without a chart or a table where it would be empty.
    pub fn view(&self, recorded: &Recorded) -> View {
        let View { title, notes, chart, table, .. } = self.whole(recorded);
        let (chart, table) = (chart.filter(shows), table.filter(|table| !table.rows.is_empty()));
        let foot = chart.iter().map(|_| recorded.foot_of(&self.shown(recorded))).collect();
        View { title, notes, chart, table, foot }
    }

    /// Those of the rows that it shows.
    fn shown<'a>(&self, recorded: &Recorded<'a>) -> Vec<&'a RecordedRow> {
        let (conditions, (of, over)) = (self.conditions(), self.named());
        let is_meant = |line: &&RecordedRow| {
            let selected = || of.iter().chain(&over).any(|select| select.meets(line));
            conditions.meet(line) && (of.is_empty() || selected())
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

    /// With empty charts and tables.
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

/// The parts with their conditions and those of the whole; without any, the whole is one of no name.
fn parts<'p>(whole: &Conditions, split: &'p [Part]) -> Vec<(&'p str, Conditions)> {
    if split.is_empty() {
        return vec![("", whole.clone())];
    }
    split.iter().map(|part| (&part.name[..], whole.and(&part.conditions))).collect()
}

/// Whether there is anything in a chart.
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

/// The name of a method with a mean over matrices, with their number in brackets where that is not all.
pub(super) fn counted(name: &str, matrices: usize, all: usize) -> String {
    if matrices == all { name.to_owned() } else { format!("{name} ({matrices})") }
}

/// What must be known to read such names, if any is over fewer.
pub(super) fn on_fewer(mut matrices: impl Iterator<Item = usize>, all: usize) -> Option<String> {
    let note = "A mean over fewer matrices than the others' does not compare with theirs: the number in brackets tells \
                of how many.";
    matrices.any(|matrices| matrices < all).then(|| note.into())
}

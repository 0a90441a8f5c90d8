//! The views that an experiment's definition or a report can contain, and their construction from rows. The list
//! of kinds is closed; `docs/experiments.md` describes their keys. A file of kinds imports what most of them need from
//! here, with `use super::*`.

/// Defines the struct of a kind of view: the keys that all kinds have, followed by its own. Kinds without a list `of`
/// of methods end with an expression for the selections of the methods that they show.
macro_rules! keys {
    ($(#[$doc:meta])* $kind:ident { $($own:tt)* }) => {
        keys! {
            $(#[$doc])*
            $kind {
                /// The methods to show, in this order; all methods if empty.
                #[serde(default)]
                pub of: Vec<Select>,
                $($own)*
            }
            |kind| &kind.of
        }
    };
    ($(#[$doc:meta])* $kind:ident { $($own:tt)* } |$self:ident| $of:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $kind {
            pub title: String,
            /// The conditions that a row must meet to be included.
            #[serde(rename = "where", default)]
            pub conditions: Conditions,
            $($own)*
        }

        impl Keys for $kind {
            fn keys(&self) -> (&str, &Conditions, &[Select]) {
                let $self = self;
                (&self.title, &self.conditions, $of)
            }
        }
    };
}

mod agreement;
mod amortisation;
mod bars;
mod best;
mod correlations;
mod few;
mod kinds;
mod plane;
mod profile;
mod rankings;
mod roofline;
mod scaling;
mod shown;
mod sizes;
mod speedup;
mod stages;
mod tables;
#[cfg(test)]
mod tests;
mod thinned;

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use serde::Deserialize;
use serde_json::Value;

use super::chart::{self, Axis, Chart, Guide, Mark, Point};
use super::matched::{self, Fastest, Matrix, Numbers, matrix, timed};
use super::means::{Kinds, by_values};
use super::names::{count, join, label};
use super::numeric::Column;
use super::select::{Conditions, Select};
use super::{View, grouped};
use crate::files::read::RecordedRow;
use crate::matrix::stage_row::StageRow;
use crate::run::facts::machine;
use crate::statistics::{Statistic, median, percentage, quantile, sorted};
use crate::table::{Cell, Table, significant};
use shown::{COMPARED_WITHIN, Series, Shown, name, note_on_choice, varying};

#[derive(Clone, Debug, Default)]
pub struct Recorded<'a> {
    pub lines: Vec<&'a RecordedRow>,
    pub stages: Vec<&'a StageRow>,
    /// The records of the runs that the rows belong to.
    pub runs: Vec<&'a Value>,
    /// Whether matrices whose values repeat and others share a mean.
    pub together: bool,
    /// The number of products over which the times spread the setup, if they do.
    pub planned: Option<u32>,
}

impl Recorded<'_> {
    /// Returns the kinds of the matrices of these rows, which have means of their own unless they are `together`.
    pub(super) fn kinds(&self, lines: &[&RecordedRow]) -> Kinds {
        let kinds = Kinds::of_lines(lines);
        if self.together { kinds.together() } else { kinds }
    }

    /// Returns the foot of a chart of these rows: the matrices, their settings, where and when they were measured.
    pub(super) fn foot(&self, lines: &[&RecordedRow]) -> String {
        let timed: Vec<_> = timed(lines.iter().copied()).collect();
        let summary = Shown::of(&timed, &Conditions::default(), &[], &[]).summary();
        let planned = self.planned.map(|products| format!("for {products} products, with setup"));
        join([summary, planned.unwrap_or_default(), self.origin(&timed)], "; ")
    }

    /// Returns the machines of these rows, each with the first and last day of its runs, from the run records.
    fn origin(&self, lines: &[&RecordedRow]) -> String {
        let mut days: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for line in lines {
            let (machine, day) = self.machine_and_day(line).unwrap_or_default();
            days.entry(machine).or_default().insert(day);
        }
        let machines = days.into_iter().map(|(machine, days)| match (days.first(), days.last()) {
            _ if machine.is_empty() => "machine and date not recorded".to_owned(),
            (Some(first), Some(last)) if first < last => format!("{machine}, {first} to {last}"),
            (day, _) => format!("{machine}, {}", day.unwrap_or(&"")),
        });
        join(machines, "; ")
    }

    fn machine_and_day(&self, line: &RecordedRow) -> Option<(String, &str)> {
        let run = self.runs.iter().find(|run| run["run_id"] == line.row.run_id[..])?;
        let date = run["date"].as_str()?;
        Some((machine(run, line.row.device?.name())?, date.get(..10).unwrap_or(date)))
    }
}

trait Keys {
    /// Returns the title, the conditions on rows, and the selections of the methods that are shown, none if all are.
    fn keys(&self) -> (&str, &Conditions, &[Select]);
}

trait Kind: Keys {
    /// Returns the selections of the methods that the shown ones are compared with.
    fn over(&self) -> &[Select] {
        &[]
    }

    /// Builds the view without its title, including empty charts and tables.
    fn view(&self, recorded: &Recorded) -> View;

    /// Returns the rows that the view shows. Series are not split by the settings in `along`.
    fn shown<'a>(&self, recorded: &Recorded<'a>, along: &[&str]) -> Shown<'a> {
        let (_, conditions, of) = self.keys();
        Shown::of(&recorded.lines, conditions, of, along)
    }
}

macro_rules! kinds {
    ($(#[$doc:meta])* $spec:ident { $($kind:ident in $module:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Deserialize)]
        #[serde(tag = "kind", rename_all = "kebab-case")]
        pub enum $spec {
            $($kind($module::$kind)),*
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
    /// The definition of a view. Each method is a series, split further by the settings in which its rows differ.
    Spec {
        Plane in plane,
        Speedup in speedup,
        Speedups in speedup,
        Bars in bars,
        Heat in rankings,
        Correlations in correlations,
        Matrices in tables,
        EachMatrix in tables,
        Listing in tables,
        Amortisation in amortisation,
        Roofline in roofline,
        Best in best,
        Winners in rankings,
        Profile in profile,
        Losses in rankings,
        Repeatability in tables,
        Sizes in sizes,
        Stages in stages,
        Agreement in agreement,
        Scaling in scaling,
        ByKind in kinds,
    }
}

/// A named subset of the rows.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    pub name: String,
    /// The conditions that its rows meet; without any, all rows of the view.
    #[serde(default, rename = "where")]
    pub conditions: Conditions,
}

impl Spec {
    pub fn selections(&self) -> Vec<&Select> {
        self.kind().keys().2.iter().chain(self.kind().over()).collect()
    }

    /// Builds the view from recorded data. Empty charts and tables are left out.
    pub fn view(&self, recorded: &Recorded) -> View {
        let view = self.kind().view(recorded);
        let chart = view.chart.filter(shows);
        let foot = chart.iter().map(|_| recorded.foot(&self.shown(recorded))).collect();
        let table = view.table.filter(|table| !table.rows.is_empty());
        let is_thinned = chart.as_ref().is_some_and(is_thinned);
        let notes = view.notes.into_iter().chain(is_thinned.then(|| thinned::NOTE.to_owned()));
        let title = self.kind().keys().0.to_owned();
        View { title, notes: notes.collect(), chart, foot, table, kinds: view.kinds }
    }

    fn shown<'a>(&self, recorded: &Recorded<'a>) -> Vec<&'a RecordedRow> {
        let (_, conditions, of) = self.kind().keys();
        let baselines = self.kind().over().iter().filter(|_| !of.is_empty());
        let selections: Vec<_> = of.iter().chain(baselines).cloned().collect();
        Shown::of(&recorded.lines, conditions, &selections, &[]).lines
    }
}

/// Parses a definition as it is below `[[view]]` in the definition of an experiment.
impl FromStr for Spec {
    type Err = toml::de::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        toml::from_str(text)
    }
}

/// Returns the parts of a split with their conditions and those of the view; without a split, all rows as one.
fn parts<'p>(whole: &Conditions, split: &'p [Part]) -> Vec<(&'p str, Conditions)> {
    if split.is_empty() {
        return vec![("", whole.clone())];
    }
    split.iter().map(|part| (&part.name[..], whole.and(&part.conditions))).collect()
}

fn shows(chart: &Chart) -> bool {
    match chart {
        Chart::Plane(plane) => plane.series.iter().any(|series| !series.points.is_empty()),
        Chart::Bars(bars) => bars.series.iter().any(|s| s.values.iter().any(Option::is_some)),
        Chart::Heat(heat) => heat.cells.iter().flatten().any(Option::is_some),
    }
}

fn is_thinned(chart: &Chart) -> bool {
    matches!(chart, Chart::Plane(plane) if plane.series.iter().any(|of| !of.outliers.is_empty()))
}

fn nonzeros() -> Column {
    Column::of("num_nonzeros")
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
    let series = |(name, points): (&str, Vec<_>)| match mark {
        Mark::Dots => thinned::dots(name, points),
        _ => chart::Series { name: name.to_owned(), mark, points, outliers: vec![] },
    };
    shown.map(series).collect()
}

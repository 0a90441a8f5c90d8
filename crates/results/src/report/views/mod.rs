//! The views that an experiment's definition or a report can contain, and their construction from rows. The list
//! of kinds is closed; `docs/experiments.md` describes their keys.

mod agreement;
mod amortisation;
mod bars;
mod best;
mod by_kind;
mod contest;
mod correlations;
mod few;
mod foot;
mod kind;
mod plane;
mod profile;
mod rankings;
mod recorded;
mod roofline;
mod scaling;
mod series;
mod shown;
mod sizes;
mod speedup;
mod stages;
mod tables;
#[cfg(test)]
mod tests;
mod thinned;

use std::collections::BTreeMap;
use std::str::FromStr;

use rayon::prelude::*;
use serde::Deserialize;

use super::chart::Chart;
use super::groups::grouped;
use super::select::Select;
use super::view::View;
use crate::files::read::RecordedRow;
use crate::row::GroupKey;
use kind::Kind;
pub use recorded::Recorded;
use series::varying;
use shown::Shown;

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
        ByKind in by_kind,
    }
}

impl Spec {
    pub fn selections(&self) -> Vec<Select> {
        [self.kind().keys().2, self.kind().over()].concat()
    }

    /// Builds the view from recorded data. Empty charts and tables are left out.
    pub fn view(&self, recorded: &Recorded) -> View {
        self.view_of(&self.shown(recorded))
    }

    /// Builds several views. What is computed of rows is computed once for all of them that show the same rows.
    pub fn views(specs: &[Self], recorded: &Recorded) -> Vec<View> {
        let split = varying(&recorded.lines, &GroupKey::NAMES);
        let rows = |spec: &Self| {
            let (_, conditions, of) = spec.kind().keys();
            let along: Vec<_> = spec.kind().along().into_iter().filter(|name| split.contains(name)).collect();
            format!("{along:?} {of:?} {conditions}")
        };
        let alike = grouped(specs, |spec| rows(spec));
        let shown: BTreeMap<_, _> = alike.iter().map(|(rows, specs)| (&rows[..], specs[0].shown(recorded))).collect();
        specs.par_iter().map(|spec| spec.view_of(&shown[&rows(spec)[..]])).collect()
    }

    fn shown<'r, 'a>(&'r self, recorded: &'r Recorded<'a>) -> Shown<'r, 'a> {
        let (_, conditions, of) = self.kind().keys();
        Shown::of(recorded, conditions, &of, &self.kind().along())
    }

    fn view_of(&self, shown: &Shown) -> View {
        let (title, _, of) = self.kind().keys();
        let view = self.kind().view(shown);
        let chart = view.chart.filter(shows);
        let foot = |_| match of.is_empty() {
            true => shown.foot().to_owned(),
            false => shown.recorded.foot(&self.rows(shown.recorded)),
        };
        let foot = chart.iter().map(foot).collect();
        let table = view.table.filter(|table| !table.rows.is_empty());
        let is_thinned = chart.as_ref().is_some_and(is_thinned);
        let notes = view.notes.into_iter().chain(is_thinned.then(|| thinned::NOTE.to_owned()));
        let title = title.to_owned();
        View { title, notes: notes.collect(), chart, foot, table, kinds: view.kinds }
    }

    /// Returns the rows of the methods that the view shows, with those of the baselines.
    fn rows<'a>(&self, recorded: &Recorded<'a>) -> Vec<&'a RecordedRow> {
        Shown::of(recorded, self.kind().keys().1, &self.selections(), &[]).lines
    }
}

/// Parses a definition as it is below `[[view]]` in the definition of an experiment.
impl FromStr for Spec {
    type Err = toml::de::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        toml::from_str(text)
    }
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

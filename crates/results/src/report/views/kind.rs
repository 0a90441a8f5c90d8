//! What the kinds of views have in common: their keys, and what they make charts of. Their files import all of it.

pub(super) use std::collections::{BTreeMap, BTreeSet};

pub(super) use serde::Deserialize;

pub(super) use super::series::{COMPARED_WITHIN, Series, name, varying};
pub(super) use super::shown::{Shown, note_on_choice};
use super::thinned;
pub(super) use crate::files::read::RecordedRow;
pub(super) use crate::report::chart::{self, Axis, BarSeries, Chart, Guide, Mark, Point};
pub(super) use crate::report::groups::grouped;
pub(super) use crate::report::matched::{Fastest, Matrix, Numbers, matrix, timed};
pub(super) use crate::report::means::Kinds;
pub(super) use crate::report::names::{count, join, label};
pub(super) use crate::report::numeric::Column;
pub(super) use crate::report::select::{Conditions, Select};
pub(super) use crate::report::view::View;
pub(super) use crate::statistics::{Statistic, median, percentage, quantile, sorted};
pub(super) use crate::table::{Cell, Table, significant};

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
            |kind| kind.of.clone()
        }
    };
    ($(#[$doc:meta])* $kind:ident { $($own:tt)* } |$self:ident| $of:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $kind {
            pub title: String,
            /// The conditions that a row must meet to be included.
            #[serde(rename = "where", default)]
            pub conditions: Conditions,
            $($own)*
        }

        impl Keys for $kind {
            fn keys(&self) -> (&str, &Conditions, Vec<Select>) {
                let $self = self;
                (&self.title, &self.conditions, $of)
            }
        }
    };
}

pub(super) use keys;

pub(super) trait Keys {
    /// Returns the title, the conditions on rows, and the selections of the methods that are shown, none if all are.
    fn keys(&self) -> (&str, &Conditions, Vec<Select>);
}

pub(super) trait Kind: Keys {
    /// Returns the selections of the methods that the shown ones are compared with.
    fn over(&self) -> Vec<Select> {
        Vec::new()
    }

    /// Returns the settings that do not split series.
    fn along(&self) -> Vec<&str> {
        Vec::new()
    }

    /// Builds the view without its title, including empty charts and tables.
    fn view(&self, shown: &Shown) -> View;
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

/// Returns the parts of a split with their conditions and those of the view; without a split, all rows as one.
pub(super) fn parts<'p>(whole: &Conditions, split: &'p [Part]) -> Vec<(&'p str, Conditions)> {
    if split.is_empty() {
        return vec![("", whole.clone())];
    }
    split.iter().map(|part| (&part.name[..], whole.and(&part.conditions))).collect()
}

pub(super) fn nonzeros() -> Column {
    Column::of("num_nonzeros")
}

pub(super) fn axis(column: &Column) -> Axis {
    Axis { label: column.label().to_owned(), log: column.is_log(), whole: column.is_count() }
}

/// Returns the least and the greatest x of the points that an axis can show.
pub(super) fn ends(series: &[chart::Series], log: bool) -> Vec<f64> {
    let x = series.iter().flat_map(|series| &series.points).map(|point| point.x);
    let x: Vec<_> = x.filter(|&x| x > 0.0 || !log).collect();
    [Statistic::Min, Statistic::Max].iter().filter_map(|end| end.of(&x)).collect()
}

/// Returns a point that is labelled with the matrix of its row.
pub(super) fn dot((line, (x, y)): (&RecordedRow, (f64, f64))) -> Point {
    Point { x, y, label: Some(label(matrix(line))), ..Point::default() }
}

/// Returns series of points, each with a name. Series without points are left out.
pub(super) fn drawn<'n>(mark: Mark, series: impl IntoIterator<Item = (&'n str, Vec<Point>)>) -> Vec<chart::Series> {
    let shown = series.into_iter().filter(|(_, points)| !points.is_empty());
    let series = |(name, points): (&str, Vec<_>)| match mark {
        Mark::Dots => thinned::dots(name, points),
        _ => chart::Series { name: name.to_owned(), mark, points, outliers: vec![] },
    };
    shown.map(series).collect()
}

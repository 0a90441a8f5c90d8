//! Attributes from which the script of a page shows and hides series of a chart with many series.

use svg::node::element::Group;

use super::look::Look;

/// In a chart with more series than this, the legend shows and hides them.
const MANY: usize = 6;

/// A series that can be shown and hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    series: usize,
    first: bool,
}

impl Switch {
    /// Marks the drawing of a series.
    pub fn part(switch: Option<Self>, group: Group) -> Group {
        let Some(Self { series, .. }) = switch else { return group };
        group.set("data-series", series)
    }

    /// Marks the name of a series in the legend.
    pub fn name(switch: Option<Self>, group: Group) -> Group {
        let Some(Self { series, first }) = switch else { return group };
        group.set("data-switch", series).set("data-first", first)
    }
}

/// Returns each series with its style, and its switch if there are many series. `few` contains the names of the
/// series that are visible at first; if it names none of them, all are.
pub fn looks<'a, S>(
    series: &'a [S],
    name: fn(&S) -> &String,
    few: &[String],
) -> impl Iterator<Item = (&'a S, Look, Option<Switch>)> + use<'a, S> {
    let mut first: Vec<_> = series.iter().map(|series| few.contains(name(series))).collect();
    if !first.contains(&true) {
        first.fill(true);
    }
    let many = first.len() > MANY;
    series.iter().zip(first).enumerate().map(move |(index, (series, first))| {
        (series, Look::of(index), many.then_some(Switch { series: index, first }))
    })
}

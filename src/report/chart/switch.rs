//! Attributes from which the script of a page shows and hides series of a chart with many series.

use svg::node::element::Group;

/// In a chart with more series than this, the legend shows and hides them.
const MANY: usize = 6;

/// A series that can be shown and hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    series: usize,
    first: bool,
}

impl Switch {
    /// Returns the switches of the series with these names, or `None` for each if they are not many. `few`
    /// contains the names of the series that are visible at first; if it names none of them, all are.
    pub fn all<'a>(names: impl Iterator<Item = &'a str>, few: &[String]) -> Vec<Option<Self>> {
        let mut first: Vec<_> = names.map(|name| few.iter().any(|few| few == name)).collect();
        if !first.contains(&true) {
            first.fill(true);
        }
        let many = first.len() > MANY;
        let switches = first.into_iter().enumerate();
        switches.map(|(series, first)| many.then_some(Self { series, first })).collect()
    }

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

//! What the script of a page must know to show and hide the series of a chart that has many.

use svg::node::element::Group;

/// A chart with more series than this has a legend that shows and hides them.
const MANY: usize = 6;

/// A series that can be shown and hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    series: usize,
    first: bool,
}

impl Switch {
    /// Those of the series of these names; `None` for each where they are not many. `few` names those that are shown at
    /// first; where it names none of them, all are.
    pub fn all<'a>(names: impl Iterator<Item = &'a str>, few: &[String]) -> Vec<Option<Self>> {
        let mut first: Vec<_> = names.map(|name| few.iter().any(|few| few == name)).collect();
        if !first.contains(&true) {
            first.fill(true);
        }
        let many = first.len() > MANY;
        let switches = first.into_iter().enumerate();
        switches.map(|(series, first)| many.then_some(Self { series, first })).collect()
    }

    /// What is drawn of the series.
    pub fn part(switch: Option<Self>, group: Group) -> Group {
        let Some(Self { series, .. }) = switch else { return group };
        group.set("data-series", series)
    }

    /// Its name in the legend.
    pub fn name(switch: Option<Self>, group: Group) -> Group {
        let Some(Self { series, first }) = switch else { return group };
        group.set("data-switch", series).set("data-first", first)
    }
}

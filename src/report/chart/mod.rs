//! Charts: here as data, beside it drawn as SVG, a file per kind.

mod bars;
mod drawing;
mod heat;
mod label;
mod legend;
mod look;
mod picture;
mod plane;
mod scale;
mod switch;
#[cfg(test)]
mod tests;
mod theme;

use serde::{Deserialize, Serialize};

use picture::Picture;

/// A picture's data.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Chart {
    /// Points and lines over two axes.
    Plane(Plane),
    /// Bars, a group per category.
    Bars(Bars),
    /// A coloured cell per row and column.
    Heat(Heat),
}

impl Chart {
    /// As SVG that needs nothing else, about 660 units wide and as high as it must be, for a page, whose colour of
    /// text it takes. What cannot be drawn is left out: no finite number, or none above 0 on a logarithmic axis.
    pub fn to_svg(&self) -> String {
        self.picture().into_svg()
    }

    /// The same as a file of its own, readable in the dark and the light, with its title above and below it a
    /// small line on where the numbers are from.
    pub fn to_file(&self, title: &str, foot: &str) -> String {
        self.picture().framed(title, foot).into_svg()
    }

    fn picture(&self) -> Picture {
        match self {
            Self::Plane(plane) => plane::draw(plane),
            Self::Bars(bars) => bars::draw(bars),
            Self::Heat(heat) => heat::draw(heat),
        }
    }
}

/// Points and lines over two axes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Plane {
    /// To the right.
    pub x: Axis,
    /// Upward.
    pub y: Axis,
    /// A colour and a mark each.
    pub series: Vec<Series>,
    /// Lines that are no series: a roof, a speed of 1, the products after which something pays off.
    pub guides: Vec<Guide>,
    /// The names of the series that a page shows at first where there are many; none: all of them.
    pub few: Vec<String>,
}

/// What an axis measures.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Axis {
    /// With the unit: `time per product (ms)`.
    pub label: String,
    /// Logarithmic; only positive numbers are drawn.
    pub log: bool,
    /// Of whole numbers; no others are written along it.
    pub whole: bool,
}

impl Axis {
    /// Of any numbers.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }

    /// Of positive numbers.
    pub fn log(label: impl Into<String>) -> Self {
        Self { log: true, ..Self::linear(label) }
    }
}

/// What bears one name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// In the legend.
    pub name: String,
    /// How its points are drawn.
    pub mark: Mark,
    /// By x where they are joined.
    pub points: Vec<Point>,
}

/// How points are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// One by one.
    #[default]
    Dots,
    /// Joined, with dots.
    Line,
    /// Joined, without dots, the spread as a band.
    Trend,
}

/// A pair of numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Point {
    /// To the right.
    pub x: f64,
    /// Upward.
    pub y: f64,
    /// From where to where y lies: its interval, or where it is a mean, what it is the mean of.
    pub spread: Option<(f64, f64)>,
    /// What is shown where a pointer rests: the matrix.
    pub label: Option<String>,
}

/// A line that is no series.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Guide {
    /// Beside it, or in the legend.
    pub name: String,
    /// Its corners; the axes reach to them.
    pub points: Vec<(f64, f64)>,
}

/// Bars, a group per category.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Bars {
    /// What a bar's length is.
    pub value: Axis,
    /// The groups.
    pub categories: Vec<String>,
    /// What each group has a bar of, or if `stacked` a part of its one bar.
    pub series: Vec<BarSeries>,
    /// The parts of a group lie end to end.
    pub stacked: bool,
    /// As in [`Plane::few`].
    pub few: Vec<String>,
}

/// A bar, or a part of one, in each group.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct BarSeries {
    /// In the legend.
    pub name: String,
    /// By category; `None`: no bar.
    pub values: Vec<Option<f64>>,
    /// By category: from where to where the value lies; drawn where bars are not stacked. Empty: unknown of all.
    pub intervals: Vec<Option<(f64, f64)>>,
    /// Over all categories, as a line across.
    pub mean: Option<f64>,
}

/// A coloured cell per row and column.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Heat {
    /// What colours mean.
    pub value: Axis,
    /// The number that the darkest and the lightest colour stand for.
    pub range: (f64, f64),
    /// From top to bottom.
    pub rows: Vec<String>,
    /// From left to right.
    pub columns: Vec<String>,
    /// By row and column; `None`: an empty cell.
    pub cells: Vec<Vec<Option<f64>>>,
}

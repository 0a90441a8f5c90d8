//! The charts as data.

use serde::Deserialize;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plane {
    pub x: Axis,
    pub y: Axis,
    pub series: Vec<Series>,
    /// Lines that are not series: a roof, a speed-up of 1, a number of products after which a setup pays off.
    pub guides: Vec<Guide>,
    /// The names of the series that a page shows at first if there are many. If empty, it shows all.
    pub few: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// The label with the unit: `time per product (ms)`.
    pub label: String,
    /// Whether the axis is logarithmic. Such an axis shows only positive numbers.
    pub log: bool,
    /// Whether the numbers are integers. Then only integers are labelled.
    pub whole: bool,
}

impl Axis {
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }

    pub fn log(label: impl Into<String>) -> Self {
        Self { log: true, ..Self::linear(label) }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    pub name: String,
    pub mark: Mark,
    /// The points, sorted by x if they are joined.
    pub points: Vec<Point>,
    /// Points that are marked and not joined, beside those of a trend.
    pub outliers: Vec<Point>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// Each point is a separate mark.
    #[default]
    Dots,
    /// As marks that are joined by a line.
    Line,
    /// As a line without marks, with the spread as a band.
    Trend,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Point {
    pub x: f64,
    pub y: f64,
    /// The range of y: its confidence interval, or the range of the numbers if y is their mean.
    pub spread: Option<(f64, f64)>,
    /// The text of the tooltip, usually the matrix.
    pub label: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Guide {
    pub name: String,
    /// The points that the line joins. The axes include them.
    pub points: Vec<(f64, f64)>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bars {
    pub value: Axis,
    pub categories: Vec<String>,
    /// The series. Each has a bar in every group, or if `stacked` a part of its only bar.
    pub series: Vec<BarSeries>,
    pub stacked: bool,
    /// The names of the series that a page shows at first: see [`Plane::few`].
    pub few: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct BarSeries {
    pub name: String,
    /// The value in each category, or `None` for no bar.
    pub values: Vec<Option<f64>>,
    /// The interval of the value in each category. Empty if all are unknown, and for parts of a stack.
    pub intervals: Vec<Option<(f64, f64)>>,
    /// The mean over all categories, drawn as a line; `None` for parts of a stack.
    pub mean: Option<f64>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Heat {
    /// The label of the colour bar.
    pub label: String,
    pub rows: Vec<String>,
    pub columns: Vec<String>,
    /// The values by row and column, in percent; `None` is an empty cell.
    pub cells: Vec<Vec<Option<f64>>>,
}

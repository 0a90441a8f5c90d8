//! Charts as data; the submodules draw each kind as SVG.

mod bars;
mod data;
mod figure;
mod heat;
mod look;
mod plane;
mod scale;
#[cfg(test)]
mod tests;

pub use data::{Axis, BarSeries, Bars, Guide, Heat, Mark, Plane, Point, Series};
use figure::{COLOURS_OF_A_FILE, COLOURS_ON_PAPER, Figure};
pub use look::style_of;

#[derive(Clone, Debug, PartialEq)]
pub enum Chart {
    Plane(Plane),
    Bars(Bars),
    Heat(Heat),
}

impl Chart {
    /// Draws the chart as SVG for a page. Numbers without a place on their axis, such as NaN, are left out.
    pub fn to_svg(&self) -> String {
        self.figure().into_svg(COLOURS_OF_A_FILE)
    }

    /// Draws the chart as a file for light and dark backgrounds, with its title above and a foot below it.
    pub fn to_file(&self, title: &str, foot: &str) -> String {
        self.figure().framed(title, foot).into_svg(COLOURS_OF_A_FILE)
    }

    /// Draws the chart as a file for a paper, which is light in every viewer.
    pub fn to_paper(&self, title: &str, foot: &str) -> String {
        self.figure().framed(title, foot).into_svg(COLOURS_ON_PAPER)
    }

    fn figure(&self) -> Figure {
        match self {
            Self::Plane(plane) => plane::draw(plane),
            Self::Bars(bars) => bars::draw(bars),
            Self::Heat(heat) => heat::draw(heat),
        }
    }
}

//! A drawn chart, for a page or as a file of its own with a title and a foot.

use svg::node::element::{Group, SVG, Style};

use super::drawing::{tenth, text};
use super::theme::{FONT, LINE, wrapped};

/// Applies only to SVG files that are opened directly; in a page, the chart takes the text colour of the page.
/// The colour scheme also makes the browser's background dark.
const COLOURS_OF_A_FILE: &str = "svg.chart:root{color:#1f2328;color-scheme:light dark}\
    @media(prefers-color-scheme:dark){svg.chart:root{color:#e6edf3}}";

/// The font size of the title, the width of its bold letters relative to normal ones, and the font size of the
/// foot.
const TITLE: f64 = 15.0;
const BOLD: f64 = 1.15;
const FOOT: f64 = 11.0;

/// The margin around the chart.
const MARGIN: f64 = 10.0;

/// A drawing with its size.
pub struct Picture {
    /// The width in the units of the drawing.
    pub width: f64,
    /// The height in the units of the drawing.
    pub height: f64,
    /// The layers, from bottom to top.
    pub parts: Vec<Group>,
}

impl Picture {
    /// Returns the picture with lines of text above and below.
    pub fn framed(self, title: &str, foot: &str) -> Self {
        let titles = wrapped(title, self.width * FONT / (TITLE * BOLD));
        let feet = wrapped(foot, self.width * FONT / FOOT);
        let top = MARGIN + (titles.len() as f64 + 0.6) * LINE;
        let body = Group::new().set("transform", format!("translate({MARGIN} {})", tenth(top)));
        let body = self.parts.into_iter().fold(body, Group::add);
        let below = top + self.height + 0.5 * LINE;
        let title = Group::new().set("font-size", TITLE).set("font-weight", "bold");
        let foot = Group::new().set("font-size", FOOT).set("fill-opacity", 0.8);
        let height = below + feet.len() as f64 * LINE + MARGIN;
        let parts = vec![lines(title, &titles, MARGIN), body, lines(foot, &feet, below)];
        Self { width: self.width + 2.0 * MARGIN, height, parts }
    }

    /// Returns the picture as SVG.
    pub fn into_svg(self) -> String {
        let (width, height) = (tenth(self.width), tenth(self.height));
        let whole = SVG::new()
            .set("class", "chart")
            .set("viewBox", format!("0 0 {width} {height}"))
            // The default size. The style sheet of a page overrides it.
            .set("width", width)
            .set("style", "max-width:100%")
            .set("font-family", "system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif")
            .set("font-size", FONT)
            .set("fill", "currentColor")
            .add(Style::new(COLOURS_OF_A_FILE));
        self.parts.into_iter().fold(whole, SVG::add).to_string()
    }
}

/// Draws lines of text from `top` downward.
fn lines(group: Group, texts: &[String], top: f64) -> Group {
    let lines = texts.iter().enumerate();
    lines.fold(group, |group, (index, line)| {
        group.add(text(MARGIN, top + (index as f64 + 0.5) * LINE, "start", line))
    })
}

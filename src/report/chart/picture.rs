//! A whole picture: in a page, or as a file of its own with a title and a foot.

use svg::node::element::{Group, SVG, Style};

use super::drawing::{tenth, text};
use super::theme::{FONT, LINE, wrapped};

/// Only of a file of its own; in a page the page's colour is taken. The scheme makes the browser's own
/// ground dark too where a file is opened by itself.
const COLOURS_OF_A_FILE: &str = "svg.chart:root{color:#1f2328;color-scheme:light dark}\
    @media(prefers-color-scheme:dark){svg.chart:root{color:#e6edf3}}";

/// The sizes of the title's letters, which are bold and therefore wider than those of other texts, and of the foot's.
const TITLE: f64 = 15.0;
const BOLD: f64 = 1.15;
const FOOT: f64 = 11.0;

/// Free around all of it.
const MARGIN: f64 = 10.0;

/// What is drawn, and how much room it takes.
pub struct Picture {
    /// From the left to the right.
    pub width: f64,
    /// From the top to the bottom.
    pub height: f64,
    /// The first lies below all others.
    pub parts: Vec<Group>,
}

impl Picture {
    /// The same with lines of text above and below.
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

    /// As SVG.
    pub fn into_svg(self) -> String {
        let (width, height) = (tenth(self.width), tenth(self.height));
        let whole = SVG::new()
            .set("class", "chart")
            .set("viewBox", format!("0 0 {width} {height}"))
            // A natural size for where nothing else says one; a page's own rules go before.
            .set("width", width)
            .set("style", "max-width:100%")
            .set("font-family", "system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif")
            .set("font-size", FONT)
            .set("fill", "currentColor")
            .add(Style::new(COLOURS_OF_A_FILE));
        self.parts.into_iter().fold(whole, SVG::add).to_string()
    }
}

/// Lines of text from a height downward.
fn lines(group: Group, texts: &[String], top: f64) -> Group {
    let lines = texts.iter().enumerate();
    lines.fold(group, |group, (index, line)| {
        group.add(text(MARGIN, top + (index as f64 + 0.5) * LINE, "start", line))
    })
}

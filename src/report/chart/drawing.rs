//! SVG elements that charts consist of.

use svg::node::element::{Group, Line, Path, Rectangle, Text, Title};

use super::theme::{BASELINE, shortened};
use crate::record::table::significant;

/// Rounds to a tenth of a unit. Finer differences are not visible.
pub fn tenth(place: f64) -> f64 {
    // Adding 0 turns -0 into 0.
    (10.0 * place).round() / 10.0 + 0.0
}

/// Removes the characters that XML cannot contain.
fn clean(text: &str) -> String {
    let holds =
        |c: &char| !matches!(c, '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{fffe}'..='\u{ffff}');
    text.chars().filter(holds).collect()
}

/// Returns a line of text, centred vertically at `middle`, with its `start`, `middle` or `end` at `x`.
pub fn text(x: f64, middle: f64, anchor: &str, content: &str) -> Text {
    Text::new(clean(content))
        .set("x", tenth(x))
        .set("y", tenth(middle + BASELINE))
        .set("text-anchor", anchor)
}

/// Returns text that is written upward from `bottom`, centred horizontally at `middle`.
pub fn upward(middle: f64, bottom: f64, content: &str) -> Text {
    let (x, y) = (tenth(middle + BASELINE), tenth(bottom));
    Text::new(clean(content))
        .set("x", x)
        .set("y", y)
        .set("transform", format!("rotate(-90 {x} {y})"))
}

/// Returns a name, shortened to the available width. A shortened name has a tooltip with the full name.
pub fn written(name: &str, room: f64, place: impl Fn(&str) -> Text) -> Group {
    let short = shortened(name, room);
    let group = Group::new().add(place(&short));
    if short == name { group } else { group.add(tip(name)) }
}

/// Returns an element that a browser shows as a tooltip.
pub fn tip(content: &str) -> Title {
    Title::new(clean(content))
}

/// Formats a number, with its interval if that is known.
pub fn reading(number: f64, between: Option<(f64, f64)>) -> String {
    let between =
        between.map(|(low, high)| format!(" ({} to {})", significant(low), significant(high)));
    significant(number) + &between.unwrap_or_default()
}

/// Returns a straight line.
pub fn line(from: (f64, f64), to: (f64, f64)) -> Line {
    Line::new()
        .set("x1", tenth(from.0))
        .set("y1", tenth(from.1))
        .set("x2", tenth(to.0))
        .set("y2", tenth(to.1))
}

/// Returns a line through the given points.
pub fn path(corners: impl IntoIterator<Item = (f64, f64)>) -> Path {
    let places: Vec<_> =
        corners.into_iter().map(|(x, y)| format!("{} {}", tenth(x), tenth(y))).collect();
    Path::new().set("d", format!("M{}", places.join("L")))
}

/// Returns a rectangle between two opposite corners, in any order.
pub fn rectangle(a: (f64, f64), b: (f64, f64)) -> Rectangle {
    Rectangle::new()
        .set("x", tenth(a.0.min(b.0)))
        .set("y", tenth(a.1.min(b.1)))
        .set("width", tenth((a.0 - b.0).abs()))
        .set("height", tenth((a.1 - b.1).abs()))
}

/// Returns a group for lines in the colour of the text.
pub fn faint(opacity: f64) -> Group {
    Group::new().set("stroke", "currentColor").set("stroke-opacity", opacity).set("fill", "none")
}

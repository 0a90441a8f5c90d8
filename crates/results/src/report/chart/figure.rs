//! The SVG elements that charts consist of, the frame of a figure, text widths, and the colour map. A unit is a pixel
//! of the figure at its natural width. The files that draw charts import all of it.

use svg::node::element::{Group, Line, Path, Rectangle, SVG, Style, Text, Title};

pub use crate::report::means::reading;
use crate::table::terminal::shown;

pub const WIDTH: f64 = 660.0;
/// The size of text, as in the tables of a page.
pub const FONT: f64 = 14.0;
/// The distance between lines of text.
pub const LINE: f64 = 20.0;
/// The distance from the middle of a line to its baseline.
pub const BASELINE: f64 = 4.8;

/// Returns an upper bound: the width in the widest common font, DejaVu Sans. The viewer's font is unknown.
pub fn text_width(text: &str) -> f64 {
    let width = |letter: char| match letter {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | '\'' | '|' | ' ' => 0.35,
        'f' | 't' | 'r' | '-' | '(' | ')' | '/' => 0.43,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 1.0,
        '=' | '+' | '<' | '>' | '→' | '↑' | '×' | 'A'..='Z' => 0.84,
        letter if (letter as u32) < 0x2100 => 0.65,
        _ => 1.1,
    };
    FONT * text.chars().map(width).sum::<f64>()
}

/// The maximum width of the names of categories, rows and columns.
pub const NAMES: f64 = 290.0;

pub fn widest(names: &[String]) -> f64 {
    names.iter().map(|name| text_width(name)).fold(0.0, f64::max).min(NAMES)
}

/// Cuts a text to the available width, with an ellipsis.
pub fn shortened(text: &str, room: f64) -> String {
    if text_width(text) <= room {
        return text.to_owned();
    }
    let room = room - text_width("…");
    let ends = text.char_indices().map(|(end, _)| end);
    let end = ends.take_while(|&end| text_width(&text[..end]) <= room).last();
    format!("{}…", &text[..end.unwrap_or(0)])
}

/// Breaks a text into lines between words. A word that is too wide is cut.
pub fn wrapped(text: &str, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if text_width(line) + text_width(" ") + text_width(word) <= room => {
                *line = format!("{line} {word}");
            }
            _ => lines.push(shortened(word, room)),
        }
    }
    lines
}

/// Rounds to a tenth of a unit. Finer differences are not visible.
pub fn tenth(place: f64) -> f64 {
    // Adding 0 turns -0 into 0.
    (10.0 * place).round() / 10.0 + 0.0
}

/// Escapes control characters, of which XML cannot contain most, and removes the others that it cannot contain.
fn clean(text: &str) -> String {
    shown(text).replace(['\u{fffe}', '\u{ffff}'], "")
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
    Text::new(clean(content)).set("x", x).set("y", y).set("transform", format!("rotate(-90 {x} {y})"))
}

/// Returns a name, shortened to the available width. A shortened name has a tooltip with the full name.
pub fn written(name: &str, room: f64, place: impl Fn(&str) -> Text) -> Group {
    let short = shortened(name, room);
    let group = Group::new().add(place(&short));
    if short == name { group } else { group.add(tip(name)) }
}

pub fn tip(content: &str) -> Title {
    Title::new(clean(content))
}

pub fn line(from: (f64, f64), to: (f64, f64)) -> Line {
    Line::new()
        .set("x1", tenth(from.0))
        .set("y1", tenth(from.1))
        .set("x2", tenth(to.0))
        .set("y2", tenth(to.1))
}

pub fn path(corners: impl IntoIterator<Item = (f64, f64)>) -> Path {
    let places: Vec<_> = corners.into_iter().map(|(x, y)| format!("{} {}", tenth(x), tenth(y))).collect();
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

pub fn faint(opacity: f64) -> Group {
    Group::new().set("stroke", "currentColor").set("stroke-opacity", opacity).set("fill", "none")
}

/// Applies only to SVG files that are opened directly; in a page, the chart takes the text colour of the page.
/// The colour scheme also makes the browser's background dark.
pub const COLOURS_OF_A_FILE: &str = "svg.chart:root{color:#1f2328;color-scheme:light dark}\
    @media(prefers-color-scheme:dark){svg.chart:root{color:#e6edf3}}";

pub const COLOURS_ON_PAPER: &str = "svg.chart:root{color:#1f2328;background:#fff}";

/// The font sizes of title and foot, and the width of bold letters relative to normal ones.
const TITLE: f64 = 15.0;
const BOLD: f64 = 1.15;
const FOOT: f64 = 11.0;

const MARGIN: f64 = 10.0;

pub struct Figure {
    pub width: f64,
    pub height: f64,
    pub parts: Vec<Group>,
}

impl Figure {
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

    pub fn into_svg(self, colours: &str) -> String {
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
            .add(Style::new(colours));
        self.parts.into_iter().fold(whole, SVG::add).to_string()
    }
}

fn lines(group: Group, texts: &[String], top: f64) -> Group {
    let lines = texts.iter().enumerate();
    lines.fold(group, |group, (index, line)| {
        group.add(text(MARGIN, top + (index as f64 + 0.5) * LINE, "start", line))
    })
}

/// The Viridis colour map at equal distances, from the darkest to the lightest colour.
const VIRIDIS: [u32; 10] =
    [0x440154, 0x482878, 0x3e4989, 0x31688e, 0x26828e, 0x1f9e89, 0x35b779, 0x6dcd59, 0xb4de2c, 0xfde725];

/// Returns the colour for a share (0 to 1) of the range, and the text colour for it.
pub fn viridis(share: f64) -> (String, &'static str) {
    let place = share.clamp(0.0, 1.0) * (VIRIDIS.len() - 1) as f64;
    let below = (place as usize).min(VIRIDIS.len() - 2);
    let mixed = [16, 8, 0].map(|shift| {
        let [from, to] = [below, below + 1].map(|stop| f64::from(VIRIDIS[stop] >> shift & 0xff));
        from + (to - from) * (place - below as f64)
    });
    // Above this relative luminance black contrasts more than white.
    let [red, green, blue] = mixed.map(|part| (part / 255.0).powf(2.2));
    let luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    let [red, green, blue] = mixed.map(|part| part.round() as u8);
    (format!("#{red:02x}{green:02x}{blue:02x}"), if luminance > 0.18 { "#000" } else { "#fff" })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The widths are in thousandths of the font size, from the font itself.
    #[test]
    fn texts_are_not_wider_than_estimated() {
        let luxembourg = [278, 634, 592, 615, 974, 635, 612, 634, 411, 635, 500, 612, 521, 974].iter().sum();
        for (text, width) in [("luxembourg_osm", luxembourg), ("W", 989), ("1.5M", 636 + 318 + 636 + 863)] {
            assert!(1000.0 * text_width(text) / FONT >= f64::from(width), "{text}");
        }
    }

    #[test]
    fn texts_are_cut_where_they_are_too_wide() {
        // Five letters and the ellipsis: (0.65 + 0.65 + … + 1.1) = 4.35 times the font size.
        assert_eq!(shortened("abcde", 3.25 * FONT), "abcde");
        assert_eq!(shortened("abcdef", 3.24 * FONT), "abc…");
        assert_eq!(shortened("abc", 0.0), "…");
    }

    #[test]
    fn texts_are_broken_between_words() {
        let room = text_width("aaaa bbbb");
        let lines = wrapped("aaaa  bbbb cccc\ndddddddddddd e", room);
        assert_eq!(lines, ["aaaa bbbb", "cccc", "ddddddd…", "e"]);
        assert!(wrapped(" ", room).is_empty());
    }

    #[test]
    fn colours_lie_between_those_of_the_map() {
        assert_eq!(viridis(-1.0), ("#440154".into(), "#fff"));
        assert_eq!(viridis(1.0), ("#fde725".into(), "#000"));
        assert_eq!(viridis(0.5), ("#23908c".into(), "#000"));
    }
}

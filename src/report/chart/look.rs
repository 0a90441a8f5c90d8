//! What tells series from each other: colours, marks, dashes and fills.

use svg::node::element::{Group, Path};

use super::drawing::{faint, tenth};

/// By Okabe and Ito: without black and yellow, which a dark and a light page swallow, with a grey instead,
/// and the blue a little lighter.
pub const COLOURS: [&str; 7] =
    ["#1f80c0", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a8a8a"];

/// As paths about the point that they mark, and whether they are filled.
const MARKS: [(&str, bool); 8] = [
    ("m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z", true),
    ("m-3.6-3.6h7.2v7.2h-7.2z", true),
    ("m0-4.8l4.4 7.8h-8.8z", true),
    ("m0-5.2l4.4 5.2l-4.4 5.2l-4.4-5.2z", true),
    ("m-3.5-3.5l7 7m0-7l-7 7", false),
    ("m0 4.8l4.4-7.8h-8.8z", true),
    ("m-4.5 0h9m-4.5-4.5v9", false),
    ("m-3.8 0a3.8 3.8 0 1 0 7.6 0a3.8 3.8 0 1 0-7.6 0z", false),
];

const DASHES: [&str; 6] = ["none", "7 3", "2 3", "10 3 2 3", "14 4", "6 2 2 2 2 2"];

/// How the bars of a series are filled: the opacity inside, and the dashes of the border.
const FILLS: [(f64, &str); 4] = [(0.9, "none"), (0.35, "none"), (0.0, "none"), (0.0, "3 2")];

/// What tells a series from the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Of all that belongs to it.
    pub colour: &'static str,
    /// A path about a point.
    pub mark: &'static str,
    /// Whether the mark is filled, or only drawn along the path.
    pub filled: bool,
    /// Of its line.
    pub dash: &'static str,
    /// The opacity inside its bars, and the dashes around them.
    pub fill: (f64, &'static str),
}

impl Look {
    /// Of a series by its place. Colour and mark are different for the first 56, colour and dash for the
    /// first 42, colour and fill for the first 28.
    pub fn of(index: usize) -> Self {
        let (colour, round) = (index % COLOURS.len(), index / COLOURS.len());
        let (mark, filled) = MARKS[(colour + round) % MARKS.len()];
        let dash = DASHES[round % DASHES.len()];
        Self { colour: COLOURS[colour], mark, filled, dash, fill: FILLS[round % FILLS.len()] }
    }

    /// What its marks have in common.
    pub fn marks(self) -> Group {
        let group = Group::new();
        match self.filled {
            true => group.set("fill", self.colour).set("fill-opacity", 0.8),
            false => group.set("fill", "none").set("stroke", self.colour).set("stroke-width", 1.8),
        }
    }

    /// One of its marks.
    pub fn mark_at(self, x: f64, y: f64) -> Path {
        Path::new().set("d", format!("M{} {}{}", tenth(x), tenth(y), self.mark))
    }

    /// What its lines have in common.
    pub fn strokes(self) -> Group {
        let group = Group::new().set("fill", "none").set("stroke", self.colour);
        group
            .set("stroke-width", 2)
            .set("stroke-linejoin", "round")
            .set("stroke-dasharray", self.dash)
    }

    /// What its bars have in common.
    pub fn fills(self) -> Group {
        let group = Group::new().set("fill", self.colour).set("fill-opacity", self.fill.0);
        group.set("stroke", self.colour).set("stroke-dasharray", self.fill.1)
    }
}

/// What the lines have in common that are no series.
pub fn guide_strokes(index: usize) -> Group {
    let dash = ["5 4", "1.5 3", "9 3 1.5 3", "12 5", "4 2"][index % 5];
    faint(0.75).set("stroke-width", 1.2).set("stroke-dasharray", dash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_series_look_alike() {
        for index in 0..28 {
            for other in (0..index).map(Look::of) {
                let look = Look::of(index);
                let parts = |look: Look| [look.mark, look.dash];
                for (a, b) in parts(look).iter().zip(parts(other)) {
                    assert_ne!((look.colour, *a), (other.colour, b), "{index}");
                }
                assert_ne!((look.colour, look.fill), (other.colour, other.fill), "{index}");
            }
        }
    }

    /// By the formula of WCAG 2, on white and on GitHub's dark page.
    #[test]
    fn colours_are_seen_in_the_light_and_in_the_dark() {
        let luminance = |colour: &str| -> f64 {
            let part = |at| f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            let linear = |part: f64| match part <= 0.04045 {
                true => part / 12.92,
                false => ((part + 0.055) / 1.055).powf(2.4),
            };
            0.2126 * linear(part(1)) + 0.7152 * linear(part(3)) + 0.0722 * linear(part(5))
        };
        for colour in COLOURS {
            let own = luminance(colour) + 0.05;
            assert!((luminance("#ffffff") + 0.05) / own > 2.0, "{colour}");
            assert!(own / (luminance("#0d1117") + 0.05) > 3.0, "{colour}");
        }
    }
}

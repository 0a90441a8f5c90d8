//! Styles that distinguish the series of a chart: colours, marks, dashes and fills.

use svg::node::element::{Group, Path};

use super::drawing::{faint, tenth};

/// Twelve colours, found by a search for colours that are as different as possible for viewers with normal vision
/// and with each kind of colour blindness, among those that are visible on light and dark pages.
const COLOURS: [&str; 12] = [
    "#2b72c8", "#ef8a17", "#3bc671", "#ce0dbb", "#a1617d", "#9010ff", "#ce0709", "#7c9b6f",
    "#df90f7", "#3f6f45", "#b465ff", "#aeadbc",
];

/// The marks as SVG paths relative to the marked point, and whether they are filled.
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

/// The fills of bars: the opacity inside, and the dashes of the border.
const FILLS: [(f64, &str); 4] = [(0.9, "none"), (0.35, "none"), (0.0, "none"), (0.0, "3 2")];

/// The style of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// The position of the series in the chart.
    pub index: usize,
    /// The colour of all its elements.
    pub colour: &'static str,
    /// The SVG path of its mark, relative to the marked point.
    pub mark: &'static str,
    /// Whether the mark is filled.
    pub filled: bool,
    /// The dashes of its line.
    pub dash: &'static str,
    /// The opacity inside its bars, and the dashes of their borders.
    pub fill: (f64, &'static str),
}

impl Look {
    /// Returns the style of the series at a position. No two of the first 96 series share colour and mark; no two
    /// of the first 48 share colour and dash, or colour and fill.
    pub fn of(index: usize) -> Self {
        let (colour, round) = (index % COLOURS.len(), index / COLOURS.len());
        let (mark, filled) = MARKS[(colour + round) % MARKS.len()];
        // Lines have no marks, so the dashes change before all colours are used.
        let dash = DASHES[(index / 4 + index / 24) % DASHES.len()];
        let fill = FILLS[round % FILLS.len()];
        Self { index, colour: COLOURS[colour], mark, filled, dash, fill }
    }

    /// Returns a group with the attributes of the marks.
    pub fn marks(self) -> Group {
        let group = Group::new();
        match self.filled {
            true => group.set("fill", self.colour).set("fill-opacity", 0.9),
            false => group.set("fill", "none").set("stroke", self.colour).set("stroke-width", 1.8),
        }
    }

    /// Returns a mark at a position.
    pub fn mark_at(self, x: f64, y: f64) -> Path {
        Path::new().set("d", format!("M{} {}{}", tenth(x), tenth(y), self.mark))
    }

    /// Returns a group with the attributes of the lines.
    pub fn strokes(self) -> Group {
        let group = Group::new().set("fill", "none").set("stroke", self.colour);
        group
            .set("stroke-width", 2)
            .set("stroke-linejoin", "round")
            .set("stroke-dasharray", self.dash)
    }

    /// Returns a group with the attributes of the bars.
    pub fn fills(self) -> Group {
        let group = Group::new().set("fill", self.colour).set("fill-opacity", self.fill.0);
        group.set("stroke", self.colour).set("stroke-dasharray", self.fill.1)
    }
}

/// Returns a group with the attributes of guides, the lines that are not series.
pub fn guide_strokes(index: usize) -> Group {
    let dash = ["5 4", "1.5 3", "9 3 1.5 3", "12 5", "4 2"][index % 5];
    faint(0.75).set("stroke-width", 1.2).set("stroke-dasharray", dash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_series_look_alike() {
        for index in 0..48 {
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

    /// Returns red, green and blue as linear light, from 0 to 1.
    fn light(colour: &str) -> [f64; 3] {
        [1, 3, 5].map(|at| {
            let part = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        })
    }

    fn times(matrix: [[f64; 3]; 3], of: [f64; 3]) -> [f64; 3] {
        matrix.map(|row| row.iter().zip(of).map(|(a, b)| a * b).sum())
    }

    /// Uses the contrast formula of WCAG 2, on white and on GitHub's dark background.
    #[test]
    fn colours_are_seen_in_the_light_and_in_the_dark() {
        let luminance = |colour: &str| -> f64 {
            light(colour)
                .iter()
                .zip([0.2126, 0.7152, 0.0722])
                .map(|(part, weight)| part * weight)
                .sum()
        };
        for colour in COLOURS {
            let own = luminance(colour) + 0.05;
            assert!((luminance("#ffffff") + 0.05) / own > 2.0, "{colour}");
            assert!(own / (luminance("#0d1117") + 0.05) > 3.0, "{colour}");
        }
    }

    /// The colours that viewers see who lack the first, second or third kind of cones, after Machado, Oliveira
    /// and Fernandes, A Physiologically-based Model for Simulation of Color Vision Deficiency (2009); the first
    /// matrix is normal vision.
    const EYES: [[[f64; 3]; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ],
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ],
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ],
    ];

    /// Converts light to Oklab (Ottosson, 2020), in which distances are proportional to perceived differences.
    fn oklab(light: [f64; 3]) -> [f64; 3] {
        let cones = times(
            [
                [0.4122214708, 0.5363325363, 0.0514459929],
                [0.2119034982, 0.6806995451, 0.1073969566],
                [0.0883024619, 0.2817188376, 0.6299787005],
            ],
            light.map(|part| part.clamp(0.0, 1.0)),
        );
        times(
            [
                [0.2104542553, 0.7936177850, -0.0040720468],
                [1.9779984951, -2.4285922050, 0.4505937099],
                [0.0259040371, 0.7827717662, -0.8086757660],
            ],
            cones.map(f64::cbrt),
        )
    }

    /// A distance of 0.02 is just visible between adjacent colours.
    #[test]
    fn colours_differ_also_for_the_colour_blind() {
        for eye in EYES {
            let seen = COLOURS.map(|colour| oklab(times(eye, light(colour))));
            for (index, a) in seen.iter().enumerate() {
                for b in &seen[..index] {
                    let squares: f64 = a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum();
                    assert!(squares.sqrt() > 0.078, "{}: {}", COLOURS[index], squares.sqrt());
                }
            }
        }
    }
}

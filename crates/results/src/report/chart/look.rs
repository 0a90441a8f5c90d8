//! Styles that distinguish the series of a chart (colours, marks, dashes and fills), and the legend. In a chart with
//! many series, attributes tell the script of a page which marks and names belong to a series that it can show and
//! hide.

use std::collections::BTreeSet;

use svg::node::element::{Group, Path};

use super::figure::{LINE, faint, line, rectangle, tenth, text, text_width, written};
use spmv_matrix::method_name::MethodName;

/// In a chart with more series than this, the legend shows and hides them.
const SWITCHABLE_ABOVE: usize = 6;

/// Twelve colours that are visible on light and dark pages and as different as possible, also for the colour-blind: the
/// contrast (WCAG 2) is above 2 on white and above 3 on #0d1117, and no two are nearer than 0.078 in Oklab, for normal
/// vision and without one of the three kinds of cones (Machado, Oliveira and Fernandes, 2009).
const COLOURS: [&str; 12] = [
    "#2b72c8", "#ef8a17", "#3bc671", "#ce0dbb", "#a1617d", "#9010ff", "#ce0709", "#7c9b6f", "#df90f7", "#3f6f45",
    "#b465ff", "#aeadbc",
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

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// The position of the series in the chart.
    pub index: usize,
    pub colour: &'static str,
    /// The SVG path of its mark, relative to the marked point.
    mark: &'static str,
    filled: bool,
    dash: &'static str,
    /// The opacity inside its bars, and the dashes of their borders.
    fill: (f64, &'static str),
    /// Whether the series is visible at first; `None` if it cannot be hidden.
    pub first: Option<bool>,
}

/// Returns each series with its style. Of many, those in `few` are visible at first, or all if it names none of them.
/// Without `few`, no series can be hidden.
pub fn looks<'a, S>(
    series: &'a [S],
    name: fn(&S) -> &String,
    few: Option<&[String]>,
) -> impl Iterator<Item = (&'a S, Look)> + use<'a, S> {
    let is_first = |series| few.unwrap_or_default().contains(name(series));
    let mut first: Vec<_> = series.iter().map(is_first).collect();
    if !first.contains(&true) {
        first.fill(true);
    }
    let many = few.is_some() && first.len() > SWITCHABLE_ABOVE;
    let names: Vec<_> = series.iter().map(|series| &name(series)[..]).collect();
    let styles = styles(&names);
    series.iter().zip(first).enumerate().map(move |(index, (series, first))| {
        let look = Look::of(styles[index]);
        let alike = styles[..index].iter().filter(|other| Look::of(**other).colour == look.colour);
        let fill = FILLS[alike.count() % FILLS.len()];
        (series, Look { index, first: many.then_some(first), fill, ..look })
    })
}

/// The methods with the first styles, so that those that are often in the same chart have different colours: of the
/// CPU, and of the GPU.
const FIRST_STYLED: &str = "merge packed mkl-ie csr-rows csr5 auto sell mkl-ie-opt csb csr2 mkl-csrmv seq \
    gpu-merge gpu-packed cusparse-csr gpu-csr-vector gpu-csr5 gpu-auto gpu-sell cusparse-csr-pre gpu-hola \
    gpu-csrk-3 gpu-dasp gpu-hyb";

/// The methods of this project, which have the next styles in this order.
const LISTED: &str = "seq csr-rows kokkos-style merge merge-numa csb oski-style csr5 csr2 csr3 sell ell hyb coo dia bcsr csc \
    packed auto sprs mkl-csrmv mkl-ie mkl-ie-opt gpu-naive gpu-naive-t gpu-csr-scalar gpu-csr-vector \
    gpu-csr-adaptive gpu-csr-lrb gpu-csr-bulk gpu-pcsr gpu-light gpu-merge gpu-merge-bits gpu-csr5 \
    gpu-csr5-cached gpu-hola gpu-hola-t gpu-hola-t-buffered gpu-csc gpu-csrk-2 gpu-csrk-3 gpu-csrk-3.5 \
    gpu-coo gpu-ell gpu-dia gpu-hyb gpu-bcsr gpu-sell gpu-kokkos-style gpu-bccoo gpu-tile gpu-dasp \
    gpu-packed gpu-packed-values gpu-auto cusparse-csr cusparse-csr-pre cusparse-csr-alg1 \
    cusparse-csr-alg1-pre cusparse-csr-alg2 cusparse-csr-alg2-pre cusparse-csr-op cusparse-csr-op-alg1 \
    cusparse-csr-op-alg2 cusparse-coo cusparse-coo-alg2 cusparse-bsr cusparse-sell";

/// The largest number of series of one method that share its colour.
const MAX_OF_ONE_COLOUR: usize = 3;

/// Returns a style for each series. A method, with which the name of a series begins, has the same one in all charts,
/// except in a chart with many series of one method, which would be hard to tell apart.
fn styles(names: &[&str]) -> Vec<usize> {
    let methods: Vec<_> = names.iter().map(|name| MethodName::of_series(name).method).collect();
    let of_one = |own: &&str| methods.iter().filter(|other| *other == own).count();
    let own: Option<Vec<_>> = methods.iter().map(|method| style_of(method)).collect();
    let own = own.filter(|_| methods.iter().all(|method| of_one(method) <= MAX_OF_ONE_COLOUR));
    let Some(own) = own else { return (0..names.len()).collect() };
    let mut taken = BTreeSet::new();
    let free = own
        .into_iter()
        .filter_map(|style| (style..).step_by(COLOURS.len()).find(|style| taken.insert(*style)));
    free.collect()
}

pub fn style_of(method: &str) -> Option<usize> {
    let mut styled = FIRST_STYLED.split(' ').chain(LISTED.split(' '));
    styled.position(|styled| styled == method)
}

impl Look {
    /// No two of the first 96 series share colour and mark, no two of the first 48 colour and dash, or colour and fill.
    fn of(index: usize) -> Self {
        let (colour, round) = (index % COLOURS.len(), index / COLOURS.len());
        let (mark, filled) = MARKS[(colour + round) % MARKS.len()];
        // Lines have no marks, so the dashes change before all colours are used.
        let dash = DASHES[(index / 4 + index / 24) % DASHES.len()];
        let fill = FILLS[round % FILLS.len()];
        Self { index, colour: COLOURS[colour], mark, filled, dash, fill, first: None }
    }

    pub fn marks(self) -> Group {
        let group = Group::new();
        if self.filled {
            group.set("fill", self.colour).set("fill-opacity", 0.9)
        } else {
            group.set("fill", "none").set("stroke", self.colour).set("stroke-width", 1.8)
        }
    }

    pub fn mark_at(self, x: f64, y: f64) -> Path {
        Path::new().set("d", format!("M{} {}{}", tenth(x), tenth(y), self.mark))
    }

    pub fn strokes(self) -> Group {
        Group::new()
            .set("fill", "none")
            .set("stroke", self.colour)
            .set("stroke-width", 2)
            .set("stroke-linejoin", "round")
            .set("stroke-dasharray", self.dash)
    }

    pub fn fills(self) -> Group {
        let group = Group::new().set("fill", self.colour).set("fill-opacity", self.fill.0);
        group.set("stroke", self.colour).set("stroke-dasharray", self.fill.1)
    }

    /// Marks the elements of the series, if the series can be hidden.
    pub fn part(self, group: Group) -> Group {
        if self.first.is_some() { group.set("data-series", self.index) } else { group }
    }
}

pub fn guide_strokes(index: usize) -> Group {
    let dash = ["5 4", "1.5 3", "9 3 1.5 3", "12 5", "4 2"][index % 5];
    faint(0.75).set("stroke-width", 1.2).set("stroke-dasharray", dash)
}

/// The width of a sample in the legend, and the gap between it and its name.
const SAMPLE: f64 = 26.0;
const GAP: f64 = 6.0;
/// The gap between a column of the legend and the next.
const BETWEEN: f64 = 20.0;

/// A name in the legend with a sample of its style.
pub struct LegendEntry {
    pub name: String,
    /// The sample, centred at the origin and [`SAMPLE`] units wide.
    pub sample: Group,
    /// The look of a series; `None` for a guide.
    pub look: Option<Look>,
}

/// Draws the entries that have a name column by column. Returns the elements and its height.
pub fn legend(mut entries: Vec<LegendEntry>, top: f64, width: f64) -> (Group, f64) {
    entries.retain(|entry| !entry.name.is_empty());
    let room = width - SAMPLE - GAP;
    let widths: Vec<_> = entries.iter().map(|entry| width_of(&entry.name, room)).collect();
    let (rows, lefts) = columns(&widths, width);
    let placed = entries.into_iter().enumerate().map(|(index, entry)| {
        let middle = top + ((index % rows) as f64 + 0.5) * LINE;
        drawn(entry, lefts[index / rows], middle, room)
    });
    (placed.fold(Group::new(), Group::add), rows.min(widths.len()) as f64 * LINE)
}

fn width_of(name: &str, room: f64) -> f64 {
    SAMPLE + GAP + text_width(name).min(room)
}

/// Returns the smallest number of rows that fits into the width, and the left edges of the columns.
fn columns(widths: &[f64], room: f64) -> (usize, Vec<f64>) {
    let lefts = |rows: usize| {
        let (mut right, mut lefts) = (0.0, vec![]);
        for column in widths.chunks(rows) {
            lefts.push(right);
            right += column.iter().copied().fold(0.0, f64::max) + BETWEEN;
        }
        (right - BETWEEN, lefts)
    };
    let fits = (1..widths.len()).find(|&rows| lefts(rows).0 <= room);
    let rows = fits.unwrap_or(widths.len().max(1));
    (rows, lefts(rows).1)
}

fn drawn(entry: LegendEntry, left: f64, middle: f64, room: f64) -> Group {
    let at = format!("translate({} {})", tenth(left + SAMPLE / 2.0), tenth(middle));
    let name = written(&entry.name, room, |name| text(left + SAMPLE + GAP, middle, "start", name));
    let mut drawn = Group::new();
    if let Some((look, first)) = entry.look.and_then(|look| Some((look, look.first?))) {
        // Makes the whole entry clickable, not only its letters.
        let right = left + width_of(&entry.name, room);
        let area = rectangle((left, middle - LINE / 2.0), (right, middle + LINE / 2.0));
        drawn = drawn.set("data-switch", look.index).set("data-first", first);
        drawn = drawn.add(area.set("fill", "none").set("pointer-events", "all"));
    }
    drawn.add(entry.sample.set("transform", at)).add(name)
}

pub fn line_sample(group: Group) -> Group {
    group.add(line((-SAMPLE / 2.0, 0.0), (SAMPLE / 2.0, 0.0)))
}

pub fn bar_sample(look: Look) -> Group {
    look.fills().add(rectangle((-9.0, -5.0), (9.0, 5.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_has_the_same_style_in_all_charts() {
        assert_eq!(styles(&["packed", "merge"]), [1, 0]);
        assert_eq!(styles(&["merge f64", "merge f32", "gpu-merge"]), [0, 12, 24]);
        assert_eq!(styles(&["csr2:srs=8", "csr2:srs=16", "csr2:srs=32", "csr2:srs=64"]), [0, 1, 2, 3]);
        assert_eq!(styles(&["ginkgo:csr", "merge"]), [0, 1], "an unknown method");
    }

    #[test]
    fn no_two_series_look_alike() {
        let looks: Vec<_> = (0..48).map(Look::of).collect();
        for (index, look) in looks.iter().enumerate() {
            for other in &looks[..index] {
                let alike = [look.mark == other.mark, look.dash == other.dash, look.fill == other.fill];
                assert!(look.colour != other.colour || alike == [false; 3], "{index}");
            }
        }
    }

    #[test]
    fn there_are_as_few_rows_as_fit() {
        assert_eq!(columns(&[100.0, 80.0, 90.0], 310.0), (1, vec![0.0, 120.0, 220.0]));
        assert_eq!(columns(&[100.0, 80.0, 90.0], 309.0), (2, vec![0.0, 120.0]));
        assert_eq!(columns(&[100.0, 80.0], 100.0), (2, vec![0.0]));
        assert_eq!(columns(&[], 100.0), (1, vec![]));
    }
}

//! The view `roofline`: how close products come to the speed that the memory bandwidth allows. The roofs are the
//! measured bandwidths that products are compared with, by the size of their working sets.

use std::cmp::Ordering;

use super::few;
use super::kind::*;
use spmv_matrix::memory::Size;

/// The maximum number of roofs. More could not be distinguished in a chart.
const MAX_ROOFS: usize = 5;

/// The factors by which the bandwidths of one roof may differ. The first one with few enough roofs is used.
const FACTORS: [f64; 5] = [2.0, 3.0, 5.0, 10.0, f64::INFINITY];

keys! {
    /// GFLOP/s over FLOP per compulsory byte, below the measured bandwidths.
    Roofline {}
}

impl Kind for Roofline {
    fn view(&self, shown: &Shown) -> View {
        let column = Column::of("percent_of_peak");
        let percents = shown.each(|series| series.numbers(&column));
        let kinds = shown.kinds();
        let table = Table::of(&percents)
            .column("method", |(name, _)| *name)
            .means(kinds, ("median % of peak", Statistic::Median), |(_, all)| all)
            .column("min", |(_, all)| Statistic::Min.over(all))
            .column("on", |(_, all)| all.iter().min_by(by_number).map(matrix_of))
            .column("max", |(_, all)| Statistic::Max.over(all))
            .column("on", |(_, all)| all.iter().max_by(by_number).map(matrix_of));
        let meaning = "% of peak: the bandwidth if each product moves the CSR arrays, x and y once, in percent of the \
                       bandwidth of sweeps over as many bytes; a roof is the median of the bandwidths of these \
                       sweeps for a range of matrix sizes in which they differ little";
        let above = percents.iter().flat_map(|(_, all)| all).filter(|of| of.1 > 100.0).count();
        let on_above = (above > 0).then(|| {
            format!(
                "above 100 % ({above} rows): the method stores fewer bytes than CSR, or has more of them in the caches \
                 than the sweep had"
            )
        });
        View { kinds, ..View::of(shown.notes([Some(meaning.into()), on_above]), chart(shown), table) }
    }
}

fn by_number(a: &&(&RecordedRow, f64), b: &&(&RecordedRow, f64)) -> Ordering {
    a.1.total_cmp(&b.1)
}

fn matrix_of((line, _): &(&RecordedRow, f64)) -> String {
    label(matrix(line))
}

fn chart(shown: &Shown) -> Chart {
    let x = Column::of("intensity");
    let y = Column::of("gflops");
    let points = shown.each(|series| series.points([&x, &y]).into_iter().map(point).collect());
    let series = drawn(Mark::Dots, points);
    let timed: Vec<_> = timed(shown.lines.iter().copied()).collect();
    let guides = roofs(&timed, &ends(&series, x.is_log()));
    let few = few::of_points(&series, true);
    Chart::Plane(chart::Plane { x: axis(&x), y: Axis { log: true, ..axis(&y) }, series, guides, few })
}

/// Returns a point that is labelled with the matrix and its size.
fn point(of: (&RecordedRow, (f64, f64))) -> Point {
    let size = of.0.row.compulsory_bytes().map(|bytes| format!(", {}", Size(bytes)));
    let label = label(matrix(of.0)) + &size.unwrap_or_default();
    Point { label: Some(label), ..dot(of) }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Ceiling<'a> {
    matrix: Matrix<'a>,
    bytes: u64,
    gbs: f64,
}

fn ceiling<'a>(line: &&'a RecordedRow) -> Option<Ceiling<'a>> {
    let percent = line.row.percent_of_peak.filter(|&percent| percent > 0.0)?;
    let gbs = 100.0 * line.row.compulsory_gbs? / percent;
    Some(Ceiling { matrix: matrix(line), bytes: line.row.compulsory_bytes()?, gbs })
}

/// Returns one line per range of sizes between the ends of x (in FLOP per byte). Its name contains the sizes.
fn roofs(lines: &[&RecordedRow], ends: &[f64]) -> Vec<Guide> {
    let mut ceilings: Vec<_> = lines.iter().filter_map(ceiling).collect();
    ceilings.sort_by_key(|ceiling| (ceiling.bytes, ceiling.matrix));
    ceilings.dedup_by_key(|ceiling| (ceiling.bytes, ceiling.matrix));
    let mut choices = FACTORS.iter().map(|&factor| ranges(&ceilings, factor));
    let ranges = choices.find(|ranges| ranges.len() <= MAX_ROOFS).unwrap_or_default();
    let roof = |range: &[Ceiling]| {
        let gbs = median(range.iter().map(|of| of.gbs))?;
        Some(Guide { name: name(range, gbs), points: ends.iter().map(|&x| (x, x * gbs)).collect() })
    };
    ranges.into_iter().filter_map(roof).collect()
}

/// Divides the ceilings, which are sorted by size, into ranges whose bandwidths differ by at most a factor.
fn ranges<'s, 'a>(ceilings: &'s [Ceiling<'a>], factor: f64) -> Vec<&'s [Ceiling<'a>]> {
    let mut ranges = Vec::new();
    let mut start = 0;
    let mut least = f64::INFINITY;
    let mut most = 0.0_f64;
    for (place, &Ceiling { gbs, .. }) in ceilings.iter().enumerate() {
        least = least.min(gbs);
        most = most.max(gbs);
        if most > factor * least {
            ranges.push(&ceilings[start..place]);
            (start, least, most) = (place, gbs, gbs);
        }
    }
    ranges.push(&ceilings[start..]);
    ranges
}

/// Returns the name of a roof: `42.6 GB/s: 71.3 to 338 MiB (5 matrices)`.
fn name(range: &[Ceiling], gbs: f64) -> String {
    let size = |end: Option<&Ceiling>| Size(end.map_or(0, |of| of.bytes)).to_string();
    let (least, most) = (size(range.first()), size(range.last()));
    let sizes = if least == most { least } else { format!("{least} to {most}") };
    let matrices = range.iter().map(|of| of.matrix).collect::<BTreeSet<_>>().len();
    format!("{} GB/s: {sizes} ({})", significant(gbs), count(matrices, "matrix"))
}

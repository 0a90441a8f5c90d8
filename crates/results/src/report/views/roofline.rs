//! The view `roofline`: how close products come to the speed that the memory bandwidth allows. The roofs are the
//! measured bandwidths that products are compared with, by the size of their working sets.

use super::*;
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
    fn view(&self, recorded: &Recorded) -> View {
        let shown = self.shown(recorded, &[]);
        let (x, y) = (Column::of("intensity"), Column::of("gflops"));
        let point = |of: (&RecordedRow, _)| {
            let size = of.0.row.compulsory_bytes().map(|bytes| format!(", {}", Size(bytes)));
            let label = label(matrix(of.0)) + &size.unwrap_or_default();
            Point { label: Some(label), ..dot(of) }
        };
        let points = |of: &Series| of.points([&x, &y]).into_iter().map(point).collect();
        let series = drawn(Mark::Dots, shown.each(points));
        let timed: Vec<_> = timed(shown.lines.iter().copied()).collect();
        let guides = roofs(&timed, &ends(&series, x.is_log()));
        let few = few::of_points(&series, true);
        let (x, y) = (axis(&x), Axis { log: true, ..axis(&y) });
        let chart = Chart::Plane(chart::Plane { x, y, series, guides, few });
        let column = Column::of("percent_of_peak");
        let percents = shown.each(|of| of.numbers(&column));
        let name = |of: &(&RecordedRow, f64)| label(matrix(of.0));
        let least = |all: &Numbers| all.iter().min_by(|a, b| a.1.total_cmp(&b.1)).map(name);
        let most = |all: &Numbers| all.iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(name);
        let kinds = recorded.kinds(&shown.lines);
        let table = Table::of(&percents)
            .column("method", |(name, _)| *name)
            .means(kinds, ("median % of peak", Statistic::Median), |(_, all)| by_values(all))
            .column("min", |(_, all)| Statistic::Min.over(all))
            .column("on", |(_, all)| least(all))
            .column("max", |(_, all)| Statistic::Max.over(all))
            .column("on", |(_, all)| most(all));
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
        View { kinds, ..View::of(shown.notes([Some(meaning.into()), on_above]), chart, table) }
    }
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
    let (mut ranges, mut start) = (Vec::new(), 0);
    let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
    for (place, &Ceiling { gbs, .. }) in ceilings.iter().enumerate() {
        (least, most) = (least.min(gbs), most.max(gbs));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_ends_where_bandwidths_differ_too_much() {
        let ceiling = |gbs| Ceiling { matrix: ("a", false, None), bytes: 1, gbs };
        let ceilings = [100.0, 60.0, 120.0, 50.0, 40.0, 19.0].map(ceiling);
        let lengths =
            |factor| ranges(&ceilings, factor).iter().map(|range| range.len()).collect::<Vec<_>>();
        assert_eq!(lengths(2.0), [3, 2, 1]);
        assert_eq!(lengths(3.0), [5, 1]);
        assert_eq!(lengths(f64::INFINITY), [6]);
    }
}

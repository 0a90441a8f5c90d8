//! The roofs of a roofline plot: the measured bandwidths that products are compared with, by the size of their
//! working sets.

use std::collections::BTreeSet;

use crate::bench::metrics::compulsory_bytes;
use crate::record::read::RecordedRow;
use crate::record::table::significant;
use crate::report::chart::Guide;
use crate::report::matched::{Matrix, matrix};
use crate::report::names::count;
use crate::report::statistics::Statistic;
use spmv_matrix::memory::Size;

/// The maximum number of roofs. More could not be distinguished in a chart.
const MOST: usize = 5;

/// The factors by which the bandwidths of one roof may differ. The first one that results in few enough roofs is
/// used.
const FACTORS: [f64; 5] = [2.0, 3.0, 5.0, 10.0, f64::INFINITY];

/// The bandwidth that a row was compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ceiling<'a> {
    matrix: Matrix<'a>,
    /// The bytes of the CSR arrays, x and y.
    bytes: u64,
    gbs: f64,
}

impl<'a> Ceiling<'a> {
    fn of(line: &'a RecordedRow) -> Option<Self> {
        let row = &line.row;
        let percent = row.percent_of_peak.filter(|&percent| percent > 0.0)?;
        let gbs = 100.0 * row.compulsory_gbs? / percent;
        Some(Self { matrix: matrix(line), bytes: working_set(line)?, gbs })
    }
}

/// Returns the number of bytes of the CSR arrays, x and y.
pub(super) fn working_set(line: &RecordedRow) -> Option<u64> {
    let row = &line.row;
    Some(compulsory_bytes(row.num_rows?, row.num_cols?, row.num_nonzeros?, row.precision?))
}

/// Returns one line per range of sizes between the ends of x (in FLOP per byte). Its name contains the sizes.
pub(super) fn roofs(lines: &[&RecordedRow], ends: &[f64]) -> Vec<Guide> {
    let mut ceilings: Vec<_> = lines.iter().filter_map(|line| Ceiling::of(line)).collect();
    ceilings.sort_by_key(|ceiling| (ceiling.bytes, ceiling.matrix));
    ceilings.dedup_by_key(|ceiling| (ceiling.bytes, ceiling.matrix));
    let mut choices = FACTORS.iter().map(|&factor| ranges(&ceilings, factor));
    let ranges = choices.find(|ranges| ranges.len() <= MOST).unwrap_or_default();
    let roof = |range: &[Ceiling]| {
        let gbs = Statistic::Median.of(&range.iter().map(|of| of.gbs).collect::<Vec<_>>())?;
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

    fn ceilings(gbs: &[f64]) -> Vec<Ceiling<'static>> {
        let numbered = gbs.iter().enumerate();
        numbered
            .map(|(place, &gbs)| Ceiling {
                matrix: ("a", false, Some(place)),
                bytes: 1 << place,
                gbs,
            })
            .collect()
    }

    #[test]
    fn a_range_ends_where_bandwidths_differ_too_much() {
        let ceilings = ceilings(&[100.0, 60.0, 120.0, 50.0, 40.0, 19.0]);
        let lengths =
            |factor| ranges(&ceilings, factor).iter().map(|range| range.len()).collect::<Vec<_>>();
        assert_eq!(lengths(2.0), [3, 2, 1]);
        assert_eq!(lengths(3.0), [5, 1]);
        assert_eq!(lengths(f64::INFINITY), [6]);
    }

    #[test]
    fn the_name_of_a_roof_contains_its_sizes() {
        let ceilings = ceilings(&[100.0, 60.0]);
        assert_eq!(name(&ceilings, 80.0), "80.0 GB/s: 1 bytes to 2 bytes (2 matrices)");
        assert_eq!(name(&ceilings[1..], 60.0), "60.0 GB/s: 2 bytes (1 matrix)");
    }
}

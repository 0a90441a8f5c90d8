//! Numbers that are computed from several columns of a row.

use super::lines::RecordedRow;
use crate::bench::metrics::compulsory_bytes;
use crate::record::column::{ColumnInfo, SETUP};

/// A number that is computed from a row, with what is known about it.
pub type Derived = (ColumnInfo, fn(&RecordedRow) -> Option<f64>);

/// The numbers that conditions and experiments can use in addition to the columns of rows.
pub const DERIVED: &[Derived] = &[
    (
        derived("uncertainty", "Half the 95 % interval, in percent of the median.")
            .log("half the 95 % interval (%)")
            .not_modelled("noise: it has none"),
        |line| line.row.uncertainty(),
    ),
    (
        derived("setup_products", "The setup in products of the same method.")
            .log("setup (products of the same method)")
            .not_modelled(SETUP),
        |line| Some(line.row.setup_ms? / line.row.typical_ms()?),
    ),
    (
        derived("ns_per_nonzero", "The time per nonzero, in nanoseconds.")
            .time("time per nonzero (ns)"),
        |line| per_nonzero(line, 1e6 * line.row.typical_ms()?),
    ),
    (
        derived("extra_bytes_per_nonzero", "`extra_bytes` / nonzeros.")
            .log("bytes beyond CSR per nonzero"),
        |line| per_nonzero(line, line.row.extra_bytes? as f64),
    ),
    (
        derived("intensity", "The floating-point operations per byte of `compulsory_GBs`.")
            .log("FLOP per compulsory byte"),
        intensity,
    ),
    (
        derived("empty_percent", "The empty rows, in percent of all rows.")
            .linear("empty rows (%)"),
        |line| Some(100.0 * line.row.empty_rows? as f64 / line.row.num_rows? as f64),
    ),
    (
        derived("published_ms", "In experiments with published times: the published time.")
            .log("published time (ms)"),
        |line| line.added.published_ms,
    ),
    (
        derived("waited_ms", "The median plus the published time's `waiting_ms`.")
            .time("modelled time with launching and waiting (ms)"),
        waited_ms,
    ),
    (
        derived("published_ratio", "`waited_ms` / `published_ms`.")
            .log("modelled / published time"),
        published_ratio,
    ),
    (
        derived("published_error", "The error of `waited_ms` against `published_ms`, in percent.")
            .linear("error against the published time (%)"),
        |line| Some(100.0 * (published_ratio(line)? - 1.0).abs()),
    ),
];

const fn derived(name: &'static str, meaning: &'static str) -> ColumnInfo {
    ColumnInfo::of::<Option<f64>>(name, meaning)
}

fn per_nonzero(line: &RecordedRow, number: f64) -> Option<f64> {
    let nonzeros = line.row.num_nonzeros.filter(|&nonzeros| nonzeros > 0)?;
    Some(number / nonzeros as f64)
}

fn intensity(line: &RecordedRow) -> Option<f64> {
    let [rows, cols, nonzeros] = line.row.sizes()?;
    let bytes = compulsory_bytes(rows, cols, nonzeros, line.row.precision?);
    Some(2.0 * nonzeros as f64 / bytes as f64)
}

fn waited_ms(line: &RecordedRow) -> Option<f64> {
    Some(line.row.typical_ms()? + line.added.waiting_ms?)
}

fn published_ratio(line: &RecordedRow) -> Option<f64> {
    Some(waited_ms(line)? / line.added.published_ms?)
}

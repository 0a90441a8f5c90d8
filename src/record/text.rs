//! The report of one matrix for people, in the spirit of merge-spmv's.

use std::io::{self, Write};

use super::{Group, MatrixReport, Reordering};
use crate::device::Stage;
use crate::method::Device;
use crate::record::row::{MatrixFacts, Row, Shape, Status};

/// Statistics and degree histogram of the matrix.
pub fn write_matrix(out: &mut dyn Write, report: &MatrixReport) -> io::Result<()> {
    let MatrixFacts { file, shape, kind, .. } = &report.facts;
    writeln!(out, "{file}{}", load_note(report))?;
    if let Some(kind) = kind {
        writeln!(out, "{:>21}: {kind}", "kind")?;
    }
    let Some(shape) = shape else { return Ok(()) };
    let statistics = &shape.row_length;
    for (name, count) in
        [("num_rows", shape.rows), ("num_cols", shape.cols), ("num_nonzeros", shape.nnz)]
    {
        writeln!(out, "{name:>21}: {count}")?;
    }
    for (name, value) in [
        ("row_length_mean", statistics.mean),
        ("row_length_std_dev", statistics.std_dev),
        ("row_length_variation", statistics.variation),
        ("row_length_skewness", statistics.skewness),
    ] {
        writeln!(out, "{name:>21}: {}", cell(value, 5))?;
    }
    if let Some(Reordering { order, order_ms, bandwidth: [before, after] }) = report.reordering {
        let order = order.name();
        writeln!(
            out,
            "{:>21}: {order} in {order_ms:.1} ms, bandwidth {before} -> {after}",
            "order"
        )?;
    }
    write_histogram(out, shape)
}

fn write_histogram(out: &mut dyn Write, shape: &Shape) -> io::Result<()> {
    let Shape { rows, cols, nnz, row_length: statistics } = shape;
    let longest = statistics.max;
    writeln!(
        out,
        "\nCSR matrix ({rows} rows, {cols} columns, {nnz} non-zeros, max-length {longest}):"
    )?;
    for (bin, &count) in statistics.histogram.iter().enumerate() {
        let percent = 100.0 * count as f64 / (*rows).max(1) as f64;
        writeln!(out, "        Degree 1e{}:\t{count} ({percent:.2}%)", bin as i64 - 1)?;
    }
    Ok(())
}

/// A table of the methods in one precision on one device, the fastest marked.
pub fn write_group(out: &mut dyn Write, group: &Group) -> io::Result<()> {
    let Group { peak, footprint, .. } = group;
    let place = match group.device {
        Device::Cpu => format!("{} threads", group.threads),
        Device::Gpu => "gpu".into(),
    };
    let (precision, cache) = (group.precision.name(), group.cache.name());
    write!(out, "\n{precision}, {place}, {cache} cache")?;
    if let Some(peak) = peak {
        let (gbs, megabytes) = (peak.gbs(), *footprint as f64 / 1e6);
        write!(out, "; peak {gbs:.2} GB/s at {megabytes:.3} MB ({peak})")?;
    }
    let nominal_gbs = peak.and_then(|peak| peak.nominal_gbs());
    let compiled = group.compile_ms.map(|ms| format!("; kernels compiled in {ms:.1} ms"));
    writeln!(out, "{}", compiled.unwrap_or_default())?;
    writeln!(
        out,
        "{:<NAME$} {:<7} {:>11} {:>11} {:>10} {:>9} {:>9} {:>7}{}",
        "method",
        "result",
        "setup ms",
        "avg ms",
        "GFLOP/s",
        "eff.GB/s",
        "comp.GB/s",
        "% peak",
        if nominal_gbs.is_some() { " % nominal" } else { "" },
    )?;
    let fastest = group.fastest();
    for (index, (row, stages)) in group.rows.iter().zip(&group.stages).enumerate() {
        write_row(out, row, nominal_gbs, fastest == Some(index))?;
        for Stage { name, ms, occupancy } in stages {
            write!(out, "  {name:<30} {:>18}", cell(Some(*ms), 5))?;
            let occupancy = occupancy.map(|share| format!("  occupancy {:.0} %", 100.0 * share));
            writeln!(out, "{}", occupancy.unwrap_or_default())?;
        }
    }
    Ok(())
}

/// The width of a method's name.
const NAME: usize = 21;

fn write_row(
    out: &mut dyn Write,
    row: &Row,
    nominal_gbs: Option<f64>,
    fastest: bool,
) -> io::Result<()> {
    let name = row.method_name.as_deref().unwrap_or_default();
    let result = match row.status {
        Some(Status::Ok) => "PASS",
        Some(Status::Skipped) => "skipped",
        Some(Status::Timeout) => "timeout",
        _ => "FAIL",
    };
    let reason = row.reason.as_deref().unwrap_or_default();
    if row.status != Some(Status::Ok) {
        return writeln!(out, "{name:<NAME$} {result:<7} {reason}");
    }
    let of_nominal = nominal_gbs.map(|nominal| row.compulsory_gbs.map(|gbs| 100.0 * gbs / nominal));
    writeln!(
        out,
        "{name:<NAME$} {result:<7} {:>11} {:>11} {:>10} {:>9} {:>9} {:>7}{}{}{}",
        cell(row.setup_ms, 4),
        cell(row.avg_spmv_ms, 5),
        cell(row.gflops, 4),
        cell(row.effective_gbs, 3),
        cell(row.compulsory_gbs, 3),
        cell(row.percent_of_peak, 2),
        of_nominal.map(|percent| format!(" {:>9}", cell(percent, 2))).unwrap_or_default(),
        if fastest { "  <- fastest" } else { "" },
        if reason.is_empty() { String::new() } else { format!("  ({reason})") },
    )
}

fn load_note(report: &MatrixReport) -> String {
    let Some(ms) = report.load_ms else { return String::new() };
    let rate = report.load_mbs.map(|rate| format!(", {rate:.0} MB/s")).unwrap_or_default();
    let from = if report.from_cache { " from the cache" } else { "" };
    format!(" (loaded{from} in {ms:.1} ms{rate})")
}

/// Unknown is a dash.
pub fn cell(value: Option<f64>, digits: usize) -> String {
    value.map_or("-".into(), |value| format!("{value:.digits$}"))
}

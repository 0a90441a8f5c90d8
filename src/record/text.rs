//! The report of one matrix as text, similar to that of merge-spmv, and with the same contents as Markdown. The table of
//! the text is not a [`Table`], because methods are printed before all are measured, with the lines of their stages
//! between them.

use std::io::{self, Write};

use super::{Group, MatrixReport};
use crate::bench::peak::Peak;
use crate::bench::problem::Reordering;
use crate::record::row::{MatrixFacts, Row, Status};
use crate::record::setting::Setting;
use crate::record::table::{Cell, Table, escape_markdown};
use spmv_matrix::stats::Shape;
use spmv_methods::device::Stage;
use spmv_methods::device::model::DeviceFile;
use spmv_methods::method::Device;

pub fn write_matrix(out: &mut dyn Write, report: &MatrixReport) -> io::Result<()> {
    let MatrixFacts { file, shape, kind, .. } = &report.facts;
    let loaded = report.load_ms.map(|ms| {
        let rate = report.load_mbs.map(|rate| format!(", {rate:.0} MB/s")).unwrap_or_default();
        let from = if report.from_cache { " from the cache" } else { "" };
        format!(" (loaded{from} in {ms:.1} ms{rate})")
    });
    writeln!(out, "{file}{}", loaded.unwrap_or_default())?;
    if let Some(kind) = kind {
        writeln!(out, "{:>21}: {kind}", "kind")?;
    }
    let Some(shape) = shape else { return Ok(()) };
    let Shape { rows, cols, nnz, row_length: statistics } = shape;
    for (name, value) in [
        ("num_rows", rows.to_string()),
        ("num_cols", cols.to_string()),
        ("num_nonzeros", nnz.to_string()),
        ("row_length_mean", cell(statistics.mean, 5)),
        ("row_length_std_dev", cell(statistics.std_dev, 5)),
        ("row_length_variation", cell(statistics.variation, 5)),
        ("row_length_skewness", cell(statistics.skewness, 5)),
    ] {
        writeln!(out, "{name:>21}: {value}")?;
    }
    let longest = statistics.max;
    writeln!(
        out,
        "\nCSR matrix ({rows} rows, {cols} columns, {nnz} non-zeros, max-length {longest}):"
    )?;
    for (exponent, &count) in (-1..).zip(&statistics.histogram) {
        let percent = 100.0 * count as f64 / (*rows).max(1) as f64;
        writeln!(out, "        Degree 1e{exponent}:\t{count} ({percent:.2}%)")?;
    }
    Ok(())
}

pub fn write_group(out: &mut dyn Write, group: &Group) -> io::Result<()> {
    writeln!(out, "\n{}", heading(group))?;
    let columns = columns(group.peak);
    writeln!(out, "{}", head(&columns))?;
    let fastest = group.fastest();
    for (index, (row, stages)) in group.rows.iter().zip(&group.stages).enumerate() {
        let mark = if fastest == Some(index) { "  <- fastest" } else { "" };
        writeln!(out, "{}", row_line(row, &columns, mark))?;
        for Stage { name, ms, occupancy, counts, .. } in stages {
            write!(out, "  {name:<30} {:>17}", cell(Some(*ms), 5))?;
            let occupancy = occupancy.map(|share| format!("  occupancy {:.0} %", 100.0 * share));
            writeln!(out, "{}", occupancy.unwrap_or_default())?;
            counts.iter().try_for_each(|counts| writeln!(out, "    {counts}"))?;
        }
    }
    let meaning = meaning(group);
    if !meaning.is_empty() {
        writeln!(out)?;
    }
    meaning.iter().try_for_each(|line| writeln!(out, "{line}"))
}

pub fn write_end(out: &mut dyn Write, report: &MatrixReport) -> io::Result<()> {
    if let Some((status, reason)) = report.end() {
        writeln!(out, "{status}: {reason}")?;
    }
    writeln!(out)
}

pub fn markdown_matrix(out: &mut dyn Write, report: &MatrixReport) -> io::Result<()> {
    writeln!(out, "## {}\n", escape_markdown(&report.facts.file))?;
    let Some(shape) = &report.facts.shape else { return Ok(()) };
    let [rows, cols, nonzeros] = shape.sizes();
    writeln!(out, "{rows} rows, {cols} columns, {nonzeros} nonzeros\n")
}

pub fn markdown_end(out: &mut dyn Write, report: &MatrixReport) -> io::Result<()> {
    let Some((status, reason)) = report.end() else { return Ok(()) };
    writeln!(out, "{status}: {}\n", escape_markdown(reason))
}

pub fn markdown_group(out: &mut dyn Write, group: &Group) -> io::Result<()> {
    let rows: Vec<_> = group.rows.iter().enumerate().collect();
    let (columns, fastest) = (columns(group.peak), group.fastest());
    let remark = |(index, row): &(usize, &Row)| {
        let first = (fastest == Some(*index)).then_some("fastest");
        first.into_iter().chain(row.reason.as_deref()).collect::<Vec<_>>().join("; ")
    };
    let table = Table::of(&rows)
        .column("method", |(_, row)| row.method_name.as_deref())
        .column("result", |(_, row)| result(row))
        .columns(columns.iter().map(|column| column.name), |(_, row)| {
            columns.iter().map(|of| (of.of)(row).map(|number| Cell::Decimal(number, of.digits)))
        })
        .column("remark", remark);
    let (table, meaning) = (table.build().to_markdown(), meaning(group).join(" "));
    writeln!(out, "{}\n\n{table}\n\n{meaning}\n", heading(group))
}

fn heading(group: &Group) -> String {
    let Group { peak, footprint, .. } = group;
    let setting = Setting::from(group);
    let reordering = group.reordering.map(|Reordering { order_ms, bandwidth: [before, after] }| {
        format!(" in {order_ms:.1} ms, bandwidth {before} -> {after}")
    });
    let peak = peak.as_ref().map(|peak| {
        let (gbs, megabytes) = (peak.gbs(), *footprint as f64 / 1e6);
        format!("; peak {gbs:.2} GB/s at {megabytes:.3} MB ({peak})")
    });
    let compiled = group.compile_ms.map(|ms| format!("; kernels compiled in {ms:.1} ms"));
    let facts = [reordering, peak, compiled].map(Option::unwrap_or_default).concat();
    format!("{setting}{facts}")
}

/// Returns a note that times are modelled, with the error of the model; `None` for a real device.
pub fn modelled(device: Device) -> Option<String> {
    let file = DeviceFile::find(device.model_name()?).ok();
    let error = match file.and_then(|file| file.validated_percent) {
        Some(percent) => format!(
            "in the median they are {percent:.0} % off published times of this GPU, and more than a factor of 1.5 for \
             some methods"
        ),
        None => "they have not been compared with measured times of this GPU".into(),
    };
    Some(format!("Times are modelled, not measured: {error}; see docs/gpu-model.md."))
}

/// The width of the column of method names, in characters.
const NAME: usize = 21;

type Number = Box<dyn Fn(&Row) -> Option<f64>>;

struct Column {
    name: &'static str,
    width: usize,
    digits: usize,
    of: Number,
}

fn columns(peak: Option<Peak>) -> Vec<Column> {
    let column = |name, [width, digits]: [_; 2], of: fn(&Row) -> Option<f64>| {
        let of: Number = Box::new(of);
        Column { name, width, digits, of }
    };
    let mut columns = vec![
        column("setup ms", [11, 4], |row| row.setup_ms),
        column("median ms", [11, 5], Row::typical_ms),
        column("± %", [6, 1], Row::uncertainty),
        column("mean ms", [11, 5], |row| row.avg_spmv_ms),
        column("GFLOP/s", [10, 4], Row::typical_gflops),
        column("eff.GB/s", [9, 3], |row| row.typical(row.effective_gbs?)),
        column("% peak", [7, 1], |row| row.typical(row.required_percent_of_peak?)),
        column("% CSR", [7, 1], |row| row.typical(row.percent_of_peak?)),
    ];
    columns.extend(peak.and_then(|peak| peak.nominal_gbs()).map(|nominal| {
        let of = move |row: &Row| Some(100.0 * row.typical(row.compulsory_gbs?)? / nominal);
        Column { name: "% nominal", width: 9, digits: 1, of: Box::new(of) }
    }));
    columns
}

/// Formats cells, each right-aligned in its width.
fn line(cells: impl Iterator<Item = (String, usize)>) -> String {
    cells.map(|(cell, width)| format!(" {cell:>width$}")).collect()
}

fn head(columns: &[Column]) -> String {
    let names = line(columns.iter().map(|column| (column.name.into(), column.width)));
    format!("{:<NAME$} {:<7}{names}", "method", "result")
}

/// Returns the table lines of methods whose group is not complete, below a line with the column names.
pub fn lines_of(rows: &[Row]) -> Vec<String> {
    let columns = columns(None);
    let lines = rows.iter().map(|row| row_line(row, &columns, ""));
    std::iter::once(head(&columns)).chain(lines).collect()
}

fn row_line(row: &Row, columns: &[Column], mark: &str) -> String {
    let name = row.method_name.as_deref().unwrap_or_default();
    let result = result(row);
    let reason = row.reason.as_deref().unwrap_or_default();
    if row.status != Some(Status::Ok) {
        return format!("{name:<NAME$} {result:<7} {reason}");
    }
    let cells = columns.iter().map(|column| (cell((column.of)(row), column.digits), column.width));
    let reason = if reason.is_empty() { String::new() } else { format!("  ({reason})") };
    format!("{name:<NAME$} {result:<7}{}{mark}{reason}", line(cells))
}

fn result(row: &Row) -> &'static str {
    match row.status {
        Some(Status::Ok) => "PASS",
        Some(status @ (Status::Skipped | Status::Timeout)) => status.name(),
        _ => "FAIL",
    }
}

/// Returns the explanation of the columns, and notes for comparing the methods, if any has a time.
fn meaning(group: &Group) -> Vec<String> {
    if group.fastest().is_none() {
        return Vec::new();
    }
    let lines = [
        "±: half the 95 % confidence interval of the median, in percent of it. Rates are of the median.",
        "% peak: the bytes that a product must read and write, with the matrix in the method's own form, x and y,",
        "over the peak; % CSR: the same with the matrix as CSR, above 100 % where a form is smaller.",
    ];
    let close = group.as_fast_as_the_fastest().collect::<Vec<_>>().join(", ");
    let close = (!close.is_empty()).then(|| {
        format!("Not distinguishable from the fastest, because the intervals overlap: {close}.")
    });
    let modelled = modelled(group.device);
    modelled.into_iter().chain(lines.map(String::from)).chain(close).collect()
}

/// Formats a number; an unknown one is a dash.
pub fn cell(value: Option<f64>, digits: usize) -> String {
    value.map_or("-".into(), |value| format!("{value:.digits$}"))
}

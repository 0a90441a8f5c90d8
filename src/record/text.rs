//! The report of one matrix as text, similar to that of merge-spmv, and with the same contents for documents. The table
//! of the text is not a [`Table`], because methods are printed before all are measured, with the lines of their stages
//! between them.

use std::io::{self, Write};
use std::path::Path;

use console::style;

use super::answer::{answer, contest};
use super::terminal::wrapped;
use super::write::Show;
use super::{Group, MatrixReport};
use crate::bench::peak::Peak;
use crate::bench::problem::Reordering;
use crate::record::row::{MatrixFacts, Row, Status};
use crate::record::setting::Setting;
use crate::record::table::{Cell, Document, Table};
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

pub fn write_group(out: &mut dyn Write, group: &Group, show: &Show) -> io::Result<()> {
    writeln!(out, "\n{}", wrapped(&heading(group), show.width))?;
    let layout = Layout::of(&group.rows, columns(group.peak, show.planned), show.width);
    writeln!(out, "{}", layout.head())?;
    let fastest = group.fastest().filter(|_| contest(&group.rows).nth(1).is_some());
    for (index, (row, stages)) in group.rows.iter().zip(&group.stages).enumerate() {
        writeln!(out, "{}", layout.line(row, fastest == Some(index)))?;
        for Stage { name, ms, occupancy, counts, .. } in stages {
            write!(out, "  {name:<30} {:>17}", cell(Some(*ms), 5))?;
            let occupancy = occupancy.map(|share| format!("  occupancy {:.0} %", 100.0 * share));
            writeln!(out, "{}", occupancy.unwrap_or_default())?;
            counts.iter().try_for_each(|counts| writeln!(out, "    {counts}"))?;
        }
    }
    let meaning = meaning(group, show.planned, &layout.columns);
    for lines in [layout.footnotes(&group.rows), meaning].iter().filter(|lines| !lines.is_empty()) {
        writeln!(out)?;
        lines.iter().try_for_each(|line| writeln!(out, "{}", wrapped(line, show.width)))?;
    }
    Ok(())
}

pub fn write_end(out: &mut dyn Write, report: &MatrixReport) -> io::Result<()> {
    if let Some((status, reason)) = report.end() {
        writeln!(out, "{status}: {reason}")?;
    }
    writeln!(out)
}

pub fn document_matrix(
    out: &mut dyn Write,
    report: &MatrixReport,
    form: Document,
) -> io::Result<()> {
    writeln!(out, "{}\n", form.title(&report.facts.file))?;
    let Some(shape) = &report.facts.shape else { return Ok(()) };
    let [rows, cols, nonzeros] = shape.sizes();
    let sizes = format!("{rows} rows, {cols} columns, {nonzeros} nonzeros");
    writeln!(out, "{}\n", form.prose(&sizes))
}

pub fn document_end(out: &mut dyn Write, report: &MatrixReport, form: Document) -> io::Result<()> {
    let Some((status, reason)) = report.end() else { return Ok(()) };
    writeln!(out, "{}\n", form.prose(&format!("{status}: {reason}")))
}

pub fn document_group(
    out: &mut dyn Write,
    group: &Group,
    show: &Show,
    form: Document,
) -> io::Result<()> {
    let rows: Vec<_> = group.rows.iter().enumerate().collect();
    let columns = columns(group.peak, show.planned);
    let fastest = group.fastest().filter(|_| contest(&group.rows).nth(1).is_some());
    let remark = |(index, row): &(usize, &Row)| {
        let first = (fastest == Some(*index)).then_some("fastest");
        first.into_iter().chain(row.reason.as_deref()).collect::<Vec<_>>().join("; ")
    };
    let table = Table::of(&rows)
        .column("method", |(_, row)| row.method_name.as_deref())
        .column("result", |(_, row)| result(row))
        .columns(columns.iter().map(|column| &column.name[..]), |(_, row)| {
            columns.iter().map(|of| (of.of)(row).map(|number| Cell::Decimal(number, of.digits)))
        });
    let (table, remarks) = match form {
        Document::Markdown => (table.column("remark", remark).build(), Vec::new()),
        // A remark is too long for a column of a page.
        Document::Latex => {
            let named = rows.iter().map(|row| (row.1.method_name.as_deref(), remark(row)));
            let named = named.filter(|(_, remark)| !remark.is_empty());
            let named = named.map(|(name, remark)| format!("{}: {remark}", name.unwrap_or("")));
            (table.build(), named.collect())
        }
    };
    let (heading, table) = (form.prose(&heading(group)), form.table(&table));
    writeln!(out, "{heading}\n\n{table}\n")?;
    for line in remarks.into_iter().chain(meaning(group, show.planned, &columns)) {
        writeln!(out, "{}", form.prose(&line))?;
    }
    writeln!(out)
}

fn heading(group: &Group) -> String {
    let Group { peak, footprint, .. } = group;
    let setting = Setting::from(group);
    let path = group.order.path().unwrap_or(Path::new("")).display();
    let reordering = group.reordering.map(|Reordering { order_ms, bandwidth, profile }| {
        let cost = match order_ms {
            Some(ms) => format!(" in {ms:.1} ms"),
            None => format!(" (cost unknown: read from {path})"),
        };
        let [[from, to], [profile, after]] = [bandwidth.map(|of| of as u64), profile];
        format!("{cost}, bandwidth {from} -> {to}, profile {profile} -> {after}")
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
            "in the median they are {percent:.0} % off measured times of this GPU, and more than a factor of 1.5 for \
             some methods"
        ),
        None => "they have not been compared with measured times of this GPU".into(),
    };
    Some(format!("Times are modelled, not measured: {error}; see docs/gpu-model.md."))
}

/// The width of the column of method names where a table is not fitted to a terminal, in characters.
const NAME: usize = 21;
/// The width of the column of results, with the blank before it.
const RESULT: usize = 8;

type Number = Box<dyn Fn(&Row) -> Option<f64>>;

struct Column {
    name: String,
    width: usize,
    digits: usize,
    /// How early a narrow terminal loses the column: the largest first, 0 never.
    rank: u8,
    of: Number,
}

fn columns(peak: Option<Peak>, planned: Option<u32>) -> Vec<Column> {
    let column = |name: &str, [width, digits]: [_; 2], rank, of: Number| Column {
        name: name.into(),
        width,
        digits,
        rank,
        of,
    };
    let mut columns = vec![
        column("setup ms", [11, 4], 2, Box::new(|row| row.setup_ms)),
        column("median ms", [11, 5], 0, Box::new(Row::typical_ms)),
        column("± %", [6, 1], 1, Box::new(Row::uncertainty)),
        column("mean ms", [11, 5], 6, Box::new(|row| row.avg_spmv_ms)),
        column("GFLOP/s", [10, 4], 1, Box::new(Row::typical_gflops)),
        column("eff.GB/s", [9, 3], 7, Box::new(|row| row.typical(row.effective_gbs?))),
        column("% peak", [7, 1], 3, Box::new(|row| row.typical(row.required_percent_of_peak?))),
        column("% CSR", [7, 1], 5, Box::new(|row| row.typical(row.percent_of_peak?))),
    ];
    columns.extend(peak.and_then(|peak| peak.nominal_gbs()).map(|nominal| {
        let of = move |row: &Row| Some(100.0 * row.typical(row.compulsory_gbs?)? / nominal);
        column("% nominal", [9, 1], 4, Box::new(of))
    }));
    columns.extend(planned.map(|planned| {
        let of = move |row: &Row| Some(row.once_ms()? + f64::from(planned) * row.typical_ms()?);
        column("total ms", [12, 3], 0, Box::new(of))
    }));
    columns
}

/// The columns of a table and their widths. A terminal has a line per method, with remarks below the table; what is not
/// a terminal has all columns, with the remark at the end of the line.
struct Layout {
    name: usize,
    columns: Vec<Column>,
    is_terminal: bool,
}

impl Layout {
    fn of(rows: &[Row], mut columns: Vec<Column>, terminal: Option<u16>) -> Self {
        let Some(width) = terminal else {
            return Self { name: NAME, columns, is_terminal: false };
        };
        let names = rows.iter().filter_map(|row| row.method_name.as_deref());
        let name = names.map(|name| name.chars().count()).max().unwrap_or(0).max("method".len());
        let needed = |columns: &[Column]| {
            name + RESULT + columns.iter().map(|column| column.width + 1).sum::<usize>()
        };
        while needed(&columns) > usize::from(width) {
            let last = columns.iter().enumerate().max_by_key(|(_, column)| column.rank);
            let Some((place, _)) = last.filter(|(_, column)| column.rank > 0) else { break };
            columns.remove(place);
        }
        Self { name, columns, is_terminal: true }
    }

    fn head(&self) -> String {
        let names = self.columns.iter().map(|column| (column.name.clone(), column.width));
        format!("{:<name$} {:<7}{}", "method", "result", cells(names), name = self.name)
    }

    fn line(&self, row: &Row, is_fastest: bool) -> String {
        let line = self.numbers(row);
        let reason = row.reason.as_deref().unwrap_or_default();
        if self.is_terminal {
            return match result(row) {
                FAIL => style(line).red().to_string(),
                _ if is_fastest => style(line).green().bold().to_string(),
                _ => line,
            };
        }
        let mark = if is_fastest { "  <- fastest" } else { "" };
        match reason {
            "" => format!("{line}{mark}"),
            reason if row.is_ok() => format!("{line}{mark}  ({reason})"),
            reason => format!("{line} {reason}"),
        }
    }

    fn numbers(&self, row: &Row) -> String {
        let name = row.method_name.as_deref().unwrap_or_default();
        let of = |column: &Column| (cell((column.of)(row), column.digits), column.width);
        let numbers = if row.is_ok() { cells(self.columns.iter().map(of)) } else { String::new() };
        format!("{name:<width$} {:<7}{numbers}", result(row), width = self.name)
    }

    /// Returns the remarks on methods, which a terminal shows below the table.
    fn footnotes(&self, rows: &[Row]) -> Vec<String> {
        let remark = |row: &Row| {
            Some(format!("{}: {}", row.method_name.as_deref()?, row.reason.as_deref()?))
        };
        rows.iter().filter(|_| self.is_terminal).filter_map(remark).collect()
    }
}

/// Formats cells, each right-aligned in its width.
fn cells(cells: impl Iterator<Item = (String, usize)>) -> String {
    cells.map(|(cell, width)| format!(" {cell:>width$}")).collect()
}

/// Returns the table lines of methods whose group is not complete, below a line with the column names.
pub fn lines_of(rows: &[Row], width: usize) -> Vec<String> {
    let width = u16::try_from(width).unwrap_or(u16::MAX);
    let layout = Layout::of(rows, columns(None, None), Some(width));
    let lines = rows.iter().map(|row| layout.numbers(row));
    std::iter::once(layout.head()).chain(lines).collect()
}

const FAIL: &str = "FAIL";

fn result(row: &Row) -> &'static str {
    match row.status {
        Some(Status::Ok) => "PASS",
        Some(status @ (Status::Skipped | Status::Timeout)) => status.name(),
        _ => FAIL,
    }
}

/// Returns the explanation of these columns, notes for comparing the methods, and the answer to which one to use, if
/// any has a time.
fn meaning(group: &Group, planned: Option<u32>, columns: &[Column]) -> Vec<String> {
    if group.fastest().is_none() {
        return Vec::new();
    }
    let lines = [
        (
            "± %",
            "±: half the 95 % confidence interval of the median, in percent of it. Rates are of the median.",
        ),
        (
            "% peak",
            "% peak: the bytes that a product must read and write, with the matrix in the method's own form, x and y, \
             over the peak.",
        ),
        ("% CSR", "% CSR: the same with the matrix as CSR, above 100 % where a form is smaller."),
    ];
    let is_shown = |name: &str| columns.iter().any(|column| column.name == name);
    let lines = lines.into_iter().filter(|(name, _)| is_shown(name)).map(|(_, line)| line.into());
    let total = planned.map(|planned| {
        format!("total ms: the time of the setup and {planned} products, by the median.")
    });
    let close = group.as_fast_as_the_fastest().collect::<Vec<_>>().join(", ");
    let close = (!close.is_empty()).then(|| {
        format!(
            "Not distinguishable from the fastest product, because the intervals overlap: {close}."
        )
    });
    let modelled = modelled(group.device);
    let lines = modelled.into_iter().chain(lines).chain(total).chain(close);
    lines.chain(answer(&group.rows, planned)).collect()
}

/// Formats a number; an unknown one is a dash.
pub fn cell(value: Option<f64>, digits: usize) -> String {
    value.map_or("-".into(), |value| format!("{value:.digits$}"))
}

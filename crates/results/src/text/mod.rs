//! The report of one matrix as text, similar to that of merge-spmv, and with the same contents for documents.

mod methods;
mod show;

use std::io::{self, Write};
use std::path::Path;

use crate::matrix::model_error::ModelError;
use crate::matrix::winner::{answer, not_told_apart};
use crate::matrix::{Group, MatrixReport, Reordering};
use crate::row::contest::contestants;
use crate::row::{GroupKey, MatrixFacts, Row};
use crate::table::Document;
use crate::table::terminal::wrapped;
use spmv_matrix::device::{Device, Stage};
use spmv_matrix::stats::Shape;

pub use methods::{cell, lines_of};
use methods::{columns, laid_out, marked, table};
pub use show::{Show, Sort};

pub fn write_matrix(out: &mut dyn Write, report: &MatrixReport, show: &Show) -> io::Result<()> {
    let MatrixFacts { file, shape, kind, .. } = &report.facts;
    let loaded = report.load_ms.map(|ms| {
        let rate = report.load_mbs.map(|rate| format!(", {rate:.0} MB/s")).unwrap_or_default();
        let from = if report.from_cache { " from the cache" } else { "" };
        format!(" (loaded{from} in {ms:.1} ms{rate})")
    });
    let title = format!("{file}{}", loaded.unwrap_or_default());
    writeln!(out, "{}", wrapped(&title, show.width))?;
    let kind = kind.iter().map(|kind| ("kind".into(), kind.clone()));
    for (name, value) in kind.chain(shape.iter().flat_map(facts)) {
        writeln!(out, "{}", wrapped(&format!("{name:>21}: {value}"), show.width))?;
    }
    Ok(())
}

/// Returns the names and values of what is known of a matrix before it is measured.
fn facts(shape: &Shape) -> Vec<(String, String)> {
    let Shape { rows, cols, nnz, row_length } = shape;
    let facts = [
        ("num_rows", rows.to_string()),
        ("num_cols", cols.to_string()),
        ("num_nonzeros", nnz.to_string()),
        ("row_length_mean", cell(row_length.mean, 5)),
        ("row_length_std_dev", cell(row_length.std_dev, 5)),
        ("row_length_variation", cell(row_length.variation, 5)),
        ("row_length_skewness", cell(row_length.skewness, 5)),
        ("max_row_length", row_length.max.to_string()),
    ];
    let facts = facts.map(|(name, value)| (name.to_owned(), value));
    facts.into_iter().chain(lengths(*rows, &row_length.histogram)).collect()
}

/// Returns the ranges of the lengths of rows, by their numbers of digits, and how many rows there are of each.
fn lengths(rows: usize, histogram: &[usize]) -> impl Iterator<Item = (String, String)> {
    (0..).zip(histogram).map(move |(digits, count)| {
        let length = match digits {
            0 => "0".into(),
            _ => format!("{}-{}", 10u64.pow(digits - 1), 10u64.pow(digits) - 1),
        };
        let percent = 100.0 * *count as f64 / rows.max(1) as f64;
        (format!("length {length}"), format!("{count} of {rows} rows ({percent:.2} %)"))
    })
}

pub fn write_group(out: &mut dyn Write, group: &Group, show: &Show) -> io::Result<()> {
    writeln!(out, "\n{}", wrapped(&heading(group), show.width))?;
    let columns = columns(group.peak, show.planned);
    let table = table(&group.rows, &columns).build();
    let layout = laid_out(&table, &columns, show.width);
    writeln!(out, "{}", layout.head())?;
    let fastest = group.fastest(show.planned);
    for (index, (row, stages)) in group.rows.iter().zip(&group.stages).enumerate() {
        let is_fastest = fastest == Some(index);
        writeln!(out, "{}", marked(layout.row(index), row, is_fastest, show.width.is_some()))?;
        stages.iter().try_for_each(|stage| write_stage(out, stage, show))?;
    }
    let meaning = meaning(group, show.planned, &layout.columns());
    let answer = Vec::from_iter(answer(&group.rows, show.planned));
    for lines in [remarks(&group.rows), meaning, answer].iter().filter(|lines| !lines.is_empty()) {
        writeln!(out)?;
        lines.iter().try_for_each(|line| writeln!(out, "{}", wrapped(line, show.width)))?;
    }
    Ok(())
}

fn write_stage(out: &mut dyn Write, stage: &Stage, show: &Show) -> io::Result<()> {
    let Stage { name, ms, occupancy, counts, .. } = stage;
    let occupancy = occupancy.map(|share| format!("  occupancy {:.0} %", 100.0 * share));
    let (ms, occupancy) = (cell(Some(*ms), 5), occupancy.unwrap_or_default());
    writeln!(out, "  {name:<30} {ms:>17}{occupancy}")?;
    let Some(counts) = counts else { return Ok(()) };
    writeln!(out, "{}", wrapped(&format!("    {counts}"), show.width))
}

pub fn write_end(out: &mut dyn Write, report: &MatrixReport, show: &Show) -> io::Result<()> {
    let Some((status, reason)) = report.end() else { return Ok(()) };
    writeln!(out, "{}", wrapped(&format!("{status}: {reason}"), show.width))
}

pub fn document_matrix(out: &mut dyn Write, report: &MatrixReport, form: Document) -> io::Result<()> {
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

pub fn document_group(out: &mut dyn Write, group: &Group, show: &Show, form: Document) -> io::Result<()> {
    let columns = columns(group.peak, show.planned);
    let names: Vec<_> = columns.iter().map(|column| column.name).collect();
    let fastest = group.fastest(show.planned).map(|index| &group.rows[index]);
    let remark = |row: &Row| {
        let first = fastest.filter(|fastest| std::ptr::eq(*fastest, row)).map(|_| "fastest");
        first.into_iter().chain(row.reason.text()).collect::<Vec<_>>().join("; ")
    };
    let table = table(&group.rows, &columns);
    let (table, remarks) = match form {
        Document::Markdown => (table.column("remark", remark).build(), Vec::new()),
        // A remark is too long for a column of a page.
        Document::Latex => (table.build(), remarks(&group.rows)),
    };
    let (heading, table) = (form.prose(&heading(group)), form.table(&table));
    writeln!(out, "{heading}\n\n{table}\n")?;
    let meaning = meaning(group, show.planned, &names);
    for line in remarks.into_iter().chain(meaning).chain(answer(&group.rows, show.planned)) {
        writeln!(out, "{}", form.prose(&line))?;
    }
    writeln!(out)
}

fn heading(group: &Group) -> String {
    let Group { peak, footprint, .. } = group;
    let setting = GroupKey::from(group);
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
    let error = match ModelError::of(device.model_name()?).validated_percent {
        Some(percent) => format!(
            "in the median they are {percent:.0} % off measured times of this GPU, and more than a factor of 1.5 for \
             some methods"
        ),
        None => "they have not been compared with measured times of this GPU".into(),
    };
    Some(format!("Times are modelled, not measured: {error}; see docs/gpu-model.md."))
}

/// Returns the remarks on methods, each once with the names of all methods that it is on.
fn remarks(rows: &[Row]) -> Vec<String> {
    let mut remarks = Vec::<(&str, Vec<&str>)>::new();
    for row in rows {
        let Some(remark) = row.reason.text() else { continue };
        let name = row.method_name.as_deref().unwrap_or_default();
        match remarks.iter_mut().find(|(known, _)| *known == remark) {
            Some((_, names)) => names.push(name),
            None => remarks.push((remark, vec![name])),
        }
    }
    let line = |(remark, names): (_, Vec<_>)| format!("{}: {remark}", names.join(", "));
    remarks.into_iter().map(line).collect()
}

/// What the numbers of some columns are.
const MEANINGS: [(&str, &str); 6] = [
    ("setup ms", "setup ms: what a method does once for the matrix, before its products."),
    (
        "± %",
        "±: half the 95 % confidence interval of the median, in percent of it. Rates are of the median.",
    ),
    ("eff.GB/s", "eff.GB/s: the bytes that merge-spmv counts, with x once for each nonzero."),
    (
        "% peak",
        "% peak: the bytes that a product must read and write, with the matrix in the method's own form, x and y, over \
         the peak.",
    ),
    ("% CSR", "% CSR: the same with the matrix as CSR, above 100 % where a form is smaller."),
    ("% nominal", "% nominal: the same as % CSR, over the nominal bandwidth."),
];

/// Returns the explanation of these columns and notes for comparing the methods, if any has a time.
fn meaning(group: &Group, planned: Option<u32>, columns: &[&str]) -> Vec<String> {
    if contestants(&group.rows).is_empty() {
        return Vec::new();
    }
    let lines = MEANINGS.iter().filter(|(name, _)| columns.contains(name));
    let lines = lines.map(|(_, line)| line.to_string());
    let total =
        planned.map(|planned| format!("total ms: the time of the setup and {planned} products, by the median."));
    let close = not_told_apart(&group.rows).filter(|(_, close)| !close.is_empty());
    let close = close.map(|(fastest, close)| {
        let close = close.join(", ");
        format!("Products that cannot be told apart from that of {fastest}, as the ratio may be 1: {close}.")
    });
    let modelled = modelled(group.device);
    modelled.into_iter().chain(lines).chain(total).chain(close).collect()
}

#[cfg(test)]
mod tests {
    use crate::row::Status;
    use console::measure_text_width;
    use spmv_matrix::Csr;

    use super::*;

    /// Returns the text of a matrix: auto, which picked seq, is faster by noise, and two methods lack their library.
    fn written(width: Option<u16>) -> String {
        let row = |name: &str, status, ms, reason: &str| Row {
            method_name: Some(name.into()),
            status: Some(status),
            median_ms: ms,
            reason: reason.into(),
            ..Row::default()
        };
        let missing = "Intel MKL not found: install it in the virtual environment that is active, or name its folder";
        let group = Group::of(vec![
            row("merge", Status::Ok, Some(9.0), ""),
            row("seq", Status::Ok, Some(2.0), ""),
            Row { picked: Some("seq".into()), ..row("auto", Status::Ok, Some(1.9), "picked seq") },
            row("mkl-ie", Status::Skipped, None, missing),
            row("mkl-csrmv", Status::Skipped, None, missing),
        ]);
        let shape = Shape::of(&Csr::<f64>::from_triplets(3, 12_345, &[(0, 0, 1.0), (2, 12_344, 1.0)]));
        let (file, kind) = (format!("{}a.mtx", "folder/".repeat(9)), Some("2D/3D problem ".repeat(9)));
        let facts = MatrixFacts { file, kind, shape: Some(shape), ..MatrixFacts::default() };
        let report = MatrixReport { facts, load_ms: Some(1.0), ..MatrixReport::default() };
        let (mut out, show) = (Vec::new(), Show { width, ..Show::default() });
        write_matrix(&mut out, &report, &show).unwrap();
        write_group(&mut out, &group, &show).unwrap();
        write_end(&mut out, &report, &show).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn all_lines_fit_a_terminal() {
        for line in written(Some(80)).lines() {
            assert!(measure_text_width(line) <= 80, "{line}");
        }
    }

    #[test]
    fn the_least_time_is_marked_a_remark_is_shown_once_and_the_answer_is_last() {
        let text = written(None);
        assert!(text.contains("length 0: 1 of 3 rows (33.33 %)\n           length 1-9: 2 of 3"), "{text}");
        let marked: Vec<_> = text.lines().filter(|line| line.contains("<- fastest")).collect();
        assert!(marked.len() == 1 && marked[0].starts_with("auto "), "{text}");
        let remarks = "\n\nauto: picked seq\nmkl-ie, mkl-csrmv: Intel MKL not found";
        assert!(text.contains(remarks) && text.matches("Intel MKL").count() == 1, "{text}");
        assert!(text.ends_with("\n\nseq is 4.50 times as fast as merge, the second.\n"), "{text}");
    }
}

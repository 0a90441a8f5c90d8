//! The table of methods in the text of a matrix: its columns, and its lines.

use console::style;

use crate::metrics::Peak;
use crate::row::{Row, Status};

/// The width of the column of method names where a table is not fitted to a terminal, in characters.
const NAME: usize = 21;
/// The width of the column of results, with the blank before it.
const RESULT: usize = 8;

type Number = Box<dyn Fn(&Row) -> Option<f64>>;

pub struct Column {
    pub name: String,
    width: usize,
    pub digits: usize,
    /// How early a narrow terminal loses the column: the largest first, 0 never.
    rank: u8,
    pub of: Number,
}

pub fn columns(peak: Option<Peak>, planned: Option<u32>) -> Vec<Column> {
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
    columns.extend(
        planned.map(|planned| {
            column("total ms", [12, 3], 0, Box::new(move |row| row.total_ms(planned)))
        }),
    );
    columns
}

/// The columns of a table and their widths: as many as fit on a terminal, and all of them elsewhere.
pub struct Layout {
    name: usize,
    pub columns: Vec<Column>,
    is_terminal: bool,
}

impl Layout {
    pub fn of(rows: &[Row], mut columns: Vec<Column>, terminal: Option<u16>) -> Self {
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

    pub fn head(&self) -> String {
        let names = self.columns.iter().map(|column| (column.name.clone(), column.width));
        format!("{:<name$} {:<7}{}", "method", "result", cells(names), name = self.name)
    }

    pub fn line(&self, row: &Row, is_fastest: bool) -> String {
        let line = self.numbers(row);
        match result(row) {
            _ if is_fastest && self.is_terminal => style(line).green().bold().to_string(),
            _ if is_fastest => line + "  <- fastest",
            FAIL if self.is_terminal => style(line).red().to_string(),
            _ => line,
        }
    }

    fn numbers(&self, row: &Row) -> String {
        let name = row.method_name.as_deref().unwrap_or_default();
        let of = |column: &Column| (cell((column.of)(row), column.digits), column.width);
        let numbers = if row.is_ok() { cells(self.columns.iter().map(of)) } else { String::new() };
        let line = format!("{name:<width$} {:<7}{numbers}", result(row), width = self.name);
        line.trim_end().to_owned()
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

pub fn result(row: &Row) -> &'static str {
    match row.status {
        Some(Status::Ok) => "PASS",
        Some(status @ (Status::Skipped | Status::Timeout)) => status.name(),
        _ => FAIL,
    }
}

/// Formats a number; an unknown one is a dash.
pub fn cell(value: Option<f64>, digits: usize) -> String {
    value.map_or("-".into(), |value| format!("{value:.digits$}"))
}

//! The table of methods in the text of a matrix: its columns, and its lines, between which are those of stages.

use crate::metrics::Peak;
use crate::row::{Row, Status};
use crate::table::terminal::{GREEN, RED};
use crate::table::{Cell, Columns, Layout, Table};

/// The width of the column of method names where a table is not fitted to a terminal, in characters.
const NAME: usize = 21;
/// The width of the column of results.
const RESULT: usize = 7;

type Number = Box<dyn Fn(&Row) -> Option<f64>>;

pub struct Column {
    pub name: &'static str,
    /// The width of the column unless a number needs more, in characters.
    width: usize,
    digits: usize,
    rank: usize,
    of: Number,
}

pub fn columns(peak: Option<Peak>, planned: Option<u32>) -> Vec<Column> {
    let column = |name, [width, digits]: [_; 2], rank, of: Number| Column { name, width, digits, rank, of };
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
    let total = |planned| -> Number { Box::new(move |row| row.total_ms(planned)) };
    columns.extend(planned.map(|planned| column("total ms", [12, 3], 0, total(planned))));
    columns
}

/// Begins the table of some methods. Those that are not correct have no numbers.
pub fn table<'r>(rows: &'r [Row], columns: &[Column]) -> Columns<'r, Row> {
    let number = |row: &Row, column: &Column| Cell::Word(cell((column.of)(row), column.digits));
    Table::of(rows)
        .column("method", |row| row.method_name.as_deref())
        .column("result", result)
        .columns(columns.iter().map(|column| column.name), |row| {
            columns.iter().map(|column| row.is_ok().then(|| number(row, column)))
        })
}

/// Lays out the table of methods: as many columns as fit on a terminal, and all of them elsewhere.
pub fn laid_out<'t>(table: &'t Table, columns: &[Column], terminal: Option<u16>) -> Layout<'t> {
    let name = if terminal.is_some() { 0 } else { NAME };
    let numbers = columns.iter().map(|column| (column.width, column.rank));
    let fixed = [(name, 0), (RESULT, 0)].into_iter().chain(numbers);
    let spaces = table.spaces().into_iter().zip(fixed);
    let spaces = spaces.map(|(space, (width, rank))| space.whole(width, rank));
    table.layout(spaces.collect(), ["", " ", ""], terminal)
}

/// Marks the line of the fastest method and of those that failed, on a terminal by colours.
pub fn marked(line: String, row: &Row, is_fastest: bool, is_terminal: bool) -> String {
    match result(row) {
        _ if is_fastest && is_terminal => format!("{GREEN}{line}"),
        _ if is_fastest => line + "  <- fastest",
        FAIL if is_terminal => format!("{RED}{line}"),
        _ => line,
    }
}

/// Returns the table lines of methods whose group is not complete, below a line with the column names.
pub fn lines_of(rows: &[Row], width: usize) -> Vec<String> {
    let columns = columns(None, None);
    let table = table(rows, &columns).build();
    let layout = laid_out(&table, &columns, Some(u16::try_from(width).unwrap_or(u16::MAX)));
    let lines = (0..rows.len()).map(|row| layout.row(row));
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

/// Formats a number; an unknown one is a dash.
pub fn cell(value: Option<f64>, digits: usize) -> String {
    value.map_or("-".into(), |value| format!("{value:.digits$}"))
}

//! Numeric columns of rows, including numbers that are computed from several columns, and their names on axes.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use super::lines::RecordedRow;
use super::table::Cell;
use crate::bench::metrics::compulsory_bytes;
use crate::near::hint;

/// The name of a number that rows have: a column of the file, a number that follows from several columns, or
/// `gen:KEY`, a number from the generator's specification.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, serde::Deserialize)]
#[serde(try_from = "String")]
pub struct Column(String);

/// A column name, the label of its axis with the unit, and whether that axis is logarithmic.
type Known = (&'static str, &'static str, bool);

/// All columns except `gen:KEY`.
const KNOWN: &[Known] = &[
    ("num_rows", "rows", true),
    ("num_cols", "columns", true),
    ("num_nonzeros", "nonzeros", true),
    ("row_length_mean", "nonzeros per row", true),
    ("row_length_std_dev", "standard deviation of row lengths", true),
    ("row_length_variation", "variation of row lengths", true),
    ("row_length_skewness", "skewness of row lengths", false),
    ("max_row_length", "longest row", true),
    ("empty_rows", "empty rows", false),
    ("variance", "variance of row lengths", true),
    ("pattern_symmetry", "pattern symmetry", false),
    ("setup_ms", "setup (ms)", true),
    ("avg_spmv_ms", "mean time per product (ms)", true),
    ("min_ms", "minimum time per product (ms)", true),
    ("median_ms", "median time per product (ms)", true),
    ("max_ms", "maximum time per product (ms)", true),
    ("order_ms", "time of ordering (ms)", true),
    ("gflops", "GFLOP/s", false),
    ("effective_GBs", "effective GB/s", false),
    ("compulsory_GBs", "compulsory GB/s", false),
    ("percent_of_peak", "% of peak bandwidth, as CSR", false),
    ("required_percent_of_peak", "% of peak bandwidth", false),
    ("required_bytes", "bytes of a product", true),
    ("distinct_values", "distinct values", true),
    ("uncertainty", "half the 95 % interval (%)", true),
    ("extra_bytes", "bytes beyond CSR", true),
    ("break_even", "products until the setup has paid off", true),
    ("error_ratio", "error / bound", true),
    ("threads", "threads", false),
    ("occupancy", "occupancy", false),
    ("distinct_results", "bitwise different results", false),
    ("achieved_occupancy", "achieved occupancy (%)", false),
    ("warp_execution_efficiency", "warp execution efficiency (%)", false),
    ("global_load_efficiency", "global load efficiency (%)", false),
    ("memory_bytes", "bytes read from memory and written to it", true),
    ("published_ms", "published time (ms)", true),
    ("waited_ms", "modelled time with launching and waiting (ms)", true),
    ("published_ratio", "modelled / published time", true),
    ("published_error", "error against the published time (%)", false),
    ("setup_products", "setup (products of the same method)", true),
    ("ns_per_nonzero", "time per nonzero (ns)", true),
    ("extra_bytes_per_nonzero", "bytes beyond CSR per nonzero", true),
    ("intensity", "FLOP per compulsory byte", true),
    ("empty_percent", "empty rows (%)", false),
];

/// The end of the message about an unknown column.
const WHOLE: &str = "docs/csv.md lists the columns";

/// The columns whose numbers are integers.
const COUNTS: &[&str] = &[
    "num_rows",
    "num_cols",
    "num_nonzeros",
    "max_row_length",
    "empty_rows",
    "extra_bytes",
    "required_bytes",
    "memory_bytes",
    "distinct_values",
    "threads",
    "distinct_results",
];

/// The rates: columns that are inversely proportional to the time of a product.
const RATES: &[&str] =
    &["gflops", "effective_GBs", "compulsory_GBs", "percent_of_peak", "required_percent_of_peak"];

/// The columns that contain the time of a product.
const TIMES: &[&str] =
    &["avg_spmv_ms", "min_ms", "median_ms", "max_ms", "waited_ms", "ns_per_nonzero"];

/// The columns, in addition to the rates, where a greater number is better.
const MORE_IS_BETTER: &[&str] =
    &["occupancy", "achieved_occupancy", "warp_execution_efficiency", "global_load_efficiency"];

impl Column {
    /// Returns the column of that name. Panics if there is no such column.
    pub fn of(name: &str) -> Self {
        name.parse().expect("a known column")
    }

    /// Returns the name of the column in result files.
    pub fn name(&self) -> &str {
        &self.0
    }

    /// Returns the label of an axis that shows the column, with its unit.
    pub fn label(&self) -> &str {
        match self.0.strip_prefix("gen:") {
            Some(key) => key,
            None => self.known().1,
        }
    }

    /// Whether an axis of this column is logarithmic.
    pub fn is_log(&self) -> bool {
        self.0.starts_with("gen:") || self.known().2
    }

    /// Returns a number of this column as a table cell.
    pub fn cell(&self, number: f64) -> Cell {
        if self.is_count() { Cell::Count(number as u64) } else { Cell::Number(number) }
    }

    /// Whether the numbers of this column are integers.
    pub fn is_count(&self) -> bool {
        COUNTS.contains(&&self.0[..])
    }

    /// Whether a greater number is better.
    pub fn more_is_better(&self) -> bool {
        let name = &&self.0[..];
        RATES.contains(name) || MORE_IS_BETTER.contains(name)
    }

    /// Whether the column is the time of a product or a rate that follows from it.
    pub fn is_timed(&self) -> bool {
        let name = &&self.0[..];
        RATES.contains(name) || TIMES.contains(name)
    }

    /// Returns the names of all columns except `gen:KEY`.
    pub fn names() -> impl Iterator<Item = &'static str> {
        KNOWN.iter().map(|known| known.0)
    }

    fn known(&self) -> &'static Known {
        KNOWN.iter().find(|known| known.0 == self.0).expect("checked when it was parsed")
    }

    /// Returns the number in a row, or `None` if it is unknown. Rates are computed from the median time, like all
    /// numbers that are compared.
    pub fn of_line(&self, line: &RecordedRow) -> Option<f64> {
        let row = &line.row;
        let per_nonzero = |number: f64| {
            let nonzeros = row.num_nonzeros.filter(|&nonzeros| nonzeros > 0)?;
            Some(number / nonzeros as f64)
        };
        match &self.0[..] {
            "median_ms" => row.typical_ms(),
            "gflops" => row.typical(row.gflops?),
            "effective_GBs" => row.typical(row.effective_gbs?),
            "compulsory_GBs" => row.typical(row.compulsory_gbs?),
            "percent_of_peak" => row.typical(row.percent_of_peak?),
            "required_percent_of_peak" => row.typical(row.required_percent_of_peak?),
            "setup_products" => Some(row.setup_ms? / row.typical_ms()?),
            "ns_per_nonzero" => per_nonzero(1e6 * row.typical_ms()?),
            "extra_bytes_per_nonzero" => per_nonzero(row.extra_bytes? as f64),
            "uncertainty" => row.uncertainty(),
            "waited_ms" => Some(row.typical_ms()? + line.number("waiting_ms")?),
            "published_ratio" => Some(
                (row.typical_ms()? + line.number("waiting_ms")?) / line.number("published_ms")?,
            ),
            "published_error" => {
                Some(100.0 * (Self::of("published_ratio").of_line(line)? - 1.0).abs())
            }
            "empty_percent" => Some(100.0 * row.empty_rows? as f64 / row.num_rows? as f64),
            "intensity" => {
                let (rows, cols, nonzeros) = (row.num_rows?, row.num_cols?, row.num_nonzeros?);
                let bytes = compulsory_bytes(rows, cols, nonzeros, row.precision?);
                Some(2.0 * nonzeros as f64 / bytes as f64)
            }
            name => match name.strip_prefix("gen:") {
                Some(key) => line.generator(key)?.parse().ok(),
                None => line.number(name),
            },
        }
    }

    /// Returns the 95 % interval of the number in a row, derived from the interval of the time, for the median
    /// time and for rates. Returns `None` for other columns, and if the number is outside the interval: files of
    /// older versions have the interval of the mean.
    pub fn interval(&self, line: &RecordedRow) -> Option<(f64, f64)> {
        let (low, high) = line.row.interval_ms()?;
        let number = self.of_line(line)?;
        let ends = match &self.0[..] {
            "median_ms" => Some((low, high)),
            name if RATES.contains(&name) && low > 0.0 => {
                let work = number * line.row.typical_ms()?;
                Some((work / high, work / low))
            }
            _ => None,
        };
        ends.filter(|ends| ends.0 <= number && number <= ends.1)
    }
}

impl FromStr for Column {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = name.starts_with("gen:") || KNOWN.iter().any(|known| known.0 == name);
        let column = known.then(|| Self(name.to_owned()));
        let unknown = || format!("there is no column '{name}'{}", hint(name, Self::names(), WHOLE));
        column.ok_or_else(unknown)
    }
}

impl TryFrom<String> for Column {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        name.parse()
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

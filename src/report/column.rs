//! The numbers that rows have and that follow from them, with their names on axes.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use super::lines::RecordedRow;
use super::table::Cell;
use crate::bench::metrics::compulsory_bytes;
use crate::near::hint;

/// A number that rows have: a column of the file, something that follows from several, or `gen:KEY`, a
/// number of the generator's specification.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, serde::Deserialize)]
#[serde(try_from = "String")]
pub struct Column(String);

/// A column, the name of its axis with the unit, and whether that axis is logarithmic.
type Known = (&'static str, &'static str, bool);

/// Those that may be asked for.
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
    ("min_ms", "least time per product (ms)", true),
    ("median_ms", "median time per product (ms)", true),
    ("max_ms", "greatest time per product (ms)", true),
    ("order_ms", "time of ordering (ms)", true),
    ("gflops", "GFLOP/s", false),
    ("effective_GBs", "effective GB/s", false),
    ("compulsory_GBs", "compulsory GB/s", false),
    ("percent_of_peak", "% of peak bandwidth, as CSR", false),
    ("required_percent_of_peak", "% of peak bandwidth", false),
    ("required_bytes", "bytes of a product", true),
    ("distinct_values", "different values", true),
    ("uncertainty", "half the 95 % interval (%)", true),
    ("extra_bytes", "bytes beyond CSR", true),
    ("break_even", "products until the setup has paid off", true),
    ("error_ratio", "error over bound", true),
    ("threads", "threads", false),
    ("occupancy", "occupancy", false),
    ("distinct_results", "bitwise different results", false),
    ("achieved_occupancy", "achieved occupancy (%)", false),
    ("warp_execution_efficiency", "warp execution efficiency (%)", false),
    ("global_load_efficiency", "global load efficiency (%)", false),
    ("memory_bytes", "bytes read from memory and written to it", true),
    ("published_ms", "published time (ms)", true),
    ("waited_ms", "modelled time with launching and waiting (ms)", true),
    ("published_ratio", "modelled over published time", true),
    ("published_error", "error against the published time (%)", false),
    ("setup_products", "setup (products of the same method)", true),
    ("ns_per_nonzero", "time per nonzero (ns)", true),
    ("extra_bytes_per_nonzero", "bytes beyond CSR per nonzero", true),
    ("intensity", "FLOP per compulsory byte", true),
    ("empty_percent", "empty rows (%)", false),
];

/// The end of the message about an unknown column.
const WHOLE: &str = "docs/csv.md lists the columns";

/// Those that are whole numbers.
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

/// Those that are something over the time of a product.
const RATES: &[&str] =
    &["gflops", "effective_GBs", "compulsory_GBs", "percent_of_peak", "required_percent_of_peak"];

/// Those that are the time of a product.
const TIMES: &[&str] =
    &["avg_spmv_ms", "min_ms", "median_ms", "max_ms", "waited_ms", "ns_per_nonzero"];

/// Those of which a greater number is a better one, beside the rates.
const MORE_IS_BETTER: &[&str] =
    &["occupancy", "achieved_occupancy", "warp_execution_efficiency", "global_load_efficiency"];

impl Column {
    /// One that is known to exist.
    pub fn of(name: &str) -> Self {
        name.parse().expect("a known column")
    }

    /// As in a file.
    pub fn name(&self) -> &str {
        &self.0
    }

    /// As on an axis, with the unit.
    pub fn label(&self) -> &str {
        match self.0.strip_prefix("gen:") {
            Some(key) => key,
            None => self.known().1,
        }
    }

    /// Whether its axis is logarithmic.
    pub fn is_log(&self) -> bool {
        self.0.starts_with("gen:") || self.known().2
    }

    /// A number of it in a table.
    pub fn cell(&self, number: f64) -> Cell {
        if self.is_count() { Cell::Count(number as u64) } else { Cell::Number(number) }
    }

    /// Whether its numbers are whole.
    pub fn is_count(&self) -> bool {
        COUNTS.contains(&&self.0[..])
    }

    /// Whether a greater number is a better one.
    pub fn more_is_better(&self) -> bool {
        let name = &&self.0[..];
        RATES.contains(name) || MORE_IS_BETTER.contains(name)
    }

    /// Whether it is the time of a product or something over it.
    pub fn is_timed(&self) -> bool {
        let name = &&self.0[..];
        RATES.contains(name) || TIMES.contains(name)
    }

    fn known(&self) -> &'static Known {
        KNOWN.iter().find(|known| known.0 == self.0).expect("checked when it was parsed")
    }

    /// The number in a row; `None` where it is unknown. Rates are those of the median time, as all that is compared.
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

    /// From where to where the number in a row lies, where it is the median time of a product or a rate: as the
    /// 95 % interval of that time says. `None` where the number lies outside of it: older files have the interval of
    /// the mean.
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

/// The message about a column that is none of those known, and none of `others`.
pub(super) fn unknown(name: &str, others: &[&'static str]) -> String {
    let names = KNOWN.iter().map(|known| known.0).chain(others.iter().copied());
    format!("there is no column '{name}'{}", hint(name, names, WHOLE))
}

impl FromStr for Column {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = name.starts_with("gen:") || KNOWN.iter().any(|known| known.0 == name);
        let column = known.then(|| Self(name.to_owned()));
        column.ok_or_else(|| unknown(name, &[]))
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

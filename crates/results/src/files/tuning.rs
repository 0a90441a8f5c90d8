//! The output of `tune`: a row per matrix and size, and the rules derived from them.

use std::fmt;
use std::io::{self, Write};

use serde::ser::{Error, Serialize, SerializeStruct, Serializer};

use crate::row::Row;
use crate::statistics::fit::{LogFit, best_constant};
use crate::statistics::geometric_mean;
use crate::text::cell;
use spmv_matrix::scalar::Precision;

/// The super-row sizes with which a row was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// The number of rows in a super-row.
    pub srs: u32,
    /// The number of super-rows in a super-super-row, for methods that have them.
    pub ssrs: Option<u32>,
}

/// One matrix × method × size × precision: some of the columns of [`Row`], and the sizes.
pub struct SizeRow<'a> {
    pub row: &'a Row,
    /// The name of the method without sizes, and the sizes; `None` for the row of a matrix that was not measured.
    pub of: Option<(&'a str, Size)>,
}

const COLUMNS: &str = "file num_rows num_nonzeros row_length_mean method_name srs ssrs precision device threads order \
                       status reason setup_ms avg_spmv_ms gflops run_id";

impl Serialize for SizeRow<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let cells = serde_json::to_value(self.row).map_err(S::Error::custom)?;
        let mut row = to.serialize_struct("SizeRow", COLUMNS.split(' ').count())?;
        for column in COLUMNS.split(' ') {
            match (column, &self.of) {
                ("method_name", of) => row.serialize_field(column, &of.map(|of| of.0)),
                ("srs", of) => row.serialize_field(column, &of.map(|of| of.1.srs)),
                ("ssrs", of) => row.serialize_field(column, &of.and_then(|of| of.1.ssrs)),
                _ => row.serialize_field(column, &cells[column]),
            }?;
        }
        row.end()
    }
}

/// The times of one method in one precision, with every choice of its parameters on every matrix.
pub struct Sweep<C = Size> {
    method_name: String,
    pub precision: Precision,
    pub choices: Vec<C>,
    cases: Vec<Case>,
    /// The number of matrices without a time for some choice.
    incomplete: usize,
    /// The first method without a time, with its matrix and the reason.
    reason: Option<String>,
}

struct Case {
    file: String,
    row_length: f64,
    /// The speed with each choice.
    gflops: Vec<f64>,
}

/// The size with which the method is the fastest on a matrix; the first one if several are equal.
#[derive(Clone, Debug, PartialEq)]
pub struct Best<'a> {
    pub file: &'a str,
    pub row_length: f64,
    pub size: Size,
    pub gflops: f64,
}

/// The rule for one of the sizes, derived from the best sizes on all matrices.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// The name of the size: `srs` or `ssrs`.
    pub name: &'static str,
    /// The formula, if the matrices have different row lengths.
    pub fit: Option<LogFit>,
    /// The geometric mean of the best sizes, as a constant size.
    pub mean: f64,
}

impl<C> Sweep<C> {
    pub fn new(method_name: String, precision: Precision, choices: Vec<C>) -> Self {
        Self { method_name, precision, choices, cases: Vec::new(), incomplete: 0, reason: None }
    }

    /// Adds a matrix with its mean row length and the speed with each choice, `None` if unknown.
    pub fn take(&mut self, file: &str, row_length: Option<f64>, gflops: impl IntoIterator<Item = Option<f64>>) {
        let case = row_length.zip(gflops.into_iter().collect());
        let case = case.map(|(row_length, gflops)| Case { file: file.into(), row_length, gflops });
        self.incomplete += usize::from(case.is_none());
        self.cases.extend(case);
    }

    /// Adds a matrix with a row for each choice.
    pub fn take_rows(&mut self, rows: &[&Row]) {
        let Row { file, row_length_mean, .. } = rows[0];
        let lacking = rows.iter().find(|row| !row.is_ok());
        if let Some(Row { method_name: Some(name), reason, .. }) = lacking {
            let reason = reason.text().unwrap_or("no reason given");
            self.reason.get_or_insert_with(|| format!("; {name} on {file}: {reason}"));
        }
        self.take(file, *row_length_mean, rows.iter().map(|row| row.typical_gflops()));
    }

    pub fn speeds(&self) -> Vec<&[f64]> {
        self.cases.iter().map(|case| &case.gflops[..]).collect()
    }

    /// Returns the heading: the method, and the numbers of choices and matrices. `choice`: what a choice is called.
    pub fn heading(&self, choice: &str) -> Vec<String> {
        let Self { method_name, precision, choices, cases, incomplete, reason } = self;
        let (count, matrices, precision) = (choices.len(), cases.len(), precision.name());
        let heading = format!("{method_name}, {precision}: {count} {choice}s on {matrices} matrices");
        let reason = reason.as_deref().unwrap_or_default();
        let left_out = format!("left out, without a time for some {choice}: {incomplete}{reason}");
        [heading].into_iter().chain((*incomplete > 0).then_some(left_out)).collect()
    }
}

impl Sweep {
    pub fn best(&self) -> impl Iterator<Item = Best<'_>> {
        self.cases.iter().map(|Case { file, row_length, gflops }| {
            let speeds = self.choices.iter().zip(gflops).rev();
            let (&size, &gflops) = speeds.max_by(|a, b| a.1.total_cmp(b.1)).expect("sizes");
            Best { file, row_length: *row_length, size, gflops }
        })
    }

    pub fn rules(&self) -> Vec<Rule> {
        let rule = |name, size: fn(&Best) -> Option<u32>| {
            let point = |best: Best| Some((best.row_length, f64::from(size(&best)?)));
            let points: Vec<_> = self.best().filter_map(point).collect();
            let mean = geometric_mean(points.iter().map(|point| point.1))?;
            Some(Rule { name, fit: LogFit::of(points), mean })
        };
        let srs = rule("srs", |best| Some(best.size.srs));
        srs.into_iter().chain(rule("ssrs", |best| best.size.ssrs)).collect()
    }

    pub fn conclusions(&self) -> Vec<String> {
        let mut lines: Vec<_> = self.rules().iter().flat_map(Rule::lines).collect();
        if let Some((best, share)) = best_constant(&self.speeds()) {
            let (constant, percent) = (self.choices[best], 100.0 * share);
            lines.push(format!("{constant} for all: {percent:.1} % of each matrix' best in the geometric mean"));
        }
        lines
    }

    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        self.heading("size").iter().try_for_each(|line| writeln!(out, "{line}"))?;
        writeln!(out, "{:>10} {:>6} {:>6} {:>10}  matrix", "nnz/row", "srs", "ssrs", "GFLOP/s")?;
        for Best { file, row_length, size: Size { srs, ssrs }, gflops } in self.best() {
            let ssrs = ssrs.map_or("-".into(), |ssrs| ssrs.to_string());
            writeln!(out, "{row_length:>10.3} {srs:>6} {ssrs:>6} {gflops:>10.4}  {file}")?;
        }
        self.conclusions().iter().try_for_each(|line| writeln!(out, "{line}"))?;
        writeln!(out)
    }
}

impl Rule {
    fn lines(&self) -> Vec<String> {
        let Self { name, fit, mean } = self;
        let formula = fit.map(|LogFit { constant, slope, r_squared }| {
            let (sign, slope) = if slope < 0.0 { ('-', -slope) } else { ('+', slope) };
            let r_squared = cell(r_squared, 3);
            format!("{name} = round({constant:.3} {sign} {slope:.3} ln(nnz/row)), R^2 {r_squared}")
        });
        let constant = format!("geometric mean of the best {name}: {mean:.1}");
        formula.into_iter().chain([constant]).collect()
    }
}

/// Writes the sizes as on the command line.
impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "srs={}", self.srs)?;
        self.ssrs.map_or(Ok(()), |ssrs| write!(f, ":ssrs={ssrs}"))
    }
}

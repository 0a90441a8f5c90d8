//! The numbers of rows: numeric columns, and numbers that are computed from several columns.

use crate::files::read::RecordedRow;
use crate::row::Row;
use crate::row::column::Role::{self, Efficiency, Linear, Log, Rate, Time};
use crate::row::column::{ColumnInfo, Kind, SETUP};
use crate::table::Cell;
use spmv_matrix::near::hint;

/// The name of a column, of a number that follows from several, or `gen:KEY`, a number of the generator.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
#[serde(try_from = "String")]
pub struct Column(String);

/// What reads a number in a row.
type Reader = Box<dyn Fn(&RecordedRow) -> Option<f64>>;

const GENERATOR: &str = "gen:";

impl Column {
    /// Panics if there is no such column.
    pub fn of(name: &str) -> Self {
        Self::try_from(name.to_owned()).expect("a known column")
    }

    pub fn name(&self) -> &str {
        &self.0
    }

    pub fn label(&self) -> &str {
        self.role().label().unwrap_or(&self.0[GENERATOR.len()..])
    }

    pub fn is_log(&self) -> bool {
        self.info().is_none_or(|info| matches!(info.role, Log(_) | Time(_)))
    }

    /// Returns what makes a cell of the number in a row.
    pub fn cells(&self) -> impl Fn(&RecordedRow) -> Option<Cell> + use<> {
        let (number, is_count) = (self.reader(), self.is_count());
        move |line| number(line).map(|number| cell(number, is_count))
    }

    pub fn cell_of(&self, line: &RecordedRow) -> Option<Cell> {
        self.cells()(line)
    }

    pub fn cell(&self, number: f64) -> Cell {
        cell(number, self.is_count())
    }

    pub fn is_count(&self) -> bool {
        self.info().is_some_and(|info| info.kind == Kind::Count)
    }

    pub fn more_is_better(&self) -> bool {
        matches!(self.role(), Role::Rate(_) | Role::Efficiency(_))
    }

    /// Whether the column is the time of a product or a rate that follows from it.
    pub fn is_timed(&self) -> bool {
        matches!(self.role(), Time(_) | Role::Rate(_))
    }

    /// Returns the names of all columns of numbers except `gen:KEY`.
    pub fn names() -> impl Iterator<Item = &'static str> {
        numbers().map(|info| info.name)
    }

    pub fn not_modelled(&self) -> Option<&'static str> {
        self.info()?.not_modelled
    }

    /// Returns `None` for a number of the generator's specification.
    fn info(&self) -> Option<&'static ColumnInfo> {
        numbers().find(|info| info.name == self.0)
    }

    fn role(&self) -> Role {
        self.info().map_or(Role::Unused, |info| info.role)
    }

    /// Returns the number in a row, if it is known. Rates are those of the median time, as in all comparisons.
    pub fn of_line(&self, line: &RecordedRow) -> Option<f64> {
        self.reader()(line)
    }

    /// Returns what reads the number in a row. To find the column by its name takes longer than to read it.
    pub fn reader(&self) -> Reader {
        if let Some(key) = self.0.strip_prefix(GENERATOR).map(str::to_owned) {
            return Box::new(move |line| line.generator(&key)?.parse().ok());
        }
        if let Some((_, compute)) = DERIVED.iter().find(|(info, _)| info.name == self.0) {
            return Box::new(compute);
        }
        let read = Row::reader(&self.0);
        let number = move |row: &Row| read?(row)?.number();
        match self.role() {
            _ if self.0 == "median_ms" => Box::new(|line| line.row.typical_ms()),
            Role::Rate(_) => Box::new(move |line| line.row.typical(number(&line.row)?)),
            _ => Box::new(move |line| number(&line.row)),
        }
    }

    /// Returns the 95 % interval of the median time or a rate, unless it is that of the mean, as in older files.
    pub fn interval(&self, line: &RecordedRow) -> Option<(f64, f64)> {
        let (low, high) = line.row.interval_ms()?;
        let number = self.of_line(line)?;
        let work = number * line.row.typical_ms()?;
        let ends = match self.role() {
            _ if self.0 == "median_ms" => (low, high),
            Role::Rate(_) if low > 0.0 => (work / high, work / low),
            _ => return None,
        };
        (ends.0 <= number && number <= ends.1).then_some(ends)
    }
}

fn cell(number: f64, is_count: bool) -> Cell {
    if is_count { Cell::Count(number as u64) } else { Cell::Number(number) }
}

fn numbers() -> impl Iterator<Item = &'static ColumnInfo> {
    let derived = DERIVED.iter().map(|(info, _)| info);
    Row::COLUMNS.iter().chain(derived).filter(|info| info.role.label().is_some())
}

pub(super) fn word_columns() -> impl Iterator<Item = &'static str> {
    Row::COLUMNS.iter().filter(|info| info.role == Role::Word).map(|info| info.name)
}

impl TryFrom<String> for Column {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        if name.starts_with(GENERATOR) || Self::names().any(|known| known == name) {
            return Ok(Self(name));
        }
        let hint = hint(&name, Self::names(), "docs/csv.md lists the columns");
        Err(format!("there is no column '{name}'{hint}"))
    }
}

type Derived = (ColumnInfo, fn(&RecordedRow) -> Option<f64>);

/// Makes [`DERIVED`] from entries of the same form as the columns of rows, with the computation.
macro_rules! derived {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident = $role:expr $(, $fact:ident: $value:expr)* => $compute:expr;
    )*) => {
        /// The numbers that conditions and experiments can use in addition to the columns of rows.
        pub const DERIVED: &[Derived] = &[$({
            let info = ColumnInfo::of::<Option<f64>>(stringify!($name), concat!($($doc),+), $role);
            (ColumnInfo { $($fact: $value,)* ..info }, $compute)
        }),*];
    };
}

derived! {
    /// Half the 95 % interval, in percent of the median.
    uncertainty = Log("half the 95 % interval (%)"), not_modelled: Some("noise: it has none")
        => |line| line.row.uncertainty();
    /// Half the 95 % interval of the setup between processes, in percent; empty where nothing is prepared.
    setup_uncertainty = Log("half the 95 % interval of the setup (%)"), not_modelled: Some(SETUP)
        => |line| line.row.setup_uncertainty();
    /// The setup in products of the same method.
    setup_products = Log("setup (products of the same method)"), not_modelled: Some(SETUP)
        => |line| Some(line.row.setup_ms? / line.row.typical_ms()?);
    /// The time per nonzero, in nanoseconds.
    ns_per_nonzero = Time("time per nonzero (ns)")
        => |line| per_nonzero(line, 1e6 * line.row.typical_ms()?);
    /// `extra_bytes` / nonzeros.
    extra_bytes_per_nonzero = Log("bytes beyond CSR per nonzero")
        => |line| per_nonzero(line, line.row.extra_bytes? as f64);
    /// The instructions of `warp_instructions` per nonzero, counted as 32 threads each, whether these are active or
    /// not.
    instructions_per_nonzero = Linear("instructions of threads per nonzero")
        => |line| per_nonzero(line, 32.0 * line.row.warp_instructions? as f64);
    /// `global_sectors` / nonzeros.
    sectors_per_nonzero = Linear("accessed sectors per nonzero")
        => |line| per_nonzero(line, line.row.global_sectors? as f64);
    /// The sectors of 32 bytes that contain the bytes of `compulsory_GBs`, per nonzero.
    compulsory_sectors_per_nonzero = Linear("compulsory sectors per nonzero")
        => |line| per_nonzero(line, line.row.compulsory_bytes()? as f64 / 32.0);
    /// The floating-point operations per byte of `compulsory_GBs`.
    intensity = Log("FLOP per compulsory byte")
        => |line| Some(2.0 * line.row.num_nonzeros? as f64 / line.row.compulsory_bytes()? as f64);
    /// 2·nnz / `joules_per_product`, in 10⁹ per joule, which are GFLOP/s per watt.
    gflops_per_watt = Efficiency("GFLOP/s per watt"), not_modelled: Some("energy")
        => |line| Some(2e-9 * line.row.num_nonzeros? as f64 / line.row.joules_per_product?);
    /// With `--protocol power`: `independent_ms` / `median_ms`, the speed of products that multiply the result of the
    /// one before, relative to those that multiply the same x.
    chain_speed = Rate("speed in chains, relative to independent products")
        => |line| Some(line.row.independent_ms? / line.row.median_ms?);
    /// The empty rows, in percent of all rows.
    empty_percent = Linear("empty rows (%)")
        => |line| Some(100.0 * line.row.empty_rows? as f64 / line.row.num_rows? as f64);
    /// In experiments with published times: the published time.
    published_ms = Log("published time (ms)") => |line| line.added.published_ms;
    /// The median plus the published time's `waiting_ms`.
    waited_ms = Time("modelled time with launching and waiting (ms)")
        => |line| Some(line.row.typical_ms()? + line.added.waiting_ms?);
}

fn per_nonzero(line: &RecordedRow, number: f64) -> Option<f64> {
    let nonzeros = line.row.num_nonzeros.filter(|&nonzeros| nonzeros > 0)?;
    Some(number / nonzeros as f64)
}

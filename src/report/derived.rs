//! Numbers that are computed from several columns of a row.

use crate::bench::metrics::compulsory_bytes;
use crate::record::column::Role::{Linear, Log, Time};
use crate::record::column::{ColumnInfo, SETUP};
use crate::record::read::RecordedRow;

/// A number that is computed from a row, with what is known about it.
pub type Derived = (ColumnInfo, fn(&RecordedRow) -> Option<f64>);

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
    /// The setup in products of the same method.
    setup_products = Log("setup (products of the same method)"), not_modelled: Some(SETUP)
        => |line| Some(line.row.setup_ms? / line.row.typical_ms()?);
    /// The time per nonzero, in nanoseconds.
    ns_per_nonzero = Time("time per nonzero (ns)")
        => |line| per_nonzero(line, 1e6 * line.row.typical_ms()?);
    /// `extra_bytes` / nonzeros.
    extra_bytes_per_nonzero = Log("bytes beyond CSR per nonzero")
        => |line| per_nonzero(line, line.row.extra_bytes? as f64);
    /// The instructions of `warp_instructions` per nonzero, counted as 32 threads each, whether these are active or not.
    instructions_per_nonzero = Linear("instructions of threads per nonzero")
        => |line| per_nonzero(line, 32.0 * line.row.warp_instructions? as f64);
    /// `global_sectors` / nonzeros.
    sectors_per_nonzero = Linear("accessed sectors per nonzero")
        => |line| per_nonzero(line, line.row.global_sectors? as f64);
    /// The sectors of 32 bytes that contain the bytes of `compulsory_GBs`, per nonzero.
    compulsory_sectors_per_nonzero = Linear("compulsory sectors per nonzero") => compulsory_sectors;
    /// The floating-point operations per byte of `compulsory_GBs`.
    intensity = Log("FLOP per compulsory byte") => intensity;
    /// The empty rows, in percent of all rows.
    empty_percent = Linear("empty rows (%)")
        => |line| Some(100.0 * line.row.empty_rows? as f64 / line.row.num_rows? as f64);
    /// In experiments with published times: the published time.
    published_ms = Log("published time (ms)") => |line| line.added.published_ms;
    /// The median plus the published time's `waiting_ms`.
    waited_ms = Time("modelled time with launching and waiting (ms)") => waited_ms;
    /// `waited_ms` / `published_ms`.
    published_ratio = Log("modelled / published time") => published_ratio;
    /// The error of `waited_ms` against `published_ms`, in percent.
    published_error = Linear("error against the published time (%)")
        => |line| Some(100.0 * (published_ratio(line)? - 1.0).abs());
}

fn per_nonzero(line: &RecordedRow, number: f64) -> Option<f64> {
    let nonzeros = line.row.num_nonzeros.filter(|&nonzeros| nonzeros > 0)?;
    Some(number / nonzeros as f64)
}

fn intensity(line: &RecordedRow) -> Option<f64> {
    Some(2.0 * line.row.num_nonzeros? as f64 / compulsory(line)?)
}

fn compulsory_sectors(line: &RecordedRow) -> Option<f64> {
    per_nonzero(line, compulsory(line)? / 32.0)
}

/// Returns the bytes of `compulsory_GBs`.
fn compulsory(line: &RecordedRow) -> Option<f64> {
    let [rows, cols, nonzeros] = line.row.sizes()?;
    Some(compulsory_bytes(rows, cols, nonzeros, line.row.precision?) as f64)
}

fn waited_ms(line: &RecordedRow) -> Option<f64> {
    Some(line.row.typical_ms()? + line.added.waiting_ms?)
}

fn published_ratio(line: &RecordedRow) -> Option<f64> {
    Some(waited_ms(line)? / line.added.published_ms?)
}

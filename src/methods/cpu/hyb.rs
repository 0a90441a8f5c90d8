//! HYB: Bell & Garland (2009), §4.4. The first entries of each row in ELL, the rest in coordinates.
//!
//! The width of ELL is cusp's: the smallest that less than a third of the rows, or fewer than 4096,
//! exceed. One region of the team multiplies ELL and writes y, a second adds the rest to it.
//!
//! Memory: ELL's places, the rest with row indices, a carry per thread. Departure: the 4096 rows, which
//! were counted on a GPU, are kept as they are, so that ELL is empty for matrices of fewer rows.

use rayon::prelude::*;

use super::coo::{Carries, Coordinates};
use super::ell::whole;
use super::rows::{Entries, Operands};
use super::strips::{StripRows, Strips};
use crate::matrix::Csr;
use crate::method::{Code, Method, Operations, Parameter, Prepared, Request, Setup, Unavailable};
use crate::methods::fill;
use crate::scalar::Scalar;
use crate::simd::Lanes;
use crate::team::DisjointMut;

/// See the file's head.
pub const METHOD: Method = Method {
    name: "hyb",
    source: "Bell & Garland 2009, HYB; width as in cusp",
    summary: "the first entries of each row in ELL, the rest in coordinates",
    parameters: &[Parameter {
        name: "width",
        values: &["0", "1", "2", "4", "8", "16", "32", "64"],
        meaning: "entries of a row in ELL at most; default by cusp's rule",
    }],
    operations: Operations::Plain,
    setup: Setup::Conversion,
    code: Code::Cpu { parallel: true, f64: prepare, f32: prepare },
};

/// A width pays when more than one row in this many fills it …
const RELATIVE_SPEED: usize = 3;
/// … and at least this many rows do.
const BREAK_EVEN: usize = 4096;

/// Entries beyond the width, with their rows.
struct Rest<T> {
    row_indices: Vec<u32>,
    column_indices: Vec<u32>,
    values: Vec<T>,
}

fn prepare<'a, T: Scalar + Lanes>(
    csr: &'a Csr<T>,
    request: &Request<'a>,
) -> Result<Prepared<'a, T>, Unavailable> {
    let (team, isa) = (request.team, request.isa);
    let longest = csr.row_lengths().max().unwrap_or(0) as usize;
    let width = request.number("width").unwrap_or_else(|| width(csr)).min(longest);
    fill::check(width as u64 * csr.rows as u64, csr.nnz())?;
    let strips = Strips::new(csr, isa.wide_lanes::<T>(), whole(csr.rows, width), None);
    let shares = strips.shares(team.len());
    let rest = Rest::of(csr, width);
    let mut carries = Carries::new(team.len());
    let bytes = strips.bytes() + rest.bytes() + carries.bytes();
    let note = format!("{width} entries of a row in ELL, {} in coordinates", rest.values.len());
    let product = move |alpha, x: &[T], beta, y: &mut [T]| {
        let operands = Operands { alpha, x, beta };
        let shared = &DisjointMut::new(y);
        team.run(|rank| {
            let share = shares[rank].clone();
            isa.run_wide(StripRows { csr, strips: &strips, share, operands, y: shared });
        });
        let added = Operands { beta: T::one(), ..operands };
        carries.add_product(rest.coordinates(), team, isa, added, y);
        Ok(())
    };
    Ok(Prepared::new(csr, bytes, product).noting(note))
}

/// The smallest width that few rows exceed.
fn width<T: Scalar>(csr: &Csr<T>) -> usize {
    let few = (csr.rows.saturating_sub(1) / RELATIVE_SPEED).max(BREAK_EVEN - 1);
    if csr.rows <= few {
        return 0;
    }
    let mut lengths: Vec<u32> = csr.row_lengths().collect();
    let (_, width, _) = lengths.select_nth_unstable_by(few, |a, b| b.cmp(a));
    *width as usize
}

impl<T: Scalar> Rest<T> {
    fn of(csr: &Csr<T>, width: usize) -> Self {
        let rows = || (0..csr.rows).into_par_iter().with_min_len(1024);
        let rest = |row: usize| csr.row(row).skip(width);
        let row_indices = rows().flat_map_iter(|row| rest(row).map(move |_| row as u32)).collect();
        let column_indices = rows().flat_map_iter(|row| rest(row).map(|k| csr.column_indices[k]));
        let values = rows().flat_map_iter(|row| rest(row).map(|k| csr.values[k]));
        Self { row_indices, column_indices: column_indices.collect(), values: values.collect() }
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.row_indices[..])
            + size_of_val(&self.column_indices[..])
            + size_of_val(&self.values[..])
    }

    fn coordinates(&self) -> Coordinates<'_, T> {
        let Self { row_indices, column_indices, values } = self;
        Coordinates { row_indices, entries: Entries { column_indices, values } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row of each of these lengths.
    fn rows_of(lengths: impl Iterator<Item = usize>) -> Csr<f64> {
        let mut row_offsets = vec![0];
        let mut column_indices = Vec::new();
        for length in lengths {
            column_indices.extend(0..length as u32);
            row_offsets.push(column_indices.len() as u32);
        }
        let values = vec![1.0; column_indices.len()];
        Csr::new(row_offsets.len() - 1, 9, row_offsets, column_indices, values).unwrap()
    }

    /// cusp's loop: the first width that fewer rows exceed than are worth a column.
    fn cusp(csr: &Csr<f64>) -> usize {
        let longer = |width: usize| csr.row_lengths().filter(|&l| l as usize > width).count();
        let few = |rows: usize| 3 * rows < csr.rows || rows < 4096;
        (0..).find(|&width| few(longer(width))).unwrap()
    }

    #[test]
    fn the_width_is_cusps() {
        let long = |rows: usize, long: usize| {
            rows_of((0..rows).map(move |row| if row < long { 5 } else { 2 }))
        };
        for (rows, longer, expected) in [
            (0, 0, 0),
            (4095, 4095, 0),
            (4096, 4096, 5),
            (4096, 4095, 2),
            (20_000, 4095, 2),
            (20_001, 6666, 2),
            (20_001, 6667, 5),
        ] {
            let csr = long(rows, longer);
            assert_eq!((width(&csr), cusp(&csr)), (expected, expected), "{longer} of {rows}");
        }
        let mixed = rows_of((0..30_000).map(|row| row * row % 9));
        assert_eq!(width(&mixed), cusp(&mixed));
    }

    #[test]
    fn the_rest_is_what_ell_has_no_room_for() {
        let rest = Rest::of(&rows_of([1, 4, 0, 3].into_iter()), 2);
        assert_eq!((rest.row_indices, rest.column_indices), (vec![1, 1, 3], vec![2, 3, 2]));
    }
}

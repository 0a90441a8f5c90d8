//! The arrays of a matrix while it is read: counted, and allocated with an error instead of an abort.

use std::fmt::Display;

use num_traits::Zero;

use super::error::{Defect, Fault};
use crate::Csr;
use crate::csr::MAX_INDEX;
use crate::memory::ReadBounds;

/// A matrix that was made of the entries of a file.
pub struct Built {
    pub csr: Csr<f64>,
    /// The number of stored entries that have the position of an earlier entry.
    pub duplicates: u64,
    /// The numbers of stored entries above and below the diagonal; 0 if entries are not mirrored.
    pub triangles: [u64; 2],
}

/// Checks that 32-bit indices suffice for this number of rows, columns or entries.
pub fn check_count(count: u64, things: &str) -> Result<(), Defect> {
    if count > MAX_INDEX as u64 { Err(too_many(count, things)) } else { Ok(()) }
}

pub fn too_many(count: impl Display, things: &str) -> Defect {
    let most = format!("32-bit indices allow at most {MAX_INDEX}");
    let mend = match things {
        "entries" | "nonzeros" => "; several ranks of MPI can divide them (docs/mpi.md)",
        _ => "",
    };
    Defect::unsupported(format!("{count} {things} are too many: {most}{mend}"))
}

/// Allocates `size` zeros, or returns an error if they do not fit in memory. The pages are used only when they
/// are written.
pub fn zeros<T: Zero + Clone>(size: usize) -> Result<Vec<T>, Fault> {
    // `vec!` gets zeroed pages from the system but aborts if there is no memory, so this is checked first.
    if Vec::<T>::new().try_reserve_exact(size).is_err() {
        let bytes = size as u64 * size_of::<T>() as u64;
        let message = format!("an array of {bytes} bytes for this matrix does not fit in memory");
        return Err(Defect::unsupported(message).into());
    }
    Ok(vec![T::zero(); size])
}

/// Appends to a vector that grows with the contents of a file. While its elements move, they are in memory twice.
pub fn push<T>(vector: &mut Vec<T>, value: T, bounds: ReadBounds) -> Result<(), Fault> {
    if vector.len() == vector.capacity() {
        let more = vector.len().max(1 << 12);
        let bytes = ((2 * vector.len() + more) * size_of::<T>()) as u64;
        bounds.check().and_then(|()| bounds.allow(bytes))?;
        vector
            .try_reserve_exact(more)
            .map_err(|_| Defect::unsupported(format!("{bytes} bytes for its entries do not fit in memory")))?;
    }
    vector.push(value);
    Ok(())
}

/// Sums entries (column, value) that have the same position in row `row`. The sum must be finite.
pub fn sum(row: usize, same: &[(u32, f64)]) -> Result<f64, Defect> {
    let (col, first) = same[0];
    let sum = same[1..].iter().fold(first, |sum, entry| sum + entry.1);
    if sum.is_finite() {
        return Ok(sum);
    }
    let count = same.len();
    let row = row + 1;
    let col = col + 1;
    Err(format!("the {count} entries in row {row}, column {col} sum to {sum}").into())
}

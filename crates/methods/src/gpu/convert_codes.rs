//! Codes of the distinct values of a matrix, found on the device.

use super::convert::{Converter, compile, launch};
use super::prelude::*;

/// The largest number of distinct values.
pub const MOST_VALUES: usize = 1 << 16;
/// The most threads that enter values in a table at the same time.
const ENTERING: usize = 1 << 18;
/// The number of values that are entered before the others.
const FIRST: usize = 1 << 12;

/// The distinct values of a matrix, and the table by which their numbers are found.
pub struct Codes<T> {
    pub distinct: Buffer<T>,
    pub table: Buffer<u32>,
}

impl<T: Value> Codes<T> {
    /// Returns no codes, for values that are stored unchanged.
    pub fn none(gpu: &Gpu) -> Result<Self, Failed> {
        Ok(Self { distinct: gpu.allocate(0)?, table: gpu.allocate(0)? })
    }

    /// Numbers the bitwise different values of a matrix in the order in which they appear.
    pub fn of(csr: &DeviceCsr<T>) -> Result<Self, Unprepared> {
        let (gpu, nnz) = (&csr.gpu, csr.host.nnz());
        let module = compile::<T>(gpu, program!("cuda/convert_codes.cu"), &[])?;
        let table = table(gpu, nnz.min(ENTERING))?;
        let (last, values) = (table.len() as u32 - 1, &csr.values);
        let count = gpu.zeros::<u32>(1)?;
        // What the first values are is known before all others look for theirs, which would otherwise enter them
        // together.
        for some in [nnz.min(FIRST), nnz] {
            let numbers = [some, MOST_VALUES, last as usize].map(|number| number as u32);
            let arguments: [&dyn Argument; 4] = [&numbers, values, &table, &count];
            launch(&module, "enter_values", some.min(ENTERING), &arguments)?;
        }
        let count = count.to_vec()?[0] as usize;
        if count > MOST_VALUES {
            let reason = format!("has more than {MOST_VALUES} distinct values");
            return Err(Unavailable(reason).into());
        }
        let marks = gpu.zeros::<u32>(nnz.div_ceil(WARP).max(1))?;
        let before = gpu.allocate::<u32>(marks.len())?;
        launch(&module, "mark_firsts", table.len(), &[&last, &table, &marks])?;
        let words = marks.len() as u32;
        launch(&module, "count_marks", marks.len(), &[&words, &marks, &before])?;
        Converter::new(csr)?.scan(&before)?;
        let codes = Self { distinct: gpu.allocate(count)?, table };
        let to: [&dyn Argument; 2] = [&codes.table, &codes.distinct];
        let arguments: [&dyn Argument; 5] = [&last, &marks, &before, values, &to];
        launch(&module, "number_values", codes.table.len(), &arguments)?;
        Ok(codes)
    }

    /// Returns the bits of a code; 0 if there are none.
    pub fn bits(&self) -> usize {
        match self.distinct.len() {
            _ if self.table.is_empty() => 0,
            0..=256 => 8,
            _ => 16,
        }
    }
}

/// Returns an empty table with places for twice as many things, and one at least.
pub fn table(gpu: &Gpu, count: usize) -> Result<Buffer<u32>, Failed> {
    let mut table = gpu.allocate((2 * count).next_power_of_two())?;
    table.fill(u8::MAX)?;
    Ok(table)
}

/// Bounds the bytes of the codes of values besides the codes: the table of distinct values, and what finds them.
pub fn memory(extent: &Extent) -> u64 {
    let table = (2 * extent.nnz.min(ENTERING as u64)).next_power_of_two();
    extent.nnz.min(MOST_VALUES as u64) * extent.value + 4 * table + extent.nnz / 4
}

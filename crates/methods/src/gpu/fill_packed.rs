//! The second half of the conversion to packed slices on the device: the arrays of the format.

use super::convert::{Converter, compile, launch};
use super::convert_codes::{Codes, table};
use super::convert_packed::{Plans, WINDOW};
use super::prelude::*;

/// The largest number of consecutive slices with the same steps and no offsets that a warp owns.
const RUN: usize = 4;

/// The arrays of the format, as `cuda/packed.cuh` describes them.
pub struct Packed<T> {
    /// Four numbers for each slice; those of divided rows come first.
    pub slices: Buffer<u32>,
    pub heads: Buffer<u32>,
    /// Lists of steps, of two numbers each. Equal lists are stored once.
    pub steps: Buffer<u32>,
    pub words: Buffer<u32>,
    /// The values in the order of the slices, or their codes.
    pub values: Box<dyn Argument>,
    /// The distinct values, if there are codes.
    pub table: Buffer<T>,
    /// The number of slices of divided rows.
    pub parts: usize,
}

/// The lists of steps of all slices.
struct Lists {
    steps: Buffer<u32>,
    hashes: Buffer<u64>,
    /// The first word of each slice, and after them a number that is not used.
    words: Buffer<u32>,
}

/// Which lists are kept.
struct Shared {
    /// For each slice the one whose list it has.
    owners: Buffer<u32>,
    /// The place of each list that is kept, and after them a number that is not used.
    places: Buffer<u32>,
    /// The number of their steps.
    steps: usize,
}

/// A matrix, its slices, and the kernels that fill their arrays.
pub struct Filler<'c, 'a, T: Clone> {
    csr: &'c DeviceCsr<'a, T>,
    converter: Converter<'c, 'a, T>,
    module: Module,
    codes: Codes<T>,
    plans: Plans,
}

impl<'c, 'a, T: Value> Filler<'c, 'a, T> {
    pub fn new(csr: &'c DeviceCsr<'a, T>, codes: Codes<T>, plans: Plans) -> Result<Self, Unprepared> {
        let constants = [("CODE_BITS", codes.bits()), ("WINDOW", WINDOW)];
        let module = compile::<T>(&csr.gpu, program!("cuda/fill_packed.cu"), &constants)?;
        Ok(Self { csr, converter: Converter::new(csr)?, module, codes, plans })
    }

    /// Returns the format. Up to `run` slices are one; the default is as many as leave `warps` slices.
    pub fn packed(self, warps: usize, run: Option<usize>) -> Result<Packed<T>, Failed> {
        let run = run.unwrap_or_else(|| (self.csr.host.rows() / WARP / warps).clamp(1, RUN));
        let lists = self.lists()?;
        // A thread may read the word after the last.
        let words = self.csr.gpu.zeros(self.converter.scan(&lists.words)? + 2)?;
        let values: Box<dyn Argument> = match self.codes.bits() {
            0 => Box::new(self.fill::<T>(&lists.words, &words)?),
            8 => Box::new(self.fill::<u8>(&lists.words, &words)?),
            _ => Box::new(self.fill::<u16>(&lists.words, &words)?),
        };
        let [slices, heads, steps] = self.stored(&lists, run)?;
        let (table, parts) = (self.codes.distinct, self.plans.parts);
        Ok(Packed { slices, heads, steps, words, values, table, parts })
    }

    /// Enqueues a kernel with a warp for each slice.
    fn by_warps<const N: usize>(&self, kernel: &'static str, arguments: [&dyn Argument; N]) -> Result<(), Failed> {
        let count = self.plans.count;
        launch(&self.module, kernel, count * WARP, &[&(count as u32), &arguments])
    }

    /// Stores the list of steps of each slice.
    fn lists(&self) -> Result<Lists, Failed> {
        let Plans { count, part, order, origins, heads, lists, steps, .. } = &self.plans;
        let gpu = &self.csr.gpu;
        let stored =
            Lists { steps: gpu.allocate(2 * steps)?, hashes: gpu.allocate(*count)?, words: gpu.zeros(count + 1)? };
        let DeviceCsr { row_offsets, column_indices, .. } = self.csr;
        let numbers = [self.csr.rows(), *part as u32];
        let from: [&dyn Argument; 5] = [row_offsets, column_indices, order, origins, lists];
        let to: [&dyn Argument; 4] = [heads, &stored.steps, &stored.words, &stored.hashes];
        self.by_warps("store_steps", [&numbers, &from, &to])?;
        Ok(stored)
    }

    /// Stores the words, and returns the values in the order of the slices or their codes.
    fn fill<E: bytemuck::Pod>(&self, starts: &Buffer<u32>, words: &Buffer<u32>) -> Result<Buffer<E>, Failed> {
        let Plans { part, order, origins, heads, entries, .. } = &self.plans;
        let DeviceCsr { gpu, row_offsets, column_indices, values, .. } = self.csr;
        let stored = gpu.allocate::<E>(self.csr.host.nnz())?;
        let numbers = [self.csr.rows(), *part as u32];
        let from: [&dyn Argument; 4] = [row_offsets, column_indices, order, values];
        let Codes { distinct, table } = &self.codes;
        let last = (table.len() as u32).wrapping_sub(1);
        let codes: [&dyn Argument; 3] = [&last, table, distinct];
        let slices: [&dyn Argument; 4] = [heads, origins, entries, starts];
        self.by_warps("fill_slices", [&numbers, &from, &codes, &slices, words, &stored])?;
        Ok(stored)
    }

    /// Finds equal lists.
    fn shared(&self, stored: &Lists) -> Result<Shared, Failed> {
        let Plans { count, heads, lists, .. } = &self.plans;
        let Lists { steps, hashes, .. } = stored;
        let gpu = &self.csr.gpu;
        let table = table(gpu, *count)?;
        let last = table.len() as u32 - 1;
        let numbers = [*count as u32, last];
        launch(&self.module, "enter_lists", *count, &[&numbers, hashes, &table])?;
        let (owners, places) = (gpu.allocate(*count)?, gpu.zeros(count + 1)?);
        let from: [&dyn Argument; 5] = [hashes, &table, heads, lists, steps];
        self.by_warps("share_lists", [&last, &from, &owners, &places])?;
        let steps = self.converter.scan(&places)?;
        Ok(Shared { owners, places, steps })
    }

    /// Returns the slices, up to `run` of which were consecutive ones, their heads, and the lists of steps that are
    /// kept.
    fn stored(&self, lists: &Lists, run: usize) -> Result<[Buffer<u32>; 3], Failed> {
        let shared = self.shared(lists)?;
        let Plans { count, origins, heads, entries, .. } = &self.plans;
        let gpu = &self.csr.gpu;
        let places = gpu.zeros(count + 1)?;
        let numbers = [*count, run].map(|number| number as u32);
        let arguments: [&dyn Argument; 5] = [&numbers, heads, origins, &shared.owners, &places];
        launch(&self.module, "mark_runs", *count, &arguments)?;
        let slices = self.converter.scan(&places)?;
        let from: [&dyn Argument; 5] = [heads, origins, &self.plans.lists, entries, &lists.words];
        let kept: [&dyn Argument; 4] = [&shared.owners, &shared.places, &places, &lists.steps];
        let (steps, slices, heads) =
            (gpu.allocate(2 * shared.steps)?, gpu.allocate(4 * slices)?, gpu.allocate(slices)?);
        self.by_warps("store_slices", [&from, &kept, &steps, &slices, &heads])?;
        Ok([slices, heads, steps])
    }
}

//! The conversion to packed slices on the device.

use super::convert::{Converter, launch};
use super::convert_codes::{Codes, table};
use super::ell::WARP;
use super::prelude::*;

/// The number of rows among which rows of similar length are brought together.
const WINDOW: usize = 4096;
/// The units of slices of a window: one per 32 rows, and one for the rows that are brought together.
const UNITS: usize = WINDOW / WARP + 1;
/// The numbers of lanes per row.
const SHIFTS: usize = 6;
/// The bounds of the number of steps that the slices of a matrix have at most, apart from bands and long rows.
const LEAST_STEPS: usize = 4;
const MOST_STEPS: usize = 32;
/// The smallest number of steps of a part of a row, because the parts of a row must be added.
const PART_STEPS: usize = 8;
/// The largest number of consecutive slices with the same steps and no offsets that a warp owns.
const RUN: usize = 4;

/// The arrays of the format, as `cuda/packed.cuh` describes them, without the values.
pub struct Packed {
    /// Four numbers for each slice; those of divided rows come first.
    pub slices: Buffer<u32>,
    pub heads: Buffer<u32>,
    /// Lists of steps, of two numbers each. Equal lists are stored once.
    pub steps: Buffer<u32>,
    pub words: Buffer<u32>,
    /// The number of slices of divided rows.
    pub parts: usize,
}

/// The format, its values or their codes, and the distinct values.
pub type WithValues<T> = (Packed, Box<dyn Argument>, Buffer<T>);

/// What is known of the slices before they share lists and before consecutive ones become one.
struct Draft {
    count: usize,
    parts: usize,
    /// The rows that are brought together in each window.
    order: Buffer<u32>,
    plans: Buffer<u32>,
    heads: Buffer<u32>,
    /// The first step, nonzero and word of each slice, and after them a number that is not used.
    lists: Buffer<u32>,
    entries: Buffer<u32>,
    words: Buffer<u32>,
    steps: Buffer<u32>,
    hashes: Buffer<u64>,
}

/// A matrix and the kernels that convert it.
pub struct Conversion<'c, 'a, T: Clone> {
    csr: &'c DeviceCsr<'a, T>,
    converter: Converter<'c, 'a, T>,
    module: Module,
    most: usize,
    run: usize,
    codes: Codes<T>,
}

impl<'c, 'a, T: Value> Conversion<'c, 'a, T> {
    /// Prepares the conversion for a GPU that should have work for at least `warps` warps. Up to `run` slices are one; the
    /// default follows the number of rows.
    pub fn new(
        csr: &'c DeviceCsr<'a, T>,
        codes: Codes<T>,
        warps: usize,
        run: Option<usize>,
    ) -> Result<Self, Unprepared> {
        let constants = [("CODE_BITS", codes.bits())];
        let module = csr.gpu.compile::<T>(program!("cuda/convert_packed.cu"), &constants)?;
        let most = (csr.host.nnz() / WARP / warps).clamp(LEAST_STEPS, MOST_STEPS);
        let run = run.unwrap_or_else(|| (csr.host.rows() / WARP / warps).clamp(1, RUN));
        Ok(Self { csr, converter: Converter::new(csr)?, module, most, run, codes })
    }

    /// Returns the format, its values and the table of distinct values.
    pub fn packed(self) -> Result<WithValues<T>, Failed> {
        let draft = self.draft()?;
        let words = self.csr.gpu.zeros(self.converter.scan(&draft.words)? + 2)?;
        let values: Box<dyn Argument> = match self.codes.bits() {
            0 => Box::new(self.fill::<T>(&draft, &words)?),
            8 => Box::new(self.fill::<u8>(&draft, &words)?),
            _ => Box::new(self.fill::<u16>(&draft, &words)?),
        };
        Ok((self.stored(draft, words)?, values, self.codes.distinct))
    }

    /// Returns the longest row that is not divided.
    fn part(&self) -> usize {
        WARP * self.most.max(PART_STEPS)
    }

    /// Enqueues a kernel with a warp for each of `count` slices.
    fn by_warps<const N: usize>(
        &self,
        kernel: &'static str,
        count: usize,
        arguments: [&dyn Argument; N],
    ) -> Result<(), Failed> {
        launch(&self.module, kernel, count * WARP, &[&(count as u32), &arguments])
    }

    fn draft(&self) -> Result<Draft, Failed> {
        let (gpu, rows) = (&self.csr.gpu, self.csr.host.rows());
        let windows = rows.div_ceil(WINDOW);
        let [bands, others] = [0; 2].map(|_| gpu.allocate::<u32>(rows.div_ceil(WARP)));
        let (bands, others) = (bands?, others?);
        let order = gpu.allocate::<u32>(windows * WINDOW)?;
        let ends = gpu.allocate::<u32>(windows * SHIFTS)?;
        let units = gpu.zeros::<u32>(windows * UNITS + 1)?;
        let DeviceCsr { row_offsets, column_indices, .. } = self.csr;
        let limits = [rows, self.most, self.part()].map(|number| number as u32);
        let arguments: [&dyn Argument; 6] =
            [&limits, row_offsets, column_indices, &bands, &others, &units];
        launch(&self.module, "classify", bands.len() * WARP, &arguments)?;
        let arguments: [&dyn Argument; 6] = [&limits, row_offsets, &others, &order, &ends, &units];
        self.module.kernel("sort_others")?.launch(windows, WARP, 0, &arguments)?;
        let (part_starts, parts) = self.part_starts()?;
        let count = parts + self.converter.scan(&units)?;

        let [plans, heads] = [2, 1].map(|each| gpu.allocate::<u32>(each * count));
        let [lists, entries, words] = [0; 3].map(|_| gpu.zeros::<u32>(count + 1));
        let (plans, heads) = (plans?, heads?);
        let (lists, entries, words) = (lists?, entries?, words?);
        let numbers = [parts, windows * UNITS, self.most, rows, self.part()].map(|n| n as u32);
        let from: [&dyn Argument; 5] = [row_offsets, column_indices, &order, &part_starts, &bands];
        let to: [&dyn Argument; 4] = [&heads, &plans, &lists, &entries];
        self.by_warps("plan_slices", count, [&numbers, &from, &ends, &units, &to])?;
        self.converter.scan(&entries)?;
        let steps = gpu.allocate::<u32>(2 * self.converter.scan(&lists)?)?;
        let hashes = gpu.allocate::<u64>(count)?;
        let draft =
            Draft { count, parts, order, plans, heads, lists, entries, words, steps, hashes };
        self.store_steps(&draft)?;
        Ok(draft)
    }

    /// Returns the number of parts before each row, and that of all.
    fn part_starts(&self) -> Result<(Buffer<u32>, usize), Failed> {
        let (gpu, row_offsets) = (&self.csr.gpu, &self.csr.row_offsets);
        if self.converter.longer(row_offsets, self.part())? == 0 {
            return Ok((gpu.allocate(0)?, 0));
        }
        let parts = gpu.allocate(row_offsets.len())?;
        let numbers = [self.csr.rows(), self.part() as u32];
        launch(&self.module, "count_parts", parts.len(), &[&numbers, row_offsets, &parts])?;
        let count = self.converter.scan(&parts)?;
        Ok((parts, count))
    }

    fn store_steps(&self, draft: &Draft) -> Result<(), Failed> {
        let Draft { count, order, plans, heads, lists, words, steps, hashes, .. } = draft;
        let DeviceCsr { row_offsets, column_indices, .. } = self.csr;
        let numbers = [self.csr.rows(), self.part() as u32];
        let from: [&dyn Argument; 3] = [row_offsets, column_indices, order];
        let to: [&dyn Argument; 6] = [plans, lists, heads, steps, words, hashes];
        self.by_warps("store_steps", *count, [&numbers, &from, &to])
    }

    /// Stores the words, and returns the values in the order of the slices or their codes.
    fn fill<E: bytemuck::Pod>(
        &self,
        draft: &Draft,
        to_words: &Buffer<u32>,
    ) -> Result<Buffer<E>, Failed> {
        let Draft { count, order, plans, heads, entries, words, .. } = draft;
        let DeviceCsr { gpu, row_offsets, column_indices, values, .. } = self.csr;
        let to = gpu.allocate::<E>(self.csr.host.nnz())?;
        let numbers = [self.csr.rows(), self.part() as u32];
        let from: [&dyn Argument; 4] = [row_offsets, column_indices, order, values];
        let Codes { distinct, table } = &self.codes;
        let codes: [&dyn Argument; 3] = [&(table.len() as u32).wrapping_sub(1), table, distinct];
        let slices: [&dyn Argument; 4] = [heads, plans, entries, words];
        self.by_warps("fill_slices", *count, [&numbers, &from, &codes, &slices, to_words, &to])?;
        Ok(to)
    }

    /// Returns for each slice the one whose list it has, and the place of each list that is kept, and the number of their
    /// steps.
    fn shared(&self, draft: &Draft) -> Result<(Buffer<u32>, Buffer<u32>, usize), Failed> {
        let Draft { count, heads, lists, steps, hashes, .. } = draft;
        let gpu = &self.csr.gpu;
        let table = table(gpu, *count)?;
        let last = table.len() as u32 - 1;
        let numbers = [*count as u32, last];
        launch(&self.module, "enter_lists", *count, &[&numbers, hashes, &table])?;
        let (owners, kept) = (gpu.allocate(*count)?, gpu.zeros(count + 1)?);
        let from: [&dyn Argument; 5] = [hashes, &table, heads, lists, steps];
        self.by_warps("share_lists", *count, [&last, &from, &owners, &kept])?;
        let total = self.converter.scan(&kept)?;
        Ok((owners, kept, total))
    }

    fn stored(&self, draft: Draft, to_words: Buffer<u32>) -> Result<Packed, Failed> {
        let (owners, kept, kept_steps) = self.shared(&draft)?;
        let Draft { count, parts, plans, heads, lists, entries, words, steps, .. } = draft;
        let gpu = &self.csr.gpu;
        let places = gpu.zeros(count + 1)?;
        let numbers = [count, self.run].map(|number| number as u32);
        let arguments: [&dyn Argument; 5] = [&numbers, &heads, &plans, &owners, &places];
        launch(&self.module, "mark_runs", count, &arguments)?;
        let slices = self.converter.scan(&places)?;
        let packed = Packed {
            slices: gpu.allocate(4 * slices)?,
            heads: gpu.allocate(slices)?,
            steps: gpu.allocate(2 * kept_steps)?,
            words: to_words,
            parts,
        };
        let from: [&dyn Argument; 5] = [&heads, &plans, &lists, &entries, &words];
        let shared: [&dyn Argument; 3] = [&owners, &kept, &places];
        let to: [&dyn Argument; 3] = [&packed.steps, &packed.slices, &packed.heads];
        self.by_warps("store_slices", count, [&from, &shared, &steps, &to])?;
        Ok(packed)
    }
}

/// Bounds the bytes of the format with `value` bytes per nonzero, and of what the conversion needs besides.
pub fn memory(extent: &Extent, value: u64) -> u64 {
    let Extent { rows, nnz, longest, .. } = *extent;
    let (lanes, steps) = (WARP as u64, MOST_STEPS as u64);
    // At most 32 bits of an offset; a step for each 16 nonzeros, because few lanes are idle, twice during the conversion; less
    // for heads and slices.
    let entries = nnz * (value + 4 + 3);
    // Of each window, one slice more for each number of lanes per row.
    let windows = rows.div_ceil(WINDOW as u64) * (2 * longest.min(steps * lanes) * 8 / lanes + 128);
    let parts = nnz / (lanes * PART_STEPS as u64) * (extent.value + 4);
    entries + rows * 8 + windows + parts
}

//! The first half of the conversion to packed slices on the device: which slices there are.

use super::convert::{Converter, compile, launch};
use super::prelude::*;

/// The number of rows among which rows of similar length are brought together.
pub const WINDOW: usize = 4096;
/// The units of slices of a window: one per 32 rows, and one for the rows that are brought together.
const UNITS: usize = WINDOW / WARP + 1;
/// The numbers of lanes per row.
const SHIFTS: usize = 6;
/// The bounds of the number of steps that the slices of a matrix have at most, apart from bands and long rows.
const LEAST_STEPS: usize = 4;
const MOST_STEPS: usize = 32;
/// The smallest number of steps of a part of a row, because the parts of a row must be added.
const PART_STEPS: usize = 8;
/// The most nonzeros of a row that is not divided.
const LONGEST: usize = WARP * MOST_STEPS;

/// The slices, before consecutive ones become one. Those of divided rows come first.
pub struct Plans {
    pub count: usize,
    /// The number of slices of divided rows.
    pub parts: usize,
    /// The longest row that is not divided.
    pub part: usize,
    /// The rows that are brought together in each window.
    pub order: Buffer<u32>,
    /// The first row and the origin of each slice, as `cuda/packed_walk.cuh` describes them.
    pub origins: Buffer<u32>,
    pub heads: Buffer<u32>,
    /// The first step and the first nonzero of each slice, and after them a number that is not used.
    pub lists: Buffer<u32>,
    pub entries: Buffer<u32>,
    /// The number of all steps.
    pub steps: usize,
}

/// What becomes of the rows that are not divided.
struct Groups {
    /// For each group of 32 rows one more than the steps of a band, or 0, and a bit for each row that is brought
    /// together.
    bands: Buffer<u32>,
    others: Buffer<u32>,
    order: Buffer<u32>,
    /// For each window and number of lanes per row the end of the rows that are brought together.
    ends: Buffer<u32>,
    /// The first slice of each unit of the windows, and the end.
    units: Buffer<u32>,
}

/// A matrix and the kernels that plan its slices.
pub struct Planner<'c, 'a, T: Clone> {
    csr: &'c DeviceCsr<'a, T>,
    converter: Converter<'c, 'a, T>,
    module: Module,
    /// The largest number of steps of slices.
    most: usize,
    /// The longest row that is not divided.
    part: usize,
}

impl<'c, 'a, T: Value> Planner<'c, 'a, T> {
    /// Prepares the plans for a GPU that should have work for at least `warps` warps.
    pub fn new(csr: &'c DeviceCsr<'a, T>, warps: usize) -> Result<Self, Unprepared> {
        let constants = [("WINDOW", WINDOW), ("SHIFTS", SHIFTS), ("LONGEST", LONGEST)];
        let module = compile::<T>(&csr.gpu, program!("cuda/convert_packed.cu"), &constants)?;
        let most = (csr.host.nnz() / WARP / warps).clamp(LEAST_STEPS, MOST_STEPS);
        let part = WARP * most.max(PART_STEPS);
        Ok(Self { csr, converter: Converter::new(csr)?, module, most, part })
    }

    pub fn plans(&self) -> Result<Plans, Failed> {
        let gpu = &self.csr.gpu;
        let Groups { bands, order, ends, units, .. } = self.groups()?;
        let (part_starts, parts) = self.part_starts()?;
        let count = parts + self.converter.scan(&units)?;
        let mut plans = Plans {
            count,
            parts,
            part: self.part,
            order,
            origins: gpu.allocate(2 * count)?,
            heads: gpu.allocate(count)?,
            lists: gpu.zeros(count + 1)?,
            entries: gpu.zeros(count + 1)?,
            steps: 0,
        };
        let numbers = [count, parts, units.len() - 1, self.most].map(|number| number as u32);
        let limits = [self.csr.rows(), self.part as u32];
        let DeviceCsr { row_offsets, column_indices, .. } = self.csr;
        let from: [&dyn Argument; 6] = [row_offsets, column_indices, &plans.order, &part_starts, &bands, &ends];
        let Plans { heads, origins, lists, entries, .. } = &plans;
        let to: [&dyn Argument; 4] = [heads, origins, lists, entries];
        let arguments: [&dyn Argument; 5] = [&numbers, &limits, &from, &units, &to];
        launch(&self.module, "plan_slices", count * WARP, &arguments)?;
        self.converter.scan(entries)?;
        plans.steps = self.converter.scan(lists)?;
        Ok(plans)
    }

    fn groups(&self) -> Result<Groups, Failed> {
        let (gpu, rows) = (&self.csr.gpu, self.csr.host.rows());
        let windows = rows.div_ceil(WINDOW);
        let groups = Groups {
            bands: gpu.allocate(rows.div_ceil(WARP))?,
            others: gpu.allocate(rows.div_ceil(WARP))?,
            order: gpu.allocate(windows * WINDOW)?,
            ends: gpu.allocate(windows * SHIFTS)?,
            units: gpu.zeros(windows * UNITS + 1)?,
        };
        let Groups { bands, others, order, ends, units } = &groups;
        let DeviceCsr { row_offsets, column_indices, .. } = self.csr;
        let limits = [rows, self.most, self.part].map(|number| number as u32);
        let arguments: [&dyn Argument; 6] = [&limits, row_offsets, column_indices, bands, others, units];
        launch(&self.module, "classify", bands.len() * WARP, &arguments)?;
        let arguments: [&dyn Argument; 6] = [&limits, row_offsets, others, order, ends, units];
        self.module.kernel("sort_others")?.launch(windows, WARP, 0, &arguments)?;
        Ok(groups)
    }

    /// Returns the number of parts before each row, and that of all.
    fn part_starts(&self) -> Result<(Buffer<u32>, usize), Failed> {
        let (gpu, row_offsets) = (&self.csr.gpu, &self.csr.row_offsets);
        if self.converter.longer(row_offsets, self.part)? == 0 {
            return Ok((gpu.allocate(0)?, 0));
        }
        let parts = gpu.allocate(row_offsets.len())?;
        let numbers = [self.csr.rows(), self.part as u32];
        launch(&self.module, "count_parts", parts.len(), &[&numbers, row_offsets, &parts])?;
        let count = self.converter.scan(&parts)?;
        Ok((parts, count))
    }
}

/// Bounds the bytes of the format with `value` bytes per nonzero, and of what the conversion needs besides.
pub fn memory(extent: &Extent, value: u64) -> u64 {
    let Extent { rows, nnz, longest, .. } = *extent;
    let (lanes, steps) = (WARP as u64, MOST_STEPS as u64);
    // At most 32 bits of an offset; a step for each 16 nonzeros, because few lanes are idle, twice during the
    // conversion; less for heads and slices.
    let entries = nnz * (value + 4 + 3);
    // Of each window, one slice more for each number of lanes per row.
    let windows = rows.div_ceil(WINDOW as u64) * (2 * longest.min(steps * lanes) * 8 / lanes + 128);
    let parts = nnz / (lanes * PART_STEPS as u64) * (extent.value + 4);
    entries + rows * 8 + windows + parts
}

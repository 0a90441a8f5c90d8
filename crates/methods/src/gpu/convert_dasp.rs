//! The classes of rows of DASP, and the conversion to its arrays on the device.

use super::convert::{Converter, THREADS, compile, launch};
use super::prelude::*;

/// The rows of a block of the format, which are also the rows of a group.
pub const GROUP_ROWS: usize = 8;
/// The entries of each row of a block.
const WIDTH: usize = 4;
const PLACES: usize = GROUP_ROWS * WIDTH;
/// What the programs of the conversion and of the product have in common.
pub const BLOCK_SHAPE: [(&str, usize); 2] = [("GROUP_ROWS", GROUP_ROWS), ("BLOCK_WIDTH", WIDTH)];
/// The largest number of entries of a row that is not long, as published.
const LONGEST: usize = 256;
/// The number of keys by which rows are sorted: a length up to the longest, or long.
const KEYS: usize = LONGEST + 2;
/// The rows of blocks that a warp owns of paired rows: those of two blocks.
const UNIT_PAIRS: usize = 2 * GROUP_ROWS;
/// The largest number of groups of a warp. As many groups without rows follow the last one.
const MOST_GROUPS: usize = 4;

/// The numbers of rows of each class.
#[derive(Clone, Copy)]
pub struct Classes {
    pub long: usize,
    pub medium: usize,
    /// Rows of 3, each of which has a partner of 1.
    threes: usize,
    twos: usize,
    /// Rows of 1 without a partner.
    pub singles: usize,
    pub empty: usize,
}

impl Classes {
    fn of<T: Value>(csr: &DeviceCsr<T>, converter: &Converter<T>) -> Result<Self, Failed> {
        let longer = |length| converter.longer(&csr.row_offsets, length);
        let (long, from_4, from_3) = (longer(LONGEST)?, longer(WIDTH - 1)?, longer(2)?);
        let (from_2, from_1) = (longer(1)?, longer(0)?);
        let (ones, twos, threes) = (from_1 - from_2, from_2 - from_3, from_3 - from_4);
        let partners = ones.min(threes);
        Ok(Self {
            long,
            medium: from_4 - long + (threes - partners),
            threes: partners,
            twos,
            singles: ones - partners,
            empty: csr.host.rows() - from_1,
        })
    }

    /// Returns the numbers of long rows, medium rows, rows of 3 and rows of 2, which the kernels need in this order.
    pub fn sizes(&self) -> [u32; 4] {
        [self.long, self.medium, self.threes, self.twos].map(|size| size as u32)
    }

    /// Returns the number of units of two blocks of paired rows: of 1 and 3, and of 2 and 2.
    pub fn pair_units(&self) -> usize {
        self.threes.div_ceil(UNIT_PAIRS) + self.twos.div_ceil(2 * UNIT_PAIRS)
    }
}

/// Where the rows are in the blocks, as the kernel describes it.
pub struct Layout {
    pub classes: Classes,
    /// The rows from long ones to empty ones.
    pub order: Buffer<u32>,
    /// The first block of each long row, then that of each group, and the ends.
    pub blocks: Buffer<u32>,
    /// The first chunk of each long row, and the end.
    pub first_chunks: Buffer<u32>,
    /// The first block of each chunk of a long row, and the end.
    pub chunk_starts: Buffer<u32>,
    /// The first irregular entry of each group, and the ends.
    pub rest: Buffer<u32>,
    /// For each medium row the place of its irregular entries in those of the group, shifted by 16, and their number.
    pub pieces: Buffer<u32>,
    /// The groups at the beginning that have a warp each.
    pub wide: usize,
    /// The first block of paired rows.
    pub first_pair: usize,
    irregular: usize,
}

impl Layout {
    pub fn note(&self) -> String {
        let Self { classes: Classes { long, medium, .. }, irregular, .. } = self;
        format!("{long} long and {medium} medium rows, {irregular} irregular entries")
    }
}

pub struct Entries<T> {
    pub columns: Buffer<u32>,
    pub values: Buffer<T>,
}

impl<T: Value> Entries<T> {
    fn of(gpu: &Gpu, count: usize) -> Result<Self, Failed> {
        Ok(Self { columns: gpu.allocate(count)?, values: gpu.allocate(count)? })
    }
}

/// A matrix and the kernels that convert it.
pub struct Conversion<'c, 'a, T: Clone> {
    csr: &'c DeviceCsr<'a, T>,
    converter: Converter<'c, 'a, T>,
    module: Module,
}

impl<'c, 'a, T: Value> Conversion<'c, 'a, T> {
    pub fn new(csr: &'c DeviceCsr<'a, T>) -> Result<Self, Unprepared> {
        let [rows, width] = BLOCK_SHAPE;
        let constants = [rows, width, ("LONGEST", LONGEST), ("MOST_GROUPS", MOST_GROUPS)];
        let module = compile::<T>(&csr.gpu, program!("cuda/convert_dasp.cu"), &constants)?;
        Ok(Self { csr, converter: Converter::new(csr)?, module })
    }

    pub fn layout(&self) -> Result<Layout, Failed> {
        let gpu = &self.csr.gpu;
        let classes = Classes::of(self.csr, &self.converter)?;
        let groups = classes.medium.div_ceil(GROUP_ROWS) + MOST_GROUPS;
        let mut layout = Layout {
            classes,
            order: self.sorted()?,
            blocks: gpu.allocate(classes.long + groups)?,
            first_chunks: gpu.allocate(classes.long + 1)?,
            chunk_starts: gpu.allocate(0)?,
            rest: gpu.allocate(groups)?,
            pieces: gpu.allocate(classes.medium)?,
            wide: 0,
            first_pair: 0,
            irregular: 0,
        };
        layout.wide = self.count_blocks(&layout)?;
        layout.first_pair = self.converter.scan(&layout.blocks)?;
        layout.irregular = self.converter.scan(&layout.rest)?;
        layout.chunk_starts = self.chunk_starts(&layout.blocks, &layout.first_chunks)?;
        Ok(layout)
    }

    /// Counts the blocks, chunks and irregular entries of rows and groups. Returns the number of wide groups.
    fn count_blocks(&self, layout: &Layout) -> Result<usize, Failed> {
        let Layout { classes, order, blocks, first_chunks, rest, pieces, .. } = layout;
        let wide = self.csr.gpu.zeros::<u32>(1)?;
        let counts: [&dyn Argument; 5] = [blocks, first_chunks, rest, pieces, &wide];
        let [long_rows, medium, ..] = classes.sizes();
        let arguments: [&dyn Argument; 5] = [&long_rows, &medium, &self.csr.row_offsets, order, &counts];
        launch(&self.module, "count_blocks", blocks.len(), &arguments)?;
        Ok(wide.to_vec()?[0] as usize)
    }

    /// Returns the rows, sorted by descending length, where all long rows count as equal. The sort is stable.
    fn sorted(&self) -> Result<Buffer<u32>, Failed> {
        let (gpu, rows) = (&self.csr.gpu, self.csr.host.rows());
        let order = gpu.allocate(rows)?;
        let starts = gpu.allocate(KEYS * rows.div_ceil(THREADS).max(1))?;
        let (count, offsets) = (self.csr.rows(), &self.csr.row_offsets);
        launch(&self.module, "count_keys", rows.max(1), &[&count, offsets, &starts])?;
        self.converter.scan(&starts)?;
        launch(&self.module, "sort_rows", rows, &[&count, offsets, &starts, &order])?;
        Ok(order)
    }

    /// Returns the first block of each chunk, and the end. `first_chunks` has the number of chunks of each long row.
    fn chunk_starts(&self, blocks: &Buffer<u32>, first_chunks: &Buffer<u32>) -> Result<Buffer<u32>, Failed> {
        let count = self.converter.scan(first_chunks)? + 1;
        let starts = self.csr.gpu.allocate(count)?;
        let numbers = [count, first_chunks.len() - 1].map(|number| number as u32);
        let arguments: [&dyn Argument; 4] = [&numbers, blocks, first_chunks, &starts];
        launch(&self.module, "chunk_starts", count, &arguments)?;
        Ok(starts)
    }

    /// Returns the entries in blocks, and those of single rows.
    pub fn regular(&self, layout: &Layout) -> Result<Entries<T>, Failed> {
        let Layout { classes, order, blocks, first_pair, .. } = layout;
        let places = (first_pair + 2 * classes.pair_units()) * PLACES + classes.singles;
        let entries = Entries::of(&self.csr.gpu, places)?;
        let numbers = [places, *first_pair].map(|number| number as u32);
        let to: [&dyn Argument; 2] = [&entries.columns, &entries.values];
        let arguments: [&dyn Argument; 6] = [&numbers, &classes.sizes(), blocks, order, self.csr, &to];
        launch(&self.module, "fill_blocks", places, &arguments)?;
        Ok(entries)
    }

    /// Returns the other entries of medium rows.
    pub fn irregular(&self, layout: &Layout) -> Result<Entries<T>, Failed> {
        let Layout { classes, order, rest, pieces, irregular, .. } = layout;
        let entries = Entries::of(&self.csr.gpu, *irregular)?;
        let to: [&dyn Argument; 2] = [&entries.columns, &entries.values];
        let [long_rows, medium, ..] = classes.sizes();
        let arguments: [&dyn Argument; 7] = [&long_rows, &medium, order, rest, pieces, self.csr, &to];
        launch(&self.module, "fill_irregular", rest.len() * GROUP_ROWS, &arguments)?;
        Ok(entries)
    }
}

/// Bounds the bytes of the format and of the counts by which the rows are sorted. At most a quarter of the places is
/// padding, but for the last units of pairs.
pub fn memory(extent: &Extent) -> u64 {
    let places = extent.nnz * 4 / 3 + 4 * PLACES as u64;
    let chunks = extent.nnz / LONGEST as u64 * 2;
    places * (extent.value + 4) + 9 * extent.rows + chunks * (extent.value + 12) + 2048
}

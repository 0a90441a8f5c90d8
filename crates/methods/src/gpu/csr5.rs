//! CSR5 on the GPU: Liu & Vinter, ICS'15, and their CSR5_cuda.
//!
//! The nonzeros are divided into tiles of 32 × σ: 32 lanes with σ consecutive nonzeros each, stored so that the
//! nonzeros that the lanes read in one step are adjacent. Setup converts on the device and computes: `tile_ptr`, the
//! row of each tile's first nonzero; a descriptor per lane, with a bit flag for each nonzero that starts a row and
//! `y_offset`, the number of flags in the lanes before; for a dirty tile, whose rows are not consecutive, an empty
//! offset per flag; columns and values in tile order. In the product each warp owns a tile. A tile within one row is
//! summed without flags (fast track). In other tiles each lane sums the segments between its flags, writes the rows
//! that lie completely within the lane, and adds the following lanes' parts of its last row. The part of the tile's
//! first row (the calibrator) is added to y. Warps after those of the tiles add the tail: the nonzeros after the last
//! whole tile. A first kernel computes y ← βy for the rows at the ends of tiles, in the tail, or without nonzeros.
//!
//! Memory: a copy of the matrix in tile order (the original rewrites CSR in place; here all methods share the CSR
//! arrays); per tile 8 bytes; per lane 4 bytes (8 from σ = 23 on); 4 bytes per empty offset, per nonzero of the tail,
//! and per row for the first kernel: up to two per tile, those of the tail, and those without nonzeros.
//!
//! Departures from the original: y ← βy is part of the product (the original driver does not time it); the sum across
//! lanes is a segmented scan, not a difference of prefix sums, whose error depends on other rows; a ballot replaces
//! `scansum_offset`; a tile is dirty only if an empty row precedes a row that starts in it; space for empty offsets is
//! reserved through a counter, not by a scan of their counts; calibrators are added by atomic operations in the same
//! kernel (the original stores them for a second kernel), and so is the tail, with one thread per nonzero and a stored
//! row index (the original has a third kernel, which assigns a block to each row and would visit every empty row at the
//! end); a last tile that is full is not part of the tail. The order of summation varies in rows that span many tiles.

use super::convert::Converter;
use super::prelude::*;
use super::start_rows::StartRows;

pub const METHOD: Method = Method {
    name: "gpu-csr5",
    source: "Liu & Vinter, CSR5, ICS 2015, and their code",
    summary: "tiles of 32 × σ nonzeros, a warp each, segmented sums; converted on the device",
    parameters: &[
        Parameter {
            name: "sigma",
            values: &["4", "6", "8", "12", "16", "22", "23", "24", "32"],
            meaning: "nonzeros per lane of a tile; default by the mean row length",
        },
        Parameter {
            name: "block",
            values: &["64", "128"],
            meaning: "threads per block of the product; default 128, as in the original",
        },
    ],
    setup: Setup::Conversion,
    memory,
    ..Method::new(Code::Gpu { f64: prepare, f32: prepare })
};

/// The number of bit flags in the first word of a lane's descriptor, below the ten bits of `y_offset`.
const FLAGS: usize = 22;
/// Threads per block, as in the original.
const BLOCK: usize = 128;
/// The bit of a column that is a place among those whose x is in shared memory.
pub const CACHED_BIT: usize = 31;

fn prepare<'a, T: Value>(csr: &'a DeviceCsr<'a, T>, request: &Request<'a>) -> Preparation<'a, T> {
    let csr5 = Csr5::of(csr, request.number("sigma"), request.number("block"), 0)?;
    let start = StartRows::of_pieces(csr, csr5.tiles.size, csr5.tiles.count * csr5.tiles.size)?;
    Ok(Prepared::on_gpu(csr, move |alpha, x, beta, y| {
        start.run(beta, y)?;
        csr5.run(csr, &start.kernel, [x, y, &alpha, &beta])
    }))
}

/// A matrix in CSR5.
pub struct Csr5<T> {
    multiply: Kernel,
    /// Threads per block.
    block: usize,
    /// The blocks of a launch, at most.
    blocks: usize,
    pub(super) tiles: Tiles<T>,
    /// The rows of the nonzeros after the last tile.
    tail_rows: Buffer<u32>,
    /// A copy of x for the columns that each block has in shared memory; empty if there are none.
    pub(super) frequent_x: Buffer<T>,
}

impl<T: Value> Csr5<T> {
    /// Converts a matrix; σ and the threads per block have defaults. x of `cached` columns will be in shared memory.
    pub fn of(
        csr: &DeviceCsr<T>,
        nonzeros: Option<usize>,
        block: Option<usize>,
        cached: usize,
    ) -> Result<Self, Unprepared> {
        let sigma = nonzeros.unwrap_or_else(|| sigma(csr.host.rows(), csr.host.nnz()));
        let block = block.unwrap_or(BLOCK);
        let constants = [
            ("SIGMA", sigma),
            ("FLAGS", FLAGS),
            ("BLOCK", block),
            ("SETUP_BLOCK", BLOCK),
            ("CACHED", usize::from(cached > 0)),
            ("CACHED_BIT", CACHED_BIT),
        ];
        let module = csr.compile(program!("cuda/csr5.cu"), &constants)?;
        let converter = Converter::new(csr)?;
        let tiles = Tiles::of(csr, &converter, &module, sigma)?;
        let tail = tiles.count * tiles.size;
        let tail_rows = converter.rows_of(csr.host.nnz() - tail, tail, 1)?;
        let frequent_x = csr.gpu.allocate::<T>(cached)?;
        let multiply = module.kernel("csr5")?;
        let blocks = match cached {
            0 => usize::MAX,
            _ => multiply.resident_blocks(block, frequent_x.bytes())?,
        };
        Ok(Self { multiply, block, blocks, tiles, tail_rows, frequent_x })
    }

    /// Enqueues the product with the matrix that was converted, and with x, y, α and β, after a kernel that computes y
    /// ← βy for the rows that several warps or none write.
    pub fn run(&self, csr: &DeviceCsr<T>, after: &Kernel, vectors: [&dyn Argument; 4]) -> Result<(), Failed> {
        let Self { multiply, block, blocks, tiles, tail_rows, frequent_x } = self;
        let [count, tail, cached] = [tiles.count, tail_rows.len(), frequent_x.len()].map(|number| number as u32);
        let grid = (tiles.count + tail_rows.len().div_ceil(WARP)).div_ceil(block / WARP);
        let last: [&dyn Argument; 4] = [&tail, tail_rows, &csr.column_indices, &csr.values];
        let arguments: [&dyn Argument; 6] = [&count, &tiles.arguments(), &vectors, &last, &cached, frequent_x];
        multiply.launch_after(after, grid.min(*blocks), *block, frequent_x.bytes(), &arguments)
    }
}

/// Bounds the bytes of the tiles: descriptors of up to 128 bytes, an offset per row of dirty tiles, the list of rows.
fn memory(extent: &Extent) -> u64 {
    extent.nnz * (extent.value + 6) + 4 * extent.rows.min(extent.nnz) + 4 * extent.rows
}

/// Returns σ for the mean row length, with the original's thresholds r, s, t, u = 4, 32, 256, 6.
fn sigma(rows: usize, nnz: usize) -> usize {
    match nnz / rows.max(1) {
        0..=4 => 4,
        mean @ 5..=32 => mean,
        33..=256 => 32,
        _ => 6,
    }
}

pub(super) struct Tiles<T> {
    pub(super) count: usize,
    /// The nonzeros of a tile.
    pub(super) size: usize,
    tile_ptr: Buffer<u32>,
    descriptors: Buffer<u32>,
    /// The position of each dirty tile's first empty offset.
    empty_starts: Buffer<u32>,
    empty_offsets: Buffer<u32>,
    pub(super) columns: Buffer<u32>,
    values: Buffer<T>,
}

impl<T: Value> Tiles<T> {
    fn of(csr: &DeviceCsr<T>, converter: &Converter<T>, module: &Module, sigma: usize) -> Result<Self, Failed> {
        let (gpu, size) = (&csr.gpu, WARP * sigma);
        let count = csr.host.nnz() / size;
        let mut tiles = Self {
            count,
            size,
            tile_ptr: converter.rows_of(count + 1, 0, size)?,
            descriptors: gpu.allocate(count * WARP * sigma.div_ceil(FLAGS))?,
            empty_starts: gpu.allocate(count)?,
            empty_offsets: gpu.allocate(0)?,
            columns: gpu.allocate(count * size)?,
            values: gpu.allocate(count * size)?,
        };
        tiles.describe(csr, module)?;
        let Self { tile_ptr, columns, values, .. } = &tiles;
        let arrays: [&dyn Argument; 5] = [tile_ptr, &csr.column_indices, &csr.values, columns, values];
        module.kernel("csr5_transpose")?.launch(count, BLOCK, 0, &arrays)?;
        Ok(tiles)
    }

    fn arguments(&self) -> [&dyn Argument; 6] {
        let Self { tile_ptr, descriptors, empty_starts, empty_offsets, columns, values, .. } = self;
        [tile_ptr, descriptors, empty_starts, empty_offsets, columns, values]
    }

    /// Computes the flags, offsets and empty offsets of each tile.
    fn describe(&mut self, csr: &DeviceCsr<T>, module: &Module) -> Result<(), Failed> {
        let (rows, count, offsets) = (csr.rows(), self.count as u32, &csr.row_offsets);
        let grid = self.count.div_ceil(BLOCK / WARP);
        self.descriptors.fill(0)?;
        let flags: [&dyn Argument; 4] = [&rows, &count, offsets, &self.descriptors];
        module.kernel("csr5_flags")?.launch(csr.host.rows().div_ceil(BLOCK), BLOCK, 0, &flags)?;
        let empty_count = csr.gpu.upload(&[0u32])?;
        let Self { tile_ptr, descriptors, empty_starts, .. } = self;
        let tiles: [&dyn Argument; 5] = [&count, offsets, descriptors, tile_ptr, empty_starts];
        module.kernel("csr5_offsets")?.launch(grid, BLOCK, 0, &[&tiles, &empty_count])?;
        self.empty_offsets = csr.gpu.allocate(empty_count.to_vec()?[0] as usize)?;
        let grid = if self.empty_offsets.is_empty() { 0 } else { grid };
        module.kernel("csr5_empty_offsets")?.launch(grid, BLOCK, 0, &[&tiles, &self.empty_offsets])
    }
}

#[cfg(test)]
#[test]
fn sigma_follows_the_mean_row_length() {
    let of_ten_rows = |nnz| sigma(10, nnz);
    let sigmas = [0, 49, 50, 320, 329, 330, 2569, 2570].map(of_ten_rows);
    assert_eq!(sigmas, [4, 4, 5, 32, 32, 32, 32, 6]);
    assert_eq!(sigma(0, 0), 4);
}

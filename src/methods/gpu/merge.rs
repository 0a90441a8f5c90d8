//! Merge-based CSR on the GPU: merge-spmv-sc16, section III-E, as in merge-spmv's code (CUB).
//!
//! The merge path of row ends and nonzeros (see the CPU method `merge`) is divided into tiles with equal numbers of
//! steps. There are three kernels. The search computes the start of each tile, one thread per tile. In the second
//! kernel a thread block owns a tile: it copies the tile's row ends and products to shared memory, each thread walks an
//! equal share of the path, a scan over the block passes each thread the partial sum of its first row from the threads
//! before, and the rows that end in the tile are stored. The fix-up adds the partial sums (carries) of tiles whose last
//! row ends in a later tile. If the search would need fewer blocks than the GPU has multiprocessors, it is skipped and
//! each tile's block searches for its own start. With a single tile there is no fix-up.
//!
//! Memory: per tile 8 bytes for its start, and 4 bytes and a value for its carry. Departures: α and β are supported;
//! one tile per block, as in the code, whereas in the paper each block of a resident wave processes several; products
//! are always staged in shared memory (the code's "direct" mode for f64 is omitted); the fix-up adds by one atomic
//! operation per row and warp in both precisions, so the order of summation varies in rows longer than a tile; matrices
//! with one column have no separate kernel.

use crate::device::buffer::Value;
use crate::device::{Argument, DeviceCsr, Program};
use crate::method::{
    Code, Method, Operations, Parameter, Prepared, PreparedOnGpu, Request, Setup, Unprepared,
};
use crate::scalar::Precision;

/// The method `gpu-merge`, which the module documentation describes.
pub const METHOD: Method = Method {
    name: "gpu-merge",
    source: "merge-spmv-sc16, III-E; merge-spmv's code (CUB)",
    summary: "equal tiles of the merge path per block; search, tiles and fix-up",
    parameters: &[
        Parameter {
            name: "block",
            values: &["32", "64", "96", "128", "192", "256"],
            meaning: "threads per tile; default by architecture and precision",
        },
        Parameter {
            name: "items",
            values: &["4", "5", "6", "7", "8", "9", "10", "12", "14"],
            meaning: "steps per thread; default by architecture and precision",
        },
    ],
    operations: Operations::Plain,
    setup: Setup::Nothing,
    memory: |extent| (extent.rows + extent.nnz) / 128 * (12 + extent.value),
    code: Code::Gpu { f64: prepare, f32: prepare },
};

static PROGRAM: Program =
    Program { name: "merge.cu", source: include_str!("../../../cuda/merge.cu") };

/// Threads per block of the search and the fix-up kernels.
const SIDE_BLOCK: usize = 128;

/// The number of threads per tile and of steps per thread.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Shape {
    block: usize,
    items: usize,
}

/// Shapes for f64 and f32 by the lowest compute capability. From 5.0: for f32 those of merge-spmv's code, which are the
/// paper's 128 × 7; for f64 the code's 64 × 6. From 9.0: those that the loops library uses there.
const SHAPES: [((u32, u32), Shape, Shape); 2] = [
    ((9, 0), Shape { block: 128, items: 4 }, Shape { block: 128, items: 8 }),
    ((5, 0), Shape { block: 64, items: 6 }, Shape { block: 128, items: 7 }),
];

impl Shape {
    fn of(capability: (u32, u32), precision: Precision) -> Self {
        let row = SHAPES.iter().find(|(least, ..)| capability >= *least);
        let (_, f64, f32) = row.unwrap_or(&SHAPES[SHAPES.len() - 1]);
        match precision {
            Precision::F64 => *f64,
            Precision::F32 => *f32,
        }
    }
}

fn prepare<'a, T: Value>(
    csr: &'a DeviceCsr<'a, T>,
    request: &Request<'a>,
) -> Result<PreparedOnGpu<'a, T>, Unprepared> {
    let (gpu, facts) = (&csr.gpu, csr.gpu.facts());
    let default = Shape::of(facts.compute_capability, T::PRECISION);
    let block = request.number("block").unwrap_or(default.block);
    let items = request.number("items").unwrap_or(default.items);
    let module = gpu.compile::<T>(&PROGRAM, &[("BLOCK", block), ("ITEMS", items)])?;
    let search = module.kernel("merge_search")?;
    let multiply = module.kernel("merge_tiles")?;
    let fix_up = module.kernel("merge_fix_up")?;

    let tiles = (csr.host.rows() + csr.host.nnz()).div_ceil(block * items);
    let mut search_grid = (tiles + 1).div_ceil(SIDE_BLOCK);
    if search_grid < facts.multiprocessors as usize {
        search_grid = 0;
    }
    let fix_up_grid = if tiles > 1 { tiles.div_ceil(SIDE_BLOCK) } else { 0 };
    let starts = gpu.allocate::<u64>(if search_grid > 0 { tiles + 1 } else { 0 })?;
    let carry_rows = gpu.allocate::<u32>(tiles)?;
    let carry_sums = gpu.allocate::<T>(tiles)?;
    let tile_count = tiles as u32;

    Ok(Prepared::on_gpu(csr, move |alpha, x, beta, y| {
        let DeviceCsr { row_offsets, column_indices, values, .. } = csr;
        let (rows, nnz) = (&csr.rows(), &csr.nnz());
        search.launch(
            search_grid,
            SIDE_BLOCK,
            0,
            &[&tile_count, rows, nnz, row_offsets, &starts],
        )?;
        let matrix: [&dyn Argument; 5] = [rows, nnz, row_offsets, column_indices, values];
        let vectors: [&dyn Argument; 4] = [x, y, &alpha, &beta];
        let tiling: [&dyn Argument; 3] = [&starts, &carry_rows, &carry_sums];
        multiply.launch(tiles, block, 0, &[&matrix[..], &vectors, &tiling].concat())?;
        let carries: [&dyn Argument; 6] = [&tile_count, rows, &carry_rows, &carry_sums, y, &alpha];
        fix_up.launch(fix_up_grid, SIDE_BLOCK, 0, &carries)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_follow_the_architecture() {
        let f64 = |capability| Shape::of(capability, Precision::F64);
        assert_eq!(f64((9, 0)), Shape { block: 128, items: 4 });
        assert_eq!(f64((10, 0)), Shape { block: 128, items: 4 });
        assert_eq!(f64((8, 6)), Shape { block: 64, items: 6 });
        assert_eq!(Shape::of((7, 5), Precision::F32), Shape { block: 128, items: 7 });
    }
}

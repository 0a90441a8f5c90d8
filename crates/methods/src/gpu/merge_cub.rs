//! `gpu-merge:shape=cub`, merge-based CSR as published: merge-spmv-sc16, section III-E, and merge-spmv's code (CUB).
//!
//! One thread searches for the start of each tile (or two threads of its block, if there are few). The threads of a
//! tile search for their steps among its row ends in shared memory, walk them, and a scan over the block passes on the
//! sums of open rows. A tile leaves the sum of the row that is open at its end, and a third kernel, the fix-up, adds
//! these by atomic operations, after each warp has summed those of the same row. So the last bits of a product vary.
//!
//! Departures: products are staged in shared memory for f64, too (the code's "direct" mode is omitted).

use super::merge_search::{SEARCH_BLOCK, Search};
use super::prelude::*;

/// Threads per tile and steps per thread.
const BLOCK: usize = 128;
const ITEMS: usize = 7;

pub fn prepare<'a, T: Value>(csr: &'a DeviceCsr<'a, T>, request: &Request<'a>) -> Preparation<'a, T> {
    let block = request.number("block").unwrap_or(BLOCK);
    let items = request.number("items").unwrap_or(ITEMS);
    let constants = [("BLOCK", block), ("ITEMS", items), ("SEARCH_BLOCK", SEARCH_BLOCK)];
    let module = csr.gpu.compile::<T>(program!("cuda/merge_cub.cu"), &constants)?;
    let (tiles, fix_up) = (module.kernel("merge_tiles")?, module.kernel("merge_fix_up")?);
    let count = (csr.host.rows() + csr.host.nnz()).div_ceil(block * items);
    let search = Search::new(csr, request, (&module, count, 1))?;
    let (carry_rows, carries) = (csr.gpu.allocate::<u32>(count)?, csr.gpu.allocate::<T>(count)?);
    // The row that is open at the end of a single tile does not exist.
    let fix_up_grid = if count > 1 { count.div_ceil(SEARCH_BLOCK) } else { 0 };
    Ok(Prepared::on_gpu(csr, move |alpha, x, beta, y| {
        search.run(csr)?;
        let vectors: [&dyn Argument; 4] = [x, y, &alpha, &beta];
        let between: [&dyn Argument; 3] = [&search.starts, &carry_rows, &carries];
        let matrix: [&dyn Argument; 3] = [&csr.rows(), &csr.nnz(), csr];
        tiles.launch(count, block, 0, &[&matrix, &vectors, &between])?;
        let arguments: [&dyn Argument; 6] = [&(count as u32), &csr.rows(), &carry_rows, &carries, y, &alpha];
        fix_up.launch(fix_up_grid, SEARCH_BLOCK, 0, &arguments)
    }))
}

//! Packed slices: fewer bytes than CSR, without loss. This is the project's own method. It extends SELL-C-σ (Kreutzer
//! et al.) by compressed columns, and by several lanes per row.
//!
//! A warp owns a slice, whose nonzeros are divided into steps. In a step each lane has at most one nonzero. A step is
//! described by 8 bytes: a mask of the lanes that have one, the distance by which the columns of all lanes advance, and
//! the number of bits (0 to 32) of the offset that is stored for each nonzero and added to the column of its lane.
//! Values and offsets are stored for nonzeros only, so there is no padding. Slices whose lists of steps are equal share
//! one list, and up to four consecutive ones without offsets are one, so that their warp reads the list once: those
//! inside a grid have no other bytes than their values and 20 for the positions of four slices. There are three kinds
//! of slices:
//! - *Bands*: 32 neighbouring rows, a lane each, with the nonzeros of a step on one diagonal, if that takes at most a
//!   quarter more steps than the longest row has nonzeros. There are no offsets.
//! - *Rows* with one lane each, or more so that a slice has at most 32 steps. They are neighbours if at least three
//!   quarters of the lanes then have nonzeros; otherwise rows of similar length among 4096, listed with 16 bits each.
//! - *Parts* of a row with more nonzeros than 32 steps have. The warp that arrives last adds the parts in their order,
//!   so a product repeats itself bit by bit.
//!
//! If the matrix has too few nonzeros for 32 warps per multiprocessor, these limits are 4 to 31 steps, for parts of
//! rows at least 8. Bands may have four times as many. `gpu-packed-values` also stores each value as an index into a
//! table of the bitwise different values, which is read through the read-only cache: 8 bits for up to 256 values, 16
//! for up to 65536. A matrix with more values is refused.
//!
//! Memory: the packed arrays. Setup converts on the device: it decides what becomes of each 32 rows, sorts the others
//! of a window, counts the steps of all slices, and computes and hashes their lists. A table of hashes finds equal
//! lists; the first slice with a list keeps it, so that setups repeat themselves. Values are numbered in the same way,
//! in the order in which they appear.

#[cfg(test)]
mod tests;

use super::convert_codes::{self, Codes, MOST_VALUES};
use super::convert_packed::{self, Planner};
use super::fill_packed::{Filler, Packed};
use super::prelude::*;

pub const METHOD: Method = Method {
    name: "gpu-packed",
    source: "this project, after Kreutzer et al. 2014, SELL-C-σ",
    summary: "slices of 32 rows or of a long row; columns as differences of 0 to 32 bits",
    parameters: &[Parameter {
        name: "run",
        values: &["1", "2", "4"],
        meaning: "consecutive slices with the same steps and without offsets that a warp owns; default by the number \
                  of rows",
    }],
    setup: Setup::Conversion,
    memory: |extent| convert_packed::memory(extent, extent.value),
    ..Method::new(Code::Gpu { f64: prepare, f32: prepare })
};

pub const METHOD_VALUES: Method = Method {
    name: "gpu-packed-values",
    summary: "as gpu-packed, and values as indices of 8 or 16 bits into a table of distinct values",
    memory: |extent| convert_packed::memory(extent, 2) + convert_codes::memory(extent),
    may_refuse: |extent| extent.nnz > MOST_VALUES as u64,
    code: Code::Gpu { f64: prepare_coded, f32: prepare_coded },
    ..METHOD
};

/// Threads per block, and the blocks that should be resident on a multiprocessor, with 64 registers per thread.
const BLOCK: usize = 128;
const RESIDENT: usize = 8;

fn prepare<'a, T: Value>(csr: &'a DeviceCsr<'a, T>, request: &Request<'a>) -> Preparation<'a, T> {
    launch(csr, request, Codes::none(&csr.gpu)?)
}

fn prepare_coded<'a, T: Value>(csr: &'a DeviceCsr<'a, T>, request: &Request<'a>) -> Preparation<'a, T> {
    launch(csr, request, Codes::of(csr)?)
}

/// Prepares the product with the values of the nonzeros, or their codes if there are any.
fn launch<'a, T: Value>(csr: &'a DeviceCsr<'a, T>, request: &Request<'a>, codes: Codes<T>) -> Preparation<'a, T> {
    let gpu = &csr.gpu;
    let constants = [("BLOCK", BLOCK), ("RESIDENT", RESIDENT), ("CODE_BITS", codes.bits())];
    let kernel = csr.compile(program!("cuda/packed.cu"), &constants)?.kernel("packed")?;
    // As many warps as have enough loads in flight for the bandwidth of the GPU.
    let warps = 32 * gpu.facts().multiprocessors as usize;
    let filler = Filler::new(csr, codes, Planner::new(csr, warps)?.plans()?)?;
    let Packed { slices, heads, steps, words, values, table, parts } = filler.packed(warps, request.number("run"))?;
    let (parts, arrivals) = (gpu.allocate::<T>(parts)?, gpu.zeros::<u32>(parts)?);
    let count = heads.len();
    let structure = slices.bytes() + heads.bytes() + steps.bytes() + words.bytes();
    let per_nonzero = structure as f64 / csr.host.nnz().max(1) as f64;
    Ok(Prepared::on_gpu(csr, move |alpha, x, beta, y| {
        let matrix: [&dyn Argument; 8] =
            [&(count as u32), &csr.rows(), &slices, &heads, &steps, &words, &*values, &table];
        let grid = count.div_ceil(BLOCK / WARP);
        kernel.launch(grid, BLOCK, 0, &[&matrix, x, y, &alpha, &beta, &parts, &arrivals])
    })
    .with_note(format!("{per_nonzero:.2} bytes per nonzero besides the value")))
}

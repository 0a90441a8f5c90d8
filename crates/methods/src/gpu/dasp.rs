//! DASP: Lu and Liu, SC'23. Rows are classified by length, and the tensor cores sum their products.
//!
//! The instruction `mma.m8n8k4` multiplies 8 × 4 by 4 × 8 doubles. A block of 8 rows with 4 entries each is its first
//! factor. Column r of the second one has the elements of x for the entries of row r, so that the sums of the 8 rows
//! are the diagonal of the product. The rest of it is not used.
//!
//! - Long rows have more than 256 entries. They are stored in blocks, without regard to the rows of a block. A warp
//!   owns a chunk of up to 8 blocks of one row and stores their sum; a second kernel sums the chunks of each row with a
//!   warp.
//! - Medium rows are sorted by length in descending order, and 8 of them make a group. A group has blocks as long as 24
//!   of the 32 places of a block have an entry. The other entries of its rows are irregular: they follow each other row
//!   by row, and the thread that stores a row adds them. A warp owns 1, 2 or 4 groups.
//! - A row of 1 entry and one of 3, or two rows of 2, make a row of a block, which is multiplied twice: with the x of
//!   the first part and with that of the second. A warp owns two blocks, which are 32 rows.
//! - Of the remaining rows with one entry or none, each thread owns one.
//!
//! Padding has the value 0 and the column index 0xffffffff, for which x counts as 0. y is written in the original order
//! of rows, through a permutation. Memory: the padded matrix; 4 bytes per row for the permutation, 4 per medium row for
//! the place of its irregular entries, 8 per group; 4 bytes and a value per chunk, and 8 bytes per long row. Setup
//! converts on the device: it sorts the rows by length with a counting sort, which takes 4 more bytes per row, counts
//! the blocks and irregular entries of each group, and fills the places with a thread for each.
//!
//! Departures from the source: y is in the original order, and rows without entries are part of the product; rows of 4
//! entries, and those of 3 without a partner, are medium rows; a warp owns up to 256 entries of a long row instead of
//! 64; a warp loads 4 blocks together, of all its groups, before it multiplies them; it owns as many groups as leave 32
//! warps to each multiprocessor, instead of by a number of rows. In f32, values and x are converted to f64 when they
//! are loaded, so that products and sums are as exact as in f64.

use super::convert_dasp::{self, BLOCK_SHAPE, Classes, Conversion, GROUP_ROWS, Layout};
use super::prelude::*;

pub const METHOD: Method = Method {
    name: "gpu-dasp",
    source: "Lu & Liu, DASP, SC 2023",
    summary: "rows in blocks of 8 x 4 by length, summed by tensor cores; compute capability 8.0 or newer",
    parameters: &[Parameter {
        name: "groups",
        values: &["1", "2", "4"],
        meaning: "groups of 8 medium rows per warp; default by the number of medium rows",
    }],
    setup: Setup::Conversion,
    memory: convert_dasp::memory,
    ..Method::new(Code::Gpu { f64: prepare, f32: prepare })
};

/// Threads per block, as in the original.
const BLOCK: usize = 128;

fn prepare<'a, T: Value>(csr: &'a DeviceCsr<'a, T>, request: &Request<'a>) -> Preparation<'a, T> {
    let gpu = &csr.gpu;
    gpu.require((8, 0), "tensor cores for f64")?;
    let conversion = Conversion::new(csr)?;
    let layout = conversion.layout()?;
    let (regular, irregular) = (conversion.regular(&layout)?, conversion.irregular(&layout)?);
    let Classes { long, medium, singles, empty, .. } = layout.classes;
    let narrow = medium.saturating_sub(layout.wide * GROUP_ROWS);
    let warps = 32 * gpu.facts().multiprocessors as usize;
    let groups = request.number("groups").unwrap_or_else(|| groups(narrow, warps));
    let [rows, width] = BLOCK_SHAPE;
    let constants = [rows, width, ("BLOCK", BLOCK), ("GROUPS", groups)];
    let module = csr.compile(program!("cuda/dasp.cu"), &constants)?;
    let (multiply, add_chunks) = (module.kernel("dasp")?, module.kernel("dasp_long")?);

    let chunks = layout.chunk_starts.len() - 1;
    let bundles = narrow.div_ceil(groups * GROUP_ROWS);
    let (pairs, short_rows) = (layout.classes.pair_units(), singles + empty);
    let units = chunks + layout.wide + bundles + pairs + short_rows.div_ceil(WARP);
    let sizes = [chunks, layout.wide, layout.first_pair].map(|size| size as u32);
    let short = [singles, short_rows].map(|size| size as u32);
    let partials = gpu.allocate::<T>(chunks)?;
    let note = layout.note();

    Ok(Prepared::on_gpu(csr, move |alpha, x, beta, y| {
        let Layout { order, blocks, first_chunks, chunk_starts, rest, pieces, .. } = &layout;
        let sizes: [&dyn Argument; 3] = [&sizes, &layout.classes.sizes(), &short];
        let rows: [&dyn Argument; 5] = [chunk_starts, blocks, rest, pieces, order];
        let entries: [&dyn Argument; 4] = [&regular.columns, &regular.values, &irregular.columns, &irregular.values];
        let arguments: [&dyn Argument; 8] = [&sizes, &rows, &entries, x, y, &partials, &alpha, &beta];
        multiply.launch(units.div_ceil(BLOCK / WARP), BLOCK, 0, &arguments)?;
        let arguments: [&dyn Argument; 7] = [&(long as u32), order, first_chunks, &partials, y, &alpha, &beta];
        add_chunks.launch_after(&multiply, long.div_ceil(BLOCK / WARP), BLOCK, 0, &arguments)
    })
    .with_note(note))
}

/// Returns the groups per warp: as many as leave at least `warps` warps.
fn groups(medium: usize, warps: usize) -> usize {
    [4, 2].into_iter().find(|groups| medium >= groups * GROUP_ROWS * warps).unwrap_or(1)
}

#[cfg(test)]
#[test]
fn warps_own_more_groups_of_larger_matrices() {
    assert_eq!([0, 1599, 1600, 3199, 3200].map(|medium| groups(medium, 100)), [1, 1, 2, 2, 4]);
}

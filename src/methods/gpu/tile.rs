//! TileSpMV (Niu, Lu, Dong, Jin, Liu and Tan 2021): tiles of 16 × 16, each in the format of seven that
//! suits it, by TileSpMV's rules.
//!
//! By the entries of a tile: three quarters of its cells, dense; up to 12, COO; all rows, or columns,
//! full or empty, dense rows or columns; row lengths of a coefficient of variation up to 0.2, ELL; else
//! CSR. An index in a tile takes four bits. A warp takes a unit of up to four tiles of a row of tiles;
//! where there are more units of a row, they add to y by atomic operations. In a warp a lane has a row
//! of 16 and every other of its entries; the unit's x and tiles are staged in shared memory. The
//! entries that COO and HYB list are taken out of the tiles by default, as in the paper, and a second
//! kernel adds them as COO does; otherwise a unit adds those of its tiles after the rest, by
//! atomic operations in shared memory. y ← βy comes first.
//!
//! Setup reads CSR back and converts on all cores. Memory: 16 bytes per tile, 8 per unit, values and 0 to
//! 1.8 bytes per nonzero for indices, 8 and a value for an entry taken out.
//!
//! Departures: α and β; both precisions; all rows (the code leaves out m mod 16); y is cleared and the
//! second pass runs within the product; that pass is not CSR5 but COO's; the
//! lane pairs of CSR are those of the other formats; HYB, which the code has with its rule commented
//! out, is chosen with `hyb=on`, for a coefficient of variation from 1 and up to four listed entries.
//! In dense and ELL tiles an entry that is zero counts as fill: whatever x holds there, its product
//! is 0.

mod convert;
mod encode;
mod format;
#[cfg(test)]
mod tests;

use convert::{Choices, Tiles};

use super::coo::Adding;
use super::start::Start;
use crate::device::buffer::Value;
use crate::device::{Argument, DeviceCsr, Program};
use crate::method::{
    Code, Method, Operations, Parameter, Prepared, PreparedOnGpu, Request, Setup, Unprepared,
};

/// See the file's head.
pub const METHOD: Method = Method {
    name: "gpu-tile",
    source: "TileSpMV, Niu et al. 2021, and its code",
    summary: "tiles of 16 x 16 in one of seven formats each, a warp per four of a row",
    parameters: &[
        Parameter {
            name: "coo",
            values: &["apart", "tiles"],
            meaning: "where listed entries are: in a pass of their own unless given, or in tiles",
        },
        Parameter {
            name: "hyb",
            values: &["off", "on"],
            meaning: "whether tiles may be in HYB; not unless given, as in the code",
        },
        Parameter {
            name: "block",
            values: &["64", "128", "256"],
            meaning: "threads per block; 64 unless given, two warps as in the paper",
        },
    ],
    operations: Operations::Plain,
    setup: Setup::Conversion,
    memory: convert::memory,
    code: Code::Gpu { f64: prepare, f32: prepare },
};

static PROGRAM: Program =
    Program { name: "tile.cu", source: include_str!("../../../cuda/tile.cu") };

/// Threads per block of the second pass.
const APART_BLOCK: usize = 256;

fn prepare<'a, T: Value>(
    csr: &'a DeviceCsr<'a, T>,
    request: &Request<'a>,
) -> Result<PreparedOnGpu<'a, T>, Unprepared> {
    let gpu = &csr.gpu;
    let block = request.number("block").unwrap_or(64);
    let hyb = request.word("hyb") == Some("on");
    let apart = request.word("coo") != Some("tiles");
    let start = Start::of::<T>(gpu)?;
    let module = gpu.compile::<T>(&PROGRAM, &[("BLOCK", block)])?;
    let add_units = module.kernel("tile_units")?;

    let tiles = Tiles::of(&csr.download()?, Choices { hyb, apart });
    let units = tiles.units();
    let unit_count = units.rows.len() as u32;
    let grid = units.rows.len().div_ceil(block / 32);
    let (unit_rows, unit_tiles) = (gpu.upload(&units.rows)?, gpu.upload(&units.tiles)?);
    let heads = gpu.upload(tiles.encoded.tiles.as_flattened())?;
    let values = gpu.upload(&tiles.encoded.values)?;
    let indices = gpu.upload(&tiles.encoded.indices)?;
    let entries = tiles.apart.len();
    let add_apart = Adding::new(module.kernel("tile_apart")?, APART_BLOCK, entries, None)?;
    let rows: Vec<_> = tiles.apart.iter().map(|entry| entry.0).collect();
    let columns: Vec<_> = tiles.apart.iter().map(|entry| entry.1).collect();
    let apart: Vec<_> = tiles.apart.iter().map(|entry| entry.2).collect();
    let apart = (gpu.upload(&rows)?, gpu.upload(&columns)?, gpu.upload(&apart)?);

    Ok(Prepared::on_gpu(csr, move |alpha, x, beta, y| {
        start.run(beta, y)?;
        let sizes: [&dyn Argument; 3] = [&unit_count, &csr.rows(), &csr.cols()];
        let matrix: [&dyn Argument; 5] = [&unit_rows, &unit_tiles, &heads, &values, &indices];
        let vectors: [&dyn Argument; 4] = [x, y, &alpha, &beta];
        add_units.launch(grid, block, 0, &[&sizes[..], &matrix, &vectors].concat())?;
        add_apart.run((&apart.0, &apart.1, &apart.2), alpha, x, y)
    })
    .noting(tiles.describe()))
}

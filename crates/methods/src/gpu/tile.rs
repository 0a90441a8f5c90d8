//! TileSpMV (Niu, Lu, Dong, Jin, Liu and Tan 2021): tiles of 16 × 16, each in one of seven formats, chosen by
//! TileSpMV's rules.
//!
//! The format depends on the entries of the tile: dense if at least three quarters of the cells are entries; COO for up
//! to 12 entries; dense rows (or columns) if all rows (or columns) are full or empty; ELL if the coefficient of
//! variation of the row lengths is at most 0.2; otherwise CSR. An index inside a tile takes four bits. A warp processes
//! a unit of up to four tiles of one row of tiles. If a row of tiles has several units, they add to y by atomic
//! operations. Two lanes of the warp share each of the 16 rows and process alternate entries. The unit's part of x and
//! its tiles are staged in shared memory. The listed entries of COO and HYB tiles are taken out of the tiles, as in the
//! paper, and a second pass adds them in CSR5, as in the paper, or, with `coo=apart`, as `gpu-coo` does; with
//! `coo=tiles` a unit adds those of its tiles last, by atomic operations in shared memory. A first kernel computes y ←
//! βy for rows of tiles with several units or none.
//!
//! Setup copies CSR to the host and converts it on all cores. Memory: 16 bytes per tile, 8 per unit, the values, 0 to
//! 1.8 bytes per nonzero for indices, for each entry taken out 8 bytes and a value (with CSR5 twice 4 bytes and a
//! value), 4 bytes for each row of the first kernel, and with CSR5 for each row.
//!
//! Departures from the source: both precisions; all rows are processed (the code omits m mod 16 rows); clearing y and
//! the second pass are part of the product; the two lanes of a row divide CSR tiles as in the other formats; HYB,
//! whose rule is commented out in the code, is only chosen with `hyb=on`, for a coefficient of variation of at least 1
//! and at most four listed entries. In dense and ELL tiles a stored zero counts as padding: its product is 0 even if x
//! is NaN or infinite.

mod convert;
mod format;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use convert::{Choices, SHARED_ROWS, Tiles, UNIT};
use format::SIDE;

use super::coo::{Adding, STEPS};
use super::csr5::Csr5;
use super::prelude::*;
use super::start_rows::StartRows;

pub const METHOD: Method = Method {
    name: "gpu-tile",
    source: "TileSpMV, Niu et al. 2021, and its code",
    summary: "tiles of 16 x 16 in one of seven formats each, a warp per four tiles",
    parameters: &[
        Parameter {
            name: "coo",
            values: &["csr5", "apart", "tiles"],
            meaning: "where listed entries are: in a second pass in CSR5 (default, as published), apart, in one in \
                      COO, or in the tiles",
        },
        Parameter {
            name: "hyb",
            values: &["off", "on"],
            meaning: "whether tiles may be in HYB; default off, as in the code",
        },
        Parameter {
            name: "block",
            values: &["64", "128", "256"],
            meaning: "threads per block; default 64, two warps as in the paper",
        },
    ],
    setup: Setup::Conversion,
    memory: convert::memory,
    ..Method::new(Code::Gpu { f64: prepare, f32: prepare })
};

/// Threads per block of the kernel that adds entries in COO.
const APART_BLOCK: usize = 256;

fn prepare<'a, T: Value>(csr: &'a DeviceCsr<'a, T>, request: &Request<'a>) -> Preparation<'a, T> {
    let gpu = &csr.gpu;
    let block = request.number("block").unwrap_or(64);
    let hyb = request.word("hyb") == Some("on");
    let place = request.word("coo").unwrap_or("csr5");
    let constants = [
        ("BLOCK", block),
        ("APART_BLOCK", APART_BLOCK),
        ("STEPS", STEPS),
        ("SIDE", SIDE),
        ("UNIT", UNIT),
        ("SHARED_ROWS", SHARED_ROWS as usize),
    ];
    let module = csr.compile(program!("cuda/tile.cu"), &constants)?;
    let add_units = module.kernel("tile_units")?;

    let tiles = Tiles::of(&csr.download()?, Choices { hyb, apart: place != "tiles" });
    let (unit_rows, unit_tiles) = tiles.units();
    let start = StartRows::of::<T>(gpu, gpu.upload(&tiles.shared_rows(csr.host.rows()))?)?;
    let (unit_count, grid) = (unit_rows.len() as u32, unit_rows.len().div_ceil(block / WARP));
    let (unit_rows, unit_tiles) = (gpu.upload(&unit_rows)?, gpu.upload(&unit_tiles)?);
    let heads = gpu.upload(tiles.heads.as_flattened())?;
    let values = gpu.upload(&tiles.values)?;
    let indices = gpu.upload(&tiles.indices)?;
    let second = match place {
        "csr5" => Second::csr5(gpu, tiles.outside(csr.host.rows(), csr.host.cols()))?,
        _ => Second::coo(gpu, module.kernel("tile_apart")?, &tiles.apart)?,
    };

    Ok(Prepared::on_gpu(csr, move |alpha, x, beta, y| {
        start.run(beta, y)?;
        let sizes: [&dyn Argument; 3] = [&unit_count, &csr.rows(), &csr.cols()];
        let matrix: [&dyn Argument; 5] = [&unit_rows, &unit_tiles, &heads, &values, &indices];
        let vectors: [&dyn Argument; 4] = [x, y, &alpha, &beta];
        add_units.launch_after(&start.kernel, grid, block, 0, &[&sizes, &matrix, &vectors])?;
        match &second {
            Second::Csr5(both) => {
                let (csr, csr5) = &**both;
                csr5.run(csr, &add_units, [x, y, &alpha, &T::one()])
            }
            Second::Coo(coo, rows, columns, values) => coo.run(&add_units, [rows, columns, values], vectors),
        }
    })
    .with_note(tiles.describe()))
}

/// The pass that adds the entries outside the tiles.
enum Second<T: Value> {
    Csr5(Box<(DeviceCsr<'static, T>, Csr5<T>)>),
    /// The rows, columns and values of the entries.
    Coo(Adding, Buffer<u32>, Buffer<u32>, Buffer<T>),
}

impl<T: Value> Second<T> {
    fn csr5(gpu: &Gpu, entries: Option<Csr<T>>) -> Result<Self, Unprepared> {
        let entries = entries.ok_or_else(|| Failed("the tiles are not in the matrix".into()))?;
        let csr = DeviceCsr::of(gpu, Cow::Owned(entries))?;
        let csr5 = Csr5::of(&csr, None, None, 0)?;
        Ok(Self::Csr5(Box::new((csr, csr5))))
    }

    fn coo(gpu: &Gpu, kernel: Kernel, entries: &[(u32, u32, T)]) -> Result<Self, Unprepared> {
        let adding = Adding::new(kernel, APART_BLOCK, entries.len(), None)?;
        let rows: Vec<_> = entries.iter().map(|entry| entry.0).collect();
        let columns: Vec<_> = entries.iter().map(|entry| entry.1).collect();
        let values: Vec<_> = entries.iter().map(|entry| entry.2).collect();
        Ok(Self::Coo(adding, gpu.upload(&rows)?, gpu.upload(&columns)?, gpu.upload(&values)?))
    }
}

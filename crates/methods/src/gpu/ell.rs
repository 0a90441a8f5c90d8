//! ELL: Bell & Garland (2009).
//!
//! Every row is padded to the length of the longest row. The matrix is stored column by column, and the columns have a
//! stride that is a multiple of 32. Each thread owns one row, so a warp loads 32 neighbouring entries at once. Padding
//! has the column index 0xffffffff; a thread that loads it has reached the end of its row.
//!
//! Memory: the padded matrix. Departures from the source: a thread loads four entries of its row at a time.

use super::prelude::*;
use crate::formats::strips::{self, Strips};

pub const METHOD: Method = Method {
    name: "gpu-ell",
    source: "Bell & Garland 2009, ELL",
    summary: "all rows as long as the longest, stored column by column, a thread per row",
    parameters: &[BLOCK],
    operations: Operations::Plain,
    setup: Setup::Conversion,
    memory: strips::memory,
    code: Code::Gpu { f64: prepare, f32: prepare },
};

pub const BLOCK: Parameter = Parameter {
    name: "block",
    values: &["128", "256", "512"],
    meaning: "threads per block; default 256, as in cusp",
};

/// The column index of padding.
pub const NO_ENTRY: u32 = u32::MAX;

/// The number of rows whose entries are loaded together.
const WARP: usize = 32;

fn prepare<'a, T: Value>(csr: &'a DeviceCsr<'a, T>, request: &Request<'a>) -> Preparation<'a, T> {
    let block = block(request);
    let kernel = csr.compile(program!("cuda/ell.cu"), &[("BLOCK", block)])?.kernel("ell")?;
    let host = csr.download()?;
    let width = host.row_lengths().max().unwrap_or(0) as usize;
    let (ell, note) = Ell::new(csr, &host, width, kernel, block)?;
    Ok(Prepared::on_gpu(csr, move |alpha, x, beta, y| ell.run([x, y, &alpha, &beta]))
        .with_note(note))
}

pub fn block(request: &Request) -> usize {
    request.number(BLOCK.name).unwrap_or(256)
}

/// A matrix in ELL on the device, and the kernel that multiplies it.
pub struct Ell<T> {
    /// The kernel, after which another one may be launched.
    pub kernel: Kernel,
    block: usize,
    /// The number of rows, the stride of the columns and their number.
    shape: [u32; 3],
    column_indices: Buffer<u32>,
    values: Buffer<T>,
}

impl<T: Value> Ell<T> {
    /// Converts the first `width` entries of each row of `host`. Also returns a note about the share of padding.
    pub fn new(
        csr: &DeviceCsr<T>,
        host: &Csr<T>,
        width: usize,
        kernel: Kernel,
        block: usize,
    ) -> Result<(Self, String), Unprepared> {
        let rows = host.rows();
        let pitch = rows.next_multiple_of(WARP);
        let strips = Strips::whole(host, WARP, (pitch, width), Some(NO_ENTRY))?;
        let column_indices = csr.gpu.upload(&strips.column_indices)?;
        let values = csr.gpu.upload(&strips.values)?;
        let note = strips.note(host.nnz());
        let shape = [rows, pitch, width].map(|n| n as u32);
        Ok((Self { kernel, block, shape, column_indices, values }, note))
    }

    /// Enqueues the product of these x, y, α and β.
    pub fn run(&self, vectors: [&dyn Argument; 4]) -> Result<(), Failed> {
        let grid = (self.shape[0] as usize).div_ceil(self.block);
        let arguments: [&dyn Argument; 4] =
            [&self.shape, &self.column_indices, &self.values, &vectors];
        self.kernel.launch(grid, self.block, 0, &arguments)
    }
}

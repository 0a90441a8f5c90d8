//! ELL: Bell & Garland (2009).
//!
//! Every row is padded to the length of the longest row. The matrix is stored column by column, and the columns have a
//! stride that is a multiple of 32. Each thread owns one row, so a warp loads 32 neighbouring entries at once. Padding
//! has the column index 0xffffffff; a thread that loads it has reached the end of its row.
//!
//! Memory: the padded matrix. Departures from the source: a thread loads four entries of its row at a time.

use super::convert::{Converter, DeviceStrips};
use super::prelude::*;
use crate::formats::strips;

pub const METHOD: Method = Method {
    name: "gpu-ell",
    source: "Bell & Garland 2009, ELL",
    summary: "all rows as long as the longest, stored column by column, a thread per row",
    parameters: &[BLOCK],
    setup: Setup::Conversion,
    memory: strips::memory,
    may_refuse: |extent| strips::may_refuse(extent, 1),
    ..Method::new(Code::Gpu { f64: prepare, f32: prepare })
};

pub const BLOCK: Parameter =
    Parameter { name: "block", values: &["128", "256", "512"], meaning: "threads per block; default 256, as in cusp" };

fn prepare<'a, T: Value>(csr: &'a DeviceCsr<'a, T>, request: &Request<'a>) -> Preparation<'a, T> {
    let block = block(request);
    let kernel = csr.compile(program!("cuda/ell.cu"), &[("BLOCK", block)])?.kernel("ell")?;
    let converter = Converter::new(csr)?;
    let ell = Ell::new(csr, &converter, converter.width(&csr.row_offsets, 0)?, kernel, block)?;
    let note = strips::note(csr.host.nnz(), ell.strips.values.len());
    Ok(Prepared::on_gpu(csr, move |alpha, x, beta, y| ell.run([x, y, &alpha, &beta])).with_note(note))
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
    strips: DeviceStrips<T>,
}

impl<T: Value> Ell<T> {
    /// Converts the first `width` entries of each row.
    pub fn new(
        csr: &DeviceCsr<T>,
        converter: &Converter<T>,
        width: usize,
        kernel: Kernel,
        block: usize,
    ) -> Result<Self, Unprepared> {
        let rows = csr.host.rows();
        let shape = [rows, rows.next_multiple_of(WARP), width].map(|n| n as u32);
        Ok(Self { kernel, block, shape, strips: converter.ell(width)? })
    }

    /// Enqueues the product of these x, y, α and β.
    pub fn run(&self, vectors: [&dyn Argument; 4]) -> Result<(), Failed> {
        let grid = (self.shape[0] as usize).div_ceil(self.block);
        let DeviceStrips { column_indices, values, .. } = &self.strips;
        let arguments: [&dyn Argument; 4] = [&self.shape, column_indices, values, &vectors];
        self.kernel.launch(grid, self.block, 0, &arguments)
    }
}

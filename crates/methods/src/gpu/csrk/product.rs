//! The product of a matrix in CSR-k, in natural order or in Band-k order, for which each product permutes x.

use super::Plan;
use crate::formats::csr_k::RowOrder;
use crate::gpu::prelude::*;
use spmv_matrix::order::band_k::{BandK, Coarsening, band_k, grouped};

const PERMUTING_BLOCK: usize = 256;

/// Prepares the product in the requested row order.
pub fn prepare<'a, T: Value>(
    csr: &'a DeviceCsr<'a, T>,
    request: &Request<'a>,
    plan: &Plan,
    note: &str,
) -> Preparation<'a, T> {
    let Dim3 { x: lanes, y, z } = plan.block.1;
    let order = RowOrder::of(&csr.host, request);
    let constants = [
        ("LANES", lanes as usize),
        ("BLOCK", (lanes * y * z) as usize),
        ("PERMUTED", usize::from(matches!(order, RowOrder::BandK(_)))),
    ];
    let module = csr.gpu.compile::<T>(program!("cuda/csrk.cu"), &constants)?;
    let prepared = match order {
        RowOrder::BandK(coarsening) => permuted_product(csr, &module, plan, coarsening)?,
        RowOrder::Natural(why) => natural_product(csr, &module, plan)?.with_added_note(why),
    };
    Ok(prepared.with_added_note(Some(note.into())))
}

/// Prepares the product for which x and y have the order of the rows.
fn natural_product<'a, T: Value>(
    csr: &'a DeviceCsr<'a, T>,
    module: &Module,
    plan: &Plan,
) -> Result<PreparedOnGpu<'a, T>, Failed> {
    let row_offsets = csr.row_offsets.to_vec()?;
    let lengths = row_offsets.windows(2).map(|bounds| bounds[1] - bounds[0]);
    let groups = Groups::new(&csr.gpu, module, plan, &grouped(lengths, &plan.sizes()))?;
    let old = csr.gpu.allocate::<u32>(0)?;
    Ok(Prepared::on_gpu(csr, move |alpha, x, beta, y| {
        groups.multiply(None, &[csr, &old, x, y, &alpha, &beta])
    })
    .with_csr_bytes(csr.host.bytes()))
}

/// Permutes the matrix into Band-k order and prepares the product, which first permutes x and then stores each element of
/// y at its original place.
fn permuted_product<'a, T: Value>(
    csr: &'a DeviceCsr<'a, T>,
    module: &Module,
    plan: &Plan,
    coarsening: Coarsening,
) -> Result<PreparedOnGpu<'a, T>, Failed> {
    let (gpu, natural) = (&csr.gpu, csr.download()?);
    let BandK { permutation, levels } = band_k(&natural, coarsening, &plan.sizes());
    let permuted = natural.permuted(&permutation);
    let groups = Groups::new(gpu, module, plan, &levels)?;
    let DeviceCsr { row_offsets, column_indices, values, .. } = DeviceCsr::upload(gpu, &permuted)?;
    let old = gpu.upload(permutation.old())?;
    let permuted_x = gpu.allocate::<T>(csr.host.cols())?;
    let permute_x = module.kernel("csrk_permute_x")?;
    let grid = csr.host.rows().div_ceil(PERMUTING_BLOCK);
    Ok(Prepared::on_gpu(csr, move |alpha, x, beta, y| {
        permute_x.launch(grid, PERMUTING_BLOCK, 0, &[&csr.rows(), &old, x, &permuted_x])?;
        let matrix: [&dyn Argument; 4] = [&row_offsets, &column_indices, &values, &old];
        groups.multiply(Some(&permute_x), &[&matrix, &permuted_x, y, &alpha, &beta])
    }))
}

/// The first row of each super-row and the first super-row of each super-super-row, with the kernel that uses them.
struct Groups {
    kernel: Kernel,
    block: Dim3,
    grid: usize,
    /// One array per level, the outermost first.
    starts: Vec<Buffer<u32>>,
}

impl Groups {
    /// Uploads `levels`, of which the finest comes first.
    fn new(gpu: &Gpu, module: &Module, plan: &Plan, levels: &[Vec<u32>]) -> Result<Self, Failed> {
        let starts: Result<_, _> = levels.iter().rev().map(|level| gpu.upload(level)).collect();
        let grid = levels.last().map_or(0, |outermost| outermost.len() - 1);
        Ok(Self { kernel: module.kernel(plan.kernel)?, block: plan.block.1, grid, starts: starts? })
    }

    /// Enqueues the product, for which the kernel `earlier` has permuted x.
    fn multiply(
        &self,
        earlier: Option<&Kernel>,
        arguments: &[&dyn Argument],
    ) -> Result<(), Failed> {
        let starts = self.starts.iter().map(|starts| starts as &dyn Argument);
        let arguments: Vec<_> = starts.chain(arguments.iter().copied()).collect();
        self.kernel.launch_after(earlier, self.grid, self.block, 0, &arguments)
    }
}

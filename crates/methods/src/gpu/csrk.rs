//! CSR-k on the GPU: csr-k, section 3, Listings 3 and 4, with the sizes and block shapes of section 4.1.
//!
//! The format is that of the CPU methods `csr2` and `csr3`: CSR with the rows in Band-k order, an array with the first
//! row of each super-row and, for k = 3, an array with the first super-row of each super-super-row. A thread block owns
//! a super-super-row. In GPUSpMV-3 (`gpu-csrk-3`) the block's y dimension runs over the super-rows and its x dimension
//! over the rows of each, and each thread sums a whole row. In GPUSpMV-3.5 (`gpu-csrk-3.5`) z runs over super-rows, y
//! over rows, and x over the nonzeros of a row. The paper uses the latter for long rows; here each method accepts every
//! matrix and notes which one the paper would use. GPUSpMV-3 equals GPUSpMV-3.5 with one lane per row, so both are one
//! kernel, in which the x and y of GPUSpMV-3 are called y and z.
//!
//! The paper also ran CSR-2 on GPUs (section 7) but does not describe how. In `gpu-csrk-2` a block owns a super-row and
//! has the lanes and threads that CSR-3 would have, all of them over the rows of the super-row. A super-row has as many
//! rows as a super-super-row of CSR-3.
//!
//! With `order=band-k` the whole cost is counted, as on the CPU: setup computes the ordering and permutes A on the
//! host. Each product permutes x by a kernel of its own and then stores each element of y at its original place. The
//! published figures count neither; they correspond to `--order band-volta --methods gpu-csrk-3:order=natural`, or
//! `band-ampere`, where the product has the groups of the order unless other sizes are requested.
//!
//! Memory: the group pointers; with Band-k order also the permuted matrix, x, and the permutation. Departures from the
//! paper: the sums of lanes are added by shuffles, not through shared memory; a lane loads four nonzeros at a time; for
//! every mean row length, GPUSpMV-3 uses the sizes of the formulas, and GPUSpMV-3.5 those for more than 8 nonzeros per
//! row; groups are limited by their number of nonzeros, as on the CPU: the given number of rows of mean length, so
//! fewer long rows or more short ones.

mod tuning;

use std::borrow::Cow;
use std::ops::RangeInclusive;

use tuning::BLOCKS;

use super::prelude::*;
use crate::formats::csr_k::{COARSENING, LARGE_SIZES, ORDER, RowOrder, SMALL_SIZES, groups};
use spmv_matrix::order::band_k::{BandK, Coarsening, band_k};
use spmv_matrix::order::sizes::{self, SERIAL};

pub const METHOD_2: Method = Method {
    name: "gpu-csrk-2",
    source: "csr-k, section 7",
    summary: "a block per super-row in Band-k order; lanes per row by the mean row length",
    parameters: &[
        Parameter {
            name: "block",
            values: &BLOCKS,
            meaning: "block of gpu-csrk-3 or gpu-csrk-3.5, of which all dimensions but the lanes run \
                      over rows; default by the mean row length",
        },
        Parameter {
            name: "srs",
            values: LARGE_SIZES,
            meaning: "rows in a super-row; default as in a super-super-row of CSR-3",
        },
        ORDER,
        COARSENING,
    ],
    setup: Setup::Ordering,
    memory: |extent| extent.csr() + extent.cols * extent.value + 20 * extent.rows,
    ..Method::new(code!(prepare, "csrk_2", SERIAL..=3))
};

pub const METHOD_3: Method = Method {
    name: "gpu-csrk-3",
    source: "csr-k, section 3, Listing 3 (GPUSpMV-3)",
    summary: "a block per super-super-row in Band-k order, a thread per row",
    parameters: &[
        Parameter {
            name: "block",
            values: &["8x12", "16x8", "32x4"],
            meaning: "threads over rows x super-rows; default 8x12, the only one in the paper",
        },
        SRS,
        SSRS,
        ORDER,
        COARSENING,
    ],
    code: code!(prepare, "csrk_3", SERIAL..=SERIAL),
    ..METHOD_2
};

pub const METHOD_3_5: Method = Method {
    name: "gpu-csrk-3.5",
    source: "csr-k, section 3, Listing 4 (GPUSpMV-3.5)",
    summary: "a block per super-super-row in Band-k order, 4 to 16 lanes per row",
    parameters: &[
        Parameter {
            name: "block",
            values: &["4x8x12", "8x8x8", "16x8x4"],
            meaning: "threads over a row's nonzeros x rows x super-rows; default by the mean row \
                      length",
        },
        SRS,
        SSRS,
        ORDER,
        COARSENING,
    ],
    code: code!(prepare, "csrk_3", SERIAL + 1..=3),
    ..METHOD_2
};

const SRS: Parameter = Parameter {
    name: "srs",
    values: SMALL_SIZES,
    meaning: "rows in a super-row; default by architecture and mean row length",
};

const SSRS: Parameter = Parameter {
    name: "ssrs",
    values: SMALL_SIZES,
    meaning: "super-rows in a super-super-row; default by architecture and mean row length",
};

const PERMUTING_BLOCK: usize = 256;

/// The kernel, block shape and group sizes with which a matrix is multiplied.
struct Plan {
    kernel: &'static str,
    /// The parameter's text, and the shape with the number of lanes in x.
    block: (&'static str, Dim3),
    /// Parameter name and value of each group size, the finest level first. None for the groups of the order.
    sizes: Vec<(&'static str, usize)>,
}

/// Prepares the product by a kernel, with the block and the sizes of the case of the matrix or of the nearest of
/// `cases`.
fn prepare<'a, T: Value>(
    csr: &'a DeviceCsr<'a, T>,
    request: &Request<'a>,
    kernel: &'static str,
    cases: RangeInclusive<usize>,
) -> Preparation<'a, T> {
    let row_length = csr.host.nnz() as f64 / csr.host.rows().max(1) as f64;
    let case = sizes::case(row_length).clamp(*cases.start(), *cases.end());
    // The paper measured Volta and Ampere; `spmv-bench tune csr-k --device gpu` fits formulas for other GPUs.
    let is_volta = csr.gpu.facts().compute_capability < (8, 0);
    let sizes = sizes::gpu(is_volta, row_length, case);
    let mut plan = Plan::new(request, kernel, case, sizes);
    let Dim3 { x: lanes, y, z } = plan.block.1;
    let order = RowOrder::of(&csr.host, request);
    let constants = [
        ("LANES", lanes as usize),
        ("BLOCK", (lanes * y * z) as usize),
        ("PERMUTING_BLOCK", PERMUTING_BLOCK),
        ("PERMUTED", usize::from(matches!(order, RowOrder::BandK(_)))),
    ];
    let module = csr.gpu.compile::<T>(program!("cuda/csrk.cu"), &constants)?;
    let prepared = match order {
        RowOrder::BandK(coarsening) => permuted_product(csr, &module, &plan, coarsening)?,
        RowOrder::Natural(why) => {
            let levels = groups(&csr.host, request, &plan.sizes());
            if let Cow::Borrowed(_) = levels {
                plan.sizes.clear();
            }
            natural_product(csr, &module, &plan, &levels)?.with_notes(why)
        }
    };
    Ok(prepared.with_notes(Some(plan.note(row_length))))
}

impl Plan {
    /// Takes the requested block and sizes; defaults are the block of `case` and `sizes`.
    fn new(request: &Request, kernel: &'static str, case: usize, [srs, ssrs]: [usize; 2]) -> Self {
        let block = request.word("block").unwrap_or(BLOCKS[case]);
        let shape = tuning::shape(block);
        let (shape, sizes) = match (kernel, shape) {
            ("csrk_2", Dim3 { x, y, z }) => (Dim3 { x, y: y * z, z: 1 }, vec![("srs", srs * ssrs)]),
            _ => (shape, vec![("srs", srs), ("ssrs", ssrs)]),
        };
        let given = |(name, size)| (name, request.number(name).unwrap_or(size));
        Self { kernel, block: (block, shape), sizes: sizes.into_iter().map(given).collect() }
    }

    fn sizes(&self) -> Vec<usize> {
        self.sizes.iter().map(|(_, size)| *size).collect()
    }

    /// Returns a note with the parameters used and the method that the paper would use.
    fn note(&self, row_length: f64) -> String {
        let sizes: String = self.sizes.iter().map(|(name, size)| format!(":{name}={size}")).collect();
        let dimensions = if sizes::case(row_length) == SERIAL { "3" } else { "3.5" };
        let block = self.block.0;
        format!("block={block}{sizes}; csr-k takes GPUSpMV-{dimensions} for such rows")
    }
}

/// Prepares the product for which x and y have the order of the rows.
fn natural_product<'a, T: Value>(
    csr: &'a DeviceCsr<'a, T>,
    module: &Module,
    plan: &Plan,
    levels: &[Vec<u32>],
) -> Result<PreparedOnGpu<'a, T>, Failed> {
    let groups = Groups::new(&csr.gpu, module, plan, levels)?;
    let old = csr.gpu.allocate::<u32>(0)?;
    Ok(
        Prepared::on_gpu(csr, move |alpha, x, beta, y| groups.multiply(None, &[csr, &old, x, y, &alpha, &beta]))
            .with_csr_bytes(csr.host.bytes()),
    )
}

/// Prepares the product of the matrix in Band-k order, which permutes x and stores each element of y at its own place.
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
    fn multiply(&self, earlier: Option<&Kernel>, arguments: &[&dyn Argument]) -> Result<(), Failed> {
        let starts = self.starts.iter().map(|starts| starts as &dyn Argument);
        let arguments: Vec<_> = starts.chain(arguments.iter().copied()).collect();
        self.kernel.launch_after(earlier, self.grid, self.block, 0, &arguments)
    }
}

#[cfg(test)]
#[test]
fn parameters_that_are_not_given_depend_on_the_case() {
    let team = crate::team::Team::floating(1);
    let plan = |given, case| {
        let request = Request { given, ..Request::new(&team) };
        Plan::new(&request, "csrk_3", case, [15, 7])
    };
    let by_case = plan(&[], 2);
    assert_eq!(by_case.block, ("8x8x8", Dim3 { x: 8, y: 8, z: 8 }));
    assert_eq!(by_case.sizes(), [15, 7]);
    let given = plan(&[("ssrs", "48"), ("block", "32x4")], SERIAL);
    assert_eq!(given.block, ("32x4", Dim3 { x: 1, y: 32, z: 4 }));
    assert_eq!(given.sizes(), [15, 48]);
    let note = |row_length| plan(&[], 1).note(row_length);
    assert_eq!(note(8.0), "block=4x8x12:srs=15:ssrs=7; csr-k takes GPUSpMV-3 for such rows");
    assert_eq!(note(8.1), "block=4x8x12:srs=15:ssrs=7; csr-k takes GPUSpMV-3.5 for such rows");
}

//! What is multiplied: a matrix in one precision and order, with the vectors, and the reference of the product.

use std::borrow::Cow;

use rayon::prelude::*;

use super::alteration::{MOST_CHANGE, row_of};
use super::backend::{Host, OnGpu, free};
use super::chains;
use super::clock::Clock;
use super::contract::{Bench, Cell};
use super::event::Stopped;
use super::execute::measure;
use super::inputs::Inputs;
use super::need;
use spmv_matrix::Csr;
use spmv_matrix::memory;
use spmv_matrix::memory::extent::Extent;
use spmv_matrix::order::band_k::BandK;
use spmv_matrix::order::{Order, Permutation, bandwidth, profile};
use spmv_matrix::scalar::Scalar;
use spmv_methods::device::buffer::Value;
use spmv_methods::device::{DeviceCsr, Gpu};
use spmv_methods::method::{Failed, Unavailable, Unprepared};
use spmv_results::matrix::{Group, Reordering};
use spmv_results::settings::Settings;

/// The step named in the message if the device is lost before the first method.
const UPLOAD: &str = "uploading the matrix";

pub struct Reordered {
    pub(super) csr: Csr<f64>,
    pub(super) permutation: Permutation,
    /// The groups of Band-k, as in [`Extent::groups`].
    pub(super) groups: Vec<Vec<u32>>,
    pub cost: Reordering,
}

impl Reordered {
    /// Reorders a matrix with this name; `None` if it has the order already. Returns an error if it is not square, or
    /// if the order is to be read from a file that has no permutation of it.
    pub fn new(natural: &Csr<f64>, name: &str, order: Order, clock: &dyn Clock) -> Result<Option<Self>, Unavailable> {
        if order == Order::Natural {
            return Ok(None);
        }
        let (rows, cols) = (natural.rows(), natural.cols());
        if rows != cols {
            let order = order.name();
            return Err(Unavailable(format!(
                "the order {order} needs a square matrix, but this one is {rows} x {cols}"
            )));
        }
        let start = clock.now();
        let read = order.read(name, rows).map_err(Unavailable)?;
        let read = read.map(|permutation| BandK { permutation, levels: Vec::new() });
        let Some(BandK { permutation, levels }) = read.or_else(|| order.compute(natural)) else {
            return Ok(None);
        };
        let csr = natural.permuted(&permutation);
        let ms = 1e3 * (clock.now() - start).as_secs_f64();
        let cost = Reordering {
            order_ms: order.path().is_none().then_some(ms),
            bandwidth: [bandwidth(natural), bandwidth(&csr)],
            profile: [profile(natural), profile(&csr)],
        };
        Ok(Some(Self { csr, permutation, groups: levels, cost }))
    }

    /// Returns the bytes that the matrix in this order takes.
    pub fn bytes(&self) -> u64 {
        self.csr.bytes() + 8 * self.permutation.len() as u64
    }
}

/// A matrix that is multiplied by the same x on every device.
pub struct Problem<'m, T: Scalar> {
    csr: Cow<'m, Csr<T>>,
    groups: &'m [Vec<u32>],
    inputs: Inputs<T>,
}

impl<'m, T: Scalar> Problem<'m, T> {
    /// Creates the vectors and the reference of a matrix that is multiplied as it is.
    pub fn of(csr: &'m Csr<T>, settings: &Settings) -> Self {
        Self { csr: Cow::Borrowed(csr), groups: &[], inputs: Inputs::new(settings, csr) }
    }

    /// Creates the problem of a matrix in the order of `reordered`, which is `natural` permuted. Vectors and reference
    /// are those of `natural`, permuted, so that a matrix that was permuted wrongly yields wrong results. Returns an
    /// error if a value is too large for the precision, or if nothing can be verified.
    pub fn new(
        natural: &'m Csr<f64>,
        reordered: Option<&'m Reordered>,
        settings: &Settings,
    ) -> Result<Self, Unavailable> {
        chains::check_matrix(settings, natural)?;
        let csr = narrowed(natural)?;
        let inputs = Inputs::new(settings, &csr);
        let problem = match reordered {
            None => Self { csr, groups: &[], inputs },
            Some(Reordered { csr, permutation, groups, .. }) => {
                Self { csr: narrowed(csr)?, groups, inputs: inputs.permuted(permutation) }
            }
        };
        match problem.overflow() {
            None => Ok(problem),
            Some(row) => Err(Unavailable(format!(
                "nothing can be verified: row {row} of alpha A x + beta y, or a part of its sum, may exceed the \
                 largest {}; scale the matrix, or use smaller --alpha and --beta",
                T::PRECISION.name()
            ))),
        }
    }

    /// Returns the bytes of its own copy of the matrix, 0 if it needs none.
    pub fn bytes(&self) -> u64 {
        if let Cow::Owned(csr) = &self.csr { csr.bytes() } else { 0 }
    }

    /// Returns a row whose product cannot be verified: that of the largest matrix value if altered elements of x could
    /// make that row overflow, or else the first one that the reference finds.
    fn overflow(&self) -> Option<usize> {
        let Self { csr, inputs, .. } = self;
        let size = |entry: &usize| csr.values()[*entry].widen().abs();
        let largest = (0..csr.nnz()).into_par_iter().max_by(|a, b| size(a).total_cmp(&size(b)))?;
        let change = inputs.alpha.widen().abs().max(1.0) * size(&largest) * MOST_CHANGE;
        if change <= T::max_value().widen() / 2.0 {
            return inputs.reference.overflow::<T>(change);
        }
        let column = csr.column_indices()[largest] as usize;
        Some(if inputs.transpose { column } else { row_of(csr, largest) })
    }

    /// Measures methods of the CPU, until [`Bench::interrupted`] is set. The host cannot be lost.
    pub fn on_host(&mut self, bench: &Bench, cells: &[Cell], group: &mut Group) -> Result<(), Stopped> {
        let host = Host::new(bench, &self.csr, &self.inputs.x);
        let extent = extent(&self.csr, self.groups, bench);
        measure(bench, extent, &mut self.inputs, host, cells, group)
    }
}

impl<T: Value> Problem<'_, T> {
    /// Measures methods of the GPU, until [`Bench::interrupted`] is set. All methods are skipped if the matrix does not
    /// fit into the GPU's memory or if there is no compiler for the device. Any other error before the first method is
    /// a failure of every method, unless the device is lost, which is an error.
    pub fn on_gpu(&mut self, bench: &Bench, gpu: &Gpu, cells: &[Cell], group: &mut Group) -> Result<(), Stopped> {
        let compiled = gpu.compile_time();
        match self.uploaded(bench, gpu, cells, group) {
            Ok(measured) => {
                group.compile_ms = Some(1e3 * (gpu.compile_time() - compiled).as_secs_f64());
                measured
            }
            Err(Unprepared::Failed(Failed(reason))) if gpu.synchronize().is_err() => {
                Err(Stopped::Lost { method: UPLOAD.into(), reason })
            }
            Err(reason) => {
                bench.end(cells, &reason.into());
                Ok(())
            }
        }
    }

    /// Copies the matrix to a GPU, if it and the vectors fit into the memory there, and measures.
    fn uploaded(
        &mut self,
        bench: &Bench,
        gpu: &Gpu,
        cells: &[Cell],
        group: &mut Group,
    ) -> Result<Result<(), Stopped>, Unprepared> {
        let extent = extent(&self.csr, self.groups, bench);
        let need = need::run_on_device(&extent, gpu.facts().l2_bytes);
        if let Some(reason) = memory::refusal("for the matrix and its vectors", need, free(gpu)?) {
            return Err(Unavailable(reason).into());
        }
        let csr = DeviceCsr::upload(gpu, &self.csr)?;
        let on_gpu = OnGpu::new(bench, &csr, &self.inputs.x)?;
        Ok(measure(bench, extent, &mut self.inputs, on_gpu, cells, group))
    }
}

fn extent<'a, T: Scalar>(csr: &Csr<T>, groups: &'a [Vec<u32>], bench: &Bench) -> Extent<'a> {
    Extent { groups, ..Extent::of(csr, bench.team.len(), bench.settings.transpose) }
}

/// Converts a matrix into a precision. Returns an error with the value if a value is too large for it.
pub fn narrowed<T: Scalar>(csr: &Csr<f64>) -> Result<Cow<'_, Csr<T>>, Unavailable> {
    let precision = T::PRECISION.name();
    csr.to_precision()
        .map_err(|value| Unavailable(format!("the value {value:e} is too large for {precision}")))
}

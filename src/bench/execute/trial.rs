//! The measurement of one matrix on the host and on GPUs, with the same inputs.

use std::time::Duration;

use rayon::prelude::*;

use super::{Bench, Stopped, measure};
use crate::bench::alteration::MOST_CHANGE;
use crate::bench::backend::{Host, OnGpu, free};
use crate::bench::inputs::Inputs;
use crate::bench::need;
use crate::bench::outcome::{Outcome, Report};
use spmv_matrix::Csr;
use spmv_matrix::memory;
use spmv_matrix::memory::extent::Extent;
use spmv_matrix::order::Permutation;
use spmv_matrix::scalar::Scalar;
#[cfg(doc)]
use spmv_matrix::verify::Reference;
use spmv_methods::device::buffer::Value;
use spmv_methods::device::{DeviceCsr, Gpu};
use spmv_methods::method::{Choice, Failed, Unavailable, Unprepared};

/// The step named in the message if the device is lost before the first method.
const UPLOAD: &str = "uploading the matrix";

/// One matrix, multiplied by the same x on every device.
pub struct Trial<'a, T> {
    bench: &'a Bench<'a>,
    csr: &'a Csr<T>,
    inputs: Inputs<T>,
}

impl<'a, T: Scalar> Trial<'a, T> {
    /// Creates the vectors and the reference.
    pub fn new(bench: &'a Bench<'a>, csr: &'a Csr<T>) -> Self {
        Self { bench, csr, inputs: Inputs::new(bench.settings, csr) }
    }

    /// Creates a trial of `csr`, which is `natural` in another order. Vectors and reference are those of `natural`,
    /// permuted, so that a matrix that was permuted wrongly yields wrong results.
    pub fn reordered(
        bench: &'a Bench<'a>,
        natural: &Csr<T>,
        csr: &'a Csr<T>,
        permutation: &Permutation,
    ) -> Self {
        Self { bench, csr, inputs: Inputs::new(bench.settings, natural).permuted(permutation) }
    }

    /// Returns the first row whose product cannot be verified, see [`Reference::overflow`]. If there is none, returns
    /// the row of the largest matrix value if altered elements of x could make that row overflow.
    pub fn overflow(&self) -> Option<usize> {
        self.inputs.reference.overflow::<T>().or_else(|| self.overflow_of_altered())
    }

    fn overflow_of_altered(&self) -> Option<usize> {
        let Self { bench, csr, inputs } = self;
        let size = |entry: &usize| csr.values()[*entry].widen().abs();
        let largest = (0..csr.nnz()).into_par_iter().max_by(|a, b| size(a).total_cmp(&size(b)))?;
        let change = inputs.alpha.widen().abs() * size(&largest) * MOST_CHANGE;
        let is_safe = change <= T::max_value().widen();
        (!is_safe).then(|| match bench.settings.transpose {
            true => csr.column_indices()[largest] as usize,
            false => csr.row_offsets().partition_point(|&begin| begin as usize <= largest) - 1,
        })
    }

    /// Measures methods of the CPU, until [`Bench::interrupted`] is set.
    ///
    /// # Errors
    /// Never returns an error: the host cannot be lost.
    pub fn on_host(&mut self, choices: &[Choice]) -> Result<Report, Stopped> {
        let side = Host::new(self.bench, self.csr, &self.inputs.x);
        measure(self.bench, self.extent(), &mut self.inputs, side, choices)
    }

    fn extent(&self) -> Extent<'a> {
        Extent::of(self.csr, self.bench.team.len(), self.bench.settings.transpose)
    }
}

impl<T: Value> Trial<'_, T> {
    /// Measures methods of the GPU, until [`Bench::interrupted`] is set. All methods are skipped if the matrix does not
    /// fit into the GPU's memory or if there is no compiler for the device. Any other error before the first method is
    /// reported as a failure of every method, unless the device is lost.
    ///
    /// # Errors
    /// Returns an error if the device was lost.
    pub fn on_gpu(&mut self, gpu: &Gpu, choices: &[Choice]) -> Result<Report, Stopped> {
        let compiled = gpu.compile_time();
        let failed = |Failed(reason)| {
            if gpu.synchronize().is_err() {
                return Err(Stopped::Lost { method: UPLOAD.into(), reason });
            }
            Ok(Report::of_all(choices.len(), Outcome::Failed(reason)))
        };
        let skipped = |reason| Report::of_all(choices.len(), Outcome::Skipped(reason));
        match self.refused_by(gpu) {
            Ok(None) => {}
            Ok(Some(reason)) => return Ok(skipped(reason)),
            Err(error) => return failed(error),
        }
        let csr = match DeviceCsr::upload(gpu, self.csr) {
            Ok(csr) => csr,
            Err(error) => return failed(error),
        };
        let opened = OnGpu::new(self.bench, &csr, &self.inputs.x);
        let opened = opened.and_then(|side| Ok((side.launch_time()?, side)));
        let (launch_time, side) = match opened {
            Ok(opened) => opened,
            Err(Unprepared::Unavailable(Unavailable(reason))) => return Ok(skipped(reason)),
            Err(Unprepared::Failed(error)) => return failed(error),
        };
        let report = measure(self.bench, self.extent(), &mut self.inputs, side, choices)?;
        let ms = |time: Duration| Some(1e3 * time.as_secs_f64());
        let compile_ms = ms(gpu.compile_time() - compiled);
        Ok(Report { compile_ms, launch_ms: ms(launch_time), ..report })
    }
}

impl<T: Value> Trial<'_, T> {
    /// Returns the reason if the matrix and the vectors do not fit into the GPU's memory.
    fn refused_by(&self, gpu: &Gpu) -> Result<Option<String>, Failed> {
        let need = need::run_on_device(&self.extent(), gpu.facts().l2_bytes);
        Ok(memory::refusal("for the matrix and its vectors", need, free(gpu)?))
    }
}

//! The backend for a GPU: x and y are in its memory.

mod steps;

use std::time::Duration;

use crate::bench::chains::second_y;
use crate::bench::contract::Bench;
use crate::bench::need::{self, SMALL_ON_DEVICE, footprint};
use spmv_matrix::memory::extent::Extent;
use spmv_matrix::memory::{self, Available};
use spmv_methods::device::buffer::Value;
use spmv_methods::device::probe::{DeviceSweeps, Probe};
use spmv_methods::device::{Buffer, DeviceCsr, Gpu};
use spmv_methods::method::{Choice, Failed, PreparedOnGpu, Request, Setup, Unavailable, Unprepared};

/// The backend for a GPU. Events around each batch measure its time on the device.
pub struct OnGpu<'a, T: Clone> {
    bench: &'a Bench<'a>,
    csr: &'a DeviceCsr<'a, T>,
    x: Buffer<T>,
    y: Buffer<T>,
    /// The y of the product before, if products form chains; otherwise empty.
    before: Buffer<T>,
    host_y: Vec<T>,
    probe: Probe,
    /// The host's time to enqueue a product of the batch that was timed last, and the number of its launches.
    host_launch: Duration,
    launches: u64,
    launch_time: Duration,
    sweeps: DeviceSweeps,
    /// A buffer of twice the L2 cache: reading it evicts everything else. It is not written, because dirty cache lines
    /// would be written back during the sample. A modelled device needs none.
    evictor: Option<Buffer<u8>>,
    /// With `--persist-x`, the bytes of the L2 cache that are set aside for x.
    set_aside: Option<u64>,
}

/// Returns the memory of a GPU that is free for large buffers.
pub fn free(gpu: &Gpu) -> Result<Available, Failed> {
    let (free, _) = gpu.memory()?;
    Ok(Available { bytes: free.saturating_sub(SMALL_ON_DEVICE), by: "free on the GPU" })
}

fn evictor(gpu: &Gpu) -> Result<Option<Buffer<u8>>, Failed> {
    if gpu.modelled().is_some() {
        return Ok(None);
    }
    let mut evictor = gpu.allocate(2 * gpu.facts().l2_bytes as usize)?;
    evictor.fill(0)?;
    Ok(Some(evictor))
}

impl<'a, T: Value> OnGpu<'a, T> {
    /// Uploads `x` and allocates y, whose values are arbitrary.
    pub fn new(bench: &'a Bench<'a>, csr: &'a DeviceCsr<'a, T>, x: &[T]) -> Result<Self, Unprepared> {
        let gpu = &csr.gpu;
        let outputs = if bench.settings.transpose { csr.host.cols() } else { csr.host.rows() };
        let probe = Probe::new(gpu)?;
        let launch_time = match gpu.modelled() {
            Some(modelled) => modelled.launch_time,
            None => probe.launch_time()?,
        };
        let mut backend = Self {
            x: gpu.upload(x)?,
            y: gpu.allocate(outputs)?,
            before: gpu.allocate(second_y(bench.settings, outputs))?,
            host_y: vec![T::zero(); outputs],
            host_launch: Duration::ZERO,
            launches: 0,
            launch_time,
            sweeps: DeviceSweeps::new(gpu, footprint(&csr.host)),
            evictor: evictor(gpu)?,
            set_aside: None,
            probe,
            bench,
            csr,
        };
        backend.persist()?;
        Ok(backend)
    }

    fn persist(&mut self) -> Result<(), Failed> {
        if self.bench.settings.persist_x {
            self.set_aside = Some(self.gpu().persist(self.x.address(), self.x.bytes())?);
        }
        Ok(())
    }

    /// Ends the persistence of x for a measurement of bandwidth, which would have less of the cache otherwise.
    fn undisturbed<R>(&mut self, measure: impl FnOnce(&mut Self) -> Result<R, Failed>) -> Result<R, Failed> {
        if self.set_aside.take().is_some() {
            self.gpu().persist(0, 0)?;
        }
        let measured = measure(self);
        self.persist()?;
        measured
    }

    fn gpu(&self) -> &'a Gpu {
        &self.csr.gpu
    }

    /// Returns an error if the method's conversion does not fit into the host's memory: most conversions run there.
    fn check_host(&self, choice: &Choice) -> Result<(), Unavailable> {
        let Bench { team, settings, .. } = *self.bench;
        let extent = Extent::of(&*self.csr.host, team.len(), settings.transpose);
        let extent = Extent { given: &choice.given, ..extent };
        let need = match choice.method.setup {
            Setup::Nothing | Setup::Inspection => 0,
            Setup::Conversion => extent.csr() + (choice.method.memory)(&extent),
            Setup::Ordering => 2 * extent.csr() + extent.ordering_in_small_groups(),
        };
        let available = Available::now(self.bench.max_memory, need::run(&extent, settings));
        let refusal = memory::refusal("on the host for its conversion", need, available);
        refusal.map_or(Ok(()), |reason| Err(Unavailable(reason)))
    }
}

/// Prepares a method for these vectors, and captures its product as a CUDA graph if `choice` requests that.
fn ready<'c, T: Value>(
    choice: &Choice,
    csr: &'c DeviceCsr<'c, T>,
    request: &Request<'c>,
    x: &Buffer<T>,
    y: &mut Buffer<T>,
) -> Result<PreparedOnGpu<'c, T>, Unprepared> {
    let prepared = choice.method.prepare_on_device(csr, request)?;
    if !choice.is_graph() {
        return Ok(prepared);
    }
    let factors = (T::narrow(request.alpha), T::narrow(request.beta));
    let refused = |Failed(reason)| Unavailable(format!("cannot be captured as a CUDA graph: {reason}"));
    Ok(prepared.captured(&csr.gpu, factors, x, y).map_err(refused)?)
}

impl<T: Clone> Drop for OnGpu<'_, T> {
    /// Ends the persistence of x, so that later measurements have the whole cache. Nothing can be done about an error.
    fn drop(&mut self) {
        if self.set_aside.is_some() {
            let _ = self.csr.gpu.persist(0, 0);
        }
    }
}

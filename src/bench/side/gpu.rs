//! A GPU and its memory.

use std::time::Duration;

use super::{Factors, PEAK_LOOKS, Side, footprint};
use crate::bench::execute::Bench;
use crate::bench::need::SMALL_ON_DEVICE;
use crate::bench::peak::{CopySweep, Peak};
use crate::bench::plan::Cache;
use crate::device::buffer::Value;
use crate::device::{Buffer, DeviceCsr, Gpu, Stage};
use crate::memory::extent::Extent;
use crate::memory::{self, Available};
use crate::method::{Choice, Device, Failed, Prepared, Request, Setup, Unavailable, Unprepared};

/// Its time is taken on the device, by events around a batch.
pub struct OnGpu<'a, T: Clone> {
    bench: &'a Bench<'a>,
    csr: &'a DeviceCsr<'a, T>,
    x: Buffer<T>,
    y: Buffer<T>,
    /// What `y` downloads to.
    host_y: Vec<T>,
    sweep: CopySweep,
    /// Twice the second-level cache; overwriting it empties that.
    evictor: Option<Buffer<u8>>,
}

/// What is free on a GPU for anything large.
pub fn free(gpu: &Gpu) -> Result<Available, Failed> {
    let (free, _) = gpu.memory()?;
    Ok(Available { bytes: free.saturating_sub(SMALL_ON_DEVICE), by: "free on the GPU" })
}

impl<'a, T: Value> OnGpu<'a, T> {
    /// With `x`, and y arbitrary.
    pub fn new(bench: &'a Bench<'a>, csr: &'a DeviceCsr<'a, T>, x: &[T]) -> Result<Self, Failed> {
        let gpu = &csr.gpu;
        let cold = bench.settings.cache == Cache::Cold;
        let outputs = if bench.settings.transpose { csr.host.cols } else { csr.host.rows };
        let evictor = cold.then(|| gpu.allocate(2 * gpu.facts().l2_bytes as usize));
        Ok(Self {
            x: gpu.upload(x)?,
            y: gpu.allocate(outputs)?,
            host_y: vec![T::zero(); outputs],
            sweep: CopySweep::new(gpu, footprint(&csr.host)),
            evictor: evictor.transpose()?,
            bench,
            csr,
        })
    }

    fn gpu(&self) -> &'a Gpu {
        &self.csr.gpu
    }

    /// Refuses a method whose conversion does not fit on the host, where most are done.
    fn check_host(&self, choice: &Choice) -> Result<(), Unavailable> {
        let Bench { team, settings, .. } = *self.bench;
        let extent = Extent::of(&*self.csr.host, team.len(), settings.transpose);
        let extent = Extent { given: &choice.given, ..extent };
        let need = match choice.method.setup {
            Setup::Nothing | Setup::Inspection => 0,
            Setup::Conversion => extent.csr() + (choice.method.memory)(&extent),
            Setup::Ordering => 2 * extent.csr() + extent.ordering_in_small_groups(),
        };
        let room = Available::now(settings.max_memory, extent.run(settings));
        match memory::refusal("on the host for its conversion", need, room) {
            Some(reason) => Err(Unavailable(reason)),
            None => Ok(()),
        }
    }

    fn multiply(
        &mut self,
        prepared: &mut Prepared<'a, T, Buffer<T>>,
        (alpha, beta): Factors<T>,
    ) -> Result<(), Failed> {
        prepared.multiply(alpha, &self.x, beta, &mut self.y)
    }
}

impl<'a, T: Value> Side<'a, T> for OnGpu<'a, T> {
    type Vector = Buffer<T>;
    const DEVICE: Device = Device::Gpu;

    fn prepare(
        &mut self,
        choice: &Choice,
        request: &Request<'a>,
    ) -> Result<(Prepared<'a, T, Buffer<T>>, Duration), Unprepared> {
        let prepare = choice.method.prepare_on_gpu::<T>().expect("a method of the GPU");
        self.check_host(choice)?;
        let (gpu, clock) = (self.gpu(), self.bench.clock);
        gpu.synchronize()?;
        let (start, held, compiled) = (clock.now(), gpu.allocated_bytes(), gpu.compile_time());
        let mut prepared = prepare(self.csr, request)?;
        gpu.synchronize()?;
        let setup = (clock.now() - start).saturating_sub(gpu.compile_time() - compiled);
        prepared.extra_bytes = Some(gpu.allocated_bytes() - held);
        Ok((prepared, setup))
    }

    /// What is free, but for that which bandwidth is measured on.
    fn room(&self, matrix: &Extent, _: u64) -> Result<Available, Failed> {
        let Available { bytes, by } = free(self.gpu())?;
        Ok(Available { bytes: bytes.saturating_sub(matrix.sweeps()), by })
    }

    fn set_y(&mut self, y: &[T]) -> Result<(), Failed> {
        self.y.upload(y)
    }

    fn y(&mut self) -> Result<&[T], Failed> {
        self.y.download(&mut self.host_y)?;
        Ok(&self.host_y)
    }

    fn time(
        &mut self,
        prepared: &mut Prepared<'a, T, Buffer<T>>,
        factors: Factors<T>,
        products: usize,
    ) -> Result<Duration, Failed> {
        let gpu = self.gpu();
        gpu.time(|| (0..products).try_for_each(|_| self.multiply(prepared, factors)))
    }

    fn stages(
        &mut self,
        prepared: &mut Prepared<'a, T, Buffer<T>>,
        factors: Factors<T>,
        products: usize,
    ) -> Result<Vec<Stage>, Failed> {
        let gpu = self.gpu();
        gpu.stages(products, || self.multiply(prepared, factors))
    }

    fn chill(&mut self, _: &Prepared<'a, T, Buffer<T>>) -> Result<(), Failed> {
        self.evictor.as_mut().map_or(Ok(()), |evictor| evictor.fill(0))
    }

    fn look_at_peak(&mut self) -> Result<(), Failed> {
        self.sweep.look(PEAK_LOOKS, self.evictor.as_mut())
    }

    fn peak(&self) -> Peak {
        self.sweep.best()
    }

    /// An illegal access and its like stay with a CUDA context: whatever it is asked then ends in the
    /// same error.
    fn is_lost(&self) -> bool {
        self.gpu().synchronize().is_err()
    }
}

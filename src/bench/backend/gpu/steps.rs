//! The steps of a measurement on a GPU.

use std::time::Duration;

use ptx_machine::model::Cure;
use rand::rngs::Xoshiro256PlusPlus;

use super::{OnGpu, free, ready};
use crate::bench::alteration::Alteration;
use crate::bench::backend::{
    Backend, PEAK_REPETITIONS, Parts, STAGE_PRODUCTS, footprint, rehearsal_matrix,
};
use crate::bench::inputs::{Inputs, uniform};
use crate::bench::need;
use crate::bench::peak;
use spmv_matrix::memory::extent::Extent;
use spmv_matrix::memory::{Available, Size};
use spmv_matrix::spoil::few_spoilt;
use spmv_matrix::verify::Reference;
use spmv_methods::device::buffer::Value;
use spmv_methods::device::facts::{Clocks, Energy};
use spmv_methods::device::probe::DeviceSweeps;
use spmv_methods::device::{Buffer, DeviceCsr};
use spmv_methods::method::{Choice, Device, Failed, PreparedOnGpu, Request, Unprepared};
use spmv_results::metrics::Peak;
use spmv_results::settings::{CHAIN, CacheState};

/// The minimum duration of the batch of products during which the clocks are read.
const UNDER_LOAD: Duration = Duration::from_millis(10);
/// The maximum number of products in that batch: products of a matrix without rows take no time.
const MOST_UNDER_LOAD: usize = 1 << 14;
/// The maximum number of launches in a batch. The host blocks when about 1024 wait in the stream; then the device would
/// begin before all of them are there.
const MOST_LAUNCHES: u64 = 512;
/// The number of launches that a call of a library or plug-in is assumed to have at most.
const LAUNCHES_OF_CALL: u64 = 4;

impl<'a, T: Value> Backend<'a, T> for OnGpu<'a, T> {
    type Vector = Buffer<T>;
    const DEVICE: Device = Device::Gpu;

    fn is_modelled(&self) -> bool {
        self.gpu().modelled().is_some()
    }

    fn warming_products(&self) -> usize {
        let (facts, bytes) = (self.gpu().facts(), footprint(&self.csr.host) as u64);
        match bytes {
            _ if self.bench.settings.cache != CacheState::Hot || bytes > 2 * facts.l2_bytes => 0,
            _ if 2 * bytes <= facts.l2_bytes / facts.l2_copies() => 1,
            _ => 4,
        }
    }

    fn cure(&mut self, problem: Cure) {
        self.gpu().cure(problem);
    }

    fn rehearse(&mut self, choice: &Choice, request: &Request) -> Result<(), Unprepared> {
        let (gpu, small) = (self.gpu(), rehearsal_matrix::<T>());
        let ones = vec![T::one(); small.rows()];
        let (x, mut y) = (gpu.upload(&ones)?, gpu.upload(&ones)?);
        let small = DeviceCsr::upload(gpu, &small)?;
        let mut prepared = ready(choice, &small, request, &x, &mut y)?;
        let (alpha, beta) = (T::narrow(request.alpha), T::narrow(request.beta));
        prepared.multiply(alpha, &x, beta, &mut y)?;
        Ok(gpu.synchronize()?)
    }

    fn prepare(
        &mut self,
        choice: &Choice,
        request: &Request<'a>,
    ) -> Result<(PreparedOnGpu<'a, T>, Duration), Unprepared> {
        self.check_host(choice)?;
        let (gpu, clock) = (self.gpu(), self.bench.clock);
        gpu.synchronize()?;
        let modelled = gpu.modelled();
        let (start, held, compiled) = (clock.now(), gpu.allocated_bytes(), gpu.compile_time());
        let mut prepared = ready(choice, self.csr, request, &self.x, &mut self.y)?;
        gpu.synchronize()?;
        let mut setup = (clock.now() - start).saturating_sub(gpu.compile_time() - compiled);
        if let Some((before, now)) = modelled.zip(gpu.modelled()) {
            setup = setup.saturating_sub(now.host_time - before.host_time)
                + (now.device_time - before.device_time);
        }
        prepared.extra_bytes = Some(gpu.allocated_bytes() - held);
        if let Some(bytes) = self.set_aside {
            prepared = prepared.with_note(match bytes {
                0 => "this GPU cannot set aside L2 cache for x".into(),
                _ => format!("x persists in {} of the L2 cache", Size(bytes)),
            });
        }
        Ok((prepared, setup))
    }

    /// Returns the free memory, less the buffer on which bandwidth is measured.
    fn available(&self, matrix: &Extent, _: u64) -> Result<Available, Failed> {
        let Available { bytes, by } = free(self.gpu())?;
        Ok(Available { bytes: bytes.saturating_sub(need::sweeps(matrix)), by })
    }

    fn alter(&self, inputs: &Inputs<T>, random: &mut Xoshiro256PlusPlus) -> Alteration<T> {
        Alteration::new(&self.csr.host, self.bench.settings.transpose, inputs, random)
    }

    fn renew(&self, inputs: &Inputs<T>, random: &mut Xoshiro256PlusPlus) -> (Vec<T>, Reference) {
        let x = uniform(self.x.len(), random);
        let reference = inputs.expected(&self.csr.host, self.bench.settings.transpose, &x);
        (x, reference)
    }

    fn set_x(&mut self, x: &[T], changed: Option<&[usize]>) -> Result<(), Failed> {
        let Some(changed) = changed else { return self.x.upload(x) };
        let changed: Vec<_> = changed.iter().map(|&index| (index, x[index])).collect();
        self.x.upload_some(&changed)
    }

    fn write_y(&mut self, write: &mut dyn FnMut(&mut [T])) -> Result<(), Failed> {
        write(&mut self.host_y);
        self.y.upload(&self.host_y)
    }

    fn spoil_few(&mut self, seed: u64) -> Result<(), Failed> {
        let few: Vec<_> = few_spoilt(self.y.len(), seed).collect();
        self.y.upload_some(&few)
    }

    fn y(&mut self) -> Result<&[T], Failed> {
        self.y.download(0, &mut self.host_y)?;
        Ok(&self.host_y)
    }

    fn time(
        &mut self,
        prepared: &mut PreparedOnGpu<'a, T>,
        products: usize,
    ) -> Result<Duration, Failed> {
        self.time_calls(prepared, products, false)
    }

    fn time_calls(
        &mut self,
        prepared: &mut PreparedOnGpu<'a, T>,
        products: usize,
        chained: bool,
    ) -> Result<Duration, Failed> {
        let (gpu, (alpha, beta)) = (self.gpu(), self.bench.settings.factors());
        let Self { probe, x, y, before, .. } = self;
        let (mut calls, mut product) = (0, 0);
        let timing = probe.time(products, self.host_launch * products as u32, || {
            let launches = gpu.launches();
            if chained && product % CHAIN > 0 {
                std::mem::swap(before, y);
                prepared.multiply(alpha, before, beta, y)?;
            } else {
                prepared.multiply(alpha, x, beta, y)?;
            }
            calls = gpu.launches() - launches;
            // Products that are timed again begin a chain again.
            product = (product + 1) % products;
            Ok(())
        })?;
        let is_call = prepared.library_version.is_some() || prepared.is_foreign;
        self.launches = if is_call { LAUNCHES_OF_CALL * calls } else { calls };
        self.host_launch = timing.host / products as u32;
        Ok(timing.device)
    }

    fn host_launch(&self) -> Option<Duration> {
        Some(self.host_launch)
    }

    fn most_products(&self) -> usize {
        (MOST_LAUNCHES / self.launches.max(1)).max(1) as usize
    }

    fn time_alone(&mut self, prepared: &mut PreparedOnGpu<'a, T>) -> Result<Duration, Failed> {
        let (alpha, beta) = self.bench.settings.factors();
        let Self { probe, x, y, .. } = self;
        probe.time_until_idle(|| prepared.multiply(alpha, x, beta, y))
    }

    fn time_cold(&mut self, prepared: &mut PreparedOnGpu<'a, T>) -> Result<Duration, Failed> {
        self.forget()?;
        self.time(prepared, 1)
    }

    fn time_empty(&mut self) -> Result<Duration, Failed> {
        self.probe.time_until_idle(|| self.probe.launch_empty())
    }

    fn wait(&mut self) -> Result<(), Failed> {
        self.gpu().synchronize()
    }

    fn load(
        &mut self,
        prepared: &mut PreparedOnGpu<'a, T>,
        time: Duration,
    ) -> Result<Option<Clocks>, Failed> {
        let gpu = self.gpu();
        if time.is_zero() && gpu.clocks().is_none() {
            return Ok(None);
        }
        let (clock, (alpha, beta)) = (self.bench.clock, self.bench.settings.factors());
        let Self { probe, x, y, .. } = self;
        let mut products =
            |count| (0..count).try_for_each(|_| prepared.multiply(alpha, x, beta, y));
        let (mut batch, mut passed) = (1, Duration::ZERO);
        while batch < MOST_UNDER_LOAD {
            let start = clock.now();
            // The times of these batches are not reported, so none is repeated.
            let timing = probe.time(1, Duration::ZERO, || products(batch))?;
            // On a modelled device the wall time may be far longer than the modelled time.
            let took = timing.device.max(clock.now() - start);
            passed += took;
            match took < UNDER_LOAD {
                true => batch *= 2,
                false if passed >= time => break,
                false => (),
            }
        }
        // The clocks are read while the last batch runs.
        products(batch)?;
        let clocks = gpu.clocks();
        gpu.synchronize()?;
        Ok(clocks)
    }

    fn energy(&self) -> Option<Energy> {
        self.gpu().energy()
    }

    fn parts(&mut self, prepared: &mut PreparedOnGpu<'a, T>) -> Result<Parts, Failed> {
        // Modelled times do not vary, and one product is enough to find the longest kernel.
        let average = self.bench.settings.stages && !self.is_modelled();
        let products = if average { STAGE_PRODUCTS } else { 1 };
        let (gpu, (alpha, beta)) = (self.gpu(), self.bench.settings.factors());
        let before = gpu.launches();
        let Self { x, y, .. } = self;
        let stages = gpu.stages(products, || prepared.multiply(alpha, x, beta, y))?;
        let launches = (gpu.launches() - before) / products as u64;
        Ok(Parts { stages, launches: Some(launches), note: None })
    }

    fn evict_caches(&mut self, _: &PreparedOnGpu<'a, T>, _: bool) -> Result<(), Failed> {
        if self.bench.settings.cache == CacheState::Hot {
            return Ok(());
        }
        self.gpu().evict();
        self.forget()
    }

    fn forget(&mut self) -> Result<(), Failed> {
        self.evictor.as_ref().map_or(Ok(()), |evictor| self.probe.empty_l2(evictor))
    }

    fn measure_peak(&mut self) -> Result<(), Failed> {
        let cold = self.bench.settings.cache == CacheState::Cold;
        self.undisturbed(|Self { sweeps, probe, evictor, .. }| {
            sweeps.measure(probe, PEAK_REPETITIONS, evictor.as_ref().filter(|_| cold))
        })
    }

    fn cache_gbs(&mut self, bytes: u64) -> Result<f64, Failed> {
        let bytes = bytes.min(self.gpu().facts().l2_bytes) as usize;
        let mut sweeps = DeviceSweeps::new(self.gpu(), bytes);
        self.undisturbed(|Self { probe, .. }| sweeps.measure(probe, PEAK_REPETITIONS, None))?;
        Ok(peak::of_gpu(self.gpu(), &sweeps).gbs())
    }

    fn launch_ms(&self) -> Option<f64> {
        Some(1e3 * self.launch_time.as_secs_f64())
    }

    fn peak(&self) -> Peak {
        let Some(modelled) = self.gpu().modelled() else {
            return peak::of_gpu(self.gpu(), &self.sweeps);
        };
        let gbs = modelled.memory_gbs;
        Peak::Gpu { copy_gbs: gbs, read_gbs: gbs, nominal_gbs: self.gpu().facts().nominal_gbs() }
    }

    /// Synchronises the device to find out: after an illegal memory access, every later call in the same CUDA context
    /// returns the same error.
    fn is_lost(&self) -> bool {
        self.gpu().synchronize().is_err()
    }
}

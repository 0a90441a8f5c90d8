//! The steps of a measurement on a GPU.

use std::time::Duration;

use ptx_machine::model::Cure;
use rand::rngs::Xoshiro256PlusPlus;

use super::{OnGpu, free, ready};
use crate::bench::alteration::Alteration;
use crate::bench::backend::rehearsal::rehearsal_matrix;
use crate::bench::backend::traits::{Machine, PEAK_REPETITIONS, Parts, STAGE_PRODUCTS, Timer, Vectors};
use crate::bench::calls::Calls;
use crate::bench::inputs::Inputs;
use crate::bench::need::{self, footprint};
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
use spmv_results::settings::CacheState;

/// The minimum duration of the batch of products during which the clocks are read.
const UNDER_LOAD: Duration = Duration::from_millis(10);
/// The maximum number of products in that batch: products of a matrix without rows take no time.
const MOST_UNDER_LOAD: usize = 1 << 14;
/// The maximum number of launches in a batch. The host blocks when about 1024 wait in the stream; then the device would
/// begin before all of them are there.
const MOST_LAUNCHES: u64 = 512;
/// The number of launches that a call of a library or plug-in is assumed to have at most.
const LAUNCHES_OF_CALL: u64 = 4;

impl<T: Value> Vectors<T> for OnGpu<'_, T> {
    fn alter(&self, inputs: &Inputs<T>, random: &mut Xoshiro256PlusPlus) -> Alteration<T> {
        Alteration::new(&self.csr.host, inputs, random)
    }

    fn renew(&self, inputs: &Inputs<T>, random: &mut Xoshiro256PlusPlus) -> (Vec<T>, Reference) {
        inputs.renewed(&self.csr.host, random)
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
}

impl<'a, T: Value> Timer<'a, T> for OnGpu<'a, T> {
    type Vector = Buffer<T>;

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
        _room: u64,
    ) -> Result<(PreparedOnGpu<'a, T>, Duration), Unprepared> {
        self.check_host(choice)?;
        let gpu = self.gpu();
        let clock = self.bench.clock;
        gpu.synchronize()?;
        let modelled = gpu.modelled();
        let start = clock.now();
        let held = gpu.allocated_bytes();
        let compiled = gpu.compile_time();
        let mut prepared = ready(choice, self.csr, request, &self.x, &mut self.y)?;
        gpu.synchronize()?;
        let mut setup = (clock.now() - start).saturating_sub(gpu.compile_time() - compiled);
        if let Some((before, now)) = modelled.zip(gpu.modelled()) {
            setup = setup.saturating_sub(now.host_time - before.host_time) + (now.device_time - before.device_time);
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

    fn evict_caches(&mut self, _: &PreparedOnGpu<'a, T>, _: bool) -> Result<(), Failed> {
        if self.bench.settings.cache == CacheState::Hot {
            return Ok(());
        }
        self.gpu().evict();
        self.forget()
    }

    fn time(&mut self, prepared: &mut PreparedOnGpu<'a, T>, calls: Calls) -> Result<Duration, Failed> {
        let (alpha, beta) = self.bench.settings.factors();
        match calls {
            Calls::Empty => self.probe.time_until_idle(|| self.probe.launch_empty()),
            Calls::Alone => {
                let Self { probe, x, y, .. } = self;
                probe.time_until_idle(|| prepared.multiply(alpha, x, beta, y))
            }
            Calls::Cold => {
                self.forget()?;
                self.time_in_stream(prepared, calls)
            }
            _ => self.time_in_stream(prepared, calls),
        }
    }

    fn parts(&mut self, prepared: &mut PreparedOnGpu<'a, T>) -> Result<Parts, Failed> {
        // Modelled times do not vary, and one product is enough to find the longest kernel.
        let average = self.bench.settings.stages && self.warming_products().is_none();
        let products = if average { STAGE_PRODUCTS } else { 1 };
        let gpu = self.gpu();
        let (alpha, beta) = self.bench.settings.factors();
        let before = gpu.launches();
        let Self { x, y, .. } = self;
        let stages = gpu.stages(products, || prepared.multiply(alpha, x, beta, y))?;
        let launches = (gpu.launches() - before) / products as u64;
        let launch_floor_ms = Some(launches as f64 * (1e3 * self.launch_time.as_secs_f64()));
        Ok(Parts { stages, launches: Some(launches), launch_floor_ms, note: None })
    }

    fn load(&mut self, prepared: &mut PreparedOnGpu<'a, T>, time: Duration) -> Result<Option<Clocks>, Failed> {
        let gpu = self.gpu();
        if time.is_zero() && gpu.clocks().is_none() {
            return Ok(None);
        }
        let (clock, (alpha, beta)) = (self.bench.clock, self.bench.settings.factors());
        let Self { probe, x, y, .. } = self;
        let mut products = |count| (0..count).try_for_each(|_| prepared.multiply(alpha, x, beta, y));
        let (mut batch, mut passed) = (1, Duration::ZERO);
        while batch < MOST_UNDER_LOAD {
            let start = clock.now();
            // The times of these batches are not reported, so none is repeated.
            let timing = probe.time(1, Duration::ZERO, || products(batch))?;
            // On a modelled device the wall time may be far longer than the modelled time.
            let took = timing.device.max(clock.now() - start);
            passed += took;
            if took < UNDER_LOAD {
                batch *= 2;
            } else if passed >= time {
                break;
            }
        }
        // The clocks are read while the last batch runs.
        products(batch)?;
        let clocks = gpu.clocks();
        gpu.synchronize()?;
        Ok(clocks)
    }

    fn host_launch(&self) -> Option<Duration> {
        Some(self.host_launch)
    }

    fn most_products(&self) -> usize {
        (MOST_LAUNCHES / self.launches.max(1)).max(1) as usize
    }
}

impl<'a, T: Value> OnGpu<'a, T> {
    /// Times products that follow each other in the stream, between two events.
    fn time_in_stream(&mut self, prepared: &mut PreparedOnGpu<'a, T>, calls: Calls) -> Result<Duration, Failed> {
        let gpu = self.gpu();
        let (alpha, beta) = self.bench.settings.factors();
        let Self { probe, x, y, before, .. } = self;
        let products = calls.products();
        let (mut launched, mut number) = (0, 0);
        let timing = probe.time(products, self.host_launch * products as u32, || {
            let launches = gpu.launches();
            calls.call(number, x, [before, y], |x, y| prepared.multiply(alpha, x, beta, y))?;
            launched = gpu.launches() - launches;
            // Products that are timed again begin with the first one.
            number = (number + 1) % products;
            Ok(())
        })?;
        let is_call = prepared.library_version.is_some() || prepared.is_foreign;
        self.launches = if is_call { LAUNCHES_OF_CALL * launched } else { launched };
        self.host_launch = timing.host / products as u32;
        Ok(timing.device)
    }
}

impl<T: Value> Machine for OnGpu<'_, T> {
    const DEVICE: Device = Device::Gpu;

    fn warming_products(&self) -> Option<usize> {
        self.gpu().modelled()?;
        let facts = self.gpu().facts();
        let bytes = footprint(&self.csr.host) as u64;
        Some(if self.bench.settings.cache != CacheState::Hot || bytes > 2 * facts.l2_bytes {
            0
        } else if 2 * bytes <= facts.l2_bytes / facts.l2_copies() {
            1
        } else {
            4
        })
    }

    fn cure(&mut self, problem: Cure) {
        self.gpu().cure(problem);
    }

    /// Returns the free memory, less the buffer on which bandwidth is measured.
    fn available(&self, matrix: &Extent, _: u64) -> Result<Available, Failed> {
        let Available { bytes, by } = free(self.gpu())?;
        Ok(Available { bytes: bytes.saturating_sub(need::sweeps(matrix)), by })
    }

    fn measure_peak(&mut self) -> Result<(), Failed> {
        let cold = self.bench.settings.cache == CacheState::Cold;
        self.undisturbed(|Self { sweeps, probe, evictor, .. }| {
            sweeps.measure(probe, PEAK_REPETITIONS, evictor.as_ref().filter(|_| cold))
        })
    }

    fn peak(&self) -> Peak {
        let Some(modelled) = self.gpu().modelled() else {
            return peak::of_gpu(self.gpu(), &self.sweeps);
        };
        let gbs = modelled.memory_gbs;
        Peak::Gpu { copy_gbs: gbs, read_gbs: gbs, nominal_gbs: self.gpu().facts().nominal_gbs() }
    }

    fn cache_gbs(&mut self, bytes: u64) -> Result<f64, Failed> {
        let bytes = bytes.min(self.gpu().facts().l2_bytes) as usize;
        let mut sweeps = DeviceSweeps::new(self.gpu(), bytes);
        self.undisturbed(|Self { probe, .. }| sweeps.measure(probe, PEAK_REPETITIONS, None))?;
        Ok(peak::of_gpu(self.gpu(), &sweeps).gbs())
    }

    fn energy(&self) -> Option<Energy> {
        self.gpu().energy()
    }

    fn wait(&mut self) -> Result<(), Failed> {
        self.gpu().synchronize()
    }

    fn forget(&mut self) -> Result<(), Failed> {
        self.evictor.as_ref().map_or(Ok(()), |evictor| self.probe.empty_l2(evictor))
    }

    /// Synchronises the device to find out: after an illegal memory access, every later call in the same CUDA context
    /// returns the same error.
    fn is_lost(&self) -> bool {
        self.gpu().synchronize().is_err()
    }
}

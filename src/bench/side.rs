//! The two sides that a product may run on: where its vectors lie, how its time is taken and how the
//! caches before it are emptied.

use std::time::Duration;

use super::evict::Evictor;
use super::execute::Bench;
use super::metrics::compulsory_bytes;
use super::peak::{CopySweep, Peak, Sweeps};
use super::plan::Cache;
use crate::device::buffer::Value;
use crate::device::{Buffer, DeviceCsr, Gpu, Stage};
use crate::matrix::Csr;
use crate::method::{Choice, Device, Failed, Prepared, Request, Unprepared, Values};
use crate::scalar::Scalar;

/// How long other threads (a library's, or the team's own) get to fall asleep before a method's turn.
pub const SETTLE: Duration = Duration::from_millis(2);
/// How often each round looks at the bandwidth.
const PEAK_LOOKS: usize = 3;

/// α and β.
pub type Factors<T> = (T, T);

/// Host or GPU, with x and y there.
pub trait Side<'a, T> {
    /// The type of x and y.
    type Vector: Values + ?Sized;
    /// Which of the two it is.
    const DEVICE: Device;

    /// Prepares a method of this side; the time, without what compiling its kernels took.
    fn prepare(
        &mut self,
        choice: &Choice,
        request: &Request<'a>,
    ) -> Result<(Prepared<'a, T, Self::Vector>, Duration), Unprepared>;
    /// Overwrites y.
    fn set_y(&mut self, y: &[T]) -> Result<(), Failed>;
    /// What y holds, after all products.
    fn y(&mut self) -> Result<&[T], Failed>;
    /// Runs a product.
    fn multiply(
        &mut self,
        prepared: &mut Prepared<'a, T, Self::Vector>,
        factors: Factors<T>,
    ) -> Result<(), Failed>;
    /// The time of a batch of products.
    fn time(
        &mut self,
        prepared: &mut Prepared<'a, T, Self::Vector>,
        factors: Factors<T>,
        products: usize,
    ) -> Result<Duration, Failed>;
    /// The times of the product's parts, as the mean of `products`; none where it has no parts.
    fn stages(
        &mut self,
        prepared: &mut Prepared<'a, T, Self::Vector>,
        factors: Factors<T>,
        products: usize,
    ) -> Result<Vec<Stage>, Failed>;
    /// With `--cache cold`, empties the caches before a sample.
    fn chill(&mut self, prepared: &Prepared<'a, T, Self::Vector>) -> Result<(), Failed>;
    /// Measures the ceiling.
    fn look_at_peak(&mut self) -> Result<(), Failed>;
    /// The ceiling so far.
    fn peak(&self) -> Peak;
}

/// The host's cores and memory.
pub struct Host<'a, T> {
    bench: &'a Bench<'a>,
    csr: &'a Csr<T>,
    x: Vec<T>,
    y: Vec<T>,
    sweeps: Sweeps,
    evictor: Option<Evictor>,
}

impl<'a, T: Scalar> Host<'a, T> {
    /// With `x`, and y all zero.
    pub fn new(bench: &'a Bench<'a>, csr: &'a Csr<T>, x: Vec<T>) -> Self {
        let cold = bench.settings.cache == Cache::Cold;
        Self {
            bench,
            csr,
            x,
            y: vec![T::zero(); csr.rows],
            sweeps: Sweeps::new(bench.team, footprint(csr)),
            evictor: cold.then(Evictor::of_machine),
        }
    }
}

impl<'a, T: Scalar> Side<'a, T> for Host<'a, T> {
    type Vector = [T];
    const DEVICE: Device = Device::Cpu;

    fn prepare(
        &mut self,
        choice: &Choice,
        request: &Request<'a>,
    ) -> Result<(Prepared<'a, T>, Duration), Unprepared> {
        let prepare = choice.method.prepare::<T>().expect("a method of the CPU");
        let clock = self.bench.clock;
        clock.pause(SETTLE);
        let start = clock.now();
        let prepared = prepare(self.csr, request)?;
        Ok((prepared, clock.now() - start))
    }

    fn set_y(&mut self, y: &[T]) -> Result<(), Failed> {
        self.y.copy_from_slice(y);
        Ok(())
    }

    fn y(&mut self) -> Result<&[T], Failed> {
        Ok(&self.y)
    }

    fn multiply(
        &mut self,
        prepared: &mut Prepared<'a, T>,
        (alpha, beta): Factors<T>,
    ) -> Result<(), Failed> {
        prepared.multiply(alpha, &self.x, beta, &mut self.y)
    }

    fn time(
        &mut self,
        prepared: &mut Prepared<'a, T>,
        factors: Factors<T>,
        products: usize,
    ) -> Result<Duration, Failed> {
        let start = self.bench.clock.now();
        for _ in 0..products {
            self.multiply(prepared, factors)?;
        }
        Ok(self.bench.clock.now() - start)
    }

    fn stages(
        &mut self,
        _: &mut Prepared<'a, T>,
        _: Factors<T>,
        _: usize,
    ) -> Result<Vec<Stage>, Failed> {
        Ok(Vec::new())
    }

    /// Evicts, lets all threads fall asleep, and wakes those that the product will run on, so that it
    /// meets cold caches but no sleeping or competing threads.
    fn chill(&mut self, prepared: &Prepared<'a, T>) -> Result<(), Failed> {
        let Some(evictor) = &mut self.evictor else { return Ok(()) };
        let Bench { team, clock, .. } = *self.bench;
        evictor.evict(team);
        clock.pause(SETTLE);
        match prepared.wake {
            Some(wake) => wake(),
            None => team.run(|_| ()),
        }
        Ok(())
    }

    fn look_at_peak(&mut self) -> Result<(), Failed> {
        let Bench { team, clock, .. } = *self.bench;
        clock.pause(SETTLE);
        for _ in 0..PEAK_LOOKS {
            let evict = self.evictor.as_mut().map(|evictor| move || evictor.evict(team));
            self.sweeps.look(team, clock, evict);
        }
        Ok(())
    }

    fn peak(&self) -> Peak {
        self.sweeps.best()
    }
}

/// A GPU and its memory. Its time is taken on the device, by events around a batch.
pub struct OnGpu<'a, T> {
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

impl<'a, T: Value> OnGpu<'a, T> {
    /// With `x`, and y arbitrary.
    pub fn new(bench: &'a Bench<'a>, csr: &'a DeviceCsr<'a, T>, x: &[T]) -> Result<Self, Failed> {
        let gpu = &csr.gpu;
        let cold = bench.settings.cache == Cache::Cold;
        let evictor = cold.then(|| gpu.allocate(2 * gpu.facts().l2_bytes as usize));
        Ok(Self {
            x: gpu.upload(x)?,
            y: gpu.allocate(csr.host.rows)?,
            host_y: vec![T::zero(); csr.host.rows],
            sweep: CopySweep::new(gpu, footprint(csr.host))?,
            evictor: evictor.transpose()?,
            bench,
            csr,
        })
    }

    fn gpu(&self) -> &'a Gpu {
        &self.csr.gpu
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
        let (gpu, clock) = (self.gpu(), self.bench.clock);
        gpu.synchronize()?;
        let (start, held, compiled) = (clock.now(), gpu.allocated_bytes(), gpu.compile_time());
        let mut prepared = prepare(self.csr, request)?;
        gpu.synchronize()?;
        let setup = (clock.now() - start).saturating_sub(gpu.compile_time() - compiled);
        prepared.extra_bytes = Some(gpu.allocated_bytes() - held);
        Ok((prepared, setup))
    }

    fn set_y(&mut self, y: &[T]) -> Result<(), Failed> {
        self.y.upload(y)
    }

    fn y(&mut self) -> Result<&[T], Failed> {
        self.y.download(&mut self.host_y)?;
        Ok(&self.host_y)
    }

    fn multiply(
        &mut self,
        prepared: &mut Prepared<'a, T, Buffer<T>>,
        (alpha, beta): Factors<T>,
    ) -> Result<(), Failed> {
        prepared.multiply(alpha, &self.x, beta, &mut self.y)
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
        (0..PEAK_LOOKS).try_for_each(|_| self.sweep.look(self.evictor.as_mut()))
    }

    fn peak(&self) -> Peak {
        self.sweep.best()
    }
}

fn footprint<T: Scalar>(csr: &Csr<T>) -> usize {
    compulsory_bytes(csr.rows, csr.cols, csr.nnz(), T::PRECISION) as usize
}

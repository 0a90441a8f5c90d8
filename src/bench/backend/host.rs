//! The backend for the host: its cores and its memory.

use std::hint::black_box;
use std::time::Duration;

use rand::rngs::Xoshiro256PlusPlus;

use super::{Backend, Factors, PEAK_REPETITIONS, SETTLE, footprint};
use crate::bench::alteration::Alteration;
use crate::bench::evict::Evictor;
use crate::bench::execute::Bench;
use crate::bench::inputs::Inputs;
use crate::bench::peak::{Peak, Sweeps};
use crate::bench::plan::CacheState;
use crate::bench::rehearsal;
use crate::matrix::Csr;
use crate::memory::Available;
use crate::memory::extent::Extent;
use crate::method::{Choice, Device, Failed, Prepared, Request, Unprepared};
use crate::scalar::Scalar;
use crate::system;

/// The backend for the host. Times are differences between two readings of [`Bench::clock`].
pub struct Host<'a, T> {
    bench: &'a Bench<'a>,
    csr: &'a Csr<T>,
    x: Vec<T>,
    y: Vec<T>,
    sweeps: Sweeps,
    evictor: Option<Evictor>,
}

impl<'a, T: Scalar> Host<'a, T> {
    /// Copies `x` and fills y with zeros.
    pub fn new(bench: &'a Bench<'a>, csr: &'a Csr<T>, x: &[T]) -> Self {
        let cold = bench.settings.cache == CacheState::Cold;
        let outputs = if bench.settings.transpose { csr.cols } else { csr.rows };
        Self {
            bench,
            csr,
            x: x.to_vec(),
            y: vec![T::zero(); outputs],
            sweeps: Sweeps::new(bench.team, footprint(csr)),
            evictor: cold.then(Evictor::of_machine),
        }
    }

    fn multiply(
        &mut self,
        prepared: &mut Prepared<'a, T>,
        (alpha, beta): Factors<T>,
    ) -> Result<(), Failed> {
        prepared.multiply(alpha, &self.x, beta, &mut self.y)
    }
}

impl<'a, T: Scalar> Backend<'a, T> for Host<'a, T> {
    type Vector = [T];
    const DEVICE: Device = Device::Cpu;

    fn rehearse(&mut self, choice: &Choice, request: &Request) -> Result<(), Unprepared> {
        let small = rehearsal::matrix::<T>();
        let prepare = choice.method.prepare::<T>().expect("a method of the CPU");
        let (x, mut y) = (vec![T::one(); small.cols()], vec![T::one(); small.rows()]);
        let (alpha, beta) = (T::narrow(request.alpha), T::narrow(request.beta));
        Ok(prepare(&small, request)?.multiply(alpha, &x, beta, &mut y)?)
    }

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

    fn room(&self, matrix: &Extent, kept: u64) -> Result<Available, Failed> {
        let settings = self.bench.settings;
        Ok(Available::now(settings.max_memory, matrix.run(settings) + kept))
    }

    fn alter(&self, inputs: &Inputs<T>, random: &mut Xoshiro256PlusPlus) -> Alteration<T> {
        Alteration::new(self.csr, self.bench.settings.transpose, inputs, random)
    }

    fn set_x(&mut self, x: &[T], changed: &[usize]) -> Result<(), Failed> {
        changed.iter().for_each(|&index| self.x[index] = x[index]);
        Ok(())
    }

    fn edit_y(&mut self, edit: &mut dyn FnMut(&mut [T])) -> Result<(), Failed> {
        edit(&mut self.y);
        Ok(())
    }

    /// `black_box` forces y to be read from memory again: a library's thread that still runs may have written to it,
    /// which the compiler cannot see.
    fn y(&mut self) -> Result<&[T], Failed> {
        let y: &mut [T] = black_box(&mut self.y);
        Ok(y)
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

    /// Evicts the caches, waits until idle threads sleep, and wakes the threads that the product runs on. The product
    /// then starts with cold caches, but waits for no sleeping thread and competes with no spinning one.
    fn evict_caches(&mut self, prepared: &Prepared<'a, T>) -> Result<(), Failed> {
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

    fn measure_peak(&mut self) -> Result<(), Failed> {
        let Bench { team, clock, .. } = *self.bench;
        clock.pause(SETTLE);
        for _ in 0..PEAK_REPETITIONS {
            let evict = self.evictor.as_mut().map(|evictor| move || evictor.evict(team));
            self.sweeps.measure(team, clock, evict);
        }
        Ok(())
    }

    fn cache_gbs(&mut self, bytes: u64) -> Result<f64, Failed> {
        let Bench { team, clock, .. } = *self.bench;
        let bytes = bytes.min(system::cache_bytes()) as usize;
        let rates = (0..PEAK_REPETITIONS).map(|_| self.sweeps.measure_part(bytes, team, clock));
        Ok(rates.fold(0.0, f64::max))
    }

    fn peak(&self) -> Peak {
        self.sweeps.best()
    }
}

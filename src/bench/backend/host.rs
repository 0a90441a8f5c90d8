//! The backend for the host: its cores and its memory.

use std::hint::black_box;
use std::time::Duration;

use rand::rngs::Xoshiro256PlusPlus;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::rehearsal::rehearsal_matrix;
use super::traits::{Machine, PEAK_REPETITIONS, Parts, SETTLE, Timer, Vectors};
use crate::bench::alteration::Alteration;
use crate::bench::calls::Calls;
use crate::bench::chains::second_y;
use crate::bench::contract::{Bench, is_of_library};
use crate::bench::guarded::Guarded;
use crate::bench::inputs::Inputs;
use crate::bench::need::{self, footprint};
use crate::bench::peak::Sweeps;
use spmv_matrix::Csr;
use spmv_matrix::memory::Available;
use spmv_matrix::memory::extent::Extent;
use spmv_matrix::scalar::Scalar;
use spmv_matrix::system;
use spmv_matrix::system::allocated::Allocated;
use spmv_matrix::system::huge::HUGE_PAGE;
use spmv_matrix::system::processes::threads_on_own_cpu;
use spmv_matrix::system::usage::transferred;
use spmv_matrix::verify::Reference;
use spmv_methods::device::facts::Energy;
use spmv_methods::method::{Choice, Device, Failed, Prepared, Request, Unprepared};
use spmv_methods::plugin::{Thread, Threads};
use spmv_methods::team::sweeps::Evictor;
use spmv_results::metrics::Peak;
use spmv_results::settings::CacheState;

/// The bytes of files that a plug-in may read or write in its setup without a remark.
const MOST_OF_FILES: u64 = 64 << 10;
/// The size of the smallest page.
const PAGE: usize = 4096;

/// What a product has changed if it writes beyond the ends of y.
const OUTSIDE_Y: &str = "the memory before or after y";

/// The backend for the host. Times are differences between two readings of [`Bench::clock`].
pub struct Host<'a, T> {
    bench: &'a Bench<'a>,
    csr: &'a Csr<T>,
    x: Guarded<T>,
    /// Another x, for probes.
    staged: Guarded<T>,
    y: Guarded<T>,
    /// The y of the product before, if products form chains; otherwise empty.
    before: Guarded<T>,
    /// A hash of the matrix, if code of a plug-in or of a library runs.
    hash: Option<u64>,
    /// The state of the team's threads, if code of a plug-in runs.
    threads: Option<Threads<'a>>,
    is_damaged: bool,
    sweeps: Sweeps,
    evictor: Option<Evictor>,
    /// The one for single products with cold caches, if samples are hot; until the next round.
    spare: Option<Evictor>,
}

/// Calls `call`. If code of a plug-in runs in it, checks that it leaves the calling thread as it was. The team is not
/// used here: its threads would spin for a while afterwards, in the way of those of OpenMP.
fn watched<R, E: From<Failed>>(is_foreign: bool, call: impl FnOnce() -> Result<R, E>) -> Result<R, E> {
    let before = is_foreign.then(Thread::now);
    let result = call();
    let checked = before.map_or(Ok(()), |before| before.check());
    let result = result?;
    Ok(checked.map(|()| result)?)
}

/// Returns remarks on the setup of a plug-in, which has read or written so many bytes of files.
fn remarks(bytes: u64) -> Vec<String> {
    let mut remarks = Vec::new();
    if bytes > MOST_OF_FILES {
        let megabytes = 1e-6 * bytes as f64;
        remarks.push(format!("its setup has read or written {megabytes:.1} MB of files"));
    }
    let crowded = threads_on_own_cpu();
    if crowded > 0 {
        remarks.push(format!(
            "{crowded} threads of the process may run only on the CPU of the calling thread: bind those of OpenMP as \
             threads.h does"
        ));
    }
    remarks
}

impl<'a, T: Scalar> Host<'a, T> {
    pub fn new(bench: &'a Bench<'a>, csr: &'a Csr<T>, x: &[T]) -> Self {
        let cold = bench.settings.cache == CacheState::Cold;
        let outputs = if bench.settings.transpose { csr.cols() } else { csr.rows() };
        Self {
            bench,
            csr,
            x: Guarded::new(x),
            staged: Guarded::new(x),
            y: Guarded::new(&vec![T::zero(); outputs]),
            before: Guarded::new(&vec![T::zero(); second_y(bench.settings, outputs)]),
            hash: None,
            threads: None,
            is_damaged: false,
            sweeps: Sweeps::new(bench.team, need::host_sweeps(footprint(csr) as u64) as usize),
            evictor: cold.then(|| Evictor::of(bench.team)),
            spare: None,
        }
    }

    fn hash(&self) -> u64 {
        let indices = [self.csr.row_offsets(), self.csr.column_indices()];
        let arrays = indices.map(bytemuck::cast_slice).into_iter();
        let arrays = arrays.chain([bytemuck::cast_slice::<_, u8>(self.csr.values())]);
        arrays.fold(0, |hash, array| xxh3_64_with_seed(array, hash))
    }

    /// Returns an error if there is damage, after which the process should end.
    fn note_damage(&mut self, damage: Option<&str>) -> Result<(), Failed> {
        self.is_damaged |= damage.is_some();
        damage.map_or(Ok(()), |what| Err(Failed(format!("it has changed {what}"))))
    }

    fn damage(&self, is_of_others: bool, x: &[T]) -> Option<&'static str> {
        let bytes = bytemuck::cast_slice::<T, u8>;
        if !(self.y.is_intact() && self.before.is_intact()) {
            Some(OUTSIDE_Y)
        } else if !(self.x.is_intact() && self.staged.is_intact()) {
            Some("the memory before or after x")
        } else if bytes(&self.x) != bytes(x) {
            Some("x")
        } else if is_of_others && self.hash.is_some_and(|hash| hash != self.hash()) {
            Some("the matrix")
        } else {
            None
        }
    }

    /// Lets the system provide so many bytes of memory that the next setup may take. The host of a virtual machine may
    /// need much longer for a page than the system, and not for each: one setup would be ten times as long as another.
    /// Each thread touches its part, because pages that a thread has released go to threads on the same CPU first.
    fn supply(&self, bytes: u64) {
        let part = bytes as usize / self.bench.team.len();
        if part < HUGE_PAGE {
            return;
        }
        self.bench.team.run(|_| {
            let mut pages = Vec::<u8>::new();
            // If there is less memory than it seemed, the setup will show it.
            let _ = pages.try_reserve_exact(part);
            let touched = pages.spare_capacity_mut().chunks_mut(PAGE);
            touched.for_each(|page| _ = page[0].write(1));
            black_box(pages);
        });
    }

    /// Evicts the caches before a single product. Without the memory for it, they stay hot if they are so for samples.
    fn evict_once(&mut self) {
        let available = Available::now(self.bench.max_memory, Evictor::most_bytes());
        if self.evictor.is_none() && self.spare.is_none() && available.bytes > 0 {
            self.spare = Some(Evictor::of(self.bench.team));
        }
        if let Some(evictor) = self.evictor.as_mut().or(self.spare.as_mut()) {
            evictor.evict(self.bench.team);
        }
    }
}

impl<T: Scalar> Vectors<T> for Host<'_, T> {
    fn alter(&self, inputs: &Inputs<T>, random: &mut Xoshiro256PlusPlus) -> Alteration<T> {
        Alteration::new(self.csr, inputs, random)
    }

    fn renew(&self, inputs: &Inputs<T>, random: &mut Xoshiro256PlusPlus) -> (Vec<T>, Reference) {
        inputs.renewed(self.csr, random)
    }

    fn set_x(&mut self, x: &[T], changed: Option<&[usize]>) -> Result<(), Failed> {
        match changed {
            None => self.x.copy_from_slice(x),
            Some(changed) => changed.iter().for_each(|&index| self.x[index] = x[index]),
        }
        Ok(())
    }

    fn stage_x(&mut self, x: &[T]) -> Result<(), Failed> {
        self.staged.copy_from_slice(x);
        Ok(())
    }

    fn exchange_x(&mut self, _: &[T]) -> Result<(), Failed> {
        std::mem::swap(&mut self.x, &mut self.staged);
        Ok(())
    }

    fn write_y(&mut self, write: &mut dyn FnMut(&mut [T])) -> Result<(), Failed> {
        write(&mut self.y);
        Ok(())
    }

    /// `black_box` forces y to be read from memory again: a library's thread that still runs may have written to it,
    /// which the compiler cannot see.
    fn y(&mut self) -> Result<&[T], Failed> {
        let y: &mut [T] = black_box(&mut self.y);
        Ok(y)
    }

    fn check_memory(&mut self, is_of_others: bool, x: &[T]) -> Result<(), Failed> {
        self.note_damage(self.damage(is_of_others, x))
    }
}

impl<'a, T: Scalar> Timer<'a, T> for Host<'a, T> {
    type Vector = [T];

    fn rehearse(&mut self, choice: &Choice, request: &Request) -> Result<(), Unprepared> {
        let small = rehearsal_matrix::<T>();
        let mut y = Guarded::new(&vec![T::one(); small.rows()]);
        let x = vec![T::one(); small.cols()];
        let (alpha, beta) = (T::narrow(request.alpha), T::narrow(request.beta));
        let _released = choice.method.is_custom().then(|| request.team.release());
        watched(choice.method.is_custom(), || -> Result<_, Unprepared> {
            let mut prepared = choice.method.prepare_on_host(&small, request)?;
            prepared.multiply(alpha, &x, beta, &mut y)?;
            // The threads of a library exist before its memory is measured.
            prepared.wake.iter().for_each(|wake| wake());
            Ok(())
        })?;
        let damage = (!y.is_intact()).then_some(OUTSIDE_Y);
        Ok(self.note_damage(damage)?)
    }

    fn prepare(
        &mut self,
        choice: &Choice,
        request: &Request<'a>,
        room: u64,
    ) -> Result<(Prepared<'a, T>, Duration), Unprepared> {
        self.supply(room);
        let clock = self.bench.clock;
        let is_foreign = choice.method.is_custom();
        if is_foreign && self.threads.is_none() {
            self.threads = Some(Threads::now(self.bench.team));
        }
        let is_library = is_of_library(choice);
        if (is_foreign || is_library) && self.hash.is_none() {
            self.hash = Some(self.hash());
        }
        clock.pause(SETTLE);
        let released = is_foreign.then(|| request.team.release());
        let before = (is_foreign || is_library).then(Allocated::now).flatten();
        let transferred_before = transferred();
        let (mut prepared, time) = watched(is_foreign, || -> Result<_, Unprepared> {
            let start = clock.now();
            let prepared = choice.method.prepare_on_host(self.csr, request)?;
            Ok((prepared, clock.now() - start))
        })?;
        if prepared.extra_bytes.is_none() {
            prepared.grown_bytes = before.and_then(|before| Allocated::now()?.since(&before));
        }
        drop(released);
        if is_foreign {
            prepared = prepared.with_notes(remarks(transferred() - transferred_before));
        }
        Ok((prepared, time))
    }

    /// Evicts the caches, waits until idle threads sleep, and wakes the threads that the product runs on. The product
    /// then starts with cold caches, but waits for no sleeping thread and competes with no spinning one.
    fn evict_caches(&mut self, prepared: &Prepared<'a, T>, is_parallel: bool) -> Result<(), Failed> {
        let Some(evictor) = &mut self.evictor else { return Ok(()) };
        let Bench { team, clock, .. } = *self.bench;
        evictor.evict(team);
        clock.pause(SETTLE);
        match prepared.wake {
            Some(wake) => wake(),
            None if is_parallel => team.run(|_| ()),
            None => (),
        }
        Ok(())
    }

    fn time(&mut self, prepared: &mut Prepared<'a, T>, calls: Calls) -> Result<Duration, Failed> {
        if calls == Calls::Cold {
            self.evict_once();
        }
        let (alpha, beta) = self.bench.settings.factors();
        let Self { bench, x, y, before, .. } = self;
        watched(prepared.is_foreign, || {
            let start = bench.clock.now();
            match calls {
                Calls::Batch(products) => prepared.repeat(products, alpha, x, beta, y)?,
                Calls::Each(_) | Calls::Chained(_) | Calls::Alone | Calls::Cold => {
                    for number in 0..calls.products() {
                        calls.call(number, x, [before, y], |x, y| prepared.multiply(alpha, x, beta, y))?;
                    }
                }
                Calls::Empty => (),
            }
            Ok(bench.clock.now() - start)
        })
    }

    /// Returns nothing: products on the host are one part.
    fn parts(&mut self, _: &mut Prepared<'a, T>) -> Result<Parts, Failed> {
        Ok(Parts::default())
    }
}

impl<T: Scalar> Machine for Host<'_, T> {
    const DEVICE: Device = Device::Cpu;

    fn available(&self, matrix: &Extent, kept: u64) -> Result<Available, Failed> {
        let held = need::run(matrix, self.bench.settings) + kept;
        Ok(Available::now(self.bench.max_memory, held))
    }

    fn measure_peak(&mut self) -> Result<(), Failed> {
        self.spare = None;
        let Bench { team, clock, .. } = *self.bench;
        clock.pause(SETTLE);
        for _ in 0..PEAK_REPETITIONS {
            let evict = self.evictor.as_mut().map(|evictor| move || evictor.evict(team));
            self.sweeps.measure(team, clock, evict);
        }
        Ok(())
    }

    fn peak(&self) -> Peak {
        self.sweeps.best()
    }

    fn cache_gbs(&mut self, bytes: u64) -> Result<f64, Failed> {
        let Bench { team, clock, .. } = *self.bench;
        let bytes = bytes.min(system::cache_bytes()) as usize;
        let rates = (0..PEAK_REPETITIONS).map(|_| self.sweeps.measure_part(bytes, team, clock));
        Ok(rates.fold(0.0, f64::max))
    }

    fn energy(&self) -> Option<Energy> {
        Some(Energy { joules: self.bench.rapl?.joules()?, watts: None })
    }

    fn can_use(&self, joules: f64, time: Duration) -> bool {
        self.bench.rapl.is_some_and(|rapl| rapl.can_be(joules, time.as_secs_f64()))
    }

    fn check_threads(&mut self, is_foreign: bool) -> Result<(), Failed> {
        let threads = self.threads.as_ref().filter(|_| is_foreign);
        threads.map_or(Ok(()), Threads::check)
    }

    fn is_lost(&self) -> bool {
        self.is_damaged
    }
}

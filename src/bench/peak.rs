//! The peak bandwidth that this machine reaches with these threads on a given number of bytes. The rates of
//! products are compared with it.
//!
//! On the host there are two sweeps over three arrays that together are as large as the matrix and its vectors, but at
//! most a multiple of the caches: the STREAM triad a = b + s·c, and a sum of all three arrays, which only reads, as an
//! SpMV mostly does. Each counts 24 bytes per element, without the write-allocate traffic of the triad; the higher rate
//! is the peak. Each thread sweeps its part several times per parallel region, so that the time to enter the region is
//! negligible. On a GPU the peak is likewise the higher rate of a copy within its memory and a read-only sweep, on one
//! buffer as large as the matrix and its vectors.

use std::time::Duration;

use super::clock::Clock;
use spmv_methods::device::Gpu;
use spmv_methods::device::probe::DeviceSweeps;
use spmv_methods::team::Team;
use spmv_methods::team::sweeps::Arrays;
use spmv_results::metrics::Peak;

/// Returns the peak of a GPU: its nominal bandwidth, and the best rates of sweeps over its memory.
pub fn of_gpu(gpu: &Gpu, sweeps: &DeviceSweeps) -> Peak {
    let [copy_gbs, read_gbs] = sweeps.best_gbs;
    Peak::Gpu { copy_gbs, read_gbs, nominal_gbs: gpu.facts().nominal_gbs() }
}

pub struct Sweeps {
    arrays: Arrays,
    triad_gbs: f64,
    read_gbs: f64,
}

/// The approximate minimum duration of a parallel region.
const MIN_REGION: Duration = Duration::from_micros(200);
const BYTES_PER_ELEMENT: usize = 24;
/// The minimum number of elements of an array that are swept.
const MIN_ELEMENTS: usize = 512;

impl Sweeps {
    /// Allocates three arrays of about `bytes` together.
    pub fn new(team: &Team, bytes: usize) -> Self {
        let arrays = Arrays::new(team, bytes.div_ceil(BYTES_PER_ELEMENT).max(MIN_ELEMENTS));
        Self { arrays, triad_gbs: 0.0, read_gbs: 0.0 }
    }

    /// Times both sweeps once and keeps the best rates. `evict` empties the caches outside the timed region; with
    /// it a region is a single sweep.
    pub fn measure(&mut self, team: &Team, clock: &dyn Clock, evict: Option<impl FnMut()>) {
        let [triad_gbs, read_gbs] = self.rates(self.arrays.len(), team, clock, evict);
        self.triad_gbs = self.triad_gbs.max(triad_gbs);
        self.read_gbs = self.read_gbs.max(read_gbs);
    }

    /// Returns the higher rate of both sweeps over the first `bytes` only, in GB/s.
    pub fn measure_part(&mut self, bytes: usize, team: &Team, clock: &dyn Clock) -> f64 {
        let len = bytes.div_ceil(BYTES_PER_ELEMENT).clamp(MIN_ELEMENTS, self.arrays.len());
        self.rates(len, team, clock, None::<fn()>).into_iter().fold(0.0, f64::max)
    }

    pub fn best(&self) -> Peak {
        Peak::Host { triad_gbs: self.triad_gbs, read_gbs: self.read_gbs }
    }

    /// Returns the rates of triad and read over the first `len` elements, in GB/s.
    fn rates(&mut self, len: usize, team: &Team, clock: &dyn Clock, mut evict: Option<impl FnMut()>) -> [f64; 2] {
        // 10 GB/s per thread is a low guess: faster threads only make the region shorter.
        let guess = (len * BYTES_PER_ELEMENT) as f64 / (10e9 * team.len() as f64);
        let repeats = if evict.is_some() { 1.0 } else { (MIN_REGION.as_secs_f64() / guess).ceil() };
        let bytes = (len * BYTES_PER_ELEMENT) as f64 * repeats;
        let repeats = repeats as usize;
        let mut gbs = |sweep: &mut dyn FnMut()| {
            evict.iter_mut().for_each(|evict| evict());
            let start = clock.now();
            sweep();
            bytes / (clock.now() - start).as_secs_f64() / 1e9
        };
        let triad_gbs = gbs(&mut || self.arrays.triad(len, team, repeats));
        [triad_gbs, gbs(&mut || self.arrays.read(len, team, repeats))]
    }
}

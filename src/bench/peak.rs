//! The bandwidth that this machine reaches now, with these threads, on this many bytes: the ceiling
//! that products are held against.
//!
//! Two sweeps over three arrays that together are as large as the matrix and its vectors: the STREAM
//! triad a = b + s·c, and a sum of all three, which only reads, as an SpMV mostly does. Each is
//! counted by what it names (24 bytes per element); the larger is the ceiling. Inside the region each
//! thread sweeps its part often enough that entering the region does not count.

use std::hint::black_box;
use std::time::Duration;

use serde::Serialize;

use super::clock::Clock;
use crate::methods::simd::{Isa, Kernel, Vector};
use crate::team::{DisjointMut, Team};

/// Best rates seen, in GB/s (10^9).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Peak {
    /// STREAM triad.
    pub triad_gbs: f64,
    /// Read-only sweep.
    pub read_gbs: f64,
}

impl Peak {
    /// The larger.
    pub fn gbs(&self) -> f64 {
        self.triad_gbs.max(self.read_gbs)
    }

    fn max(self, other: Self) -> Self {
        Self {
            triad_gbs: self.triad_gbs.max(other.triad_gbs),
            read_gbs: self.read_gbs.max(other.read_gbs),
        }
    }
}

/// The three arrays, touched first by the threads that sweep them.
pub struct Sweeps {
    arrays: [Vec<f64>; 3],
    /// Sweeps per region.
    repeats: usize,
    best: Peak,
}

/// A region lasts at least about this long.
const REGION: Duration = Duration::from_micros(200);
const BYTES_PER_ELEMENT: usize = 24;

impl Sweeps {
    /// Arrays of about `bytes` in all.
    pub fn new(team: &Team, bytes: usize) -> Self {
        let (len, threads) = (bytes.div_ceil(BYTES_PER_ELEMENT).max(512), team.len());
        let mut arrays = std::array::from_fn(|_| Vec::<f64>::with_capacity(len));
        for array in &mut arrays {
            let spare = DisjointMut::new(&mut array.spare_capacity_mut()[..len]);
            team.run(|rank| {
                // SAFETY: parts of different ranks do not overlap.
                let part = unsafe { spare.range(part(len, rank, threads)) };
                part.iter_mut().for_each(|value| _ = value.write(1.0));
            });
            // SAFETY: the parts cover the first `len` elements.
            unsafe { array.set_len(len) };
        }
        // 10 GB/s per thread is a low guess: the repeats are rather too few than too many.
        let guess = (len * BYTES_PER_ELEMENT) as f64 / (10e9 * team.len() as f64);
        let repeats = (REGION.as_secs_f64() / guess).ceil() as usize;
        Self { arrays, repeats, best: Peak::default() }
    }

    /// Times both sweeps once and keeps the best. `evict` empties the caches outside the time; with
    /// it a region is a single sweep.
    pub fn look(&mut self, team: &Team, clock: &dyn Clock, mut evict: Option<impl FnMut()>) {
        let repeats = if evict.is_some() { 1 } else { self.repeats };
        let bytes = (self.arrays[0].len() * BYTES_PER_ELEMENT * repeats) as f64;
        let isa = Isa::detect();
        let mut gbs = |sweep: &mut dyn FnMut()| {
            evict.iter_mut().for_each(|evict| evict());
            let start = clock.now();
            sweep();
            bytes / (clock.now() - start).as_secs_f64() / 1e9
        };
        let triad_gbs = gbs(&mut || self.triad(team, isa, repeats));
        let read_gbs = gbs(&mut || self.read(team, isa, repeats));
        self.best = self.best.max(Peak { triad_gbs, read_gbs });
    }

    /// The best so far.
    pub fn best(&self) -> Peak {
        self.best
    }

    fn triad(&mut self, team: &Team, isa: Isa, repeats: usize) {
        let [a, b, c] = &mut self.arrays;
        let (len, threads) = (a.len(), team.len());
        let a = DisjointMut::new(a);
        team.run(|rank| {
            let range = part(len, rank, threads);
            // SAFETY: parts of different ranks do not overlap.
            let a = unsafe { a.range(range.clone()) };
            let (b, c) = (&b[range.clone()], &c[range]);
            isa.run::<f64, _>(Triad { a, b, c, repeats });
        });
    }

    fn read(&self, team: &Team, isa: Isa, repeats: usize) {
        let threads = team.len();
        team.run(|rank| {
            let arrays = self.arrays.each_ref().map(|a| &a[part(a.len(), rank, threads)]);
            black_box(isa.run::<f64, _>(Read { arrays, repeats }));
        });
    }
}

fn part(len: usize, rank: usize, threads: usize) -> std::ops::Range<usize> {
    len * rank / threads..len * (rank + 1) / threads
}

struct Triad<'a> {
    a: &'a mut [f64],
    b: &'a [f64],
    c: &'a [f64],
    repeats: usize,
}

impl Kernel<f64> for Triad<'_> {
    type Output = ();
    #[inline(always)]
    fn run<V: Vector<f64>>(self) {
        for _ in 0..self.repeats {
            let (a, b, c) = black_box((&mut *self.a, self.b, self.c));
            for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
                *a = b + 3.0 * c;
            }
        }
    }
}

struct Read<'a> {
    arrays: [&'a [f64]; 3],
    repeats: usize,
}

impl Kernel<f64> for Read<'_> {
    type Output = f64;
    #[inline(always)]
    fn run<V: Vector<f64>>(self) -> f64 {
        // Enough independent sums for the compiler to fill registers and hide additions.
        let mut sums = [0.0; 32];
        for _ in 0..self.repeats {
            for array in black_box(self.arrays) {
                for values in array.chunks_exact(32) {
                    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
                }
            }
        }
        sums.iter().sum()
    }
}

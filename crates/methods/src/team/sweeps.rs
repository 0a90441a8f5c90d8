//! Arrays that the threads of a team sweep: three to measure bandwidth, as the STREAM benchmark does, and one to empty
//! the caches, for `--cache cold`.

use std::hint::black_box;

use super::{Team, part};
use crate::simd::{Dispatch, Isa, Kernel, Vector};
use spmv_matrix::disjoint::DisjointMut;
use spmv_matrix::system;

/// Three arrays of the same length, first touched by the threads that sweep them.
pub struct Arrays([Vec<f64>; 3]);

impl Arrays {
    /// Allocates arrays of `len` elements.
    pub fn new(team: &Team, len: usize) -> Self {
        let threads = team.len();
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
        Self(arrays)
    }

    /// Returns the number of elements of each array.
    #[allow(clippy::len_without_is_empty)] // they are never empty
    pub fn len(&self) -> usize {
        self.0[0].len()
    }

    /// Computes a = b + 3·c over the first `len` elements, `repeats` times, with all threads.
    pub fn triad(&mut self, len: usize, team: &Team, repeats: usize) {
        let ([a, b, c], threads) = (&mut self.0, team.len());
        let a = DisjointMut::new(&mut a[..len]);
        team.run(|rank| {
            let range = part(len, rank, threads);
            // SAFETY: parts of different ranks do not overlap.
            let a = unsafe { a.range(range.clone()) };
            let (b, c) = (&b[range.clone()], &c[range]);
            Isa::detect().run::<f64, _>(Triad { a, b, c, repeats });
        });
    }

    /// Sums the first `len` elements of all three arrays, `repeats` times, with all threads.
    pub fn read(&self, len: usize, team: &Team, repeats: usize) {
        let threads = team.len();
        team.run(|rank| {
            let arrays = self.0.each_ref().map(|a| &a[part(len, rank, threads)]);
            black_box(Isa::detect().run::<f64, _>(Read { arrays, repeats }));
        });
    }
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
        // Enough independent sums for the compiler to fill the registers and hide the latency of additions. Three
        // streams at once are faster than one after another, and products read several streams too.
        let mut sums = [0.0; 16];
        for _ in 0..self.repeats {
            let [a, b, c] = black_box(self.arrays).map(|array| array.chunks_exact(16));
            for ((a, b), c) in a.zip(b).zip(c) {
                for (k, sum) in sums.iter_mut().enumerate() {
                    *sum += a[k] + b[k] + c[k];
                }
            }
        }
        sums.iter().sum()
    }
}

type Line = [u64; 8];

/// A buffer of twice the last-level cache; changing a word of each line of it evicts everything else from the caches.
pub struct Evictor {
    buffer: Vec<Line>,
}

impl Evictor {
    /// Allocates twice the size of the machine's last-level cache, or 64 MiB where that size is unknown.
    pub fn of_machine() -> Self {
        let bytes = 2 * system::cache_bytes();
        Self { buffer: vec![Line::default(); bytes as usize / size_of::<Line>()] }
    }

    /// Changes a word of each line of the buffer, with all threads.
    pub fn evict(&mut self, team: &Team) {
        let (len, threads) = (self.buffer.len(), team.len());
        let buffer = DisjointMut::new(&mut self.buffer);
        team.run(|rank| {
            // One thread's part is enough for its core's private caches; a shared cache receives all parts.
            // SAFETY: parts of different ranks do not overlap.
            let part = unsafe { buffer.range(part(len, rank, threads)) };
            part.iter_mut().for_each(|line| line[0] = line[0].wrapping_add(1));
            black_box(part);
        });
    }
}

//! Arrays that the threads of a team sweep: three to measure bandwidth, as the STREAM benchmark does, and one to empty
//! the caches, for `--cache cold`.

use std::hint::black_box;

use super::{Team, part};
use crate::simd::{Dispatch, Isa, Kernel, Vector};
use spmv_matrix::disjoint::DisjointMut;
use spmv_matrix::system::caches::{self, DataCache, total_bytes};

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

/// A buffer of which each thread of a team has a part. Changing a word of each line of it evicts everything else from
/// the caches.
pub struct Evictor {
    buffer: Vec<Line>,
    /// The end of each thread's part.
    ends: Vec<usize>,
}

impl Evictor {
    /// Returns an upper bound on the bytes of a buffer, for any team.
    pub fn most_bytes() -> u64 {
        2 * total_bytes(caches::all())
    }

    /// Allocates the buffer for a team.
    pub fn of(team: &Team) -> Self {
        let (mut ends, mut end) = (Vec::new(), 0);
        for bytes in shares(caches::all(), team.cpus(), team.len()) {
            end += bytes.div_ceil(size_of::<Line>() as u64) as usize;
            ends.push(end);
        }
        Self { buffer: vec![Line::default(); end], ends }
    }

    /// Changes a word of each line of the buffer, with all threads of the team.
    pub fn evict(&mut self, team: &Team) {
        let Self { buffer, ends } = self;
        assert_eq!(ends.len(), team.len(), "the buffer is of another team");
        let buffer = DisjointMut::new(buffer);
        team.run(|rank| {
            let begin = rank.checked_sub(1).map_or(0, |before| ends[before]);
            // SAFETY: parts of different ranks do not overlap.
            let part = unsafe { buffer.range(begin..ends[rank]) };
            part.iter_mut().for_each(|line| line[0] = line[0].wrapping_add(1));
            black_box(part);
        });
    }
}

/// Returns the bytes that each thread must change so that each cache gets twice its size from the threads on its CPUs
/// together. Threads that are not on known CPUs change twice the size of all caches, in equal parts.
fn shares(caches: &[DataCache], cpus: &[usize], threads: usize) -> Vec<u64> {
    let known: Option<Vec<_>> = cpus.iter().map(|&cpu| share(caches, cpus, cpu)).collect();
    let equal = || vec![(2 * total_bytes(caches)).div_ceil(threads as u64); threads];
    known.filter(|known| known.len() == threads).unwrap_or_else(equal)
}

/// Returns the bytes for the thread on a CPU, of a team on `cpus`; `None` if the caches of that CPU are not known.
fn share(caches: &[DataCache], cpus: &[usize], cpu: usize) -> Option<u64> {
    let own = caches.iter().filter(|cache| cache.cpus.contains(&cpu));
    let shares = own.map(|cache| {
        let sharing = cpus.iter().filter(|cpu| cache.cpus.contains(cpu)).count();
        (2 * cache.bytes).div_ceil(sharing as u64)
    });
    shares.max()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What each cache gets, as a multiple of its size, where a thread of the team runs.
    #[test]
    fn each_cache_gets_twice_its_size() {
        let cache = |bytes, cpus: std::ops::Range<usize>| DataCache { bytes, cpus: cpus.collect() };
        let several: Vec<_> = (0..8).map(|k| cache(32 << 20, 4 * k..4 * k + 4)).collect();
        let own = (0..4).map(|cpu| cache(1 << 20, cpu..cpu + 1));
        let small_last_level: Vec<_> = own.chain([cache(3 << 20, 0..4)]).collect();
        let all: Vec<_> = (0..32).collect();
        for (caches, cpus, mebibytes) in [
            (&several, &all[..], vec![16; 32]),
            (&several, &[9], vec![64]),
            (&several, &[0, 1, 3, 4], vec![22, 22, 22, 64]),
            (&several, &[0, 32], vec![256; 2]),
            (&small_last_level, &all[..4], vec![2; 4]),
            (&small_last_level, &[2], vec![6]),
            (&vec![], &[0, 1], vec![32; 2]),
        ] {
            let bytes = shares(caches, cpus, cpus.len());
            let rounded = bytes.iter().map(|bytes| bytes.div_ceil(1 << 20));
            assert_eq!(rounded.collect::<Vec<_>>(), mebibytes, "{cpus:?}");
            for cache in caches {
                let on = cpus.iter().zip(&bytes).filter(|(cpu, _)| cache.cpus.contains(cpu));
                let gets: Vec<_> = on.map(|(_, bytes)| bytes).collect();
                let sum: u64 = gets.iter().copied().sum();
                assert!(gets.is_empty() || sum >= 2 * cache.bytes, "{cpus:?}: {cache:?}");
            }
            assert!(bytes.iter().sum::<u64>() <= 2 * total_bytes(caches) + cpus.len() as u64);
        }
        assert_eq!(shares(&several, &[], 4), [128 << 20; 4], "threads that are not bound");
    }
}

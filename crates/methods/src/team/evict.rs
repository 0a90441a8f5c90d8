//! Empties the caches, for `--cache cold`.

use std::hint::black_box;

use super::{Team, part};
use spmv_matrix::disjoint::DisjointMut;
use spmv_matrix::system;

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

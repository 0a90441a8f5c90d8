//! Empties the caches, for `--cache cold`.

use std::hint::black_box;

use crate::system;
use crate::team::{DisjointMut, Team};

/// A buffer of twice the last-level cache; overwriting it evicts everything else from the caches.
pub struct Evictor {
    buffer: Vec<u64>,
}

impl Evictor {
    /// Allocates twice the size of the machine's last-level cache, or 64 MiB where that size is unknown.
    pub fn of_machine() -> Self {
        let bytes = 2 * system::cache_bytes();
        Self { buffer: vec![0; bytes as usize / 8] }
    }

    /// Overwrites the buffer with all threads.
    pub fn evict(&mut self, team: &Team) {
        let (len, threads) = (self.buffer.len(), team.len());
        let buffer = DisjointMut::new(&mut self.buffer);
        team.run(|rank| {
            // One thread's part is enough for its core's private caches; a shared cache receives all parts.
            let part = len * rank / threads..len * (rank + 1) / threads;
            // SAFETY: parts of different ranks do not overlap.
            let part = unsafe { buffer.range(part) };
            part.iter_mut().for_each(|word| *word = word.wrapping_add(1));
            black_box(part);
        });
    }
}

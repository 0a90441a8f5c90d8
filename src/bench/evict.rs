//! Empties the caches, for `--cache cold`.

use std::hint::black_box;

use crate::system;
use crate::team::{DisjointMut, Team};

/// A buffer of twice the last-level cache that all threads overwrite.
pub struct Evictor {
    buffer: Vec<u64>,
}

impl Evictor {
    /// Twice the machine's last-level cache, or 64 MiB where that is unknown.
    pub fn of_machine() -> Self {
        let bytes = 2 * system::cache_bytes();
        Self { buffer: vec![0; bytes as usize / 8] }
    }

    /// Overwrites the buffer: what the caches held is gone.
    pub fn evict(&mut self, team: &Team) {
        let (len, threads) = (self.buffer.len(), team.len());
        let buffer = DisjointMut::new(&mut self.buffer);
        team.run(|rank| {
            // Each core's own caches need no more than this, and a shared one gets it all.
            let part = len * rank / threads..len * (rank + 1) / threads;
            // SAFETY: parts of different ranks do not overlap.
            let part = unsafe { buffer.range(part) };
            part.iter_mut().for_each(|word| *word = word.wrapping_add(1));
            black_box(part);
        });
    }
}

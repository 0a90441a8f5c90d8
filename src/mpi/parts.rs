//! The parts of a product, communication and computation, timed separately after the samples.

use std::fmt;
use std::time::Duration;

use super::ranks::Ranks;
use crate::device::Stage;

/// The number of products over which the times are averaged.
const PRODUCTS: usize = 20;
/// The names of the parts in the order in which they run.
const NAMES: [&str; 3] = ["x gathered", "compute", "tails handed on"];

/// The times of the parts in milliseconds per product.
pub struct Parts {
    /// The mean over the products of the time of the slowest rank.
    longest: [f64; 3],
    /// The smallest and the largest computing time of a rank.
    compute: [f64; 2],
}

impl Parts {
    /// Times products, each after a barrier. All ranks must call it.
    pub fn time(ranks: &Ranks, mut product: impl FnMut() -> [Duration; 3]) -> Self {
        let (mut longest, mut own) = ([0.0; 3], 0.0);
        for _ in 0..PRODUCTS {
            ranks.barrier();
            let times = product().map(|time| 1e3 * time.as_secs_f64() / PRODUCTS as f64);
            own += times[1];
            let most = ranks.max(times);
            longest.iter_mut().zip(most).for_each(|(sum, most)| *sum += most);
        }
        let [least, most] = ranks.max([-own, own]);
        Self { longest, compute: [-least, most] }
    }

    /// Returns the parts as stages of the product.
    pub fn stages(&self) -> Vec<Stage> {
        let named = NAMES.iter().zip(self.longest);
        named
            .map(|(name, ms)| Stage {
                name: (*name).into(),
                ms,
                occupancy: None,
                counts: None,
                cured: Vec::new(),
            })
            .collect()
    }
}

/// Writes the times as a note for the result row.
impl fmt::Display for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [gathered, compute, exchanged] = self.longest;
        let [least, most] = self.compute;
        let communication = gathered + exchanged;
        write!(f, "communication {communication:.5} ms, compute {compute:.5} ms")?;
        write!(f, " ({least:.5} to {most:.5} by rank)")
    }
}

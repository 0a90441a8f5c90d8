//! Communication and computation apart: the parts of products, timed one by one after the samples.

use std::fmt;
use std::time::Duration;

use super::ranks::Ranks;
use crate::device::Stage;

/// Products that the times are the mean of.
const PRODUCTS: usize = 20;
/// The parts, in their order.
const NAMES: [&str; 3] = ["x gathered", "compute", "tails handed on"];

/// Times of the parts, in milliseconds per product.
pub struct Parts {
    /// Of each product that of the slowest rank.
    longest: [f64; 3],
    /// The rank that computes least, and the one that computes most.
    compute: [f64; 2],
}

impl Parts {
    /// Times products, before each of which all ranks meet; all must call it.
    pub fn time(ranks: &Ranks, mut product: impl FnMut() -> [Duration; 3]) -> Self {
        let (mut longest, mut own) = ([0.0; 3], 0.0);
        for _ in 0..PRODUCTS {
            ranks.meet();
            let times = product().map(|time| 1e3 * time.as_secs_f64() / PRODUCTS as f64);
            own += times[1];
            let most = ranks.most(times);
            longest.iter_mut().zip(most).for_each(|(sum, most)| *sum += most);
        }
        let [least, most] = ranks.most([-own, own]);
        Self { longest, compute: [-least, most] }
    }

    /// As the stages of a product.
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

/// For the row.
impl fmt::Display for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [gathered, compute, handed_on] = self.longest;
        let [least, most] = self.compute;
        let communication = gathered + handed_on;
        write!(f, "communication {communication:.5} ms, compute {compute:.5} ms")?;
        write!(f, " ({least:.5} to {most:.5} by rank)")
    }
}

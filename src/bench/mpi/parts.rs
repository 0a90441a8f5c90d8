//! The steps of a product, communication and computation, which are timed separately after the samples.

use std::array;
use std::cell::RefCell;
use std::time::Duration;

use super::ranks::Ranks;
use crate::bench::backend::{Parts, STAGE_PRODUCTS};
use crate::bench::clock::Clock;
use spmv_methods::device::Stage;
use spmv_methods::method::Failed;

/// The names of the steps in the order in which they run.
const NAMES: [&str; 3] = ["x gathered", "compute", "tails handed on"];

/// The times at which the steps of a product end.
pub struct Steps<'a> {
    clock: &'a dyn Clock,
    /// The beginning of the product and the ends of its steps; `None` while products are not timed by steps.
    readings: RefCell<Option<Vec<Duration>>>,
}

impl<'a> Steps<'a> {
    /// Creates the times of products that are not timed by steps.
    pub fn new(clock: &'a dyn Clock) -> Self {
        Self { clock, readings: RefCell::new(None) }
    }

    pub fn end(&self) {
        if let Some(readings) = &mut *self.readings.borrow_mut() {
            readings.push(self.clock.now());
        }
    }

    /// Times the steps of products, each after a barrier. All ranks must call it. Each step takes as long as on the
    /// slowest rank.
    pub fn parts(
        &self,
        ranks: &Ranks,
        mut product: impl FnMut() -> Result<(), Failed>,
    ) -> Result<Parts, Failed> {
        let (mut longest, mut own) = ([0.0; 3], 0.0);
        for _ in 0..STAGE_PRODUCTS {
            ranks.barrier();
            let times = self.of(&mut product)?;
            own += times[1];
            let most = ranks.max(times);
            longest.iter_mut().zip(most).for_each(|(sum, most)| *sum += most);
        }
        let [least, most] = ranks.max([-own, own]);
        let note = note(ranks.count(), longest, [-least, most]);
        let stage = |(name, ms): (&str, _)| Stage { name: name.into(), ms, ..Stage::default() };
        let stages = NAMES.into_iter().zip(longest).map(stage).collect();
        Ok(Parts { stages, launches: None, note: Some(note) })
    }

    /// Returns the times of the steps of one product in milliseconds, divided by the number of products.
    fn of(&self, product: &mut impl FnMut() -> Result<(), Failed>) -> Result<[f64; 3], Failed> {
        self.readings.replace(Some(vec![self.clock.now()]));
        product()?;
        let readings = self.readings.take().unwrap_or_default();
        let ms = |step: usize| 1e3 * (readings[step + 1] - readings[step]).as_secs_f64();
        Ok(array::from_fn(|step| ms(step) / STAGE_PRODUCTS as f64))
    }
}

/// Describes the times of communication and computation; `least` and `most` are the computing times of single ranks.
fn note(ranks: usize, [gathered, compute, exchanged]: [f64; 3], [least, most]: [f64; 2]) -> String {
    let communication = gathered + exchanged;
    let name = if ranks == 1 { "rank" } else { "ranks" };
    format!(
        "{ranks} {name}: communication {communication:.5} ms, compute {compute:.5} ms \
         ({least:.5} to {most:.5} by rank)"
    )
}

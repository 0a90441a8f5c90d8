//! What products take longer than others: perhaps the method has prepared itself in them, which then is setup.

use std::time::Duration;

use super::contract::guarded;
use super::turn::waiting;
use super::{Case, Entry};
use crate::bench::backend::Backend;
use crate::bench::outcome::Outcome;
use spmv_matrix::scalar::Scalar;
use spmv_methods::method::Device;

/// How many times as long as one with cold caches a product before the first sample may take, plus [`waiting`], before
/// what it takes longer is part of the setup.
const MAX_OVER_COLD: u32 = 4;
/// How many times as long as usual any product may take. Those on cold caches take less.
const MAX_OVER_USUAL: u32 = 10;
/// What it may take in addition. Interruptions by the system are rarely longer.
const INTERRUPTION: Duration = Duration::from_millis(1);

/// The long products of a method.
#[derive(Default)]
pub struct Late {
    /// The times of the products before the first sample.
    early: Vec<Duration>,
    /// The longest of the untimed products that begin a later turn.
    opening: Duration,
    /// The numbers of products and the times of later batches that took long, without what threads waited for a CPU.
    later: Vec<(u32, Duration)>,
    /// The shortest time of a product.
    shortest: Option<Duration>,
    /// The time of a product with cold caches, if it was measured because one before the first sample took longer.
    cold: Option<Duration>,
}

/// Returns the longest time of a batch that is not late, if a product usually takes `usual`.
fn longest(products: u32, usual: Duration) -> Duration {
    usual.saturating_mul(MAX_OVER_USUAL * products).saturating_add(INTERRUPTION)
}

/// Returns the longest time of a product before the first sample that is not late, if one with cold caches takes
/// `cold`.
fn longest_early(cold: Duration, device: Device) -> Duration {
    cold.saturating_mul(MAX_OVER_COLD).saturating_add(waiting(device))
}

impl Late {
    /// Notes the time of an untimed product that begins a turn after the first one.
    pub fn note_opening(&mut self, time: Duration) {
        self.opening = self.opening.max(time);
    }

    /// Returns the longest time of a batch that is not late.
    pub fn longest(&self, products: usize) -> Duration {
        longest(products as u32, self.shortest.unwrap_or(Duration::MAX))
    }

    /// Returns what the products before the first sample took longer than one with cold caches and than those that
    /// begin later turns.
    pub fn early(&self, usual: Duration, device: Device) -> Duration {
        let Some(cold) = self.cold else { return Duration::ZERO };
        let most = longest(1, usual);
        let limit = longest_early(cold, device).min(most);
        let late = self.early.iter().filter(|time| **time > limit);
        late.map(|time| time.saturating_sub(self.opening.max(cold).min(most))).sum()
    }

    /// Returns what products after the first sample took longer than usual.
    pub fn later(&self, usual: Duration) -> Duration {
        let late = self.later.iter().filter(|&&(products, time)| time > longest(products, usual));
        late.map(|&(products, time)| time - products * usual).sum()
    }
}

impl<'a, T: Scalar, S: Backend<'a, T>> Case<'a, '_, T, S> {
    /// Notes the time of a batch.
    pub(super) fn note(&mut self, ready: &mut Entry<'a, T, S>, products: usize, time: Duration) {
        let (products, late) = (products as u32, &mut ready.late);
        let shortest = late.shortest.unwrap_or(Duration::MAX).min(time / products);
        late.shortest = Some(shortest);
        if ready.samples.turns.is_empty() && products == 1 {
            late.early.push(time);
        } else if time > longest(products, shortest) {
            self.waited = self.waited();
            ready.late.later.push((products, time.saturating_sub(self.waited)));
        }
    }

    /// Measures a product with cold caches if one before the first sample took long.
    pub(super) fn compare_with_cold(
        &mut self,
        ready: &mut Entry<'a, T, S>,
        typical: Duration,
    ) -> Result<(), Outcome> {
        let limit = longest_early(typical, S::DEVICE);
        if ready.turns > 0 || ready.late.early.iter().all(|time| *time <= limit) {
            return Ok(());
        }
        let mut times = [Duration::ZERO; 2];
        // A method may do in one of them what belongs in the setup.
        for time in &mut times {
            *time = guarded(|| self.backend.time_cold(&mut ready.prepared))??;
            ready.late.later.push((1, *time));
        }
        ready.late.cold = Some(times[0].min(times[1]).max(typical));
        Ok(())
    }
}

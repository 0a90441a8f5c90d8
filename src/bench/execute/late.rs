//! What products take longer than others: perhaps the method has prepared itself in them, which then is setup.

use std::time::Duration;

use spmv_methods::method::Device;

/// How many times as long as one with cold caches a product before the first sample may take, plus [`waiting`], before
/// what it takes longer is part of the setup.
const MAX_OVER_COLD: u32 = 4;
/// How many times as long as usual any product may take. Those on cold caches take less.
const MAX_OVER_USUAL: u32 = 10;
/// What it may take in addition. Interruptions by the system are rarely longer.
const INTERRUPTION: Duration = Duration::from_millis(1);

/// Returns the extra time of a single product, whose data are in another core's cache, or whose device was idle.
pub const fn waiting(device: Device) -> Duration {
    match device {
        Device::Cpu => Duration::from_micros(30),
        Device::Gpu | Device::Model(_) => Duration::from_micros(200),
    }
}

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
    pub cold: Option<Duration>,
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
    /// Notes the time of a batch. Returns whether it took long; one product before the first sample need not be usual.
    pub fn note(&mut self, products: usize, time: Duration, is_before_samples: bool) -> bool {
        let products = products as u32;
        let shortest = self.shortest.unwrap_or(Duration::MAX).min(time / products);
        self.shortest = Some(shortest);
        if is_before_samples && products == 1 {
            self.early.push(time);
            return false;
        }
        time > longest(products, shortest)
    }

    /// Keeps the time of a later batch that took long, without what threads waited for a CPU.
    pub fn keep(&mut self, products: usize, time: Duration) {
        self.later.push((products as u32, time));
    }

    /// Returns whether a product before the first sample took so long that one with cold caches must be measured.
    pub fn is_doubtful(&self, typical: Duration, device: Device) -> bool {
        let limit = longest_early(typical, device);
        self.early.iter().any(|time| *time > limit)
    }

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

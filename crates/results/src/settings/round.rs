use std::time::Duration;

use super::choices::CacheState;
use spmv_matrix::device::Device;

/// The limits of one method's turn in a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    pub products: usize,
    /// The minimum total time of the products.
    pub min_time: Duration,
    /// The total time after which no further sample is begun.
    pub max_time: Duration,
    /// The state of the caches; with cold caches a sample is one product.
    pub cache: CacheState,
    /// The kind of device, which determines the length of a sample.
    pub device: Device,
    /// The products of a chain; a sample consists of whole chains.
    pub chain: usize,
}

/// Returns the minimum duration of a sample, and the number of samples that a round has even if they are shorter,
/// provided that it has so many products. On the host the clock's resolution of about 25 ns and its cost must be
/// negligible. On a GPU the events and the first launch cost microseconds, so samples are longer, and a round of few
/// products is one sample.
const fn sample(device: Device) -> (Duration, usize) {
    match device {
        Device::Cpu => (Duration::from_micros(100), 10),
        Device::Gpu | Device::Model(_) => (Duration::from_millis(2), 1),
    }
}

impl Round {
    /// Returns the number of products per sample when a product takes about `product`: whole chains, and at most `most`
    /// products, but one chain at least.
    pub fn batch(&self, product: Duration, most: usize) -> usize {
        if self.cache == CacheState::Cold {
            return 1;
        }
        let most = (most / self.chain * self.chain).max(self.chain);
        let (time, samples) = sample(self.device);
        let products = time.as_nanos().div_ceil(product.as_nanos().max(1)) as usize;
        products.min(self.products.div_ceil(samples)).max(1).next_multiple_of(self.chain).min(most)
    }

    /// Estimates the number of samples of `batch` products when a product takes `product`; at least 1.
    pub fn samples(&self, batch: usize, product: Duration) -> f64 {
        let by_count = self.products as f64 / batch as f64;
        let by_time = self.max_time.as_secs_f64() / (product.as_secs_f64() * batch as f64);
        by_count.min(by_time).max(1.0)
    }

    /// Returns whether another sample follows after `products` products that took `time`.
    pub fn continues(&self, products: usize, time: Duration) -> bool {
        products == 0 || time < self.max_time && (products < self.products || time < self.min_time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUND: Round = Round {
        products: 1,
        min_time: Duration::ZERO,
        max_time: Duration::MAX,
        cache: CacheState::Hot,
        device: Device::Cpu,
        chain: 1,
    };

    #[test]
    fn a_round_ends_by_count_or_by_time() {
        let second = Duration::from_secs(1);
        let round = Round { products: 10, min_time: second, max_time: 3 * second, ..ROUND };
        assert!(round.continues(0, 9 * second), "at least one sample");
        assert!(round.continues(10, second / 2), "too short");
        assert!(!round.continues(10, second));
        assert!(round.continues(9, 2 * second));
        assert!(!round.continues(9, 3 * second), "too long");
    }

    /// Samples suit the clock of the device, and a round on the CPU has at least ten.
    #[test]
    fn batches_last_long_enough() {
        use CacheState::{Cold, Hot};
        for (device, products, cache, micros, expected) in [
            (Device::Cpu, 10_000, Hot, 2, 50),
            (Device::Cpu, 10_000, Hot, 300, 1),
            (Device::Cpu, 20, Hot, 2, 2),
            (Device::Cpu, 1, Hot, 0, 1),
            (Device::Cpu, 10_000, Cold, 2, 1),
            (Device::Gpu, 10_000, Hot, 3, 667),
            (Device::Gpu, 10_000, Hot, 2500, 1),
            (Device::Gpu, 20, Hot, 3, 20),
            (Device::Gpu, 10_000, Cold, 3, 1),
        ] {
            let round = Round { products, cache, device, ..ROUND };
            let batch = round.batch(Duration::from_micros(micros), usize::MAX);
            assert_eq!(batch, expected, "{device:?}, {products} {cache:?} products of {micros} us");
        }
        let chains = Round { products: 10_000, chain: 4, ..ROUND };
        let batch = |most| chains.batch(Duration::from_micros(11), most);
        assert_eq!([batch(usize::MAX), batch(11), batch(3)], [12, 8, 4]);
    }
}

//! What to measure and for how long: pure data.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::method::Device;
use crate::profile::Profiles;
use crate::simd::Isa;

/// How a published evaluation measured: the settings that the command line starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// merge-spmv: 2^34 / nonzeros products, at least 100 and at most 200000, in interleaved rounds.
    MergeSpmv,
    /// csr-k, section 6: the mean of 20 products after 5 that are not timed.
    CsrK,
    /// five-gpu-algorithms: the mean of 3 products with x = 1.
    FiveGpu,
}

impl Protocol {
    /// As on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MergeSpmv => "merge-spmv",
            Self::CsrK => "csr-k",
            Self::FiveGpu => "five-gpu",
        }
    }
}

/// What the caches hold when a sample begins.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum CacheState {
    /// What the product before left there: products run one after the other, as in all the papers.
    Hot,
    /// Nothing of the matrix or the vectors: they are evicted before each sample, which is not timed.
    Cold,
}

impl CacheState {
    /// As in the CSV.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hot => "hot",
            Self::Cold => "cold",
        }
    }
}

/// What x is filled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Fill {
    /// Random, uniform in [-1, 1): a product that takes a wrong column is found out.
    Random,
    /// All ones.
    Ones,
}

/// Which values the matrix has when methods see it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Values {
    /// Those of the file or the generator; for a pattern file, ones.
    #[default]
    Stored,
    /// Random, uniform in [-1, 1): no method can gain from values that repeat.
    Random,
    /// All ones.
    Ones,
}

impl Values {
    /// As in the CSV.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stored => "stored",
            Self::Random => "random",
            Self::Ones => "ones",
        }
    }
}

/// How each method is measured on each matrix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Where the other fields started from.
    pub protocol: Protocol,
    /// Products to time; `None`: by the number of nonzeros, see [`Settings::products`].
    pub iterations: Option<usize>,
    /// Untimed products before each round.
    pub warmups: usize,
    /// Products continue, whatever `iterations` says, until their time adds up to this.
    #[serde(with = "seconds")]
    pub min_time: Duration,
    /// No product is begun once the time adds up to this; [`Duration::MAX`]: no bound.
    #[serde(with = "seconds")]
    pub max_time: Duration,
    /// All that a method does on a matrix may take this long, setup and verification included;
    /// [`Duration::MAX`]: no bound.
    #[serde(with = "seconds")]
    pub timeout: Duration,
    /// All methods take turns this many times.
    pub rounds: usize,
    /// Hot or cold.
    pub cache: CacheState,
    /// Factor of the product.
    pub alpha: f64,
    /// Factor of the old y.
    pub beta: f64,
    /// What x holds.
    pub x: Fill,
    /// Which values the matrix has.
    #[serde(default)]
    pub values: Values,
    /// For x, for random values of the matrix and, with β ≠ 0, for the old y.
    pub seed: u64,
    /// Whether the product is y ← αAᵀx + βy.
    pub transpose: bool,
    /// The instructions that methods of our own use.
    pub isa: Isa,
    /// Whether the parts of products are timed as well, after the samples.
    pub stages: bool,
    /// Whether modelled products run again, each time as if a problem of their kernels were cured.
    #[serde(skip)]
    pub explain: bool,
    /// Bytes that matrices and methods together may take; `None`: what there is.
    pub max_memory: Option<u64>,
    /// What was measured of this machine.
    #[serde(skip)]
    pub profiles: Profiles,
}

/// In seconds; no bound is null.
mod seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
        (*time < Duration::MAX).then_some(time.as_secs_f64()).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        let seconds = Option::<f64>::deserialize(from)?;
        let time = seconds.map_or(Ok(Duration::MAX), Duration::try_from_secs_f64);
        time.map_err(serde::de::Error::custom)
    }
}

impl Settings {
    /// The protocol's settings.
    pub fn new(protocol: Protocol) -> Self {
        let merge_spmv = Self {
            protocol,
            iterations: None,
            warmups: 5,
            min_time: Duration::ZERO,
            max_time: Duration::from_secs(2),
            timeout: Duration::from_secs(900),
            // A 95 % interval of the median needs six samples.
            rounds: 6,
            cache: CacheState::Hot,
            alpha: 1.0,
            beta: 0.0,
            x: Fill::Random,
            values: Values::Stored,
            seed: 1,
            transpose: false,
            isa: Isa::detect(),
            stages: false,
            explain: false,
            max_memory: None,
            profiles: Profiles::default(),
        };
        let no_bound = Duration::MAX;
        match protocol {
            Protocol::MergeSpmv => merge_spmv,
            Protocol::CsrK => {
                Self { iterations: Some(20), rounds: 1, max_time: no_bound, ..merge_spmv }
            }
            Protocol::FiveGpu => Self {
                iterations: Some(3),
                warmups: 1,
                rounds: 1,
                max_time: no_bound,
                x: Fill::Ones,
                ..merge_spmv
            },
        }
    }

    /// Products to time on a matrix: merge-spmv's clamp(2^34 / nnz, 100, 200000), 50000 at most on a
    /// GPU, or the number given.
    pub fn products(&self, nnz: usize, device: Device) -> usize {
        let most = match device {
            Device::Cpu => 200_000,
            Device::Gpu | Device::Model(_) => 50_000,
        };
        self.iterations.unwrap_or_else(|| ((1 << 34) / nnz.max(1)).clamp(100, most))
    }

    /// One round's share.
    pub fn round(&self, nnz: usize, device: Device) -> Round {
        let rounds = self.rounds.max(1);
        Round {
            products: self.products(nnz, device).div_ceil(rounds),
            min_time: self.min_time / rounds as u32,
            max_time: self.max_time / rounds as u32,
            cache: self.cache,
            device,
        }
    }
}

/// The limits of one method's turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// Products to time.
    pub products: usize,
    /// At least this long.
    pub min_time: Duration,
    /// At most about this long.
    pub max_time: Duration,
    /// Cold: one product per sample.
    pub cache: CacheState,
    /// Decides how long a sample is.
    pub device: Device,
}

/// How long a sample of short products lasts at least, and into how many samples a round is cut all the
/// same if it has so many products. On the host the clock's resolution of some 25 ns and its own cost must
/// not show. On a GPU the events and the first launch cost microseconds, so samples are longer, and a round
/// of few products is one sample.
const fn sample(device: Device) -> (Duration, usize) {
    match device {
        Device::Cpu => (Duration::from_micros(100), 10),
        Device::Gpu | Device::Model(_) => (Duration::from_millis(2), 1),
    }
}

impl Round {
    /// Products per sample when one takes about `product`.
    pub fn batch(&self, product: Duration) -> usize {
        if self.cache == CacheState::Cold {
            return 1;
        }
        let (time, samples) = sample(self.device);
        let products = time.as_nanos().div_ceil(product.as_nanos().max(1)) as usize;
        products.min(self.products.div_ceil(samples)).max(1)
    }

    /// About how many samples of `batch` products there will be when a product takes `product`; at least 1.
    pub fn samples(&self, batch: usize, product: Duration) -> f64 {
        let by_count = self.products as f64 / batch as f64;
        let by_time = self.max_time.as_secs_f64() / (product.as_secs_f64() * batch as f64);
        by_count.min(by_time).max(1.0)
    }

    /// Whether another sample is due after `products` that took `time`.
    pub fn goes_on(&self, products: usize, time: Duration) -> bool {
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
    };

    #[test]
    fn products_follow_merge_spmv() {
        let settings = Settings::new(Protocol::MergeSpmv);
        let of = |nnz| settings.products(nnz, Device::Cpu);
        assert_eq!((of(0), of(1_000), of(1 << 24), of(1 << 30)), (200_000, 200_000, 1024, 100));
        assert_eq!(Settings::new(Protocol::CsrK).products(7, Device::Gpu), 20);
    }

    #[test]
    fn a_round_ends_by_count_or_by_time() {
        let second = Duration::from_secs(1);
        let round = Round { products: 10, min_time: second, max_time: 3 * second, ..ROUND };
        assert!(round.goes_on(0, 9 * second), "one sample at least");
        assert!(round.goes_on(10, second / 2), "too short");
        assert!(!round.goes_on(10, second));
        assert!(round.goes_on(9, 2 * second));
        assert!(!round.goes_on(9, 3 * second), "too long");
    }

    #[test]
    fn batches_suit_the_clock_and_leave_ten_samples() {
        let round = |products| Round { products, ..ROUND };
        let micros = Duration::from_micros;
        assert_eq!(round(10_000).batch(micros(2)), 50);
        assert_eq!(round(10_000).batch(micros(300)), 1);
        assert_eq!(round(20).batch(micros(2)), 2);
        assert_eq!(round(1).batch(Duration::ZERO), 1);
        assert_eq!(Round { cache: CacheState::Cold, ..round(10_000) }.batch(micros(2)), 1);
    }

    #[test]
    fn batches_on_a_gpu_last_two_milliseconds() {
        let round = |products| Round { products, device: Device::Gpu, ..ROUND };
        let micros = Duration::from_micros;
        assert_eq!(round(10_000).batch(micros(3)), 667);
        assert_eq!(round(10_000).batch(micros(2500)), 1);
        assert_eq!(round(20).batch(micros(3)), 20, "no more than the round has");
        assert_eq!(Round { cache: CacheState::Cold, ..round(10_000) }.batch(micros(3)), 1);
    }
}

//! How each method is measured.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::choices::{CacheState, Fill, Pages, Values};
use super::info::{Effect, Fact, SettingInfo, settings};
use super::round::Round;
use spmv_matrix::device::Device;
use spmv_matrix::scalar::Scalar;
use spmv_matrix::system::isa::Isa;

pub const MAX_ROUNDS: u32 = 1000;

/// A measurement is too noisy if its 95 % interval is wider than this share of the median.
pub const WIDEST_INTERVAL: f64 = 0.1;

/// The measurement protocol of a published evaluation: the defaults of all settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// merge-spmv: 2^34 / nonzeros products, at least 100 and at most 200000, in interleaved rounds.
    MergeSpmv,
    /// csr-k, section 6: the mean of 20 products after 5 that are not timed.
    CsrK,
    /// five-gpu-algorithms: the mean of 3 products with x = 1.
    FiveGpu,
    /// As merge-spmv, but x of a product is y of the one before, in chains of 4, as in solvers: square matrices only.
    Power,
}

/// The time of the duel in a process over that of all turns of a method.
pub const DUEL: u32 = 3;

/// The products of a chain with [`Protocol::Power`]: enough to be like a solver's, and few enough for an error bound
/// that finds a wrong product.
pub const CHAIN: usize = 4;

/// A limit of time; [`Duration::MAX`] is none, and null in records.
pub type TimeLimit = Duration;

settings! {
    /// How each method is measured on each matrix. The fields are those of run records, and their descriptions those of
    /// `docs/schema/run.schema.json`.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct Settings {
        /// The protocol from which the defaults of the other settings are taken.
        protocol: Protocol = Protocol::MergeSpmv, Times, "--protocol";
        /// The number of products to time. If it is not set, it depends on the number of nonzeros.
        iterations: Option<usize> = None, Times, "--iterations";
        /// The number of products that are planned with the matrix, for methods that choose by it. If it is not set, it
        /// is that of the measurement.
        #[serde(default)]
        planned: Option<u32> = None, Times, "--products", from 1;
        /// The number of untimed products before the samples of each round; 0 is the same as 1.
        warmups: usize = 5, Times, "--warmups";
        /// The minimum total time of products, even if `iterations` is reached before, in seconds.
        #[serde(with = "seconds")]
        min_time: Duration = Duration::ZERO, Times, "--min-time";
        /// The total time after which no further sample is begun, in seconds; null if there is no limit.
        #[serde(with = "seconds")]
        max_time: TimeLimit = Duration::from_millis(600), Times, "--max-time";
        /// The time limit of a method on a matrix, setup and verification included, in seconds; null if there is no
        /// limit.
        #[serde(with = "seconds")]
        timeout: TimeLimit = Duration::from_secs(900), Rows, "--timeout";
        /// The number of rounds in which all methods take turns.
        // A 95 % interval of the median needs six samples.
        rounds: usize = 6, Times, "--rounds";
        /// The number of child processes among which the rounds on the CPU are divided.
        #[serde(default = "one")]
        processes: usize = 3, Times, "--processes", from 1;
        /// The number of further processes at most, which measure only the methods that the closing sentence names, until
        /// it is certain which of them is faster.
        #[serde(default)]
        further_processes: usize = 12, Times, "--processes";
        /// Whether every sample is reported.
        #[serde(default, skip_serializing_if = "is_false")]
        samples: bool = false, Unrecorded;
        /// The state of the caches when a sample begins.
        cache: CacheState = CacheState::Hot, Rows, "--cache";
        /// The factor α of the product y ← αAx + βy.
        alpha: f64 = 1.0, Product, "--alpha";
        /// The factor β of the old y.
        beta: f64 = 0.0, Product, "--beta";
        /// The values of x.
        x: Fill = Fill::Random, Times, "--x";
        /// The values that the matrix has when methods receive it.
        #[serde(default)]
        values: Values = Values::Stored, Product, "--values";
        /// The seed for x, for random values of the matrix and, with β ≠ 0, for the old y.
        seed: u64 = 1, Times;
        /// Whether the product is y ← αAᵀx + βy.
        transpose: bool = false, Rows, "--transpose";
        /// The instruction set that this program's own methods use.
        isa: Isa = Isa::detect(), Times, "--isa";
        /// Whether x persists in the L2 cache of a GPU while products are timed.
        #[serde(default)]
        persist_x: bool = false, Times, "--persist-x";
        /// Whether the parts of products are timed as well, separately after the samples.
        stages: bool = false, Times, "--stages";
        /// The maximum number of bytes for matrices and methods together. If it is not set: all available memory.
        max_memory: Option<u64> = None, Rows, "--max-memory";
        /// The pages of memory that large arrays are in, where the system has them; older runs had those of the system.
        #[serde(default)]
        pages: Pages = Pages::Huge, Times, "--pages";
    }
}

const fn one() -> usize {
    1
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// Serialises a duration in seconds; [`Duration::MAX`], no limit, is null.
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
    /// Returns the usual settings of a protocol.
    pub fn new(protocol: Protocol) -> Self {
        let usual = Self { protocol, ..Self::usual() };
        let one_round =
            Self { rounds: 1, processes: 1, further_processes: 0, max_time: Duration::MAX, ..usual.clone() };
        match protocol {
            Protocol::MergeSpmv | Protocol::Power => usual,
            Protocol::CsrK => Self { iterations: Some(20), ..one_round },
            Protocol::FiveGpu => Self { iterations: Some(3), warmups: 1, x: Fill::Ones, ..one_round },
        }
    }

    /// Returns the number of products that form a chain: 1 if all of them multiply the same x.
    pub fn chain(&self) -> usize {
        if self.protocol == Protocol::Power { CHAIN } else { 1 }
    }

    /// Returns an error if the settings do not agree with each other.
    pub fn check(&self) -> Result<(), String> {
        let wrong = [
            (self.beta != 0.0, "--beta must be 0"),
            (self.transpose, "there is no --transpose"),
            (self.cache == CacheState::Cold, "--cache must be hot"),
        ];
        let wrong = wrong.into_iter().find(|(is_set, _)| *is_set && self.chain() > 1);
        wrong.map_or(Ok(()), |(_, what)| Err(format!("with --protocol power, {what}")))
    }

    pub fn factors<T: Scalar>(&self) -> (T, T) {
        (T::narrow(self.alpha), T::narrow(self.beta))
    }

    /// Returns the number of products to time on a matrix: `iterations` if set, otherwise merge-spmv's
    /// clamp(2^34 / nnz, 100, 200000), with at most 50000 on a GPU.
    pub fn products(&self, nnz: usize, device: Device) -> usize {
        let most = if device == Device::Cpu { 200_000 } else { 50_000 };
        self.iterations.unwrap_or_else(|| ((1 << 34) / nnz.max(1)).clamp(100, most))
    }

    /// Returns the rounds before each process and its own: as equal as possible, and two at least, because the first
    /// one does not show what later products take.
    pub fn shares(&self) -> Vec<[usize; 2]> {
        let processes = self.processes.min(self.rounds / 2).max(1);
        let before = |process| process * self.rounds / processes;
        (0..processes).map(|it| [before(it), before(it + 1) - before(it)]).collect()
    }

    /// Returns the time of the duel in a process. There is none if the number of products is fixed, or without rounds.
    pub fn duel_time(&self) -> Option<TimeLimit> {
        let is_meant = self.rounds > 1 && self.iterations.is_none();
        (is_meant && self.max_time < Duration::MAX).then(|| DUEL * self.max_time)
    }

    /// Returns the number of products that a method may assume.
    pub fn planned(&self, nnz: usize, device: Device) -> usize {
        self.planned.map_or_else(|| self.products(nnz, device), |planned| planned as usize)
    }

    /// Returns the limits of one round: an equal share of the whole measurement.
    pub fn round(&self, nnz: usize, device: Device) -> Round {
        let rounds = self.rounds.max(1);
        Round {
            products: self.products(nnz, device).div_ceil(rounds),
            min_time: self.min_time / rounds as u32,
            max_time: self.max_time / rounds as u32,
            cache: self.cache,
            device,
            chain: self.chain(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_follow_merge_spmv() {
        let settings = Settings::new(Protocol::MergeSpmv);
        let of = |nnz| settings.products(nnz, Device::Cpu);
        assert_eq!((of(0), of(1_000), of(1 << 24), of(1 << 30)), (200_000, 200_000, 1024, 100));
        assert_eq!(Settings::new(Protocol::CsrK).products(7, Device::Gpu), 20);
    }
}

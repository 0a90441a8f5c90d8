//! Estimates the time for a matrix from its size and the settings: for the remaining time, the shards of a corpus and
//! the plans of experiments.

use std::time::Duration;

use spmv_matrix::source::Source;
use spmv_methods::method::Device;
use spmv_results::settings::{DUEL, Settings};

/// The approximate number of bytes per entry in a text file.
const BYTES_PER_ENTRY: u64 = 12;
const COMPRESSION_RATIO: u64 = 4;
/// The number of entries that are read or generated per second.
const ENTRIES_PER_SECOND: f64 = 1e7;
/// The number of nonzeros that a product processes per second, for a method with unknown speed.
const NONZEROS_PER_SECOND: f64 = 1e9;
/// The approximate duration of a setup, in products.
const SETUP_PRODUCTS: f64 = 30.0;
/// The approximate duration of a verification, in products.
const VERIFY_PRODUCTS: f64 = 10.0;
const MIN_PREPARE_SECONDS: f64 = 0.005;
const MIN_TURN_SECONDS: f64 = 0.007;

/// The estimated times of the parts of the work on a matrix, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// The time for reading the matrix and computing the reference, and of the duel, in all processes.
    pub read: f64,
    /// The time for the preparation of a method in all processes.
    pub prepare: f64,
    /// The time for one turn of a method in a round.
    pub turn: f64,
    pub rounds: usize,
}

impl Estimate {
    /// Estimates the times for a matrix with `entries` entries. The result is the same on every machine.
    pub fn of(entries: u64, settings: &Settings) -> Self {
        let product = entries as f64 / NONZEROS_PER_SECOND;
        let nnz = usize::try_from(entries).unwrap_or(usize::MAX);
        let timed = (settings.products(nnz, Device::Cpu) as f64 * product)
            .max(settings.min_time.as_secs_f64())
            .min(settings.max_time.as_secs_f64());
        let rounds = settings.rounds.max(1);
        let processes = settings.processes as f64;
        let duel = settings.duel_time().map_or(0.0, |_| f64::from(DUEL) * timed);
        let read = entries as f64 / ENTRIES_PER_SECOND + VERIFY_PRODUCTS * product + duel;
        let prepare = MIN_PREPARE_SECONDS + (SETUP_PRODUCTS + VERIFY_PRODUCTS) * product;
        Self {
            read: processes * read,
            prepare: processes * prepare,
            turn: MIN_TURN_SECONDS + timed / rounds as f64 + VERIFY_PRODUCTS * product,
            rounds,
        }
    }

    /// Returns the total time in seconds for this number of methods.
    pub fn seconds(&self, methods: usize) -> f64 {
        self.read + methods as f64 * (self.prepare + self.rounds as f64 * self.turn)
    }
}

/// Returns the approximate number of entries of a matrix whose file has `bytes` bytes.
pub fn entries(source: &Source, bytes: u64) -> u64 {
    match source {
        Source::File(path) if path.extension().is_some_and(|end| end == "gz") => {
            bytes.saturating_mul(COMPRESSION_RATIO) / BYTES_PER_ENTRY
        }
        Source::File(_) => bytes / BYTES_PER_ENTRY,
        Source::Generated(generator) | Source::Surrogate(_, generator) => {
            u64::try_from(generator.most_entries()).unwrap_or(u64::MAX)
        }
    }
}

/// Formats a time as one number with its unit.
pub fn span(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..=99 => format!("{seconds} s"),
        100..=5999 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{:.1} h", seconds as f64 / 3600.0),
    }
}

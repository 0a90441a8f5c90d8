//! A method while it is measured: what was prepared, and what was observed so far.

use std::collections::BTreeSet;
use std::time::Duration;

use super::cpus::Cpus;
use super::late::Late;
use super::power::Power;
use crate::bench::backend::Parts;
use crate::bench::contract::Cell;
use crate::bench::outcome::Outcome;
use crate::bench::samples::Samples;
use spmv_methods::method::Prepared;
use spmv_results::row::Remark;

pub struct Ready<'a, T, V: ?Sized> {
    pub cell: &'a Cell<'a>,
    pub prepared: Prepared<'a, T, V>,
    pub setup_ms: f64,
    pub error_ratio: f64,
    pub likely_ratio: f64,
    /// The number of the newest x that the method has seen.
    pub seen: usize,
    /// The products that took long.
    pub late: Late,
    /// See [`Method::matrix_bytes`](spmv_methods::method::Method::matrix_bytes).
    pub matrix_bytes: Option<u64>,
    /// The hashes of all verified y, except those for an altered x: of single products and of chains.
    pub hashes: [BTreeSet<u64>; 2],
    pub samples: Samples,
    pub power: Power,
    /// The CPUs that were used in samples.
    pub cpus: Cpus,
    /// The time of all batches of products.
    pub busy: Duration,
    /// The number of rounds of this process that are over for the method.
    pub turns: usize,
    /// The total time spent on the method, setup and verification included.
    pub spent: Duration,
    /// The parts of a product; `None` until they are measured.
    pub parts: Option<Parts>,
    /// Remarks on a failure with another matrix before, and on the rounds that an interrupt has prevented.
    pub remarks: Vec<Remark>,
}

impl<'a, T, V: ?Sized> Ready<'a, T, V> {
    pub fn new(cell: &'a Cell, prepared: Prepared<'a, T, V>, setup: Duration) -> Self {
        Self {
            cell,
            prepared,
            setup_ms: 1e3 * setup.as_secs_f64(),
            error_ratio: 0.0,
            likely_ratio: 0.0,
            seen: 0,
            late: Late::default(),
            matrix_bytes: None,
            hashes: Default::default(),
            samples: Samples::default(),
            power: Power::default(),
            cpus: Cpus::default(),
            busy: Duration::ZERO,
            turns: 0,
            spent: Duration::ZERO,
            parts: None,
            remarks: Vec::new(),
        }
    }

    /// Ends the current measurement before all rounds were taken: `own` of this process, after those `before`, `of` in
    /// all. Returns whether there are any samples.
    pub fn cut_short(&mut self, [before, own]: [usize; 2], of: usize) -> bool {
        if self.turns < own {
            self.remarks.push(Remark::Interrupted { rounds: before + self.turns, of });
        }
        !self.samples.turns.is_empty()
    }

    /// Returns the outcome of this method if a result was wrong, or a check of its times failed.
    pub fn wrong(&self, reason: impl Into<String>) -> Outcome {
        Outcome::wrong(reason.into(), self.error_ratio)
    }
}

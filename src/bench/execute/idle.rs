//! What the threads of plug-ins do while others are measured. A thread that computes then takes a CPU from the others,
//! or brings data back into caches that were emptied.

use std::collections::BTreeMap;
use std::time::Duration;

use super::case::{Case, Entry};
use crate::bench::backend::{Backend, SETTLE};
use crate::bench::contract::is_of_library;
use crate::bench::event::{Stopped, Turn};
use crate::bench::outcome::Outcome;
use spmv_matrix::scalar::Scalar;
use spmv_matrix::system::threads::Thread;
use spmv_methods::method::Choice;
use spmv_results::row::Status;

/// The part of a time during which a thread that is idle may run.
const IDLE: f64 = 0.1;
/// How many pauses are made until the threads of a plug-in are idle. Those of some libraries look for work for up to
/// 200 ms after a product.
const PAUSES: usize = 250;
/// How long a thread may run while caches are emptied: it reads less than they hold.
const MOST_WHILE_EVICTED: Duration = Duration::from_micros(200);
/// How often caches are emptied at most before a sample, until no thread of the plug-in runs meanwhile.
const EVICTIONS: usize = 100;

impl<'a, T: Scalar, S: Backend<'a, T>> Case<'a, '_, T, S> {
    /// Waits until the threads of all plug-ins are idle. A method whose threads are not is ended with the process.
    pub(super) fn await_idle(&mut self, entrants: &mut Vec<Entry<'a, T, S>>) -> Result<(), Stopped> {
        if self.foreign.is_empty() {
            return Ok(());
        }
        let mut busy = None;
        for _ in 0..PAUSES {
            let (before, begin) = (self.foreign.used(), self.now());
            self.bench.clock.pause(SETTLE);
            busy = self.foreign.busy(&before, (self.now() - begin).mul_f64(IDLE)).map(String::from);
            if busy.is_none() {
                return Ok(());
            }
        }
        self.end_busy(entrants, busy)
    }

    /// Ends the method of a plug-in whose thread was busy while a method of this program was measured, which needs no
    /// thread of others.
    pub(super) fn end_busy_since(
        &mut self,
        entrants: &mut Vec<Entry<'a, T, S>>,
        measured: &Choice,
        before: &BTreeMap<Thread, Duration>,
        begin: Duration,
    ) -> Result<(), Stopped> {
        if measured.method.is_custom() || is_of_library(measured) {
            return Ok(());
        }
        let busy = self.foreign.busy(before, (self.now() - begin).mul_f64(IDLE)).map(String::from);
        self.end_busy(entrants, busy)
    }

    fn end_busy(&mut self, entrants: &mut Vec<Entry<'a, T, S>>, busy: Option<String>) -> Result<(), Stopped> {
        let place = entrants.iter().position(|ready| Some(ready.cell.choice.name()) == busy);
        let Some(place) = place else { return Ok(()) };
        let cell = entrants.remove(place).cell;
        self.bench.begin(cell, Turn::Other);
        self.is_spoilt = true;
        let reason = "its threads use a CPU while they should be idle".to_owned();
        self.end(cell, Outcome::new(Status::Failed, reason))
    }

    /// Empties the caches. If a thread of the plug-in that is measured runs meanwhile, they are emptied again.
    pub(super) fn evict(&mut self, ready: &Entry<'a, T, S>) -> Result<(), Outcome> {
        for _ in 0..EVICTIONS {
            let before = self.foreign.used();
            self.backend.evict_caches(&ready.prepared, ready.cell.key.threads > Some(1))?;
            if !ready.prepared.is_foreign || self.foreign.busy(&before, MOST_WHILE_EVICTED).is_none() {
                return Ok(());
            }
        }
        Err(ready.wrong("its threads run while the caches are emptied before a sample"))
    }
}

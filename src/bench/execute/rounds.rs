//! The rounds, in which all methods take turns, and the duel after them.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::case::{Case, Entry};
use super::caught::guarded;
use super::standing::far_behind;
use crate::bench::backend::Backend;
use crate::bench::event::{Stopped, Turn};
use spmv_matrix::scalar::Scalar;
use spmv_methods::method::Device;
use spmv_results::row::RowKey;

impl<'a, T: Scalar, S: Backend<'a, T>> Case<'a, '_, T, S> {
    /// Runs all rounds, and the duel.
    pub(super) fn take_turns(&mut self, entrants: &mut Vec<Entry<'a, T, S>>, warm_up: Duration) -> Result<(), Stopped> {
        if self.is_modelled() {
            return entrants.drain(..).try_for_each(|ready| self.finish(ready));
        }
        let [before, rounds] = self.bench.own_rounds(S::DEVICE);
        self.load(entrants, warm_up)?;
        self.take_rounds(entrants, before + 1..=before + rounds)?;
        self.load(entrants, Duration::ZERO)?;
        self.duel(entrants)?;
        entrants.drain(..).try_for_each(|ready| self.finish(ready))
    }

    /// Runs products of the first method for at least `time`, and reads the device's clocks meanwhile. A method that
    /// fails is ended, and the next one is used. Does nothing on the host.
    fn load(&mut self, entrants: &mut Vec<Entry<'a, T, S>>, time: Duration) -> Result<(), Stopped> {
        if S::DEVICE == Device::Cpu {
            return Ok(());
        }
        while let Some(ready) = entrants.first_mut() {
            self.bench.begin(ready.cell, Turn::Other);
            let end = match guarded(|| self.backend.load(&mut ready.prepared, time)) {
                Ok(Ok(clocks)) => {
                    self.clocks.extend(clocks);
                    break;
                }
                Ok(Err(error)) => error.into(),
                Err(end) => end,
            };
            let cell = entrants.remove(0).cell;
            self.end(cell, end)?;
        }
        Ok(())
    }

    /// Runs the rounds with these numbers: in each, every method has one turn. If a duel follows, those that are far
    /// behind rest in every other round.
    fn take_rounds(
        &mut self,
        entrants: &mut Vec<Entry<'a, T, S>>,
        numbers: RangeInclusive<usize>,
    ) -> Result<(), Stopped> {
        let of = self.bench.settings.rounds.max(*numbers.end());
        let has_duel = self.duel_time().is_some();
        for (place, number) in numbers.enumerate() {
            self.number = number;
            let mut resting = Vec::new();
            if has_duel && !place.is_multiple_of(2) {
                resting = far_behind(entrants, self.bench.settings.planned);
            }
            // If the bandwidth cannot be measured, it stays unknown.
            let _ = self.backend.measure_peak();
            self.alteration = self.backend.alter(self.inputs, &mut self.random);
            self.take_round(entrants, &resting, Turn::Round { number, of })?;
        }
        self.check_interrupt()
    }

    /// Gives a turn to every method that does not rest.
    fn take_round(
        &mut self,
        entrants: &mut Vec<Entry<'a, T, S>>,
        resting: &[RowKey],
        turn: Turn,
    ) -> Result<(), Stopped> {
        let mut next = 0;
        while let Some(ready) = entrants.get_mut(next) {
            self.check_interrupt()?;
            if resting.contains(&ready.cell.key) {
                ready.turns += 1;
                next += 1;
                continue;
            }
            let cell = ready.cell;
            self.await_idle(entrants)?;
            let Some(ready) = entrants.get_mut(next) else { break };
            let before = self.foreign.used();
            let begin = self.now();
            self.bench.begin(cell, turn);
            match self.watching(&ready.cell.choice, |case| case.take_turn(ready)) {
                Ok(()) => next += 1,
                Err(end) => {
                    let cell = entrants.remove(next).cell;
                    self.end(cell, end)?;
                }
            }
            self.end_busy_since(entrants, &cell.choice, &before, begin)?;
        }
        Ok(())
    }
}

//! Measures methods on one matrix. Every method yields a row, even if it fails.
//!
//! Each method first runs once on a small matrix, so that one-time initialisation of the process is not timed. Then it
//! is prepared (timed as setup), multiplies once, and that product is verified. Then follow the rounds, in which all
//! methods take turns (see `turn`), and the duel of the best (see `duel`). Because of the turns all methods are
//! prepared at the same time; with a single round, each is dropped before the next is prepared. After an interrupt,
//! methods that have samples report them.

mod case;
mod caught;
mod cpus;
mod duel;
mod enter;
mod foreign;
mod idle;
mod late;
mod modelled;
mod observe;
mod power;
mod probes;
mod ready;
mod rounds;
mod standing;
mod turn;

use std::mem::take;
use std::slice;
use std::time::Duration;

use super::backend::Backend;
pub use super::contract::{Bench, Cell};
pub use super::event::Stopped;
use super::event::Turn;
use super::inputs::Inputs;
use super::outcome::Outcome;
use case::Case;
pub use power::shortest as shortest_interval;
pub use ready::Ready;
use spmv_matrix::memory::extent::Extent;
use spmv_matrix::memory::{self, Available};
use spmv_matrix::scalar::Scalar;
use spmv_results::matrix::Group;

/// How long products run on a device before the first round, so that its clocks reach their level under load.
const WARM_UP: Duration = Duration::from_millis(200);

/// Measures methods on a backend, until [`Bench::interrupted`] is set. `extent` is that of the matrix. Reports the row
/// of each method, and sets in their `group` what was measured once for all.
pub fn measure<'a, T: Scalar, S: Backend<'a, T>>(
    bench: &'a Bench<'a>,
    extent: Extent<'a>,
    inputs: &mut Inputs<T>,
    backend: S,
    cells: &'a [Cell],
    group: &mut Group,
) -> Result<(), Stopped> {
    let mut case = Case::new(bench, extent, inputs, backend);
    let measured = case.measure_all(cells);
    group.peak = Some(case.backend.peak()).filter(|peak| peak.gbs() > 0.0);
    group.clocks = case.clocks;
    measured
}

impl<'a, T: Scalar, S: Backend<'a, T>> Case<'a, '_, T, S> {
    /// Measures the methods in as many parts as the available memory requires.
    fn measure_all(&mut self, cells: &'a [Cell]) -> Result<(), Stopped> {
        let mut warm_up = WARM_UP;
        let takes_turns = self.bench.settings.rounds > 1 && !self.is_modelled();
        let together = if takes_turns { usize::MAX } else { 1 };
        let needs: Vec<_> = cells.iter().map(|cell| self.need(&cell.choice)).collect();
        // If the device does not report its free memory, a failing allocation will show that there is too little.
        let available = self.backend.available(&self.extent, 0).unwrap_or(Available { bytes: u64::MAX, by: "unknown" });
        let parts = memory::parts(&needs, available.bytes, together);
        for (place, &need) in needs.iter().enumerate() {
            if !parts.iter().any(|part| part.contains(&place)) {
                self.bench.end(slice::from_ref(&cells[place]), &Outcome::refused(need, available));
            }
        }
        for (number, part) in (1..).zip(&parts) {
            self.kept = 0;
            self.part = (together > 1 && parts.len() > 1).then_some((number, parts.len()));
            let mut part: Vec<_> = part.iter().map(|&place| &cells[place]).collect();
            // A method may gain from what the one before it has left. In every other process another one precedes.
            if self.bench.share.is_some_and(|[before, own]| !(before / own).is_multiple_of(2)) {
                part.reverse();
            }
            self.measure(&part, take(&mut warm_up))?;
        }
        Ok(())
    }

    /// Measures methods in turns, all prepared at the same time, after products for `warm_up`.
    fn measure(&mut self, cells: &[&'a Cell<'a>], warm_up: Duration) -> Result<(), Stopped> {
        let mut entrants = Vec::new();
        let mut measured = cells.iter().try_for_each(|cell| {
            self.check_interrupt()?;
            self.bench.begin(cell, Turn::Prepare);
            match self.watching(&cell.choice, |case| case.enter(cell)) {
                Ok(ready) => entrants.push(ready),
                Err(end) => self.end(cell, end)?,
            }
            Ok(())
        });
        if measured.is_ok() {
            measured = self.take_turns(&mut entrants, warm_up);
        }
        if measured == Err(Stopped::Interrupted) {
            // Methods with samples report them, but not their next steps: if the process ends now, the method that was
            // reported last is the cause.
            for mut ready in entrants {
                let settings = self.bench.settings;
                if ready.cut_short(self.bench.own_rounds(S::DEVICE), settings.rounds.max(1)) {
                    self.settle(ready);
                }
            }
        }
        measured
    }
}

#[cfg(test)]
mod tests;

//! The duel: the methods that the closing sentence names alternate sample by sample.
//!
//! What lasts longer than some samples (other programs, the clock rate of the CPU) then hits all of them, and cancels
//! in the ratios of neighbours, of which the median counts. A cycle goes through the methods there and back, in a
//! random order, so that none gains from its place. An untimed product before each sample brings the method's own data
//! into the caches. A cycle in which any sample was disturbed does not count for any of the methods.

use std::time::Duration;

use rand::seq::SliceRandom;

use super::{Case, Entry, Ready, Stopped};
use crate::bench::backend::{Backend, SETTLE};
use crate::bench::event::{Event, Step};
use crate::bench::outcome::Outcome;
use crate::bench::samples::choose_cycles;
use crate::bench::statistics::Sample;
use spmv_matrix::scalar::Scalar;
use spmv_methods::method::Device;
use spmv_results::matrix::winner::named;
use spmv_results::row::{Row, Status};
use spmv_results::statistics::median;

/// How methods alternate.
struct Plan {
    /// The time of undisturbed cycles: short products need less than others.
    time: Duration,
    /// The number of products in a sample of each method.
    batches: Vec<usize>,
    /// The probability that x changes before a sample.
    chance: f64,
    /// Whether threads of a library and those of the team take part, which would spin on the same cores.
    is_mixed: bool,
}

/// A cycle through the methods, there and back.
struct Cycle {
    /// The logarithm of the time of a product of each method.
    logs: Vec<f64>,
    /// The largest share of its time that a thread waited in a sample.
    disturbance: f64,
}

impl<'a, T: Scalar, S: Backend<'a, T>> Case<'a, '_, T, S> {
    /// Lets the best methods alternate, if there are two. One that fails is ended, and the others have no duel.
    pub(super) fn duel(&mut self, entrants: &mut Vec<Entry<'a, T, S>>) -> Result<(), Stopped> {
        let is_meant = self.part.is_none() && S::DEVICE == Device::Cpu;
        let Some(time) = self.bench.settings.duel_time().filter(|_| is_meant) else {
            return Ok(());
        };
        let mut duelists = take_duelists(entrants, self.bench.settings.planned);
        if duelists.len() > 1 {
            let keys = duelists.iter().map(|ready| ready.cell.key.clone()).collect();
            (self.bench.emit)(Event::Step(Step::Duel(keys)));
            self.number = 0;
            if let Err((place, end)) = self.watched_fight(&mut duelists, time) {
                let cell = duelists.remove(place).cell;
                self.end(cell, end)?;
            }
        }
        entrants.append(&mut duelists);
        self.check_interrupt()
    }

    /// Lets methods alternate, and restores x. A change of the process or of the matrix is found if code of others
    /// takes part. An error comes with the place of the method.
    fn watched_fight(
        &mut self,
        duelists: &mut [Entry<'a, T, S>],
        time: Duration,
    ) -> Result<(), (usize, Outcome)> {
        let mut failed = duelists.iter().position(|ready| ready.prepared.is_foreign).unwrap_or(0);
        let choice = duelists[failed].cell.choice.clone();
        let fought = self.watching(&choice, |case| {
            let fought = case.fight(duelists, time).map_err(|(place, end)| {
                failed = place;
                end
            });
            case.restore_x(fought)
        });
        fought.map_err(|end| (failed, end))
    }

    /// Lets methods alternate until their undisturbed cycles have taken the planned time, or all cycles twice as long.
    /// An error comes with the place of the method.
    fn fight(
        &mut self,
        duelists: &mut [Entry<'a, T, S>],
        time: Duration,
    ) -> Result<(), (usize, Outcome)> {
        let plan = self.plan(duelists, time);
        self.bench.clock.watch_threads();
        let (mut cycles, mut calm, mut all) = (Vec::new(), Duration::ZERO, Duration::ZERO);
        while cycles.is_empty() || calm < plan.time && all < 2 * plan.time && !self.interrupted() {
            let begin = self.now();
            let samples = self.cycle(duelists, &plan)?;
            let took = self.now() - begin;
            all += took;
            if !samples.iter().flatten().any(Sample::is_disturbed) {
                calm += took;
            }
            cycles.push(Cycle::of(&samples));
            for (ready, samples) in duelists.iter_mut().zip(samples) {
                ready.samples.duel.extend(samples);
            }
        }
        for (place, ready) in duelists.iter_mut().enumerate() {
            self.close(ready).map_err(|end| (place, end))?;
        }
        conclude(duelists, &cycles);
        Ok(())
    }

    fn plan(&self, duelists: &[Entry<'a, T, S>], most: Duration) -> Plan {
        let typical: Vec<_> =
            duelists.iter().map(|ready| ready.samples.typical().unwrap_or_default()).collect();
        let batches: Vec<_> = typical.iter().map(|&product| self.fitting(product)).collect();
        let products = (self.round.products * self.bench.settings.rounds) as u32;
        let time = most.min(typical.iter().sum::<Duration>().saturating_mul(products));
        let round = |(&product, &batch): (&Duration, &usize)| product * (batch as u32 + 1);
        let one_way: Duration = typical.iter().zip(&batches).map(round).sum();
        let samples = time.as_secs_f64() / one_way.as_secs_f64();
        let uses_library = |ready: &Entry<'a, T, S>| ready.prepared.wake.is_some();
        let is_mixed = duelists.iter().any(|it| uses_library(it) != uses_library(&duelists[0]));
        Plan { time, batches, chance: self.chance_of_change(samples.max(2.0)), is_mixed }
    }

    /// Takes two samples of each method.
    fn cycle(
        &mut self,
        duelists: &mut [Entry<'a, T, S>],
        plan: &Plan,
    ) -> Result<Vec<Vec<Sample>>, (usize, Outcome)> {
        let mut order: Vec<_> = (0..duelists.len()).collect();
        order.shuffle(&mut self.random);
        let mut samples = vec![Vec::new(); duelists.len()];
        for &place in order.iter().chain(order.iter().rev()) {
            if plan.is_mixed {
                self.bench.clock.pause(SETTLE);
            }
            let sample = self.visit(&mut duelists[place], plan.batches[place], plan.chance);
            samples[place].push(sample.map_err(|end| (place, end))?);
        }
        Ok(samples)
    }

    /// Takes a sample after a product that is not timed.
    fn visit(
        &mut self,
        ready: &mut Entry<'a, T, S>,
        batch: usize,
        chance: f64,
    ) -> Result<Sample, Outcome> {
        self.time(ready, 1)?;
        Ok(self.observe(ready, batch, chance)?.0)
    }

    /// Runs a last product and verifies it.
    fn close(&mut self, ready: &mut Entry<'a, T, S>) -> Result<(), Outcome> {
        self.renew_y()?;
        self.time(ready, 1)?;
        self.verify(ready)
    }
}

/// Takes the methods of the duel out of all: those that were asked for, or else those that the times of this process
/// name.
fn take_duelists<'a, T, V: ?Sized>(
    entrants: &mut Vec<Ready<'a, T, V>>,
    planned: Option<u32>,
) -> Vec<Ready<'a, T, V>> {
    let row = |ready: &Ready<'a, T, V>| Row {
        status: Some(Status::Ok),
        setup_ms: Some(ready.setup_ms),
        median_ms: ready.samples.typical().map(|time| 1e3 * time.as_secs_f64()),
        picked: ready.prepared.picked.clone(),
        ..Row::default().with_key(&ready.cell.key)
    };
    let own = named(&entrants.iter().map(row).collect::<Vec<_>>(), planned);
    let is_any_asked = entrants.iter().any(|ready| ready.cell.duels);
    let mut places = 0..;
    let is_duelist = |ready: &mut Ready<'a, T, V>| {
        let place = places.next().unwrap_or_default();
        if is_any_asked { ready.cell.duels } else { own.contains(&place) }
    };
    entrants.extract_if(.., is_duelist).collect()
}

impl Cycle {
    fn of(samples: &[Vec<Sample>]) -> Self {
        let log = |samples: &Vec<Sample>| {
            let sum = |of: fn(&Sample) -> f64| samples.iter().map(of).sum::<f64>();
            (sum(|sample| sample.seconds) / sum(|sample| sample.products as f64)).ln()
        };
        let disturbances = samples.iter().flatten().map(Sample::disturbance);
        Self {
            logs: samples.iter().map(log).collect(),
            disturbance: disturbances.fold(0.0, f64::max),
        }
    }

    /// Returns the logarithm of the time of a method relative to the geometric mean of all.
    fn relative(&self, place: usize) -> f64 {
        self.logs[place] - self.logs.iter().sum::<f64>() / self.logs.len() as f64
    }
}

/// Gives the methods of a duel their times: the ratios are those of the duel, and their common level is that of the
/// turns, in which all methods took part.
fn conclude<T, V: ?Sized>(duelists: &mut [Ready<T, V>], cycles: &[Cycle]) {
    let counted = choose_cycles(cycles, |cycle| cycle.disturbance);
    let of = |place: usize| median(counted.iter().map(|&cycle| cycles[cycle].relative(place)));
    let relative: Vec<_> = (0..duelists.len()).filter_map(of).collect();
    let turns = duelists.iter().filter_map(|it| Some(it.samples.typical()?.as_secs_f64().ln()));
    let levels: Vec<_> = turns.zip(&relative).map(|(turn, relative)| turn - relative).collect();
    let level = levels.iter().sum::<f64>() / levels.len() as f64;
    for (ready, relative) in duelists.iter_mut().zip(relative) {
        ready.samples.duel_ms = Some(1e3 * (level + relative).exp());
        for (number, samples) in ready.samples.duel.chunks_mut(2).enumerate() {
            samples.iter_mut().for_each(|sample| sample.counts = counted.contains(&number));
        }
    }
}

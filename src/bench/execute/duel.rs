//! The duel: the methods that the closing sentence may name alternate sample by sample.
//!
//! The best method and another one take a sample after the other, in alternating order. What lasts longer than two
//! samples (other programs, the clock rate of the CPU) then hits both, and cancels in their ratio. The median of these
//! ratios counts. An untimed product before each sample brings the method's own data into the caches. A sample that was
//! disturbed is taken again at once, a few times; a pair with a sample that stays disturbed counts for none of both.

use std::collections::BTreeSet;
use std::time::Duration;

use super::{Case, Entry, Ready, Stopped};
use crate::bench::backend::{Backend, SETTLE};
use crate::bench::event::{Event, Step};
use crate::bench::outcome::Outcome;
use crate::bench::samples::choose_pairs;
use crate::bench::statistics::Sample;
use spmv_matrix::scalar::Scalar;
use spmv_methods::method::Device;
use spmv_results::matrix::winner::candidates;
use spmv_results::row::{Row, Status};
use spmv_results::settings::DUEL;
use spmv_results::statistics::median;

/// The time of all pairs of a duel, at most, over that of the undisturbed ones.
const MOST: u32 = 3;
/// How often a disturbed sample is taken at most.
const TRIES: usize = 3;

/// What the times of the turns say about a duel: how long it and its samples are.
struct Plan {
    /// The time of undisturbed pairs: short products need less than others.
    time: Duration,
    /// The place of the fastest method.
    best: usize,
    /// The number of products in a sample of each method.
    batches: Vec<usize>,
    /// The probability that x changes before a sample.
    chance: f64,
}

/// A sample of the best method and one of another.
struct Pair {
    rival: usize,
    samples: [Sample; 2],
}

impl Pair {
    fn disturbance(&self) -> f64 {
        self.samples.iter().map(Sample::disturbance).fold(0.0, f64::max)
    }

    /// Returns the logarithm of how many times as long the other method takes.
    fn log(&self) -> f64 {
        let [best, rival] = self.samples.map(|sample| sample.seconds / sample.products as f64);
        (rival / best).ln()
    }
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

    /// Lets methods alternate until their undisturbed pairs have taken the planned time, or all pairs three times as
    /// long. An error comes with the place of the method.
    fn fight(
        &mut self,
        duelists: &mut [Entry<'a, T, S>],
        time: Duration,
    ) -> Result<(), (usize, Outcome)> {
        let plan = self.plan(duelists, time);
        self.let_threads_sleep(SETTLE);
        self.bench.clock.watch_threads();
        let (mut pairs, mut calm, mut all) = (Vec::new(), Duration::ZERO, Duration::ZERO);
        let is_over = |calm: Duration, all: Duration| calm >= plan.time || all >= MOST * plan.time;
        while pairs.len() < duelists.len() || !is_over(calm, all) && !self.interrupted() {
            let begin = self.now();
            let pair = self.pair(duelists, &plan, pairs.len())?;
            let took = self.now() - begin;
            all += took;
            if !pair.samples.iter().any(Sample::is_disturbed) {
                calm += took;
            }
            pairs.push(pair);
        }
        for (place, ready) in duelists.iter_mut().enumerate() {
            self.close(ready).map_err(|end| (place, end))?;
        }
        conclude(duelists, plan.best, &pairs);
        Ok(())
    }

    fn plan(&self, duelists: &[Entry<'a, T, S>], most: Duration) -> Plan {
        let typical: Vec<_> =
            duelists.iter().map(|ready| ready.samples.typical().unwrap_or_default()).collect();
        let best = (0..typical.len()).min_by_key(|&place| typical[place]).unwrap_or_default();
        let batches: Vec<_> = typical.iter().map(|&product| self.fitting(product)).collect();
        let products = DUEL * (self.round.products * self.bench.settings.rounds) as u32;
        let time = most.min(typical.iter().sum::<Duration>().saturating_mul(products));
        let visit = |(&product, &batch): (&Duration, &usize)| product * (batch as u32 + 1);
        let visits: Duration = typical.iter().zip(&batches).map(visit).sum();
        let samples = time.as_secs_f64() / visits.as_secs_f64();
        Plan { time, best, batches, chance: self.chance_of_change(samples.max(2.0)) }
    }

    /// Takes the pair of samples with this number, of the best method and of one of the others in turn.
    fn pair(
        &mut self,
        duelists: &mut [Entry<'a, T, S>],
        plan: &Plan,
        number: usize,
    ) -> Result<Pair, (usize, Outcome)> {
        let others: Vec<_> = (0..duelists.len()).filter(|&place| place != plan.best).collect();
        let rival = others[number % others.len()];
        let mut places = [plan.best, rival];
        if !(number / others.len()).is_multiple_of(2) {
            places.reverse();
        }
        let mut samples = [Sample::default(); 2];
        for place in places {
            let sample = self.visit(&mut duelists[place], place, plan, number + 1);
            samples[usize::from(place == rival)] = sample.map_err(|end| (place, end))?;
        }
        Ok(Pair { rival, samples })
    }

    /// Takes a sample after a product that is not timed, again if it was disturbed. Returns the last one.
    fn visit(
        &mut self,
        ready: &mut Entry<'a, T, S>,
        place: usize,
        plan: &Plan,
        pair: usize,
    ) -> Result<Sample, Outcome> {
        let mut sample = Sample::default();
        for _ in 0..TRIES {
            let is_of_library = ready.prepared.wake.is_some();
            if is_of_library != std::mem::replace(&mut self.is_of_library, is_of_library) {
                // The threads of a library and those of the team would spin on the same cores.
                self.let_threads_sleep(SETTLE);
            }
            self.time(ready, 1)?;
            sample = Sample { pair, ..self.observe(ready, plan.batches[place], plan.chance)?.0 };
            ready.samples.duel.push(sample);
            if !sample.is_disturbed() {
                break;
            }
        }
        Ok(sample)
    }

    /// Runs a last product and verifies it.
    fn close(&mut self, ready: &mut Entry<'a, T, S>) -> Result<(), Outcome> {
        self.renew_y()?;
        self.time(ready, 1)?;
        self.verify(ready)
    }
}

/// Takes the methods of the duel out of all: those that were asked for, or else those that may be named by the times of
/// this process.
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
    let own = candidates(&entrants.iter().map(row).collect::<Vec<_>>(), planned);
    let is_any_asked = entrants.iter().any(|ready| ready.cell.duels);
    let mut places = 0..;
    let is_duelist = |ready: &mut Ready<'a, T, V>| {
        let place = places.next().unwrap_or_default();
        if is_any_asked { ready.cell.duels } else { own.contains(&place) }
    };
    entrants.extract_if(.., is_duelist).collect()
}

/// Gives the methods of a duel their times: the ratios to the best one are those of the duel, and the common level is
/// that of the turns, in which all methods took part.
fn conclude<T, V: ?Sized>(duelists: &mut [Ready<T, V>], best: usize, pairs: &[Pair]) {
    let mut relative = vec![0.0; duelists.len()];
    let mut counted = BTreeSet::new();
    for place in (0..duelists.len()).filter(|&place| place != best) {
        let with = |number: &usize| pairs[*number].rival == place;
        let numbers: Vec<_> = (0..pairs.len()).filter(with).collect();
        let chosen = choose_pairs(&numbers, |&number| pairs[number].disturbance());
        relative[place] = median(chosen.iter().map(|&number| pairs[number].log())).unwrap_or(0.0);
        counted.extend(chosen.into_iter().map(|number| number + 1));
    }
    let turns = duelists.iter().filter_map(|it| Some(it.samples.typical()?.as_secs_f64().ln()));
    let levels: Vec<_> = turns.zip(&relative).map(|(turn, relative)| turn - relative).collect();
    let level = levels.iter().sum::<f64>() / levels.len() as f64;
    for (ready, relative) in duelists.iter_mut().zip(relative) {
        ready.samples.duel_ms = Some(1e3 * (level + relative).exp());
        // Of the samples of a pair that were taken again, the last one counts.
        let attempts = ready.samples.duel.chunk_by_mut(|one, next| one.pair == next.pair);
        for last in attempts.filter_map(|attempts| attempts.last_mut()) {
            last.counts = counted.contains(&last.pair);
        }
    }
}

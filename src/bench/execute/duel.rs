//! The duel: the methods that the closing sentence may name alternate.
//!
//! The best method and another one take a few samples each, in alternating order. What lasts longer than a pair of such
//! visits (other programs, the clock rate of the CPU) then hits both, and cancels in their ratio. The median of these
//! ratios counts. Each method begins with products that are not timed: a matrix of the size of the caches is only half
//! in them after the first one, because those of the other method are still there. A disturbed sample is taken again,
//! and a pair with a method that was disturbed all the time counts for none of both.

use std::collections::BTreeSet;
use std::iter::zip;
use std::time::Duration;

use super::case::{Case, Entry};
use super::ready::Ready;
use super::standing::nameable;
use crate::bench::backend::{Backend, SETTLE};
use crate::bench::event::{Event, Step, Stopped};
use crate::bench::outcome::Outcome;
use crate::bench::samples::{DISTURBED, Sample, choose_pairs, least_disturbed};
use spmv_matrix::scalar::Scalar;
use spmv_methods::method::Device;
use spmv_results::settings::DUEL;
use spmv_results::statistics::median;

/// The time of all pairs of a duel, at most, over that of the undisturbed ones.
const MOST: u32 = 3;
/// The samples of a visit that count.
const SAMPLES: usize = 4;
/// How many samples of a visit are taken at most for each that counts.
const TRIES: usize = 3;
/// The untimed products that bring the data of a method into the caches. After one, products of a matrix in the
/// last-level cache took 20 % longer than later ones, after four 5 %, and after eight 2 %.
const WARM_UPS: usize = 8;
/// The time of these products, at most: if they take longer, most of the data are in no cache.
const WARMING: Duration = Duration::from_millis(25);

/// What the times of the turns say about a duel, and who had the last visit.
struct Duel {
    /// The time of undisturbed pairs: short products need less than others.
    time: Duration,
    /// The place of the fastest method.
    best: usize,
    /// The number of products in a sample of each method.
    batches: Vec<usize>,
    /// The number of products before the samples of each method.
    warm_ups: Vec<usize>,
    /// The probability that x changes before a sample.
    chance: f64,
    /// The place of the method that was visited last.
    last: Option<usize>,
}

/// The samples of a method in a pair.
#[derive(Clone, Copy, Default)]
struct Visit {
    /// The median time of a product in milliseconds, of the samples that count.
    ms: f64,
    /// The largest disturbance of these.
    disturbance: f64,
}

impl Visit {
    /// Lets the least disturbed samples count.
    fn of(samples: &mut [Sample]) -> Self {
        let mut places = least_disturbed(samples, Sample::disturbance);
        places.truncate(SAMPLES);
        places.iter().for_each(|&place| samples[place].counts = true);
        let counted = || places.iter().map(|&place| &samples[place]);
        let times = counted().map(Sample::product_ms);
        let ms = median(times).unwrap_or_default();
        Self { ms, disturbance: counted().map(Sample::disturbance).fold(0.0, f64::max) }
    }
}

/// A visit of the best method and one of another.
struct Pair {
    rival: usize,
    visits: [Visit; 2],
}

impl Pair {
    fn disturbance(&self) -> f64 {
        self.visits.iter().map(|visit| visit.disturbance).fold(0.0, f64::max)
    }

    /// Returns the logarithm of how many times as long the other method takes.
    fn log(&self) -> f64 {
        let [best, rival] = self.visits.map(|visit| visit.ms);
        (rival / best).ln()
    }
}

impl<'a, T: Scalar, S: Backend<'a, T>> Case<'a, '_, T, S> {
    /// Returns how long a duel takes; `None` without one.
    pub(super) fn duel_time(&self) -> Option<Duration> {
        let is_meant = self.bench.has_duel && self.part.is_none() && S::DEVICE == Device::Cpu;
        self.bench.settings.duel_time().filter(|_| is_meant)
    }

    /// Lets the best methods alternate, if there are two. One that fails is ended, and the others have no duel.
    pub(super) fn duel(&mut self, entrants: &mut Vec<Entry<'a, T, S>>) -> Result<(), Stopped> {
        let Some(time) = self.duel_time() else { return Ok(()) };
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
    fn watched_fight(&mut self, duelists: &mut [Entry<'a, T, S>], time: Duration) -> Result<(), (usize, Outcome)> {
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
    fn fight(&mut self, duelists: &mut [Entry<'a, T, S>], time: Duration) -> Result<(), (usize, Outcome)> {
        let mut duel = self.planned(duelists, time);
        self.let_threads_sleep(SETTLE);
        self.bench.clock.watch_threads();
        let mut pairs = Vec::new();
        let mut calm = Duration::ZERO;
        let mut all = Duration::ZERO;
        let fewest = 2 * (duelists.len() - 1);
        let longest = MOST * duel.time;
        while pairs.len() < fewest || calm < duel.time && all < longest && !self.interrupted() {
            let begin = self.now();
            let pair = self.pair(duelists, &mut duel, pairs.len())?;
            let took = self.now() - begin;
            all += took;
            if pair.disturbance() <= DISTURBED {
                calm += took;
            }
            pairs.push(pair);
        }
        for (place, ready) in duelists.iter_mut().enumerate() {
            self.close(ready).map_err(|end| (place, end))?;
        }
        conclude(duelists, duel.best, &pairs);
        Ok(())
    }

    fn planned(&self, duelists: &[Entry<'a, T, S>], most: Duration) -> Duel {
        let typical: Vec<_> = duelists.iter().map(|ready| ready.samples.typical().unwrap_or_default()).collect();
        let best = (0..typical.len()).min_by_key(|&place| typical[place]).unwrap_or_default();
        let batches: Vec<_> = typical.iter().map(|&product| self.fitting(product)).collect();
        let products = DUEL * (self.round.products * self.bench.settings.rounds) as u32;
        let time = most.min(typical.iter().sum::<Duration>().saturating_mul(products));
        let warm_ups: Vec<_> = typical.iter().map(warm_ups).collect();
        let products = zip(&warm_ups, &batches).map(|(warm_up, batch)| warm_up / 2 + SAMPLES * batch);
        let visits: Duration = zip(&typical, products).map(|(time, many)| *time * many as u32).sum();
        let samples = SAMPLES as f64 * time.as_secs_f64() / visits.as_secs_f64();
        let chance = self.chance_of_change(samples.max(2.0));
        Duel { time, best, batches, warm_ups, chance, last: None }
    }

    /// Takes the pair with this number: after one with the same rival, in the other order. So every other visit is of
    /// the same method as the one before, and needs no warm-up.
    fn pair(
        &mut self,
        duelists: &mut [Entry<'a, T, S>],
        duel: &mut Duel,
        number: usize,
    ) -> Result<Pair, (usize, Outcome)> {
        let others: Vec<_> = (0..duelists.len()).filter(|&place| place != duel.best).collect();
        let rival = others[number / 2 % others.len()];
        let mut places = [duel.best, rival];
        if !number.is_multiple_of(2) {
            places.reverse();
        }
        let mut visits = [Visit::default(); 2];
        for place in places {
            let visit = self.visit(duelists, place, duel, number + 1);
            visits[usize::from(place == rival)] = visit.map_err(|end| (place, end))?;
        }
        Ok(Pair { rival, visits })
    }

    /// Takes the samples of a method, more of them if some were disturbed.
    fn visit(
        &mut self,
        duelists: &mut [Entry<'a, T, S>],
        place: usize,
        duel: &mut Duel,
        pair: usize,
    ) -> Result<Visit, Outcome> {
        let has_own_threads = |place: usize| duelists[place].prepared.wake.is_some();
        let last = duel.last.replace(place);
        if last.is_some_and(|last| has_own_threads(last) != has_own_threads(place)) {
            // The threads of a library and those of the team would spin on the same cores.
            self.let_threads_sleep(SETTLE);
        }
        let ready = &mut duelists[place];
        let warm_ups = if last == Some(place) { 0 } else { duel.warm_ups[place] };
        for _ in 0..warm_ups {
            self.time_one(ready)?;
        }
        let (before, mut calm) = (ready.samples.duel.len(), 0);
        while calm < SAMPLES && ready.samples.duel.len() - before < TRIES * SAMPLES {
            let (sample, _) = self.observe(ready, duel.batches[place], duel.chance)?;
            calm += usize::from(!sample.is_disturbed());
            ready.samples.duel.push(Sample { pair, ..sample });
        }
        Ok(Visit::of(&mut ready.samples.duel[before..]))
    }

    /// Runs a last product and verifies it.
    fn close(&mut self, ready: &mut Entry<'a, T, S>) -> Result<(), Outcome> {
        self.renew_y()?;
        self.time_one(ready)?;
        self.verify(ready)
    }
}

/// Returns the number of untimed products that bring the data of a method into the caches, if one takes `product`.
pub fn warm_ups(product: &Duration) -> usize {
    let most = WARMING.as_secs_f64() / product.as_secs_f64();
    (most as usize).clamp(1, WARM_UPS)
}

/// Takes the methods of the duel out of all: those that were asked for, or else those that may be named by the times of
/// this process.
fn take_duelists<'a, T, V: ?Sized>(entrants: &mut Vec<Ready<'a, T, V>>, planned: Option<u32>) -> Vec<Ready<'a, T, V>> {
    let own = nameable(entrants, planned);
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
        ready.samples.duel.iter_mut().for_each(|sample| sample.counts &= counted.contains(&sample.pair));
    }
}

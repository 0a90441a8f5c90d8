//! Measures methods on one matrix. Every method yields a value, whatever becomes of it.
//!
//! Prepare (timed), one product, verify; then rounds in which all methods take turns: warm-ups,
//! timed samples, and verification of what the last timed product left. All methods are kept ready at
//! once for that; with a single round, each is dropped before the next is prepared.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

use super::clock::Clock;
use super::evict::Evictor;
use super::metrics::compulsory_bytes;
use super::outcome::{Measurement, Outcome, Report};
use super::peak::Sweeps;
use super::plan::{Cache, Fill, Round, Settings};
use super::statistics::{Sample, Summary};
use crate::matrix::Csr;
use crate::method::{Failed, Method, Prepared, Request, Unavailable};
use crate::scalar::Scalar;
use crate::team::Team;
use crate::verify::{Reference, Verdict};

/// How long other threads (a library's, or the team's own) get to fall asleep before a method's turn.
const SETTLE: Duration = Duration::from_millis(2);
/// How often each round looks at the bandwidth.
const PEAK_LOOKS: usize = 3;

/// What a measurement needs from outside.
pub struct Bench<'a> {
    /// The threads.
    pub team: &'a Team,
    /// Time.
    pub clock: &'a dyn Clock,
    /// Set from outside to stop early.
    pub interrupted: &'a AtomicBool,
    /// How to measure.
    pub settings: &'a Settings,
}

/// The run was interrupted; what was measured of this matrix is incomplete.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

impl Bench<'_> {
    /// Measures `methods` on `csr`.
    ///
    /// # Errors
    /// [`Interrupted`] when the flag was raised.
    pub fn measure<T: Scalar>(
        &self,
        csr: &Csr<T>,
        methods: &[&Method],
    ) -> Result<Report, Interrupted> {
        let mut case = Case::new(self, csr);
        let outcomes = if self.settings.rounds > 1 {
            case.measure(methods)?
        } else {
            let one_by_one = methods.iter().map(|&method| Ok(case.measure(&[method])?.remove(0)));
            one_by_one.collect::<Result<_, _>>()?
        };
        Ok(Report { peak: case.sweeps.best(), outcomes })
    }
}

/// One matrix with its vectors, its reference and the place that y is computed in.
struct Case<'a, T> {
    bench: &'a Bench<'a>,
    csr: &'a Csr<T>,
    round: Round,
    alpha: T,
    beta: T,
    x: Vec<T>,
    /// What y holds before a verified product: with β = 0, NaN, so that a row that is never written
    /// shows.
    y0: Vec<T>,
    y: Vec<T>,
    reference: Reference,
    sweeps: Sweeps,
    evictor: Option<Evictor>,
}

/// A method in the race, or what ended it.
enum Entry<'a, T> {
    Ready(Ready<'a, T>),
    Ended(Outcome),
}

struct Ready<'a, T> {
    prepared: Prepared<'a, T>,
    setup_ms: f64,
    error_ratio: f64,
    samples: Vec<Sample>,
}

impl<'a, T: Scalar> Case<'a, T> {
    fn new(bench: &'a Bench, csr: &'a Csr<T>) -> Self {
        let settings = bench.settings;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(settings.seed);
        let mut uniform = |len: usize| -> Vec<T> {
            (0..len).map(|_| T::narrow(random.random_range(-1.0..1.0))).collect()
        };
        let x = match settings.x {
            Fill::Random => uniform(csr.cols),
            Fill::Ones => vec![T::one(); csr.cols],
        };
        let (alpha, beta) = (T::narrow(settings.alpha), T::narrow(settings.beta));
        let y0 = if beta == T::zero() { vec![T::nan(); csr.rows] } else { uniform(csr.rows) };
        let footprint = compulsory_bytes(csr.rows, csr.cols, csr.nnz(), T::PRECISION);
        Self {
            round: settings.round(csr.nnz()),
            reference: Reference::new(csr, alpha, &x, beta, &y0),
            y: y0.clone(),
            sweeps: Sweeps::new(bench.team, footprint as usize),
            evictor: (settings.cache == Cache::Cold).then(Evictor::of_machine),
            bench,
            csr,
            alpha,
            beta,
            x,
            y0,
        }
    }

    fn measure(&mut self, methods: &[&Method]) -> Result<Vec<Outcome>, Interrupted> {
        let mut entries = Vec::new();
        for method in methods {
            self.check_interrupt()?;
            entries.push(self.enter(method).map_or_else(Entry::Ended, Entry::Ready));
        }
        for _ in 0..self.bench.settings.rounds.max(1) {
            self.look_at_peak();
            for entry in &mut entries {
                self.check_interrupt()?;
                if let Entry::Ready(ready) = entry
                    && let Err(end) = self.take_turn(ready)
                {
                    *entry = Entry::Ended(end);
                }
            }
        }
        self.check_interrupt()?;
        Ok(entries.into_iter().map(Entry::outcome).collect())
    }

    /// Prepares a method and verifies its first product.
    fn enter(&mut self, method: &Method) -> Result<Ready<'a, T>, Outcome> {
        let Bench { team, clock, settings, .. } = *self.bench;
        let request = Request {
            team,
            alpha: settings.alpha,
            beta: settings.beta,
            expected_products: settings.products(self.csr.nnz()),
        };
        clock.pause(SETTLE);
        let start = clock.now();
        let prepared = guarded(|| method.prepare::<T>()(self.csr, &request))?
            .map_err(|Unavailable(reason)| Outcome::Skipped(reason))?;
        let setup_ms = 1e3 * (clock.now() - start).as_secs_f64();
        let mut ready = Ready { prepared, setup_ms, error_ratio: 0.0, samples: Vec::new() };
        self.y.copy_from_slice(&self.y0);
        self.multiply(&mut ready.prepared)?;
        self.verify(&mut ready)?;
        Ok(ready)
    }

    /// One round of a method: warm-ups, samples, verification.
    fn take_turn(&mut self, ready: &mut Ready<'a, T>) -> Result<(), Outcome> {
        let clock = self.bench.clock;
        clock.pause(SETTLE);
        self.y.copy_from_slice(&self.y0);
        let mut product = Duration::MAX;
        for _ in 0..self.bench.settings.warmups.max(1) {
            let start = clock.now();
            self.multiply(&mut ready.prepared)?;
            product = product.min(clock.now() - start);
        }
        let batch = self.round.batch(product);
        // Eviction is outside a sample's time but not outside the turn's.
        let turn = clock.now();
        let (mut products, mut end) = (0, turn);
        while self.round.goes_on(products, end - turn) && !self.interrupted() {
            self.chill(&ready.prepared);
            let start = clock.now();
            for _ in 0..batch {
                self.multiply(&mut ready.prepared)?;
            }
            end = clock.now();
            ready.samples.push(Sample { products: batch, seconds: (end - start).as_secs_f64() });
            products += batch;
        }
        if self.beta != T::zero() {
            // y has been fed back into itself: only a fresh y0 has a reference.
            self.y.copy_from_slice(&self.y0);
            self.multiply(&mut ready.prepared)?;
        }
        self.verify(ready)
    }

    fn multiply(&mut self, prepared: &mut Prepared<'a, T>) -> Result<(), Outcome> {
        guarded(|| prepared.multiply(self.alpha, &self.x, self.beta, &mut self.y))?
            .map_err(|Failed(reason)| Outcome::Failed(reason))
    }

    fn verify(&self, ready: &mut Ready<'a, T>) -> Result<(), Outcome> {
        let verdict: Verdict = self.reference.judge(&self.y);
        ready.error_ratio = ready.error_ratio.max(verdict.error_ratio);
        if verdict.passes() {
            return Ok(());
        }
        Err(Outcome::Wrong { reason: verdict.describe(), error_ratio: verdict.error_ratio })
    }

    fn look_at_peak(&mut self) {
        let Bench { team, clock, .. } = *self.bench;
        clock.pause(SETTLE);
        for _ in 0..PEAK_LOOKS {
            let evict = self.evictor.as_mut().map(|evictor| move || evictor.evict(team));
            self.sweeps.look(team, clock, evict);
        }
    }

    /// Before a sample with cold caches: evicts, lets all threads fall asleep, and wakes those that
    /// the product will run on, so that it meets cold caches but no sleeping or competing threads.
    fn chill(&mut self, prepared: &Prepared<T>) {
        let Some(evictor) = &mut self.evictor else { return };
        let Bench { team, clock, .. } = *self.bench;
        evictor.evict(team);
        clock.pause(SETTLE);
        match prepared.wake {
            Some(wake) => wake(),
            None => team.run(|_| ()),
        }
    }

    fn interrupted(&self) -> bool {
        self.bench.interrupted.load(Ordering::Relaxed)
    }

    fn check_interrupt(&self) -> Result<(), Interrupted> {
        if self.interrupted() { Err(Interrupted) } else { Ok(()) }
    }
}

impl<T> Entry<'_, T> {
    fn outcome(self) -> Outcome {
        let ready = match self {
            Self::Ended(outcome) => return outcome,
            Self::Ready(ready) => ready,
        };
        Outcome::Ok(Box::new(Measurement {
            setup_ms: ready.setup_ms,
            summary: Summary::of(&ready.samples).expect("a round takes one sample at least"),
            extra_bytes: ready.prepared.extra_bytes,
            error_ratio: ready.error_ratio,
            library_version: ready.prepared.library_version,
        }))
    }
}

/// A panic in a method is that method's failure, not the run's.
fn guarded<R>(call: impl FnOnce() -> R) -> Result<R, Outcome> {
    catch_unwind(AssertUnwindSafe(call))
        .map_err(|payload| Outcome::Failed(format!("panicked: {}", panic_text(&*payload))))
}

fn panic_text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::bench::clock::FakeClock;
    use crate::bench::plan::Protocol;
    use crate::method::Prepare;
    use crate::methods::cpu::seq;

    thread_local! {
        /// The clock that the test's methods advance, since a `Prepare` captures nothing.
        static CLOCK: FakeClock = FakeClock::default();
        /// The products in the order in which they ran.
        static LOG: RefCell<String> = const { RefCell::new(String::new()) };
    }

    struct TestClock;

    impl Clock for TestClock {
        fn now(&self) -> Duration {
            CLOCK.with(FakeClock::now)
        }
        fn pause(&self, time: Duration) {
            CLOCK.with(|clock| clock.pause(time));
        }
    }

    /// 5 ms of setup, 2 ms per product of zeros.
    fn prepare<'a>(csr: &'a Csr<f64>, letter: char) -> Result<Prepared<'a, f64>, Unavailable> {
        TestClock.pause(Duration::from_millis(5));
        LOG.with_borrow_mut(|log| log.push('|'));
        Ok(Prepared::new(csr, 40, move |_, _, _, y| {
            TestClock.pause(Duration::from_millis(2));
            LOG.with_borrow_mut(|log| log.push(letter));
            y.fill(0.0);
            Ok(())
        }))
    }

    fn method(prepare_f64: Prepare<f64>) -> Method {
        Method { prepare_f64, ..seq::METHOD }
    }

    fn measure(settings: Settings) -> (Report, String) {
        LOG.take();
        let csr = Csr::<f64>::from_triplets(3, 3, &[]);
        let bench = Bench {
            team: &Team::floating(1),
            clock: &TestClock,
            interrupted: &AtomicBool::new(false),
            settings: &settings,
        };
        let (a, b) = (method(|csr, _| prepare(csr, 'a')), method(|csr, _| prepare(csr, 'b')));
        (bench.measure(&csr, &[&a, &b]).unwrap(), LOG.take())
    }

    fn settings() -> Settings {
        let default = Settings::new(Protocol::MergeSpmv);
        Settings { iterations: Some(6), warmups: 1, rounds: 2, ..default }
    }

    fn measurement(report: &Report) -> &Measurement {
        let Outcome::Ok(measurement) = &report.outcomes[0] else { panic!("{report:?}") };
        measurement
    }

    #[test]
    fn methods_take_turns_and_times_are_exact() {
        let (report, log) = measure(settings());
        // Prepare and verify each; then two rounds of one warm-up and three products each.
        assert_eq!(log, "|a|baaaabbbbaaaabbbb");
        let measured = measurement(&report);
        assert!((measured.setup_ms - 5.0).abs() < 1e-9);
        assert_eq!((measured.summary.samples, measured.summary.iterations), (6, 6));
        assert!((measured.summary.mean_ms - 2.0).abs() < 1e-9);
        assert!(measured.summary.std_dev_ms.unwrap() < 1e-9);
        assert_eq!((measured.extra_bytes, measured.error_ratio), (Some(40), 0.0));
    }

    #[test]
    fn one_round_keeps_one_method_at_a_time() {
        let (_, log) = measure(Settings { rounds: 1, iterations: Some(2), ..settings() });
        assert_eq!(log, "|aaaa|bbbb");
    }

    #[test]
    fn time_bounds_hold_over_the_count() {
        let millis = Duration::from_millis;
        let bounded = Settings { max_time: millis(8), iterations: Some(1000), ..settings() };
        assert_eq!(measurement(&measure(bounded).0).summary.iterations, 4);
        let extended = Settings { min_time: millis(40), ..settings() };
        assert_eq!(measurement(&measure(extended).0).summary.iterations, 20);
    }

    #[test]
    fn cold_samples_are_single_products_and_beta_feeds_back_fresh_values() {
        let cold = Settings { cache: Cache::Cold, ..settings() };
        assert_eq!(measurement(&measure(cold).0).summary.samples, 6);
        // β = 1: zeros are wrong, y0 is right.
        let (report, _) = measure(Settings { beta: 1.0, ..settings() });
        assert!(matches!(report.outcomes[0], Outcome::Wrong { .. }));
    }

    #[test]
    fn an_interrupt_ends_the_measurement() {
        let csr = Csr::<f64>::from_triplets(3, 3, &[]);
        let bench = Bench {
            team: &Team::floating(1),
            clock: &TestClock,
            interrupted: &AtomicBool::new(true),
            settings: &settings(),
        };
        assert_eq!(bench.measure(&csr, &[&seq::METHOD]), Err(Interrupted));
    }
}

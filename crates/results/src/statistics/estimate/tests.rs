use rand::rngs::Xoshiro256PlusPlus;

use super::*;
use crate::statistics::interval::{normal, random};
use crate::statistics::percentage;

/// The standard deviation of ln 2, ln 4 and ln 8 is ln 2: half the interval is 4.303 ln 2 / √3.
#[test]
fn the_interval_is_that_of_students_t() {
    let one = Estimate::of([2.0, 4.0, 8.0]).unwrap();
    let half = 4.302_653 * 2f64.ln() / 3f64.sqrt();
    assert!((one.value - 4.0).abs() < 1e-12 && (one.half.unwrap() - half).abs() < 1e-6);
    assert_eq!((one.processes, one.is_apart()), (3, Some(false)));
    let pairs = Estimate::of_pairs(&[2.0, 4.0, 8.0, 99.0], &[1.0, 2.0, 4.0]).unwrap();
    assert_eq!((pairs.value, pairs.half, pairs.is_apart()), (2.0, Some(0.0), Some(true)));
    assert_eq!(Estimate::of_pairs(&[2.0, 4.0], &[1.0]), None, "one pair has no spread");
    for unknown in [&[][..], &[1.0, 0.0], &[-1.0, 1.0], &[1.0, f64::INFINITY]] {
        assert_eq!(Estimate::of(unknown), None, "{unknown:?}");
    }
    let known = |half| Estimate { value: 6.0, half, processes: 1 };
    let quotient = one.over(known(Some(half))).half.unwrap();
    assert!((quotient - 2f64.sqrt() * half).abs() < 1e-6, "independent errors");
    assert_eq!(one.over(known(None)).interval(), None);
}

/// Processes whose times all drift together, by 30 %, beside what differs between the methods.
struct Machine {
    random: Xoshiro256PlusPlus,
    has_heavy_tails: bool,
}

const DRIFT: f64 = 0.3;

impl Machine {
    fn normal(&mut self) -> f64 {
        normal(&mut self.random)
    }

    /// Returns an error with a variance of 1: normal, or of Student's t with three degrees of freedom.
    fn error(&mut self) -> f64 {
        let normal = self.normal();
        let squares: f64 = [(); 3].map(|()| self.normal().powi(2)).iter().sum();
        if self.has_heavy_tails { normal / squares.sqrt() } else { normal }
    }

    /// Returns the times of methods that all take 1 ms, each with its own standard deviation, in so many processes.
    fn times<const N: usize>(&mut self, deviations: [f64; N], processes: usize) -> [Vec<f64>; N] {
        let mut times = [(); N].map(|()| Vec::new());
        for _ in 0..processes {
            let drift = DRIFT * self.normal();
            for (times, deviation) in times.iter_mut().zip(deviations) {
                times.push((drift + deviation * self.error()).exp());
            }
        }
        times
    }
}

fn machines() -> [Machine; 2] {
    [false, true].map(|has_heavy_tails| Machine { random: random(), has_heavy_tails })
}

const RUNS: usize = 4000;

fn share(are: impl Iterator<Item = bool>) -> f64 {
    percentage(are).unwrap()
}

/// The reference varies by 2 %.
#[test]
fn each_interval_covers_the_ratio_in_95_percent_of_runs() {
    for mut machine in machines() {
        for processes in [3, 5, 9] {
            let runs: Vec<_> = (0..RUNS).map(|_| machine.times([0.02, 0.01, 0.05, 0.3], processes)).collect();
            for method in 1..4 {
                let over = |times: &[Vec<f64>; 4]| Estimate::of_pairs(&times[method], &times[0]).unwrap();
                let covered = share(runs.iter().map(|times| over(times).is_apart() == Some(false)));
                assert!(covered >= 93.0, "{processes} processes, method {method}: {covered} %");
            }
        }
    }
}

/// Runs of two methods that go on until their ratio is known well enough. Equal ones are seldom called different, and
/// the interval of others contains their ratio.
#[test]
fn to_look_after_each_process_does_not_make_intervals_wrong() {
    for mut machine in machines() {
        for deviation in [0.007, 0.014, 0.02, 0.04] {
            for (ratio, most) in [(1.0, 5.5), (1.4, 7.5)] {
                let mut is_wrong = || {
                    let [one, mut other] = machine.times([deviation; 2], PROCESSES[1]);
                    other.iter_mut().for_each(|ms| *ms *= ratio);
                    let looks = (PROCESSES[0]..).map(|count| Estimate::of_pairs(&other[..count], &one).unwrap());
                    let last = looks.into_iter().find(is_enough).unwrap();
                    let (low, high) = last.interval().unwrap();
                    low > ratio || high < ratio
                };
                let wrong = share((0..RUNS).map(|_| is_wrong()));
                assert!(wrong <= most, "{ratio}, {deviation}: {wrong} %");
            }
        }
    }
}

use rand::rngs::Xoshiro256PlusPlus;

use super::*;
use crate::files::read::RecordedRow;
use crate::report::compare::{Compared, of_runs, relative};
use crate::report::identity::name_matrices;
use crate::row::joined::joined;
use crate::row::{Processes, Row};
use crate::statistics::interval::{normal, random};

/// A machine on which times vary between runs, and between the processes of a run, in all methods together and in each
/// by itself: standard deviations of their logarithms.
#[derive(Clone, Copy)]
struct Noise {
    run: f64,
    process: f64,
    method: f64,
}

const QUIET: Noise = Noise { run: 0.03, process: 0.02, method: 0.02 };
const NOISY: Noise = Noise { run: 0.2, process: 0.2, method: 0.1 };

/// The processes of each run.
const PROCESSES: usize = 3;
/// How often each comparison is simulated.
const REPETITIONS: usize = 150;

impl Noise {
    /// Measures a method, which takes so many milliseconds, and a library on two matrices.
    fn run(self, ms: f64, random: &mut Xoshiro256PlusPlus) -> Vec<RecordedRow> {
        let drift = self.run * normal(random);
        let mut lines = Vec::new();
        for file in ["a.mtx", "b.mtx"] {
            let mut rows = [Vec::new(), Vec::new()];
            for _ in 0..PROCESSES {
                let drift = drift + self.process * normal(random);
                for ((rows, method), ms) in rows.iter_mut().zip(["mine", "library"]).zip([ms, 1.0]) {
                    let ms = ms * (drift + self.method * normal(random)).exp();
                    let row = crate::report::row(file, method, ms);
                    let process_ms = Some(Processes::of(ms));
                    rows.push(Row { median_ms: Some(ms), process_ms, ..row });
                }
            }
            let row = |rows: &Vec<Row>| joined(&rows.iter().collect::<Vec<_>>());
            lines.extend(rows.iter().map(|rows| RecordedRow::from(row(rows))));
        }
        lines
    }

    /// Returns how often a limit of 5 % ends in each way for a method that became so many times slower, by so many runs
    /// of each side.
    fn ends(self, slower: f64, is_relative: bool, runs: usize) -> [usize; 3] {
        let (mut random, mut ends, to) = (random(), [0; 3], "library".parse().unwrap());
        for _ in 0..REPETITIONS {
            let mut sides = [Vec::new(), Vec::new()];
            for _ in 0..runs {
                for (side, ms) in sides.iter_mut().zip([1.0, slower]) {
                    let mut run = self.run(ms, &mut random);
                    name_matrices(vec![run.iter_mut().collect()]);
                    if is_relative {
                        relative(&mut run, &to);
                    }
                    run.retain(|line| line.method() == "mine");
                    side.extend(run);
                }
            }
            let [a, b] = sides.map(|side| of_runs(&side));
            let side = |lines| Compared { name: "", lines };
            let comparison = Comparison::of(side(&a), side(&b), true).unwrap();
            ends[comparison.judged(Some(5.0), None)[0].end() as usize] += 1;
        }
        ends
    }
}

/// A wrong end is to fail up to the limit, and to pass from there on. At the limit 5 % of all are expected, elsewhere
/// fewer. With each case is the share that is decided at least, in percent.
#[test]
fn a_gate_is_rarely_wrong_and_more_runs_decide() {
    for (noise, is_relative, runs, slower, least) in [
        (QUIET, true, 6, 1.0, 95),
        (QUIET, true, 6, 1.05, 0),
        (QUIET, false, 3, 1.43, 95),
        (NOISY, false, 3, 1.0, 0),
        (NOISY, true, 6, 1.0, 15),
        (NOISY, true, 6, 1.05, 0),
        (NOISY, false, 3, 1.43, 10),
        (NOISY, true, 3, 1.43, 75),
        (NOISY, true, 6, 1.43, 95),
    ] {
        let [passed, failed, _] = noise.ends(slower, is_relative, runs);
        let wrong_failures = if slower <= 1.05 { failed } else { 0 };
        let wrong = wrong_failures + if slower >= 1.05 { passed } else { 0 };
        let what = format!("{slower}, {runs} runs, {} between runs", noise.run);
        assert!(100 * wrong <= 8 * REPETITIONS, "{what}: {wrong} are wrong");
        assert!(100 * (passed + failed) >= least * REPETITIONS, "{what}: {passed} and {failed}");
    }
}

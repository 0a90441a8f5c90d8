//! The checks, each with a name that says what has passed.

use super::product::{Asked, Case, Passed};
use super::small::{FACTORS, long_rows as triplets_of_long_rows, matrices};
use spmv_matrix::Csr;
use spmv_matrix::scalar::Scalar;
use spmv_methods::plugin::{Entry, abi};
use spmv_methods::team::Team;

const THREADS: [usize; 4] = [1, 2, 3, 7];
/// The number of preparations before memory is compared, and then between two comparisons.
const CYCLES: [usize; 3] = [100, 200, 200];
/// The growth of the process per preparation that is not taken for a leak, in bytes.
const GROWTH: usize = 256;

pub struct Checking<'c, T> {
    pub entry: &'static Entry,
    pub matrices: &'c [(String, Csr<T>)],
    /// Is called with the name of each step before it begins.
    pub step: &'c mut dyn FnMut(&str),
    pub passed: Passed,
}

pub type Check<T> = (&'static str, fn(&mut Checking<T>) -> Result<(), String>);

pub fn all<T: Scalar>() -> [Check<T>; 7] {
    [
        ("small matrices, alpha and beta, 1 to 7 threads, x and y at odd addresses", small_matrices),
        ("every value of every parameter", parameters),
        ("rows of 70000 nonzeros", long_rows),
        ("NaN and infinity in x stay in their rows", spoilt),
        ("several matrices prepared at the same time", together),
        ("memory after 500 preparations", memory),
        ("the same product again", again),
    ]
}

/// Returns the small matrices, the smallest first, so that the first failure is on the smallest matrix that shows it.
pub fn ascending<T: Scalar>() -> Vec<(String, Csr<T>)> {
    let mut all = matrices();
    all.sort_by_key(|(_, rows, cols, triplets)| rows + cols + triplets.len());
    let named = all.into_iter().map(|(name, rows, cols, triplets)| {
        let size = format!("{name} ({rows} x {cols}, {} nonzeros)", triplets.len());
        (size, Csr::from_triplets(rows, cols, &triplets))
    });
    named.collect()
}

impl<T: Scalar> Checking<'_, T> {
    /// Returns whether the product is plain or transposed, for all that the method has.
    fn transposes(&self) -> impl Iterator<Item = bool> + use<T> {
        let both = self.entry.description.has(abi::TRANSPOSED);
        [false, true].into_iter().filter(move |&transpose| both || !transpose)
    }

    /// Runs a case. The step names the matrix and the settings.
    fn run(&mut self, (name, csr): &(String, Csr<T>), asked: Asked) -> Result<(), String> {
        let Asked { team, transpose, factors: (alpha, beta), given } = asked;
        let product = if transpose { "transposed, " } else { "" };
        let given: String = given.iter().map(|(name, value)| format!(", {name}={value}")).collect();
        let threads = team.len();
        let on = format!("{name}, {product}alpha {alpha}, beta {beta}, threads {threads}{given}");
        (self.step)(&on);
        let case = Case::new(self.entry, csr, asked);
        case.run(&mut self.passed).map_err(|reason| format!("{on}: {reason}"))
    }
}

fn small_matrices<T: Scalar>(checking: &mut Checking<T>) -> Result<(), String> {
    let teams = THREADS.map(Team::floating);
    for matrix in checking.matrices {
        for team in &teams {
            for transpose in checking.transposes() {
                for factors in FACTORS {
                    checking.run(matrix, Asked { transpose, factors, ..Asked::plain(team) })?;
                }
            }
        }
    }
    Ok(())
}

fn parameters<T: Scalar>(checking: &mut Checking<T>) -> Result<(), String> {
    let team = Team::floating(3);
    let parameters = checking.entry.description.parameters.iter();
    let values = parameters.flat_map(|one| one.values.iter().map(|value| (&*one.name, &**value)));
    for given in values {
        for matrix in checking.matrices {
            for transpose in checking.transposes() {
                let asked = Asked { team: &team, transpose, factors: (2.5, -0.5), given: &[given] };
                checking.run(matrix, asked)?;
            }
        }
    }
    Ok(())
}

fn long_rows<T: Scalar>(checking: &mut Checking<T>) -> Result<(), String> {
    let csr = Csr::from_triplets(60, 70_000, &triplets_of_long_rows());
    let (matrix, team) = (("60 x 70000, 140036 nonzeros".into(), csr), Team::floating(3));
    for transpose in checking.transposes() {
        checking.run(&matrix, Asked { transpose, ..Asked::plain(&team) })?;
    }
    Ok(())
}

fn spoilt<T: Scalar>(checking: &mut Checking<T>) -> Result<(), String> {
    let team = Team::floating(3);
    for (name, csr) in checking.matrices {
        for transpose in checking.transposes() {
            (checking.step)(name);
            let asked = Asked { transpose, ..Asked::plain(&team) };
            let case = Case::new(checking.entry, csr, asked);
            let Some(running) = case.prepare(&mut checking.passed)? else { continue };
            let pattern = [T::nan(), T::one(), T::infinity(), T::one(), T::one()];
            let x: Vec<T> = pattern.into_iter().cycle().take(case.inputs()).collect();
            let y = case.multiply_by(&running, &x, 0).map_err(|reason| format!("{name}: {reason}"))?;
            let mut rows = case.finite(&x).zip(&y);
            if let Some(row) = rows.position(|(is_finite, y)| y.is_finite() != is_finite) {
                let y = y[row].widen();
                return Err(format!("{name}: y[{row}] is {y} with NaN or infinity in x"));
            }
            checking.passed.products += 1;
            running.end()?;
        }
    }
    Ok(())
}

fn together<T: Scalar>(checking: &mut Checking<T>) -> Result<(), String> {
    let team = Team::floating(2);
    (checking.step)("all small matrices at once");
    let case = |(name, csr)| (name, Case::new(checking.entry, csr, Asked::plain(&team)));
    let cases: Vec<(&String, _)> = checking.matrices.iter().map(|(name, csr)| case((name, csr))).collect();
    let passed = &mut checking.passed;
    let mut prepared = Vec::new();
    for (name, case) in &cases {
        let running = case.prepare(passed).map_err(|reason| format!("{name}: {reason}"))?;
        prepared.extend(running.map(|running| (name, case, running)));
    }
    for phase in [0.1, 0.2] {
        for (name, case, running) in &prepared {
            case.verify(running, phase, 0).map_err(|reason| format!("{name}: {reason}"))?;
            passed.products += 1;
        }
    }
    // Every second one is destroyed; the others must still be correct.
    let mut number = 0;
    while number < prepared.len() {
        prepared.remove(number).2.end()?;
        number += 1;
    }
    for (name, case, running) in prepared {
        case.verify(&running, 0.4, 0).map_err(|reason| format!("{name}: {reason}"))?;
        passed.products += 1;
        running.end()?;
    }
    Ok(())
}

/// The process must not grow in both of two periods: the memory of an allocator also grows without a leak, but not for
/// ever.
fn memory<T: Scalar>(checking: &mut Checking<T>) -> Result<(), String> {
    let team = Team::floating(2);
    let largest = checking.matrices.iter().max_by_key(|(_, csr)| csr.nnz());
    let (name, csr) = largest.expect("there are matrices");
    (checking.step)(name);
    let case = Case::new(checking.entry, csr, Asked::plain(&team));
    let mut grown = |cycles: usize| {
        let before = resident();
        (0..cycles).try_for_each(|_| case.run(&mut checking.passed))?;
        Ok::<_, String>(resident().saturating_sub(before) / cycles)
    };
    let [_, first, second] = [grown(CYCLES[0])?, grown(CYCLES[1])?, grown(CYCLES[2])?];
    let least = first.min(second);
    if least > GROWTH {
        return Err(format!(
            "{name}: the process grew by {least} bytes per preparation: destroy does not release everything"
        ));
    }
    Ok(())
}

/// Returns the resident memory of the process in bytes, or 0 if it is unknown.
fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = pages.and_then(|text| text.split_whitespace().nth(1)?.parse::<usize>().ok());
    pages.unwrap_or_default() * 4096
}

/// Prepares the same matrix twice, with other products in between. The values may differ by rounding only, which
/// verification has shown; whether they are equal bit for bit is a fact, not a check.
fn again<T: Scalar>(checking: &mut Checking<T>) -> Result<(), String> {
    let team = Team::floating(2);
    for (name, csr) in checking.matrices {
        (checking.step)(name);
        let case = Case::new(checking.entry, csr, Asked::plain(&team));
        for _ in 0..2 {
            case.run(&mut checking.passed).map_err(|reason| format!("{name}: {reason}"))?;
        }
    }
    Ok(())
}

//! The checks, each with a name that says what has passed.

use super::Passed;
use super::product::{Asked, Case, Given};
use super::small::{FACTORS, matrices};
use spmv_matrix::Csr;
use spmv_matrix::scalar::Scalar;
use spmv_methods::plugin::{Entry, abi};
use spmv_methods::team::Team;

/// The numbers of threads.
const THREADS: [usize; 4] = [1, 2, 3, 7];
/// The number of preparations before memory is compared, and then between two comparisons.
const CYCLES: [usize; 3] = [100, 200, 200];
/// The growth of the process per preparation that is not taken for a leak, in bytes.
const GROWTH: usize = 256;

/// A function that runs a check. It names each step before it begins.
type Run = fn(&'static Entry, &mut dyn FnMut(&str)) -> Result<Passed, String>;

/// One check of the battery, for methods in one precision.
pub struct Check {
    pub name: &'static str,
    pub run: Run,
}

pub fn all<T: Scalar>() -> [Check; 7] {
    [
        Check {
            name: "small matrices, alpha and beta, 1 to 7 threads, x and y at odd addresses",
            run: small_matrices::<T>,
        },
        Check { name: "every value of every parameter", run: parameters::<T> },
        Check { name: "rows of 70000 nonzeros", run: long_rows::<T> },
        Check { name: "NaN and infinity in x stay in their rows", run: spoilt::<T> },
        Check { name: "several matrices prepared at the same time", run: together::<T> },
        Check { name: "memory after 500 preparations", run: memory::<T> },
        Check { name: "the same product again", run: again::<T> },
    ]
}

/// Returns the small matrices, the smallest first, so that the first failure is on the smallest matrix that shows it.
fn ascending<T: Scalar>() -> Vec<(String, Csr<T>)> {
    let mut all = matrices();
    all.sort_by_key(|(_, rows, cols, triplets)| rows + cols + triplets.len());
    let named = all.into_iter().map(|(name, rows, cols, triplets)| {
        let size = format!("{name} ({rows} x {cols}, {} nonzeros)", triplets.len());
        (size, Csr::from_triplets(rows, cols, &triplets))
    });
    named.collect()
}

/// Returns whether the product is plain or transposed, for all that the method has.
fn transposes(entry: &Entry) -> impl Iterator<Item = bool> + use<> {
    let both = entry.description.has(abi::TRANSPOSED);
    [false, true].into_iter().filter(move |&transpose| both || !transpose)
}

/// Runs a case. The step names the matrix and the settings.
fn run<T: Scalar>(
    entry: &'static Entry,
    (name, csr): &(String, Csr<T>),
    asked: Asked,
    (step, passed): (&mut dyn FnMut(&str), &mut Passed),
) -> Result<(), String> {
    let Asked { team, transpose, factors: (alpha, beta), given } = asked;
    let product = if transpose { "transposed, " } else { "" };
    let given: String = given.iter().map(|(name, value)| format!(", {name}={value}")).collect();
    let threads = team.len();
    let on = format!("{name}, {product}alpha {alpha}, beta {beta}, threads {threads}{given}");
    step(&on);
    Case::new(entry, csr, asked).run(passed).map_err(|reason| format!("{on}: {reason}"))
}

fn small_matrices<T: Scalar>(
    entry: &'static Entry,
    step: &mut dyn FnMut(&str),
) -> Result<Passed, String> {
    let (mut passed, teams) = (Passed::default(), THREADS.map(Team::floating));
    for matrix in &ascending::<T>() {
        for (team, transpose) in
            teams.iter().flat_map(|team| transposes(entry).map(move |t| (team, t)))
        {
            for factors in FACTORS {
                let asked = Asked { transpose, factors, ..Asked::plain(team) };
                run(entry, matrix, asked, (&mut *step, &mut passed))?;
            }
        }
    }
    Ok(passed)
}

fn parameters<T: Scalar>(
    entry: &'static Entry,
    step: &mut dyn FnMut(&str),
) -> Result<Passed, String> {
    let (mut passed, team) = (Passed::default(), Team::floating(3));
    let matrices = ascending::<T>();
    for given in settings(entry) {
        for matrix in &matrices {
            for transpose in transposes(entry) {
                let asked = Asked { team: &team, transpose, factors: (2.5, -0.5), given: &given };
                run(entry, matrix, asked, (&mut *step, &mut passed))?;
            }
        }
    }
    Ok(passed)
}

/// Returns each value of each parameter.
fn settings(entry: &'static Entry) -> Vec<Given> {
    let parameters = entry.description.parameters.iter();
    let values = parameters.flat_map(|parameter| {
        parameter.values.iter().map(|value| vec![(&*parameter.name, &**value)])
    });
    values.collect()
}

/// Rows longer than any 16-bit count, with empty rows between them.
fn long_rows<T: Scalar>(
    entry: &'static Entry,
    step: &mut dyn FnMut(&str),
) -> Result<Passed, String> {
    let long = |row: usize| (0..70_000).map(move |k| (row, k, ((k * 7 + row) % 13) as f64 - 6.0));
    let mut triplets: Vec<_> = long(2).chain(long(40)).collect();
    triplets.extend((3..39).map(|row| (row, row * 31, 1.5)));
    let csr = Csr::<T>::from_triplets(60, 70_000, &triplets);
    let matrix = ("60 x 70000, 140036 nonzeros".into(), csr);
    let (mut passed, team) = (Passed::default(), Team::floating(3));
    for transpose in transposes(entry) {
        let asked = Asked { transpose, ..Asked::plain(&team) };
        run(entry, &matrix, asked, (&mut *step, &mut passed))?;
    }
    Ok(passed)
}

fn spoilt<T: Scalar>(entry: &'static Entry, step: &mut dyn FnMut(&str)) -> Result<Passed, String> {
    let (mut passed, team) = (Passed::default(), Team::floating(3));
    for (name, csr) in &ascending::<T>() {
        for transpose in transposes(entry) {
            step(name);
            let case = Case::new(entry, csr, Asked { transpose, ..Asked::plain(&team) });
            let Some(running) = case.prepare(&mut passed)? else { continue };
            let pattern = [T::nan(), T::one(), T::infinity(), T::one(), T::one()];
            let x: Vec<T> = pattern.into_iter().cycle().take(case.inputs()).collect();
            let y =
                case.multiply_by(&running, &x, 0).map_err(|reason| format!("{name}: {reason}"))?;
            let differs =
                case.finite(&x).zip(&y).position(|(is_finite, y)| y.is_finite() != is_finite);
            if let Some(row) = differs {
                return Err(format!(
                    "{name}: y[{row}] is {} with NaN or infinity in x",
                    y[row].widen()
                ));
            }
            passed.products += 1;
            running.end()?;
        }
    }
    Ok(passed)
}

fn together<T: Scalar>(
    entry: &'static Entry,
    step: &mut dyn FnMut(&str),
) -> Result<Passed, String> {
    let (mut passed, team) = (Passed::default(), Team::floating(2));
    let matrices = ascending::<T>();
    step("all small matrices at once");
    let cases: Vec<_> = matrices
        .iter()
        .map(|(name, csr)| (name, Case::new(entry, csr, Asked::plain(&team))))
        .collect();
    let mut prepared = Vec::new();
    for (name, case) in &cases {
        let running = case.prepare(&mut passed).map_err(|reason| format!("{name}: {reason}"))?;
        prepared.extend(running.map(|running| (name, case, running)));
    }
    for phase in [0.1, 0.2] {
        for (name, case, running) in &prepared {
            case.verify(running, phase, 0).map_err(|reason| format!("{name}: {reason}"))?;
            passed.products += 1;
        }
    }
    // Every second one is destroyed; the others must still be right.
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
    Ok(passed)
}

/// The process must not grow in both of two periods: the memory of an allocator also grows without a leak, but not for ever.
fn memory<T: Scalar>(entry: &'static Entry, step: &mut dyn FnMut(&str)) -> Result<Passed, String> {
    let (mut passed, team) = (Passed::default(), Team::floating(2));
    let matrices = ascending::<T>();
    let (name, csr) = matrices.iter().max_by_key(|(_, csr)| csr.nnz()).expect("there are matrices");
    step(name);
    let case = Case::new(entry, csr, Asked::plain(&team));
    let mut grown = |cycles: usize| {
        let before = resident();
        (0..cycles).try_for_each(|_| case.run(&mut passed))?;
        Ok::<_, String>(resident().saturating_sub(before) / cycles)
    };
    let [_, first, second] = [grown(CYCLES[0])?, grown(CYCLES[1])?, grown(CYCLES[2])?];
    let least = first.min(second);
    if least > GROWTH {
        return Err(format!(
            "{name}: the process grew by {least} bytes per preparation: destroy does not release everything"
        ));
    }
    Ok(passed)
}

/// Returns the resident memory of the process in bytes, or 0 if it is unknown.
fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = pages.and_then(|text| text.split_whitespace().nth(1)?.parse::<usize>().ok());
    pages.unwrap_or_default() * 4096
}

/// Prepares the same matrix twice, with other products in between. The values may differ by rounding only, which
/// verification has shown; whether they are equal bit for bit is a fact, not a check.
fn again<T: Scalar>(entry: &'static Entry, step: &mut dyn FnMut(&str)) -> Result<Passed, String> {
    let (mut passed, team) = (Passed::default(), Team::floating(2));
    for (name, csr) in &ascending::<T>() {
        step(name);
        let case = Case::new(entry, csr, Asked::plain(&team));
        for _ in 0..2 {
            case.run(&mut passed).map_err(|reason| format!("{name}: {reason}"))?;
        }
    }
    Ok(passed)
}

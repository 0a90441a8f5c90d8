//! Converts a matrix that bytes describe into every format of the CPU, and compares the products with the reference of
//! higher precision. In builds with debug assertions the formats also check their invariants.
//!
//! The fuzz target passes bytes that should reach new code, `tests/conversions.rs` bytes that are the same in each run.

use spmv_matrix::Csr;
use spmv_matrix::memory::extent::Extent;
use spmv_matrix::scalar::Scalar;
use spmv_matrix::verify::Reference;
use spmv_methods::METHODS;
use spmv_methods::method::{Choice, Device, Request};
use spmv_methods::simd::Isa;
use spmv_methods::team::Team;

/// Numbers of rows or columns: around the widths of registers, tiles, blocks and windows. The last is for columns only,
/// whose indices then do not fit into 16 bits.
const SIZES: [usize; 16] = [0, 1, 2, 3, 4, 7, 8, 17, 31, 64, 100, 129, 300, 999, 4100, 66_000];
/// No row is begun after this many entries.
const MOST_ENTRIES: usize = 1 << 13;
const FACTORS: [(f64, f64); 4] = [(1.0, 0.0), (2.5, -0.5), (1.0, 1.0), (-1.0, 0.0)];
/// Zeros, numbers that are subnormal in one or both precisions, and large ones whose sums are finite.
const EXTREMES: [f64; 8] = [0.0, -0.0, 1e-40, -1e-310, 1e30, -1e30, 1.0, -3.5];

thread_local! {
    /// The smallest teams that take the paths of one thread and of many.
    static TEAMS: [Team; 2] = [Team::floating(1), Team::floating(2)];
}

/// Bytes that choose; zeros when they are used up.
struct Choices<'i>(&'i [u8]);

impl Choices<'_> {
    fn next(&mut self) -> usize {
        self.0.split_off_first().map_or(0, |&byte| byte.into())
    }

    fn of<V: Copy>(&mut self, values: &[V]) -> V {
        values[self.next() % values.len()]
    }
}

/// What all products of a matrix have in common.
struct Asked {
    isa: Isa,
    factors: (f64, f64),
    /// Chooses the value of a parameter.
    value: usize,
}

pub fn check(input: &[u8]) {
    let mut choices = Choices(input);
    let single = choices.next() % 2 == 1;
    let isa = choices.of(&Isa::available());
    let asked = Asked { isa, factors: choices.of(&FACTORS), value: choices.next() };
    let csr = matrix(&mut choices);
    match single {
        true => check_methods::<f32>(&csr.to_precision().expect("no value is too large"), &asked),
        false => check_methods::<f64>(&csr, &asked),
    }
}

/// The first bytes are the sizes and the kind of values; five each describe some rows.
fn matrix(choices: &mut Choices) -> Csr<f64> {
    let (rows, cols) = (choices.of(&SIZES[..15]), choices.of(&SIZES));
    let kind = choices.next();
    let (mut row_offsets, mut columns) = (vec![0], Vec::<u32>::new());
    let mut last = Vec::new();
    while row_offsets.len() <= rows && !choices.0.is_empty() {
        let pattern = [(); 5].map(|()| choices.next());
        for place in 0..=pattern[1] % 80 {
            let row = row_offsets.len() - 1;
            if row < rows && columns.len() < MOST_ENTRIES {
                last = row_of(pattern, place, row, cols, &last);
                columns.extend(&last);
                row_offsets.push(columns.len() as u32);
            }
        }
    }
    row_offsets.resize(rows + 1, columns.len() as u32);
    let values = (0..columns.len()).map(|k| value(kind, k)).collect();
    Csr::new(rows, cols, row_offsets, columns, values).expect("the columns ascend")
}

/// Returns the columns of the `place`-th row of a pattern: none, bands, blocks, blocks with holes, scattered, one long
/// row, rows of growing length, or the last column only.
fn row_of(pattern: [usize; 5], place: usize, row: usize, cols: usize, last: &[u32]) -> Vec<u32> {
    let [kind, _, a, b, c] = pattern;
    let mut columns: Vec<usize> = match kind % 8 {
        0 => vec![],
        1 => (0..b % 9).filter_map(|k| (row + a + k * c).checked_sub(128)).collect(),
        2 => (0..b).map(|k| a * cols / 256 + k * (1 + c % 5)).collect(),
        3 => {
            let kept = |k: &usize| !(k + place).is_multiple_of(2 + a % 9);
            (0..last.len()).filter(kept).map(|k| last[k] as usize).collect()
        }
        4 => (0..b % 40).map(|k| ((row * 256 + k * 7 + c) * 40_503) % cols.max(1)).collect(),
        5 if place == 0 => (a..cols).step_by(1 + b % 3).collect(),
        5 => vec![],
        6 => (0..place * (1 + a % 6)).map(|k| b + k * (1 + c % 3)).collect(),
        _ => vec![cols.saturating_sub(1)],
    };
    columns.retain(|&column| column < cols);
    columns.sort_unstable();
    columns.dedup();
    columns.into_iter().map(|column| column as u32).collect()
}

/// All values are equal, few are different, more than fit into a byte, all are different, or they are extreme.
fn value(kind: usize, k: usize) -> f64 {
    match kind % 5 {
        0 => kind as f64,
        1 => ((k * k) % 7) as f64 - 3.0,
        2 => ((k * k) % 300) as f64 - 100.5,
        3 => (k as f64 + kind as f64).sin(),
        _ => EXTREMES[(k * 5 + kind) % EXTREMES.len()],
    }
}

/// Checks each own method with its defaults, and with one value of one parameter: the plain and the transposed product,
/// as far as the method has them.
fn check_methods<T: Scalar>(csr: &Csr<T>, asked: &Asked) {
    let transposed = csr.transposed();
    for method in METHODS.iter().filter(|method| method.device() == Device::Cpu) {
        let stem = method.name.split('-').next().expect("a first part");
        if ["mkl", "sprs", "mpi"].contains(&stem) {
            continue;
        }
        let mut choices = vec![method.into()];
        if !method.parameters.is_empty() {
            let parameter = &method.parameters[asked.value % method.parameters.len()];
            let value = parameter.values[asked.value % parameter.values.len()];
            choices.push(Choice { method, given: vec![(parameter.name, value)] });
        }
        for choice in &choices {
            for (transpose, operator) in [(false, csr), (true, &transposed)] {
                if method.operations.include(transpose) {
                    check_products(csr, operator, choice, asked, transpose);
                }
            }
        }
    }
}

/// Checks two products by each team; `operator` is A or Aᵀ. What a product leaves behind must not spoil the next.
fn check_products<T: Scalar>(csr: &Csr<T>, operator: &Csr<T>, choice: &Choice, asked: &Asked, transpose: bool) {
    let &Asked { isa, factors: (alpha, beta), .. } = asked;
    let factors = [alpha, beta].map(T::narrow);
    let x: Vec<T> = (0..operator.cols()).map(|k| T::narrow((k as f64 * 0.7).cos())).collect();
    let old = |k: usize| if beta == 0.0 { T::nan() } else { T::narrow(k as f64 - 2.5) };
    let y0: Vec<T> = (0..operator.rows()).map(old).collect();
    let reference = Reference::new(operator, factors[0], &x, factors[1], &y0);
    let check = |team: &Team| {
        let (expected_products, given) = (100, &choice.given[..]);
        let request = Request { isa, transpose, alpha, beta, expected_products, given, ..Request::new(team) };
        let mut prepared = match choice.method.prepare_on_host(csr, &request) {
            Ok(prepared) => prepared,
            Err(refused) => {
                let extent = Extent { given, ..Extent::of(csr, team.len(), transpose) };
                assert!((choice.method.may_refuse)(&extent), "{}: {refused}", choice.name());
                return;
            }
        };
        for _ in 0..2 {
            let mut y = y0.clone();
            let done = prepared.multiply(factors[0], &x, factors[1], &mut y);
            done.expect("an own product does not fail");
            let verdict = reference.judge(&y);
            let (name, precision, threads) = (choice.name(), T::PRECISION.name(), team.len());
            let how = format!("{name} in {precision} with {threads} threads, {isa:?}, {transpose}");
            assert!(verdict.passes(), "{how}: {}", verdict.describe());
        }
    };
    TEAMS.with(|teams| teams.iter().for_each(check));
}

//! Conversions: a matrix that bytes describe, in every format of the CPU, whose products are held against the
//! reference of higher precision. In builds with debug assertions the formats check their invariants as well.
//!
//! The fuzz target gives it bytes that are to reach new code, `tests/conversions.rs` bytes that are the same in
//! each run.

use spmv_matrix::Csr;
use spmv_matrix::scalar::Scalar;
use spmv_matrix::verify::Reference;
use spmv_methods::METHODS;
use spmv_methods::method::{Choice, Device, Method, Request};
use spmv_methods::simd::Isa;
use spmv_methods::team::Team;

/// Rows or columns: around the widths of registers, tiles, blocks and windows; the last is for columns only, which
/// do not fit 16 bits.
const SIZES: [usize; 16] = [0, 1, 2, 3, 4, 7, 8, 17, 31, 64, 100, 129, 300, 999, 4100, 66_000];
/// No row is begun beyond so many entries.
const MOST_ENTRIES: usize = 1 << 13;
/// What a product is asked for.
const FACTORS: [(f64, f64); 4] = [(1.0, 0.0), (2.5, -0.5), (1.0, 1.0), (-1.0, 0.0)];
/// Zeros, numbers that are not normal in one or both precisions, and large ones whose sums are finite.
const EXTREMES: [f64; 8] = [0.0, -0.0, 1e-40, -1e-310, 1e30, -1e30, 1.0, -3.5];

thread_local! {
    /// The smallest teams that take the paths of one thread and of many.
    static TEAMS: [Team; 2] = [Team::floating(1), Team::floating(2)];
}

/// Bytes that choose; zeros when they are used up.
struct Choices<'i>(&'i [u8]);

impl Choices<'_> {
    fn next(&mut self) -> usize {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first.into()
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

/// Converts the matrix that the bytes describe, and multiplies it.
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

/// Its first bytes are the sizes and the kind of values, and five each are about some rows.
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

/// The columns of a row, the `place`-th of its pattern: none, bands, blocks, blocks with holes, scattered, one long
/// row, rows of growing length, or the last column only.
fn row_of(pattern: [usize; 5], place: usize, row: usize, cols: usize, last: &[u32]) -> Vec<u32> {
    let [kind, _, a, b, c] = pattern;
    let mut columns: Vec<usize> = match kind % 8 {
        0 => vec![],
        1 => (0..b % 9).filter_map(|k| (row + a + k * c).checked_sub(128)).collect(),
        2 => (0..b).map(|k| a * cols / 256 + k * (1 + c % 5)).collect(),
        3 => {
            let kept =
                last.iter().enumerate().filter(|(k, _)| !(k + place).is_multiple_of(2 + a % 9));
            kept.map(|(_, &column)| column as usize).collect()
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

/// All alike, few different ones, more than fit a byte, all different, or extreme ones.
fn value(kind: usize, k: usize) -> f64 {
    match kind % 5 {
        0 => kind as f64,
        1 => ((k * k) % 7) as f64 - 3.0,
        2 => ((k * k) % 300) as f64 - 100.5,
        3 => (k as f64 + kind as f64).sin(),
        _ => EXTREMES[(k * 5 + kind) % EXTREMES.len()],
    }
}

/// Each method of ours with its defaults, and with one value of one parameter.
fn check_methods<T: Scalar>(csr: &Csr<T>, asked: &Asked) {
    let is_ours = |method: &&Method| !["mkl", "sprs", "mpi"].contains(&stem(method));
    let methods = METHODS.iter().filter(|method| method.device() == Device::Cpu).filter(is_ours);
    for method in methods {
        check_choice(csr, &method.into(), asked);
        if !method.parameters.is_empty() {
            let parameter = &method.parameters[asked.value % method.parameters.len()];
            let value = parameter.values[asked.value % parameter.values.len()];
            check_choice(csr, &Choice { method, given: vec![(parameter.name, value)] }, asked);
        }
    }
}

/// The method's name up to the first hyphen.
fn stem(method: &Method) -> &'static str {
    method.name.split('-').next().expect("a first part")
}

/// The plain product and the transposed one, as far as the method has them.
fn check_choice<T: Scalar>(csr: &Csr<T>, choice: &Choice, asked: &Asked) {
    if choice.method.operations.include(false) {
        check_product(csr, csr, choice, asked, false);
    }
    if choice.method.operations.include(true) {
        check_product(csr, &csr.transposed(), choice, asked, true);
    }
}

/// Two products by each team; `operator` is A or Aᵀ. What a product leaves behind must not spoil the next.
fn check_product<T: Scalar>(
    csr: &Csr<T>,
    operator: &Csr<T>,
    choice: &Choice,
    asked: &Asked,
    transpose: bool,
) {
    let (alpha, beta) = (T::narrow(asked.factors.0), T::narrow(asked.factors.1));
    let x: Vec<T> = (0..operator.cols()).map(|k| T::narrow((k as f64 * 0.7).cos())).collect();
    let old = |k: usize| if beta == T::zero() { T::nan() } else { T::narrow(k as f64 - 2.5) };
    let y0: Vec<T> = (0..operator.rows()).map(old).collect();
    let reference = Reference::new(operator, alpha, &x, beta, &y0);
    TEAMS.with(|teams| {
        for team in teams {
            for y in products(csr, choice, team, asked, transpose, (&x, &y0)) {
                let (verdict, threads, isa) = (reference.judge(&y), team.len(), asked.isa);
                assert!(
                    verdict.passes(),
                    "{} in {} with {threads} threads, {isa:?}, {transpose}: {}",
                    choice.name(),
                    T::PRECISION.name(),
                    verdict.describe()
                );
            }
        }
    });
}

/// What two products leave in y; nothing when the format refuses the matrix.
fn products<T: Scalar>(
    csr: &Csr<T>,
    choice: &Choice,
    team: &Team,
    asked: &Asked,
    transpose: bool,
    (x, y0): (&[T], &[T]),
) -> Vec<Vec<T>> {
    let &Asked { isa, factors: (alpha, beta), .. } = asked;
    let (expected_products, given) = (100, &choice.given[..]);
    let request =
        Request { isa, transpose, alpha, beta, expected_products, given, ..Request::new(team) };
    let prepare = choice.method.prepare::<T>().expect("a method of the CPU");
    let mut prepared = match prepare(csr, &request) {
        Ok(prepared) => prepared,
        Err(refused) => {
            let may_refuse = ["sell", "ell", "hyb", "dia", "bcsr", "csb", "oski-style"];
            assert!(may_refuse.contains(&choice.method.name), "{}: {refused}", choice.name());
            return vec![];
        }
    };
    let product = |_| {
        let mut y = y0.to_vec();
        let done = prepared.multiply(T::narrow(alpha), x, T::narrow(beta), &mut y);
        done.expect("a product of ours does not fail");
        y
    };
    [(); 2].map(product).into()
}

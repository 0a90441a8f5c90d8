//! A method that skips products unless it detects that they are verified, or saves work in other ways (a liar). On a
//! fake clock, computing a product takes a millisecond and skipping it a microsecond.

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Duration;

use spmv_bench::bench::clock::{Clock, ThreadClock};
use spmv_bench::bench::event::Event;
use spmv_bench::bench::execute::{Bench, Cell};
use spmv_bench::bench::problem::Problem;
use spmv_matrix::Csr;
use spmv_matrix::generate::Generator;
use spmv_methods::method::{Choice, Code, Method, Prepared};
use spmv_methods::team::Team;
use spmv_results::matrix::Group;
use spmv_results::row::Row;
use spmv_results::settings::{Protocol, Settings};

/// How long the first product of [`Otherwise::PrepareLate`] takes longer.
pub const LATE_SETUP: Duration = Duration::from_millis(100);
pub const HONEST: Duration = Duration::from_millis(1);
const SKIPPED: Duration = Duration::from_micros(1);

/// A condition under which a product is computed. Indices are modulo the length of the vector.
#[derive(Clone, Copy, Debug)]
pub enum When {
    /// y is NaN at this index.
    Nan(usize),
    /// y at this index differs from the result of the previous product.
    YChanged(usize),
    /// x at this index differs from the x of the previous product.
    XChanged(usize),
    /// Any element of x or y differs from that after the previous product.
    AnyChange,
    /// This x is different from all previous ones.
    NewX,
    /// The product is one of the first so many.
    First(usize),
    /// The number of the product is a multiple of this.
    Multiple(usize),
}

/// What a skipped product does.
#[derive(Clone, Copy, Debug)]
pub enum Otherwise {
    Nothing,
    Zero,
    /// Returns the y of the product with the same x.
    Recall,
    /// The same, in 60 % of the time of a product.
    RecallSlowly,
    /// Adds what the elements of x that have changed contribute, in a time that is proportional to their number.
    Update,
    /// Computes, but the first product also does what belongs in the setup.
    PrepareLate,
    /// Computes with values of 40 bits.
    Shorten,
}

/// The behaviour of a method: a product is computed if any of the conditions holds.
#[derive(Clone, Debug)]
pub struct Liar {
    pub when: Vec<When>,
    pub otherwise: Otherwise,
}

thread_local! {
    static LIAR: RefCell<Liar> = const { RefCell::new(Liar { when: Vec::new(), otherwise: Otherwise::Nothing }) };
}

#[derive(Default)]
struct Memory {
    products: usize,
    x: Vec<f64>,
    y: Vec<f64>,
    /// The y of each x.
    known: HashMap<Vec<u64>, Vec<f64>>,
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

impl Memory {
    fn is_met(&mut self, when: When, x: &[f64], y: &[f64]) -> bool {
        let differs = |old: &[f64], new: &[f64], at: usize| {
            let value = |values: &[f64]| values.get(at % new.len().max(1)).map(|v| v.to_bits());
            value(old) != value(new)
        };
        match when {
            When::Nan(at) => y.get(at % y.len().max(1)).is_some_and(|value| value.is_nan()),
            When::YChanged(at) => differs(&self.y, y, at),
            When::XChanged(at) => differs(&self.x, x, at),
            When::AnyChange => bits(&self.x) != bits(x) || bits(&self.y) != bits(y),
            When::NewX => !self.known.contains_key(&bits(x)),
            When::First(count) => self.products < count,
            When::Multiple(of) => self.products.is_multiple_of(of.max(1)),
        }
    }
}

/// Computes with values whose last `bits` bits are rounded away.
fn compute(csr: &Csr<f64>, bits: u32, alpha: f64, x: &[f64], beta: f64, y: &mut [f64]) {
    let half = (1 << bits) / 2;
    let short = |value: f64| f64::from_bits((value.to_bits() + half) >> bits << bits);
    for (row, y) in y.iter_mut().enumerate() {
        let entry = |k: usize| short(csr.values()[k]) * x[csr.column_indices()[k] as usize];
        let sum: f64 = csr.row(row).map(entry).sum();
        *y = alpha * sum + if beta == 0.0 { 0.0 } else { beta * *y };
    }
}

fn prepare(csr: &Csr<f64>) -> Prepared<'_, f64> {
    let (liar, mut memory) = (LIAR.with_borrow(Liar::clone), Memory::default());
    Prepared::new(csr, 0, move |alpha, x, beta, y| {
        let mut met = false;
        for &when in &liar.when {
            met |= memory.is_met(when, x, y);
        }
        let changed = x.iter().zip(&memory.x).filter(|(new, old)| new.to_bits() != old.to_bits());
        let changed = if memory.x.is_empty() { x.len() } else { changed.count() };
        let first = if memory.products == 0 { LATE_SETUP } else { Duration::ZERO };
        ThreadClock.pause(match (met, liar.otherwise) {
            (true, _) | (_, Otherwise::Shorten) => HONEST,
            (_, Otherwise::PrepareLate) => HONEST + first,
            (_, Otherwise::RecallSlowly) => HONEST.mul_f64(0.6),
            (_, Otherwise::Update) => SKIPPED + HONEST.mul_f64(changed as f64 / x.len() as f64),
            _ => SKIPPED,
        });
        match (met, liar.otherwise) {
            (true, _) | (_, Otherwise::Update | Otherwise::PrepareLate) => compute(csr, 0, alpha, x, beta, y),
            (_, Otherwise::Shorten) => compute(csr, 12, alpha, x, beta, y),
            (_, Otherwise::Recall | Otherwise::RecallSlowly) => {
                memory.known.get(&bits(x)).into_iter().for_each(|known| y.copy_from_slice(known))
            }
            (_, Otherwise::Zero) => y.fill(0.0),
            (_, Otherwise::Nothing) => (),
        }
        memory.products += 1;
        memory.known.insert(bits(x), y.to_vec());
        (memory.x, memory.y) = (x.to_vec(), y.to_vec());
        Ok(())
    })
}

/// Measures a liar and returns its row. `entropy` seeds the choices that it cannot predict.
pub fn row(liar: Liar, csr: &Csr<f64>, settings: &Settings, entropy: fn() -> u64) -> Row {
    LIAR.set(liar);
    let seq = spmv_methods::named("seq").unwrap();
    let code =
        Code::Cpu { parallel: false, f64: |csr, _| Ok(prepare(csr)), f32: |_, _| unreachable!("only f64 is measured") };
    let method = Method { code, ..*seq };
    let team = Team::floating(1);
    let result = RefCell::new(None);
    let emit = |event| {
        if let Event::Row(row, _) = event {
            result.replace(Some(*row));
        }
    };
    let bench = Bench { entropy, emit: &emit, ..Bench::new(&team, &ThreadClock, settings) };
    let (cells, mut group) = ([Cell::from(Choice::from(&method))], Group::of(vec![]));
    Problem::of(csr, settings).on_host(&bench, &cells, &mut group).expect("there is no interrupt");
    result.take().expect("every method has a row")
}

/// The limit of how many times faster a liar may appear than a method that computes every product.
const MAX_SPEEDUP_OF_LIARS: f64 = 5.0;

/// Converts two bytes to a condition: its kind, and its index or number.
fn when(bytes: &[u8]) -> When {
    let number = usize::from(bytes[1]);
    match bytes[0] % 7 {
        0 => When::Nan(number),
        1 => When::YChanged(number),
        2 => When::XChanged(number),
        3 => When::AnyChange,
        4 => When::NewX,
        5 => When::First(number),
        _ => When::Multiple(number),
    }
}

/// Creates a liar from bytes. If its results are accepted, it must not appear much faster than a method that computes
/// every product.
pub fn check(bytes: &[u8]) {
    let [kind, rounds, iterations, conditions @ ..] = bytes else { return };
    let settings = Settings {
        iterations: Some(20 + usize::from(*iterations)),
        rounds: 3 + usize::from(rounds % 4),
        beta: if kind & 8 == 0 { 0.0 } else { 0.5 },
        ..Settings::new(Protocol::MergeSpmv)
    };
    let otherwise = match kind % 8 {
        0 | 1 => Otherwise::Nothing,
        2 | 3 => Otherwise::Zero,
        4 => Otherwise::Recall,
        5 => Otherwise::Update,
        6 => Otherwise::PrepareLate,
        _ => Otherwise::Shorten,
    };
    let liar = Liar { when: conditions.chunks_exact(2).take(6).map(when).collect(), otherwise };
    let csr = Generator::parse("uniform,rows=50,nnz=400").unwrap().generate().unwrap();
    let row = row(liar.clone(), &csr, &settings, || 1);
    if let Some(ms) = row.avg_spmv_ms {
        let honest_ms = 1e3 * HONEST.as_secs_f64();
        assert!(MAX_SPEEDUP_OF_LIARS * ms >= honest_ms, "{liar:?}: {row:?}");
    }
}

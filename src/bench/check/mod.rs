//! The battery that `check-method` runs for a method of a plug-in: the small matrices on which the program's own
//! methods are tested, and what a plug-in may get wrong beyond the values of y.

mod checks;
mod product;
pub mod small;

use std::time::Instant;

use serde::{Deserialize, Serialize};

use checks::Checking;
pub use product::Passed;
use product::{Asked, Case};
use spmv_matrix::Csr;
use spmv_matrix::generate::Generator;
use spmv_matrix::scalar::{Precision, Scalar};
use spmv_methods::plugin::{Entry, Process, not_restored};
use spmv_methods::team::Team;
use spmv_results::statistics::median;

/// The matrix on which the facts are measured.
const MATRIX: &str = "grid3d,n=40,points=7,random=1";
/// The number of products whose median time and whose results are compared.
const PRODUCTS: usize = 21;

/// A message of the child process that runs the checks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Message {
    /// The check with this number runs on what the text names. If the process ends now, this is the cause.
    Step(usize, String),
    /// The check has ended with this number of products, or with the reason why it failed.
    Ended(usize, Result<Passed, String>),
    /// All checks have ended. There are no facts if the method does not take the matrix, or for the reason why it is
    /// wrong.
    Facts(Result<Option<Facts>, String>),
}

pub fn names() -> impl Iterator<Item = &'static str> {
    checks::all::<f64>().into_iter().map(|(name, _)| name)
}

/// Runs the checks from number `from` on, and passes each message to `tell`.
pub fn run(entry: &'static Entry, precision: Precision, from: usize, tell: &mut dyn FnMut(Message)) {
    match precision {
        Precision::F64 => run_in::<f64>(entry, from, tell),
        Precision::F32 => run_in::<f32>(entry, from, tell),
    }
}

fn run_in<T: Scalar>(entry: &'static Entry, from: usize, tell: &mut dyn FnMut(Message)) {
    let matrices = &checks::ascending::<T>();
    for (number, (_, check)) in checks::all::<T>().into_iter().enumerate().skip(from) {
        let step = &mut |on: &str| tell(Message::Step(number, on.to_owned()));
        let mut checking = Checking { entry, matrices, step, passed: Passed::default() };
        let before = Process::now();
        let ended = check(&mut checking).map(|()| checking.passed);
        let ended = before.changed().map_or(ended, |changed| Err(not_restored(changed).0));
        tell(Message::Ended(number, ended));
    }
    tell(Message::Step(names().count(), MATRIX.into()));
    tell(Message::Facts(Facts::of::<T>(entry)));
}

/// What a paper on a method should state, measured on one generated matrix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    pub extra_bytes: Option<u64>,
    pub csr_bytes: u64,
    /// The time of the preparation, in products.
    pub setup_products: f64,
    /// Whether all products, also after another preparation, are equal bit for bit.
    pub is_deterministic: bool,
    /// The largest error as a share of the error bound.
    pub error_ratio: f64,
}

impl Facts {
    pub fn of<T: Scalar>(entry: &'static Entry) -> Result<Option<Self>, String> {
        let csr: Csr<f64> = Generator::parse(MATRIX)
            .and_then(|generator| generator.generate())
            .map_err(|error| error.to_string())?;
        let csr = csr.to_precision::<T>().map_err(|value| format!("{value} is too large for this precision"))?;
        let team = Team::floating(std::thread::available_parallelism().map_or(1, |n| n.get().min(4)));
        let case = Case::new(entry, &csr, Asked::plain(&team));
        let (mut ys, mut times, mut setup, mut error_ratio) = (Vec::new(), Vec::new(), 0.0, 0.0f64);
        let mut extra_bytes = None;
        for _ in 0..2 {
            let begun = Instant::now();
            let Some(running) = case.prepare(&mut Passed::default())? else { return Ok(None) };
            setup = begun.elapsed().as_secs_f64();
            extra_bytes = running.info().map_err(|failed| failed.0)?.extra_bytes;
            for _ in 0..PRODUCTS {
                let begun = Instant::now();
                ys.push(case.multiply(&running, 0.3, 0)?);
                times.push(begun.elapsed().as_secs_f64());
            }
            error_ratio = error_ratio.max(case.verify(&running, 0.7, 0)?);
            running.end()?;
        }
        let bytes = bytemuck::cast_slice::<T, u8>;
        Ok(Some(Self {
            extra_bytes,
            csr_bytes: csr.bytes(),
            setup_products: setup / median(times).expect("there are products"),
            is_deterministic: ys.iter().all(|y| bytes(y) == bytes(&ys[0])),
            error_ratio,
        }))
    }
}

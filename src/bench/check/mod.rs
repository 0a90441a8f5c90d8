//! The battery that `check-method` runs for a method of a plug-in: the small matrices on which the program's own methods
//! are tested, and what a plug-in may get wrong beyond the values of y.

mod checks;
mod facts;
mod product;
pub mod small;

use serde::{Deserialize, Serialize};

use checks::Checking;
pub use facts::Facts;
use spmv_matrix::scalar::{Precision, Scalar};
use spmv_methods::plugin::Entry;

/// A message of the child process that runs the checks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Message {
    /// The check with this number runs on what the text names. If the process ends now, this is the cause.
    Step(usize, String),
    /// The check has ended with this number of products, or with the reason why it failed.
    Ended(usize, Result<Passed, String>),
    /// All checks have ended.
    Facts(Result<Facts, String>),
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Passed {
    pub products: usize,
    /// The number of matrices, or of combinations of settings, that the method did not take.
    pub refused: usize,
    /// The reason for the first of these.
    pub refusal: Option<String>,
}

pub fn names() -> impl Iterator<Item = &'static str> {
    checks::all::<f64>().into_iter().map(|(name, _)| name)
}

/// Runs the checks from number `from` on, and passes each message to `tell`.
pub fn run(
    entry: &'static Entry,
    precision: Precision,
    from: usize,
    tell: &mut dyn FnMut(Message),
) {
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
        let ended = check(&mut checking).map(|()| checking.passed);
        tell(Message::Ended(number, ended));
    }
    tell(Message::Step(names().count(), facts::MATRIX.into()));
    tell(Message::Facts(Facts::of::<T>(entry)));
}

//! Measurement: [`execute`] (one matrix) → [`event`] (its steps, and one row per method).

pub mod alteration;
pub mod backend;
pub mod check;
pub mod clock;
pub mod event;
pub mod execute;
mod fresh;
pub mod guarded;
mod in_row;
pub mod inputs;
#[cfg(any(feature = "mpi", test))]
pub mod mpi;
pub mod need;
pub mod outcome;
pub mod peak;
pub mod problem;
#[cfg(test)]
mod same_program;
pub mod samples;
pub mod statistics;

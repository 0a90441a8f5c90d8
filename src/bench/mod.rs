//! Measurement: [`execute`] (one matrix) → [`event`] (its steps, and one row per method).

pub mod alteration;
pub mod backend;
mod calls;
mod chains;
pub mod check;
pub mod clock;
mod contract;
pub mod event;
pub mod execute;
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

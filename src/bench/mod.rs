//! Measurement: [`run`] and [`plan`] (settings, pure data) → [`execute`] (one matrix) → [`outcome`] (one value per
//! method).

pub mod alteration;
pub mod backend;
pub mod check;
pub mod clock;
pub mod execute;
mod fresh;
pub mod guarded;
pub mod inputs;
pub mod metrics;
#[cfg(any(feature = "mpi", test))]
pub mod mpi;
pub mod need;
pub mod outcome;
pub mod peak;
pub mod plan;
pub mod problem;
pub mod run;
pub mod statistics;
pub mod steadiness;

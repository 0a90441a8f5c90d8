//! Measurement: [`run`] and [`plan`] (settings, pure data) → [`execute`] (one matrix) → [`outcome`] (one value per method).

mod alteration;
pub mod backend;
pub mod clock;
pub mod evict;
pub mod execute;
pub mod inputs;
pub mod metrics;
pub mod need;
pub mod outcome;
pub mod peak;
pub mod plan;
pub mod regression;
pub mod rehearsal;
pub mod run;
pub mod statistics;
pub mod steadiness;

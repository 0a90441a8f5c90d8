//! The settings of a measurement: what is measured and for how long. Pure data.

mod choices;
pub mod info;
mod measurement;
mod round;
mod run_settings;

pub use choices::{CacheState, Fill, Pages, Values};
pub use measurement::{CHAIN, DUEL, MAX_ROUNDS, Protocol, Settings, TimeLimit, WIDEST_INTERVAL};
pub use round::Round;
pub use run_settings::{DeviceChoice, RunSettings};

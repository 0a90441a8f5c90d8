//! The performance model: records a trace of every warp and replays the traces to model the time on a GPU.

mod cache;
mod gpu;
mod multiprocessor;
pub(crate) mod recorder;
mod replay;
pub(crate) mod trace;

pub use cache::Cache;
pub use gpu::{Cure, Gpu};
pub use recorder::{Counts, Recorder};
pub use replay::{Traffic, replay};
pub use trace::BlockTrace;

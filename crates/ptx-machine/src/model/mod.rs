//! The performance model: records a trace of every warp and replays the traces to model the time on a GPU.

pub mod cache;
pub mod calendar;
pub mod cure;
pub mod gpu;
pub mod multiprocessor;
pub mod recorder;
pub mod replay;
pub mod trace;

pub use cure::Cure;
pub use gpu::Gpu;
pub use recorder::{Counts, Recorder};
pub use replay::{Memories, Traffic};
pub use trace::BlockTrace;

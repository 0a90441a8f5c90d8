//! The backends on which products run, host and GPU (and with MPI many hosts): where the vectors are stored, how time
//! is measured and how caches are emptied.

mod gpu;
mod host;
mod rehearsal;
mod traits;

pub use gpu::{OnGpu, free};
pub use host::Host;
pub use rehearsal::rehearsal_matrix;
pub use traits::{Backend, Machine, Parts, SETTLE, STAGE_PRODUCTS, Timer, Vectors};

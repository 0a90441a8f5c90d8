//! A row of results: one matrix × method × precision. External scripts rely on its columns.

pub mod baseline;
pub mod column;
mod columns;
pub mod contest;
mod derived;
mod group_key;
pub mod infinite;
pub mod joined;
mod key;
mod matrix_facts;
pub mod paired;
mod remark;
mod rules;
mod several;
mod status;

pub use baseline::Baseline;
pub use columns::Row;
pub use group_key::{GroupKey, Threads};
pub use key::{RowKey, open_cells};
pub use matrix_facts::{MatrixFacts, matrix_name, matrix_parts};
pub use paired::Timing;
pub use remark::{Remark, Remarks};
pub use several::{Distinct, Processes};
pub use status::Status;

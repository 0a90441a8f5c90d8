//! Files of rows and runs in all formats, written and read.

pub mod cells;
mod foreign;
pub mod ginkgo;
pub mod google;
pub mod lines;
pub mod output;
pub mod read;
pub mod rows;
pub mod run_record;
pub mod samples;
pub mod shards;
pub mod tuning;
mod whole;
pub mod write;

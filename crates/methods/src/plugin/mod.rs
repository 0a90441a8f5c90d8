//! Methods of plug-ins: shared objects with the interface of `plugins/spmv_method.h`.
//!
//! A plug-in is opened only in child processes, because opening it executes its code. A first child sends the
//! [`Description`]s of its methods to the program. The child that measures opens the plug-in again and prepares its
//! methods through [`Entry`]. What a method must not do to the process is checked by [`Process`], [`Thread`] and the
//! guards of the host's backend.

pub mod abi;
mod context;
mod description;
mod entry;
mod foreign;
mod prepared;
mod process;
mod scheduling;
mod thread;

pub use description::{Described, Description, LONGEST_NAME};
pub use entry::{Entry, files, open};
pub use prepared::{Running, prepare, prepare_on_gpu};
pub use process::Process;
pub use thread::{Thread, Threads, not_restored};

//! Measures matrices one after the other, in this process or in child processes, and records the run.

pub(crate) mod choice;
pub(crate) mod install;
pub(crate) mod isolate;
pub(crate) mod libraries;
pub(crate) mod ordered;
pub(crate) mod progress;
pub(crate) mod recording;
pub(crate) mod resume;
pub(crate) mod same;
pub(crate) mod session;
pub(crate) mod share;
pub(crate) mod task;

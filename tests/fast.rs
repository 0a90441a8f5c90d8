//! The tests that need no long time: the command line with a fake clock, the files that are read, and the datasets.

mod cli;
mod conversions;
mod datasets;
mod scipy;
mod support;

//! Tests of `spmv-bench fetch` as a program, with a local web server that simulates many kinds of failures.

mod answers;
mod archive;
mod archives;
mod folder;
mod mirror;
mod place;
mod server;
mod sets;
#[path = "../support/mod.rs"]
mod support;
mod tls;

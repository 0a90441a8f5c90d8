//! Finds and opens cuSPARSE, and calls it with a handle in a device's stream.

#[cfg(test)]
mod headers;
mod library;
mod op;
mod op_functions;
mod stream;
mod version;

pub use library::{CuSparseLibrary, libraries, library};
pub(super) use stream::InStream;

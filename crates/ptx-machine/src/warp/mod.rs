//! The execution of a warp: its state, and the interpreter of its instructions.

mod access;
mod atomic;
mod bulk;
mod checks;
mod collective;
mod run;
mod state;
mod turn;

pub use state::Warp;
pub use turn::{Engine, Pause, Turn};

//! What every command uses: the world outside the program, and how the command ended.

pub use crate::campaign::env::Env;
pub use crate::campaign::isolate::Interrupted;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandStatus {
    /// Everything succeeded: exit status 0.
    Ok,
    /// A result is wrong, missing or slower than allowed: exit status 1.
    Bad,
}

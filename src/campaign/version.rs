//! Which program this is.

/// The version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The revision of the source from which this program was built.
pub const REVISION: &str =
    git_version::git_version!(args = ["--always", "--abbrev=12", "--dirty=-modified"], fallback = "unknown");

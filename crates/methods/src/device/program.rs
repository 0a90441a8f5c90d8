//! Programs in CUDA C++.

use super::sources;

/// A file of `cuda/`, embedded in the binary.
#[derive(Debug)]
pub struct Program {
    pub name: &'static str,
    pub source: &'static str,
}

/// A reference to the program in a file of `cuda/`, given as `"cuda/NAME.cu"`.
macro_rules! program {
    ($path:literal) => {
        const {
            &$crate::device::program::Program {
                name: $path.split_at("cuda/".len()).1,
                source: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/", $path)),
            }
        }
    };
}
pub(crate) use program;

impl Program {
    /// Returns the text to compile; see [`sources`].
    pub fn text(&self) -> &'static str {
        sources::text(self.name, self.source)
    }
}

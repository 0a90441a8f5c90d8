//! What users choose by a word.

use serde::{Deserialize, Serialize};

/// The state of the caches when a sample begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum CacheState {
    /// Products run one after the other, as in all the papers: the caches contain what the previous product left.
    #[default]
    Hot,
    /// The matrix and the vectors are evicted before each sample; the eviction is not timed.
    Cold,
}

impl CacheState {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hot => "hot",
            Self::Cold => "cold",
        }
    }
}

/// The values of x.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Fill {
    /// Random, uniform in [-1, 1): a product that uses a wrong column is found wrong.
    Random,
    /// All ones.
    Ones,
}

/// The values that the matrix has when methods receive it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Values {
    /// The values of the file or the generator; ones for a pattern file.
    #[default]
    Stored,
    /// Random, uniform in [-1, 1): no method can gain from repeated values.
    Random,
    /// All ones.
    Ones,
}

impl Values {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stored => "stored",
            Self::Random => "random",
            Self::Ones => "ones",
        }
    }
}

/// The pages of memory that large arrays are in: those of this program, of methods and of libraries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Pages {
    /// Huge pages, where the system has them.
    Huge,
    /// Those that the system gives without a request.
    #[default]
    System,
    /// Small pages only.
    Small,
}

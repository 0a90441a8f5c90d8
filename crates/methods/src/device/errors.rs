//! Why a method has no product.

use serde::{Deserialize, Serialize};

/// The reason why a method does not support this matrix or machine. It is recorded as a row with status `skipped`.
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[error("{0}")]
pub struct Unavailable(pub String);

/// The reason why a prepared product failed. It is recorded as a row with status `failed`.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct Failed(pub String);

/// The reason why the preparation of a method failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Unprepared {
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    #[error(transparent)]
    Failed(#[from] Failed),
}

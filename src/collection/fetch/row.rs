//! A line of the ledger.

use serde::{Deserialize, Serialize};

use super::error::FetchError;
use crate::collection::is_id;

/// A line of the ledger: a file that was downloaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerRow {
    /// The id of the matrix, `GROUP/NAME`.
    pub matrix: String,
    /// The name of the file in the folder.
    pub file: String,
    /// The size of the file in bytes.
    pub bytes: u64,
    /// The SHA-256 of the file in hexadecimal digits.
    pub sha256: String,
    /// The size of the archive in bytes.
    pub archive_bytes: u64,
    /// The SHA-256 of the archive in hexadecimal digits.
    pub archive_sha256: String,
    /// The address of the archive. After redirects it is followed by ` -> ` and the address that answered.
    pub address: String,
    /// The time of the download in UTC, such as `2026-11-21T04:15:00Z`.
    pub date: String,
}

/// The columns of the ledger and of the pending lines.
pub(super) const COLUMNS: [&str; 8] =
    ["matrix", "file", "bytes", "sha256", "archive_bytes", "archive_sha256", "address", "date"];

impl LedgerRow {
    /// Checks the names in the line, because files are written and hashed under these names.
    ///
    /// # Errors
    /// Returns an error with the invalid name.
    pub(super) fn check(&self) -> Result<(), FetchError> {
        let wrong = |name: &str, what: &str| {
            Err(FetchError::Failed(format!("'{}' is not {what}", name.escape_debug())))
        };
        if !is_id(&self.matrix) {
            return wrong(&self.matrix, "of the form GROUP/NAME");
        }
        if self.file.is_empty() || self.file.contains('/') || self.file.starts_with('.') {
            return wrong(&self.file, "a valid file name");
        }
        Ok(())
    }
}

//! What is downloaded, and how.

use std::time::Duration;

use super::address::Site;
use crate::collection::Matrix;

/// The largest permitted ratio of an archive's size to the estimate. Archives have up to 1.7 times the estimated
/// size of their matrix; the other files in them are as large as the matrix or a few times larger.
const ARCHIVE_MARGIN: u64 = 8;
/// Bytes permitted in addition: sequences of further matrices can be hundreds of times larger than a small
/// matrix.
const ARCHIVE_ALLOWANCE: u64 = 256 << 20;
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The matrix.
    Mtx,
    /// The archive as it was downloaded.
    Archive,
}

impl Form {
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Mtx => ".mtx",
            Self::Archive => ".tar.gz",
        }
    }
}

#[derive(Debug)]
pub struct Settings {
    /// The sites from which archives are requested, in this order.
    pub sites: Vec<Site>,
    /// The number of matrices that are downloaded at the same time.
    pub jobs: usize,
    /// The pause before the second attempt; it doubles before each further attempt.
    pub pause: Duration,
    pub form: Form,
    /// Whether the other files in the archive are stored too.
    pub aux: bool,
    pub date: String,
    /// The largest permitted size of an archive in bytes, if the user specifies it.
    pub most_archive: Option<u64>,
}

impl Settings {
    /// Returns the largest permitted size of a matrix's archive in bytes.
    pub fn most_archive_bytes(&self, matrix: &Matrix) -> u64 {
        let expected = matrix.archive_bytes_estimate().saturating_mul(ARCHIVE_MARGIN);
        self.most_archive.unwrap_or(expected.saturating_add(ARCHIVE_ALLOWANCE))
    }
}

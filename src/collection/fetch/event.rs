//! What a download reports.

use super::error::FetchError;
use super::ledger::LedgerRow;

#[derive(Debug)]
pub enum Event {
    /// So many bytes of the archive are downloaded, of a total that the server may not tell.
    Bytes(u64, Option<u64>),
    /// The archive is complete.
    Extracting,
    Note(String),
    Ended(Downloaded),
}

/// The rows of the ledger for the files of an archive, the matrix first.
pub type Downloaded = Result<Vec<LedgerRow>, FetchError>;

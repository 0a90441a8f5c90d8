//! Verifies that the files of a folder have not changed since they were downloaded.

use std::fs::File;
use std::io::{self, Read};

use sha2::{Digest, Sha256};

use super::error::FetchError;
use super::folder::Folder;
use super::row::LedgerRow;
use spmv_matrix::cache::hex;

/// The result of verifying a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The file is unchanged.
    Right,
    /// The file has changed or cannot be read; the text explains it.
    Wrong(String),
    /// The file does not exist.
    Missing,
}

/// Verifies the size and the SHA-256 of a file in the ledger. Calls `interrupted` repeatedly.
///
/// # Errors
/// Returns an error if the check is interrupted.
pub fn verify(
    folder: &Folder,
    line: &LedgerRow,
    interrupted: &dyn Fn() -> bool,
) -> Result<Finding, FetchError> {
    match folder.bytes(&line.file) {
        Ok(None) => return Ok(Finding::Missing),
        Err(error) => return Ok(Finding::Wrong(error.to_string())),
        Ok(Some(bytes)) if bytes != line.bytes => {
            let wrong = format!("{bytes} bytes, not {}", line.bytes);
            return Ok(Finding::Wrong(wrong));
        }
        Ok(Some(_)) => {}
    }
    match sha256(folder, line, interrupted) {
        Ok(Some(sha256)) if sha256 == line.sha256 => Ok(Finding::Right),
        Ok(Some(sha256)) => {
            Ok(Finding::Wrong(format!("its SHA-256 is {sha256}, not {}", line.sha256)))
        }
        Ok(None) => Err(FetchError::Interrupted),
        Err(error) => Ok(Finding::Wrong(error.to_string())),
    }
}

/// Returns the SHA-256 of a file, or `None` if the check is interrupted.
fn sha256(
    folder: &Folder,
    line: &LedgerRow,
    interrupted: &dyn Fn() -> bool,
) -> io::Result<Option<String>> {
    let mut file = File::open(folder.file(&line.file))?;
    let (mut sha256, mut piece) = (Sha256::new(), vec![0; 1 << 20]);
    while !interrupted() {
        match file.read(&mut piece)? {
            0 => return Ok(Some(hex(sha256))),
            bytes => sha256.update(&piece[..bytes]),
        }
    }
    Ok(None)
}

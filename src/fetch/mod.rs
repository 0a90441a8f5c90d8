//! Downloads matrices of the SuiteSparse Matrix Collection into a folder: downloads the archives, resumes
//! interrupted downloads, and extracts and checks the matrix.
//!
//! A folder `TO` contains `NAME.mtx` and the hidden folder `TO/.spmv-bench` with partial archives, the ledger
//! of the downloaded files, and a lock. A file outside the hidden folder is always complete and checked.

pub mod address;
mod client;
mod contents;
mod download;
mod error;
pub mod folder;
pub mod index;
mod job;
pub mod ledger;
pub mod mirror;
mod pace;
mod part;
pub mod place;
pub mod plan;
mod proxy;
mod reading;
mod temporary;
mod unpack;
pub mod verify;
pub mod web;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicUsize;
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::Duration;

pub use error::FetchError;

use crate::datasets::Matrix;
use address::Site;
use folder::Folder;
use job::Job;
use ledger::Ledger;
use plan::{Form, WantedMatrix};
use web::Web;

/// The settings of a download.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The sites from which archives are requested, in this order.
    pub sites: Vec<Site>,
    /// The number of matrices that are downloaded at the same time.
    pub jobs: usize,
    /// The pause before the second attempt; it doubles before each further attempt.
    pub pause: Duration,
    /// Whether the matrix or the whole archive is stored.
    pub form: Form,
    /// Whether the other files in the archive are stored too.
    pub aux: bool,
    /// The date for the ledger, in UTC, such as `2026-11-21T04:15:00Z`.
    pub date: String,
    /// The largest permitted size of an archive in bytes, if the user specifies it.
    pub most_archive: Option<u64>,
}

/// The largest permitted ratio of an archive's size to the estimate. Archives have up to 1.7 times the estimated
/// size of their matrix; the other files in them are as large as the matrix or a few times larger.
const ARCHIVE_MARGIN: u64 = 8;
/// Bytes permitted in addition: sequences of further matrices can be hundreds of times larger than a small
/// matrix.
const ARCHIVE_ALLOWANCE: u64 = 256 << 20;

impl Settings {
    /// Returns the largest permitted size of a matrix's archive in bytes.
    pub fn most_archive_bytes(&self, matrix: &Matrix) -> u64 {
        let expected = matrix.archive_bytes_estimate().saturating_mul(ARCHIVE_MARGIN);
        self.most_archive.unwrap_or(expected.saturating_add(ARCHIVE_ALLOWANCE))
    }
}

/// The files that were downloaded for a matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Downloaded {
    /// The file names in the folder, the matrix first.
    pub files: Vec<String>,
    /// The total size of the files in bytes.
    pub bytes: u64,
    /// The size of the archive in bytes.
    pub archive_bytes: u64,
}

/// The progress of a task. The first value of each variant is the number of the task.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// The number of archive bytes that are downloaded, and the total number if it is known.
    At(usize, u64, Option<u64>),
    /// The archive is complete and is being unpacked.
    Unpacking(usize),
    /// The task has ended.
    Ended(usize),
}

/// The environment of a download.
pub struct Fetch<'f> {
    /// The folder to download into.
    pub folder: &'f Folder,
    /// The settings of the download.
    pub settings: &'f Settings,
    /// The HTTP client.
    pub web: &'f Web<'f>,
}

impl Fetch<'_> {
    /// Removes the partial archive of a matrix that is already in the folder. It exists if an earlier run was
    /// killed before it could remove it.
    ///
    /// # Errors
    /// Returns an error if the file cannot be removed.
    pub fn discard_part(&self, matrix: &Matrix) -> Result<(), FetchError> {
        self.folder.part(matrix).discard()
    }

    /// Returns the number of bytes of a matrix's archive that an earlier run has downloaded. Removes the partial
    /// archive first if it is larger than permitted.
    ///
    /// # Errors
    /// Returns an error if the file cannot be removed.
    pub fn partial_bytes(&self, matrix: &Matrix) -> Result<u64, FetchError> {
        let part = self.folder.part(matrix);
        if part.bytes() > self.settings.most_archive_bytes(matrix) {
            part.discard()?;
        }
        Ok(part.bytes())
    }

    /// Downloads all tasks, several at the same time. The worker threads call `watch` at every step. `done` is
    /// called on this thread for every task, in the order of the tasks, except for tasks that were not started
    /// because of an interrupt.
    pub fn download(
        &self,
        tasks: &[&WantedMatrix],
        ledger: Ledger,
        watch: &(dyn Fn(Step) + Sync),
        mut done: impl FnMut(usize, Result<Downloaded, FetchError>),
    ) {
        let job = Job { fetch: self, ledger: &Mutex::new(ledger), watch };
        let next = AtomicUsize::new(0);
        let (results, arrivals) = mpsc::channel();
        thread::scope(|scope| {
            for _ in 0..self.settings.jobs.min(tasks.len()) {
                let results = results.clone();
                scope.spawn(|| job.work(tasks, &next, results));
            }
            drop(results);
            let (mut early, mut reported) = (BTreeMap::new(), 0);
            for (number, result) in arrivals {
                early.insert(number, result);
                while let Some(result) = early.remove(&reported) {
                    done(reported, result);
                    reported += 1;
                }
            }
        });
    }
}

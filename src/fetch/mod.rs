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
pub mod row;
mod settings;
mod temporary;
mod unpack;
pub mod verify;
pub mod web;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicUsize;
use std::sync::{Mutex, mpsc};
use std::thread;

pub use error::FetchError;
pub use job::{Downloaded, Step};
pub use settings::Settings;

use crate::datasets::Matrix;
use folder::Folder;
use job::Job;
use ledger::Ledger;
use plan::WantedMatrix;
use web::Web;

/// The environment of a download.
pub struct Fetch<'f> {
    /// The folder to download into.
    pub folder: &'f Folder,
    /// The settings of the download.
    pub settings: &'f Settings,
    /// The connection to the servers, with its time limits.
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
        let Self { folder, settings, web } = *self;
        let job = Job { folder, settings, web, ledger: &Mutex::new(ledger), watch };
        let next = AtomicUsize::new(0);
        let (results, arrivals) = mpsc::channel();
        thread::scope(|scope| {
            for _ in 0..settings.jobs.min(tasks.len()) {
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

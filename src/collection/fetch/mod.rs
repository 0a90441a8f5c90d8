//! Downloads matrices of the SuiteSparse Matrix Collection into a folder: downloads the archives, resumes
//! interrupted downloads, and extracts and checks the matrix.
//!
//! A folder `TO` contains `NAME.mtx` and the hidden folder `TO/.spmv-bench` with partial archives, the ledger
//! of the downloaded files, and a lock. A file outside the hidden folder is always complete and checked.

pub mod address;
mod answer;
pub mod client;
mod contents;
mod download;
mod error;
pub mod folder;
pub mod index;
mod job;
pub mod ledger;
pub mod mirror;
mod part;
pub mod place;
pub mod plan;
mod reading;
pub mod row;
mod settings;
mod temporary;
mod unpack;
pub mod verify;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicUsize;
use std::sync::{Mutex, mpsc};
use std::thread;

pub use error::FetchError;
pub use job::{Downloaded, Report, Step};
pub use settings::Settings;

use crate::collection::Matrix;
use client::Client;
use folder::Folder;
use job::Job;
use ledger::Ledger;
use plan::WantedMatrix;

/// The environment of a download.
pub struct Fetch<'f> {
    /// The folder to download into.
    pub folder: &'f Folder,
    /// The settings of the download.
    pub settings: &'f Settings,
    /// The connection to the servers, with its time limits.
    pub web: &'f Client<'f>,
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

    /// Downloads all tasks, several at the same time. The worker threads call `watch` at every step. `report` is
    /// called on this thread with notes when they arise, and with the end of every task in the order of the tasks,
    /// except for tasks that were not started because of an interrupt.
    pub fn download(
        &self,
        tasks: &[&WantedMatrix],
        ledger: Ledger,
        watch: &(dyn Fn(Step) + Sync),
        mut report: impl FnMut(usize, Report),
    ) {
        let Self { folder, settings, web } = *self;
        let job = Job { folder, settings, web, ledger: &Mutex::new(ledger), watch };
        let next = AtomicUsize::new(0);
        let (reports, arrivals) = mpsc::channel();
        thread::scope(|scope| {
            for _ in 0..settings.jobs.min(tasks.len()) {
                let reports = reports.clone();
                scope.spawn(|| job.work(tasks, &next, reports));
            }
            drop(reports);
            let (mut early, mut reported) = (BTreeMap::new(), 0);
            for (number, arrival) in arrivals {
                match arrival {
                    Report::Note(_) => report(number, arrival),
                    Report::Ended(_) => drop(early.insert(number, arrival)),
                }
                while let Some(ended) = early.remove(&reported) {
                    report(reported, ended);
                    reported += 1;
                }
            }
        });
    }
}

//! Brings matrices of the SuiteSparse Matrix Collection into a folder: downloads archives, resuming
//! what was cut off, and takes nothing but the checked matrix out of them.
//!
//! A folder `TO` holds `NAME.mtx` and, hidden in `TO/.spmv-bench`, parts of archives, the ledger of
//! what was brought, and a lock. A name outside that hidden folder is always a whole, checked file.

pub mod address;
mod contents;
mod download;
pub mod folder;
pub mod index;
mod job;
pub mod ledger;
pub mod mirror;
mod pace;
mod part;
pub mod place;
pub mod plan;
mod reading;
mod temporary;
mod unpack;
pub mod verify;
pub mod web;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::atomic::AtomicUsize;
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::Duration;

use crate::datasets::Matrix;
use address::Site;
use folder::Folder;
use job::Job;
use ledger::Ledger;
use plan::{Form, WantedMatrix};
use web::Web;

/// How matrices are brought.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where archives are asked for, in turn.
    pub sites: Vec<Site>,
    /// How many matrices at once.
    pub jobs: usize,
    /// The first pause before another try; each further one is twice as long.
    pub pause: Duration,
    /// What is kept of an archive.
    pub form: Form,
    /// Whether the files beside the matrix are kept too.
    pub aux: bool,
    /// For the ledger: UTC, as `2026-11-21T04:15:00Z`.
    pub date: String,
    /// The most bytes that an archive may have, if the user says so.
    pub most_archive: Option<u64>,
}

/// Archives have up to 1.7 times the estimated bytes for their matrix; this leaves room for the files
/// beside it, which are as large as the matrix or a few times larger.
const ARCHIVE_MARGIN: u64 = 8;
/// Sequences of matrices beside a small one can be hundreds of times larger than it.
const ARCHIVE_ALLOWANCE: u64 = 256 << 20;

impl Settings {
    /// The most bytes that a matrix's archive may have.
    pub fn most_archive_bytes(&self, matrix: &Matrix) -> u64 {
        let expected = matrix.archive_bytes_estimate().saturating_mul(ARCHIVE_MARGIN);
        self.most_archive.unwrap_or(expected.saturating_add(ARCHIVE_ALLOWANCE))
    }
}

/// Why something was not brought.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    #[error("interrupted")]
    Interrupted,
    #[error("{0}")]
    Failed(String),
}

impl FetchError {
    /// What went wrong with a file: `cannot write ufl_mtx/a.mtx: …`.
    fn file(verb: &str, path: &Path, error: &io::Error) -> Self {
        Self::Failed(format!("cannot {verb} {}: {error}", path.display()))
    }
}

/// What was brought of a matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Brought {
    /// The files' names in the folder, the matrix first.
    pub files: Vec<String>,
    /// Their bytes.
    pub bytes: u64,
    /// Those of the archive.
    pub archive_bytes: u64,
}

/// How far the task of that number is.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// So many bytes of the archive are there, of so many if that is known.
    At(usize, u64, Option<u64>),
    /// All of it is there.
    Unpacking(usize),
    /// It is over.
    Ended(usize),
}

/// What brings matrices.
pub struct Fetch<'f> {
    pub folder: &'f Folder,
    pub settings: &'f Settings,
    pub web: &'f Web<'f>,
}

impl Fetch<'_> {
    /// Discards the part of an archive whose matrix is there: a run may have been killed before it could.
    ///
    /// # Errors
    /// When that is not possible.
    pub fn discard_part(&self, matrix: &Matrix) -> Result<(), FetchError> {
        self.folder.part(matrix).discard()
    }

    /// Bytes of a matrix's archive that are there already. A part that is larger than the archive may be
    /// is discarded first.
    ///
    /// # Errors
    /// When that is not possible.
    pub fn bytes_there(&self, matrix: &Matrix) -> Result<u64, FetchError> {
        let part = self.folder.part(matrix);
        if part.bytes() > self.settings.most_archive_bytes(matrix) {
            part.discard()?;
        }
        Ok(part.bytes())
    }

    /// Brings all tasks, several at once; `watch` is told of every step by the job that makes it,
    /// `done` of every task, in their order, on this thread. A task that an interrupt kept from
    /// beginning is not told of.
    pub fn bring(
        &self,
        tasks: &[&WantedMatrix],
        ledger: Ledger,
        watch: &(dyn Fn(Step) + Sync),
        mut done: impl FnMut(usize, Result<Brought, FetchError>),
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
            let (mut early, mut told) = (BTreeMap::new(), 0);
            for (number, result) in arrivals {
                early.insert(number, result);
                while let Some(result) = early.remove(&told) {
                    done(told, result);
                    told += 1;
                }
            }
        });
    }
}

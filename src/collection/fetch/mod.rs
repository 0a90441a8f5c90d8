//! Downloads matrices of the SuiteSparse Matrix Collection into a folder: downloads the archives, resumes
//! interrupted downloads, and extracts and checks the matrix.

pub mod address;
pub mod client;
mod contents;
mod download;
mod extract;
pub mod folder;
pub mod index;
pub mod ledger;
pub mod mirror;
pub mod plan;

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

pub use extract::sha256;

use crate::collection::Matrix;
use address::Site;
use client::Client;
use download::Download;
use extract::{Extracted, Extraction, extract};
use folder::{Folder, Part, sync};
use ledger::{Ledger, LedgerRow};
use plan::WantedMatrix;

/// The largest permitted ratio of an archive's size to the estimate. Archives have up to 1.7 times the estimated
/// size of their matrix; the other files in them are as large as the matrix or a few times larger.
const ARCHIVE_MARGIN: u64 = 8;
/// Bytes permitted in addition: sequences of further matrices can be hundreds of times larger than a small
/// matrix.
const ARCHIVE_ALLOWANCE: u64 = 256 << 20;
/// The number of matrices in a row for which no site could be reached, after which no further one is tried.
const MOST_UNREACHABLE: usize = 2;

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

#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The user has interrupted the run.
    #[error("interrupted")]
    Interrupted,
    /// The same address may deliver later, after the pause that the server asks for, if it does. With `of_site`, other
    /// files of the site would fail in the same way.
    #[error("{message}")]
    Passing { message: String, asked: Option<Duration>, of_site: bool },
    /// A site cannot be reached or fails, whatever it is asked for; or no site of a matrix can.
    #[error("{0}")]
    Unreachable(String),
    /// What an address answers, or the archive that it has delivered, is of no use.
    #[error("{0}")]
    Refused(String),
    /// The cause is on this machine, so that other addresses are of no use either.
    #[error("{0}")]
    Failed(String),
}

/// Readers of archives and files pass a [`FetchError`] on as an error of the system, which `downcast` undoes.
impl From<FetchError> for io::Error {
    fn from(error: FetchError) -> Self {
        Self::other(error)
    }
}

fn refused<T>(message: String) -> io::Result<T> {
    Err(FetchError::Refused(message).into())
}

trait OrCannot<T> {
    /// Names the operation and the file in an error, as in `cannot write ufl_mtx/a.mtx: …`.
    fn or_cannot(self, verb: &str, path: &Path) -> Result<T, FetchError>;
}

impl<T> OrCannot<T> for io::Result<T> {
    fn or_cannot(self, verb: &str, path: &Path) -> Result<T, FetchError> {
        self.map_err(|error| {
            FetchError::Failed(format!("cannot {verb} {}: {error}", path.display()))
        })
    }
}

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

/// What the jobs of a download have in common.
#[derive(Default)]
struct Progress {
    /// The number of the next task.
    next: AtomicUsize,
    /// The number of matrices in a row for which no site could be reached.
    unreachable: AtomicUsize,
}

impl Progress {
    fn is_offline(&self) -> bool {
        self.unreachable.load(Ordering::Relaxed) >= MOST_UNREACHABLE
    }

    fn note(&self, downloaded: &Downloaded) {
        if matches!(downloaded, Err(FetchError::Unreachable(_))) {
            self.unreachable.fetch_add(1, Ordering::Relaxed);
        } else if !self.is_offline() {
            self.unreachable.store(0, Ordering::Relaxed);
        }
    }
}

pub struct Fetch<'f> {
    pub folder: &'f Folder,
    pub settings: &'f Settings,
    pub web: &'f Client<'f>,
    pub ledger: Mutex<Ledger>,
}

impl Fetch<'_> {
    /// Downloads all tasks, several at the same time. `report` is called on this thread with the number of a task.
    /// After an interrupt, or after two matrices in a row that no site delivers, no further task begins. Returns
    /// whether the latter happened.
    pub fn download(&self, tasks: &[&WantedMatrix], mut report: impl FnMut(usize, Event)) -> bool {
        let (progress, (events, arrivals)) = (Progress::default(), mpsc::channel());
        thread::scope(|scope| {
            for _ in 0..self.settings.jobs.min(tasks.len()) {
                let (events, progress) = (events.clone(), &progress);
                // Sending fails only after the thread that receives has failed.
                scope.spawn(move || self.work(tasks, progress, &|event| drop(events.send(event))));
            }
            drop(events);
            arrivals.into_iter().for_each(|(number, event)| report(number, event));
        });
        progress.is_offline()
    }

    fn work(&self, tasks: &[&WantedMatrix], progress: &Progress, send: &dyn Fn((usize, Event))) {
        while !self.web.is_interrupted() && !progress.is_offline() {
            let number = progress.next.fetch_add(1, Ordering::Relaxed);
            let Some(task) = tasks.get(number) else { return };
            let downloaded = self.one(task, &|event| send((number, event)));
            progress.note(&downloaded);
            send((number, Event::Ended(downloaded)));
        }
    }

    fn one(&self, task: &WantedMatrix, report: &dyn Fn(Event)) -> Downloaded {
        let Self { folder, settings, web, .. } = self;
        let (part, most) = (folder.part(&task.matrix), settings.most_archive_bytes(&task.matrix));
        let (begun, pause) = (Instant::now(), settings.pause);
        let option = " (--max-archive)";
        let download = Download { web, folder, part: &part, most, option, pause, begun, report };
        let way = download.run(settings.sites.iter().map(|site| site.archive(&task.matrix)))?;
        report(Event::Extracting);
        let extracted = extract(&part.path, &task.matrix, self);
        match extracted.and_then(|extracted| self.install(task, &part, &extracted, &way)) {
            Ok(rows) => part.discard().map(|()| rows),
            Err(FetchError::Refused(message)) => {
                part.discard()?;
                Err(FetchError::Failed(format!("the archive from {way}: {message}")))
            }
            // The archive is intact: it is used again when the cause of the error has been removed.
            error => error,
        }
    }

    fn install(
        &self,
        task: &WantedMatrix,
        part: &Part,
        extracted: &Extraction,
        way: &str,
    ) -> Downloaded {
        let Extraction { files, archive_bytes, archive_sha256 } = extracted;
        check_sha256(&task.matrix, archive_sha256)?;
        let archive = LedgerRow {
            matrix: task.matrix.id.clone(),
            file: task.file.clone(),
            bytes: *archive_bytes,
            sha256: archive_sha256.clone(),
            archive_bytes: *archive_bytes,
            archive_sha256: archive_sha256.clone(),
            address: way.to_owned(),
            date: self.settings.date.clone(),
        };
        let extracted = |file: &Extracted| LedgerRow {
            file: task.name_of(&file.name),
            bytes: file.bytes,
            sha256: file.sha256.clone(),
            ..archive.clone()
        };
        let (paths, rows): (Vec<&Path>, Vec<_>) = match self.settings.form {
            Form::Archive => (vec![&part.path], vec![archive]),
            Form::Mtx => files.iter().map(|file| (&*file.path, extracted(file))).unzip(),
        };
        // Other jobs wait until the files have their final names.
        let mut ledger = self.ledger.lock().expect("no job panics with the ledger");
        ledger.enter(&rows)?;
        for (path, row) in paths.into_iter().zip(&rows) {
            let to = self.folder.file(&row.file);
            // The contents must be on the disk first.
            let synced = File::open(path).and_then(|file| file.sync_data());
            synced.and_then(|()| fs::rename(path, &to)).or_cannot("rename to", &to)?;
        }
        sync(&self.folder.path)?;
        Ok(rows)
    }
}

/// Refuses an archive of the matrix if it has another SHA-256 than the datasets file gives.
fn check_sha256(matrix: &Matrix, found: &str) -> Result<(), FetchError> {
    match matrix.sha256.as_ref().filter(|known| *known != found) {
        None => Ok(()),
        Some(known) => Err(FetchError::Refused(format!(
            "its SHA-256 is {found}, but the datasets file gives {known} for {}; --any-archive accepts the archive \
             anyway",
            matrix.id
        ))),
    }
}

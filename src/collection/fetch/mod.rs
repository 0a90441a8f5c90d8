//! Downloads matrices of the SuiteSparse Matrix Collection into a folder: downloads the archives, resumes
//! interrupted downloads, and extracts and checks the matrix.

pub mod address;
pub mod client;
mod contents;
mod download;
mod error;
pub mod folder;
pub mod index;
pub mod ledger;
pub mod mirror;
pub mod plan;
mod unpack;

use std::fs::{self, File};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

pub use error::FetchError;
pub use unpack::sha256;

use crate::collection::Matrix;
use address::{Site, is_exposed};
use client::Client;
use download::{Download, most_time};
use error::OrCannot;
use folder::{Folder, Part, sync};
use ledger::{Ledger, LedgerRow};
use plan::WantedMatrix;
use unpack::{Unpacked, unpack};

/// The largest permitted ratio of an archive's size to the estimate. Archives have up to 1.7 times the estimated
/// size of their matrix; the other files in them are as large as the matrix or a few times larger.
const ARCHIVE_MARGIN: u64 = 8;
/// Bytes permitted in addition: sequences of further matrices can be hundreds of times larger than a small
/// matrix.
const ARCHIVE_ALLOWANCE: u64 = 256 << 20;

/// What is stored of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The matrix.
    Mtx,
    /// The archive as it was downloaded.
    Archive,
}

impl Form {
    /// Returns the ending of the file names.
    pub const fn ending(self) -> &'static str {
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
    /// The date for the ledger, in UTC, such as `2026-11-21T04:15:00Z`.
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

/// The files that were downloaded for a matrix.
#[derive(Debug)]
pub struct Downloaded {
    /// The names in the folder, the matrix first.
    pub files: Vec<String>,
    /// The total size of the files.
    pub bytes: u64,
    pub archive_bytes: u64,
    /// The way to the archive, if others could have changed it on that way and its SHA-256 is not known.
    pub exposed: Option<String>,
}

/// What happens to a matrix.
#[derive(Debug)]
pub enum Event {
    /// So many bytes of the archive are downloaded, of a total that the server may not tell.
    Bytes(u64, Option<u64>),
    /// The archive is complete.
    Unpacking,
    /// A message for the user.
    Note(String),
    Ended(Result<Downloaded, FetchError>),
}

/// Where matrices are downloaded from and into.
#[derive(Clone, Copy)]
pub struct Fetch<'f> {
    pub folder: &'f Folder,
    pub settings: &'f Settings,
    pub web: &'f Client<'f>,
}

impl Fetch<'_> {
    /// Downloads all tasks, several at the same time. `report` is called on this thread with the number of a task. After
    /// an interrupt no further task begins.
    pub fn download(
        &self,
        tasks: &[&WantedMatrix],
        ledger: Ledger,
        mut report: impl FnMut(usize, Event),
    ) {
        let (ledger, next) = (Mutex::new(ledger), AtomicUsize::new(0));
        let (events, arrivals) = mpsc::channel();
        thread::scope(|scope| {
            for _ in 0..self.settings.jobs.min(tasks.len()) {
                let (events, ledger, next) = (events.clone(), &ledger, &next);
                scope.spawn(move || {
                    while !self.web.is_interrupted() {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let Some(task) = tasks.get(number) else { return };
                        // This fails only after the thread that receives has failed.
                        let report = |event| drop(events.send((number, event)));
                        report(Event::Ended(self.one(task, ledger, &report)));
                    }
                });
            }
            drop(events);
            arrivals.into_iter().for_each(|(number, event)| report(number, event));
        });
    }

    fn one(
        &self,
        task: &WantedMatrix,
        ledger: &Mutex<Ledger>,
        report: &dyn Fn(Event),
    ) -> Result<Downloaded, FetchError> {
        let Self { folder, settings, web } = *self;
        let (part, most) = (folder.part(&task.matrix), settings.most_archive_bytes(&task.matrix));
        let download = Download {
            web,
            part: &part,
            folder,
            pause: settings.pause,
            most,
            begun: Instant::now(),
            most_time: most_time(most),
            report,
        };
        let way = download.run(settings.sites.iter().map(|site| site.archive(&task.matrix)))?;
        report(Event::Unpacking);
        let result = unpack(&part.path, &task.matrix, self)
            .and_then(|unpacked| self.install(task, &part, &unpacked, &way, ledger));
        match result {
            Ok(downloaded) => part.discard().map(|()| downloaded),
            Err(FetchError::Refused(message)) => {
                part.discard()?;
                Err(FetchError::Failed(format!("the archive from {way}: {message}")))
            }
            // The archive is intact: it is used again when the cause of the error has been removed.
            error => error,
        }
    }

    /// Records the files in the ledger and renames them to their final names.
    fn install(
        &self,
        task: &WantedMatrix,
        part: &Part,
        unpacked: &Unpacked,
        way: &str,
        ledger: &Mutex<Ledger>,
    ) -> Result<Downloaded, FetchError> {
        let Unpacked { files, archive_bytes, archive_sha256 } = unpacked;
        check_sha256(&task.matrix, archive_sha256)?;
        let row = |file: String, bytes, sha256: &str| LedgerRow {
            matrix: task.matrix.id.clone(),
            file,
            bytes,
            sha256: sha256.to_owned(),
            archive_bytes: *archive_bytes,
            archive_sha256: archive_sha256.clone(),
            address: way.to_owned(),
            date: self.settings.date.clone(),
        };
        let (paths, rows): (Vec<&Path>, Vec<_>) = match self.settings.form {
            Form::Archive => {
                let row = row(task.file.clone(), *archive_bytes, archive_sha256);
                (vec![&part.path], vec![row])
            }
            Form::Mtx => files
                .iter()
                .map(|file| (&*file.path, row(task.name_of(&file.name), file.bytes, &file.sha256)))
                .unzip(),
        };
        let downloaded = Downloaded {
            files: rows.iter().map(|row| row.file.clone()).collect(),
            bytes: rows.iter().map(|row| row.bytes).sum(),
            archive_bytes: *archive_bytes,
            exposed: Some(way.to_owned())
                .filter(|way| task.matrix.sha256.is_none() && is_exposed(way)),
        };
        let mut ledger = ledger.lock().expect("no job panics with the ledger");
        ledger.enter(rows)?;
        for (path, name) in paths.into_iter().zip(&downloaded.files) {
            let to = self.folder.file(name);
            // The contents must be on the disk first.
            let synced = File::open(path).and_then(|file| file.sync_data());
            synced.and_then(|()| fs::rename(path, &to)).or_cannot("rename to", &to)?;
        }
        sync(&self.folder.path)?;
        Ok(downloaded)
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

//! Downloads matrices of the SuiteSparse Matrix Collection into a folder: downloads the archives, resumes
//! interrupted downloads, and extracts and checks the matrix.

pub mod address;
mod answer;
pub mod client;
mod contents;
mod download;
mod error;
mod event;
mod extract;
pub mod folder;
pub mod index;
pub mod ledger;
pub mod mirror;
pub mod plan;
mod settings;

use std::fs::{self, File};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::Instant;

pub use error::FetchError;
pub use event::{Downloaded, Event};
pub use extract::sha256;
pub use settings::{Form, Settings};

use client::Client;
use contents::check_sha256;
use download::Download;
use error::OrCannot;
use extract::{Extracted, Extraction, Extractor};
use folder::{Folder, Part, sync};
use ledger::{Ledger, LedgerRow};
use plan::WantedMatrix;

/// The number of matrices in a row for which no site could be reached, after which no further one is tried.
const MOST_UNREACHABLE: usize = 2;

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
        let interrupted = self.web.interrupted;
        let extractor = Extractor { matrix: &task.matrix, folder, settings, interrupted };
        let extracted = extractor.extract(&part.path);
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

    fn install(&self, task: &WantedMatrix, part: &Part, extracted: &Extraction, way: &str) -> Downloaded {
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

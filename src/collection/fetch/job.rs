//! A worker thread: takes a matrix from the list, downloads it, and takes the next one.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Sender;

use super::address::is_exposed;
use super::client::Client;
use super::download::Download;
use super::error::FetchError;
use super::folder::{Folder, Form};
use super::ledger::Ledger;
use super::part::Part;
use super::plan::WantedMatrix;
use super::row::LedgerRow;
use super::settings::Settings;
use super::unpack::{Damage, Unpacked, Wanted, unpack};

/// The files that were downloaded for a matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Downloaded {
    /// The file names in the folder, the matrix first.
    pub files: Vec<String>,
    /// The total size of the files in bytes.
    pub bytes: u64,
    /// The size of the archive in bytes.
    pub archive_bytes: u64,
    /// The way to the archive, if others could have changed it on that way and its SHA-256 is not known.
    pub exposed: Option<String>,
}

/// What a worker thread reports to the user.
#[derive(Debug)]
pub enum Report {
    /// A message about a task that continues.
    Note(String),
    /// The end of the task.
    Ended(Result<Downloaded, FetchError>),
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

/// The data that all worker threads share.
pub struct Job<'j> {
    pub folder: &'j Folder,
    pub settings: &'j Settings,
    pub web: &'j Client<'j>,
    pub ledger: &'j Mutex<Ledger>,
    pub watch: &'j (dyn Fn(Step) + Sync),
}

impl Job<'_> {
    /// Runs tasks until there are none left or the run is interrupted.
    pub fn work(
        &self,
        tasks: &[&WantedMatrix],
        next: &AtomicUsize,
        reports: Sender<(usize, Report)>,
    ) {
        while !self.web.is_interrupted() {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(task) = tasks.get(number) else { return };
            // A report fails only after the thread that receives it has failed.
            let note = |text| drop(reports.send((number, Report::Note(text))));
            let result = self.one(number, task, &note);
            (self.watch)(Step::Ended(number));
            if reports.send((number, Report::Ended(result))).is_err() {
                return;
            }
        }
    }

    fn one(
        &self,
        number: usize,
        task: &WantedMatrix,
        note: &dyn Fn(String),
    ) -> Result<Downloaded, FetchError> {
        let Self { folder, settings, web, .. } = *self;
        let part = folder.part(&task.matrix);
        let watch = |bytes, total| (self.watch)(Step::At(number, bytes, total));
        let (pause, most) = (settings.pause, settings.most_archive_bytes(&task.matrix));
        let download = Download { web, part: &part, folder, pause, most, watch: &watch, note };
        let way = download.run(settings.sites.iter().map(|site| site.archive(&task.matrix)))?;
        (self.watch)(Step::Unpacking(number));
        let keep = settings.form == Form::Mtx;
        let wanted = Wanted { matrix: &task.matrix, keep, aux: settings.aux };
        let result = unpack(part.path(), &wanted, folder, web)
            .and_then(|unpacked| self.install(task, &part, &unpacked, &way));
        match result {
            Ok(downloaded) => part.discard().map(|()| downloaded),
            // The archive is intact: it is used again when the cause of the error has been removed.
            Err(Damage::Elsewhere(error)) => Err(error),
            Err(Damage::Archive(message)) => {
                part.discard()?;
                Err(FetchError::Failed(format!("the archive from {way}: {message}")))
            }
        }
    }

    /// Renames the files to their final names and records them in the ledger.
    fn install(
        &self,
        task: &WantedMatrix,
        part: &Part,
        unpacked: &Unpacked,
        way: &str,
    ) -> Result<Downloaded, Damage> {
        let (folder, id) = (self.folder, &task.matrix.id);
        let mut ledger = self.ledger.lock().expect("no job panics with the ledger");
        task.matrix.check_archive(&unpacked.archive_sha256)?;
        let checked = ledger.check_archive(id, &unpacked.archive_sha256);
        checked.map_err(|error| Damage::Archive(error.to_string()))?;
        let files = self.files(task, part, unpacked, way);
        for (_, line) in &files {
            ledger.may_write(&line.file, id)?;
        }
        let lines: Vec<LedgerRow> = files.iter().map(|(_, line)| line.clone()).collect();
        let downloaded = Downloaded {
            files: lines.iter().map(|line| line.file.clone()).collect(),
            bytes: lines.iter().map(|line| line.bytes).sum(),
            archive_bytes: unpacked.archive_bytes,
            exposed: Some(way.to_owned())
                .filter(|way| task.matrix.sha256.is_none() && is_exposed(way)),
        };
        ledger.announce(lines)?;
        for (from, line) in &files {
            folder.rename(from, &line.file)?;
        }
        folder.sync()?;
        ledger.enter()?;
        Ok(downloaded)
    }

    /// Returns the temporary paths of the files and their rows in the ledger.
    fn files<'p>(
        &self,
        task: &WantedMatrix,
        part: &'p Part,
        unpacked: &'p Unpacked,
        way: &str,
    ) -> Vec<(&'p Path, LedgerRow)> {
        let Unpacked { files, archive_bytes, archive_sha256 } = unpacked;
        let settings = self.settings;
        let line = |file: String, bytes, sha256: &str| LedgerRow {
            matrix: task.matrix.id.clone(),
            file,
            bytes,
            sha256: sha256.to_owned(),
            archive_bytes: *archive_bytes,
            archive_sha256: archive_sha256.clone(),
            address: way.to_owned(),
            date: settings.date.clone(),
        };
        if settings.form == Form::Archive {
            return vec![(part.path(), line(task.file.clone(), *archive_bytes, archive_sha256))];
        }
        let named = files
            .iter()
            .map(|file| (file.path(), line(task.name_of(&file.name), file.bytes, &file.sha256)));
        named.collect()
    }
}

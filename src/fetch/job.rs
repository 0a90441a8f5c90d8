//! A worker thread: takes a matrix from the list, downloads it, and takes the next one.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Sender;

use super::download::Download;
use super::error::FetchError;
use super::ledger::{Ledger, LedgerRow};
use super::part::Part;
use super::plan::{Form, WantedMatrix};
use super::unpack::{Damage, Unpacked, Wanted, unpack};
use super::{Downloaded, Fetch, Step};

/// The data that all worker threads share.
pub struct Job<'j> {
    pub fetch: &'j Fetch<'j>,
    pub ledger: &'j Mutex<Ledger>,
    pub watch: &'j (dyn Fn(Step) + Sync),
}

impl Job<'_> {
    /// Runs tasks until there are none left or the run is interrupted.
    pub fn work(
        &self,
        tasks: &[&WantedMatrix],
        next: &AtomicUsize,
        results: Sender<(usize, Result<Downloaded, FetchError>)>,
    ) {
        while !self.fetch.web.is_interrupted() {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(task) = tasks.get(number) else { return };
            let result = self.one(number, task);
            (self.watch)(Step::Ended(number));
            if results.send((number, result)).is_err() {
                return;
            }
        }
    }

    fn one(&self, number: usize, task: &WantedMatrix) -> Result<Downloaded, FetchError> {
        let Fetch { folder, settings, web } = *self.fetch;
        let part = folder.part(&task.matrix);
        let watch = |bytes, total| (self.watch)(Step::At(number, bytes, total));
        let (pause, most) = (settings.pause, settings.most_archive_bytes(&task.matrix));
        let download = Download { web, part: &part, folder, pause, most, watch: &watch };
        let address = download.run(settings.sites.iter().map(|site| site.archive(&task.matrix)))?;
        (self.watch)(Step::Unpacking(number));
        let keep = settings.form == Form::Mtx;
        let wanted = Wanted { matrix: &task.matrix, keep, aux: settings.aux };
        let result = unpack(part.path(), &wanted, folder, web)
            .and_then(|unpacked| self.install(task, &part, &unpacked, &address));
        match result {
            Ok(downloaded) => part.discard().map(|()| downloaded),
            // The archive is intact: it is used again when the cause of the error has been removed.
            Err(Damage::Elsewhere(error)) => Err(error),
            Err(Damage::Archive(message)) => {
                part.discard()?;
                Err(FetchError::Failed(format!("the archive from {address}: {message}")))
            }
        }
    }

    /// Renames the files to their final names and records them in the ledger.
    fn install(
        &self,
        task: &WantedMatrix,
        part: &Part,
        unpacked: &Unpacked,
        address: &str,
    ) -> Result<Downloaded, Damage> {
        let (folder, id) = (self.fetch.folder, &task.matrix.id);
        let mut ledger = self.ledger.lock().expect("no job panics with the ledger");
        task.matrix.check_archive(&unpacked.archive_sha256).map_err(Damage::Archive)?;
        ledger.check_archive(id, &unpacked.archive_sha256).map_err(Damage::Archive)?;
        let files = self.files(task, part, unpacked, address);
        for (_, line) in &files {
            folder.may_write(&line.file, id, &ledger)?;
        }
        let lines: Vec<LedgerRow> = files.iter().map(|(_, line)| line.clone()).collect();
        let downloaded = Downloaded {
            files: lines.iter().map(|line| line.file.clone()).collect(),
            bytes: lines.iter().map(|line| line.bytes).sum(),
            archive_bytes: unpacked.archive_bytes,
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
        address: &str,
    ) -> Vec<(&'p Path, LedgerRow)> {
        let Unpacked { files, archive_bytes, archive_sha256 } = unpacked;
        let settings = self.fetch.settings;
        let line = |file: String, bytes, sha256: &str| LedgerRow {
            matrix: task.matrix.id.clone(),
            file,
            bytes,
            sha256: sha256.to_owned(),
            archive_bytes: *archive_bytes,
            archive_sha256: archive_sha256.clone(),
            address: address.to_owned(),
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

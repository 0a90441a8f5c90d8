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
pub mod ledger;
mod part;
pub mod plan;
mod reading;
mod temporary;
mod unpack;
pub mod verify;
pub mod web;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::Duration;

use address::Site;
use download::Download;
use folder::Folder;
use ledger::{Ledger, Line};
use plan::{Form, Task};
use unpack::{Damage, Unpacked};
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
}

/// Why something was not brought.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    #[error("interrupted")]
    Interrupted,
    #[error("{0}")]
    Failed(String),
}

impl Trouble {
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

/// What all jobs share.
struct Fetch<'f> {
    folder: &'f Folder,
    ledger: Mutex<Ledger>,
    settings: &'f Settings,
    web: &'f Web<'f>,
    watch: &'f (dyn Fn(Step) + Sync),
}

/// Brings all tasks, several at once; `watch` is told of every step by the job that makes it, `done`
/// of every task, in their order, on this thread. A task that an interrupt kept from beginning is not
/// told of.
pub fn bring(
    tasks: &[&Task],
    folder: &Folder,
    ledger: Ledger,
    settings: &Settings,
    web: &Web,
    watch: &(dyn Fn(Step) + Sync),
    mut done: impl FnMut(usize, Result<Brought, Trouble>),
) {
    let fetch = Fetch { folder, ledger: Mutex::new(ledger), settings, web, watch };
    let next = AtomicUsize::new(0);
    let (results, arrivals) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..settings.jobs.min(tasks.len()) {
            let results = results.clone();
            scope.spawn(|| fetch.work(tasks, &next, results));
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

impl Fetch<'_> {
    /// Takes tasks until there is none left.
    fn work(
        &self,
        tasks: &[&Task],
        next: &AtomicUsize,
        results: mpsc::Sender<(usize, Result<Brought, Trouble>)>,
    ) {
        while !self.web.is_interrupted() {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(task) = tasks.get(number) else { return };
            let result = self.one(number, task);
            (self.watch)(Step::Ended(number));
            if results.send((number, result)).is_err() {
                return;
            }
        }
    }

    fn one(&self, number: usize, task: &Task) -> Result<Brought, Trouble> {
        let part = self.folder.part(&task.matrix);
        let watch = |bytes, total| (self.watch)(Step::At(number, bytes, total));
        let (folder, pause) = (self.folder, self.settings.pause);
        let download = Download { web: self.web, part: &part, folder, pause, watch: &watch };
        let addresses = self.settings.sites.iter().map(|site| site.archive(&task.matrix));
        let address = download.run(addresses)?;
        (self.watch)(Step::Unpacking(number));
        let wanted = unpack::Wanted {
            matrix: &task.matrix,
            keep: self.settings.form == Form::Mtx,
            aux: self.settings.aux,
        };
        let unpacked = match unpack::unpack(part.path(), &wanted, self.folder, self.web) {
            Ok(unpacked) => unpacked,
            Err(Damage::Elsewhere(trouble)) => return Err(trouble),
            Err(Damage::Archive(message)) => {
                part.discard()?;
                return Err(Trouble::Failed(format!("the archive from {address}: {message}")));
            }
        };
        let brought = self.install(task, &part, unpacked, &address);
        part.discard()?;
        brought
    }

    /// Gives the files their names and enters them in the ledger.
    fn install(
        &self,
        task: &Task,
        part: &part::Part,
        unpacked: Unpacked,
        address: &str,
    ) -> Result<Brought, Trouble> {
        let mut ledger = self.ledger.lock().expect("no job panics with the ledger");
        let Unpacked { files, archive_bytes, archive_sha256 } = unpacked;
        ledger.check_archive(&task.matrix.id, &archive_sha256)?;
        let line = |file: &str, bytes, sha256: &str| Line {
            matrix: task.matrix.id.clone(),
            file: file.to_owned(),
            bytes,
            sha256: sha256.to_owned(),
            archive_bytes,
            archive_sha256: archive_sha256.clone(),
            address: address.to_owned(),
            date: self.settings.date.clone(),
        };
        let mut lines = Vec::new();
        if self.settings.form == Form::Archive {
            lines.push((part.path(), line(&task.file, archive_bytes, &archive_sha256)));
        }
        for file in &files {
            let name = task.name_of(&file.name);
            lines.push((file.path(), line(&name, file.bytes, &file.sha256)));
        }
        for (_, line) in &lines {
            self.folder.may_write(&line.file, &task.matrix.id, &ledger)?;
        }
        for (from, line) in &lines {
            self.folder.rename(from, &line.file)?;
        }
        let lines: Vec<Line> = lines.into_iter().map(|(_, line)| line).collect();
        let files = lines.iter().map(|line| line.file.clone()).collect();
        let bytes = lines.iter().map(|line| line.bytes).sum();
        ledger.enter(lines)?;
        Ok(Brought { files, bytes, archive_bytes })
    }
}

//! Downloads the missing matrices and reports each of them.

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Result, bail};

use super::args::FetchArgs;
use super::megabytes;
use super::progress::Progress;
use crate::cli::command::{CommandStatus, Env};
use crate::collection::fetch::folder::Folder;
use crate::collection::fetch::ledger::Ledger;
use crate::collection::fetch::plan::{State, WantedMatrix};
use crate::collection::fetch::{Downloaded, Fetch, FetchError, Report};

/// The numbers in the summary.
#[derive(Default)]
struct Tally {
    downloaded: usize,
    present: usize,
    failed: usize,
    archive_bytes: u64,
}

/// Downloads the missing matrices of the tasks.
pub fn run(
    args: &FetchArgs,
    tasks: &[WantedMatrix],
    ledger: Ledger,
    fetch: &Fetch,
    env: &mut Env,
) -> Result<CommandStatus> {
    let begun = env.clock.now();
    let missing: Vec<&WantedMatrix> = tasks.iter().filter(|t| t.state == State::Missing).collect();
    let taken = notes(tasks, args.quiet, env.stderr)?;
    if !args.quiet {
        announce(tasks, &missing, fetch.folder.path(), env.stderr)?;
    }
    for task in tasks.iter().filter(|task| task.state == State::Present) {
        fetch.discard_part(&task.matrix)?;
    }
    check_room(&missing, fetch)?;
    let mut tally = Tally { present: present(tasks), failed: taken, ..Tally::default() };
    download(args, &missing, ledger, fetch, &mut tally, env)?;
    let interrupted = fetch.web.is_interrupted();
    if !args.quiet {
        let seconds = (env.clock.now() - begun).as_secs_f64();
        tally.write(seconds, interrupted, env.stderr)?;
    }
    Ok(if tally.failed > 0 || interrupted { CommandStatus::Bad } else { CommandStatus::Ok })
}

/// Downloads the missing matrices, and prints a line for each or draws progress bars.
fn download(
    args: &FetchArgs,
    missing: &[&WantedMatrix],
    ledger: Ledger,
    fetch: &Fetch,
    tally: &mut Tally,
    env: &mut Env,
) -> io::Result<()> {
    let progress = Progress::new(missing, env.terminal && !args.quiet);
    let mut written = Ok(());
    let step = |step| progress.step(step);
    fetch.download(missing, ledger, &step, |number, report| {
        let line = tally.take(&missing[number].matrix.id, report, fetch.folder, args.quiet);
        let Some(line) = line else { return };
        let result = progress.suspend(|| writeln!(env.stderr, "{line}"));
        if written.is_ok() {
            written = result;
        }
    });
    progress.end();
    written
}

fn present(tasks: &[WantedMatrix]) -> usize {
    tasks.iter().filter(|task| task.state == State::Present).count()
}

/// Prints the notes about the tasks. Returns the number of matrices that cannot be stored because another file
/// is in their place.
fn notes(tasks: &[WantedMatrix], quiet: bool, stderr: &mut dyn Write) -> io::Result<usize> {
    let mut taken = 0;
    for task in tasks {
        let id = &task.matrix.id;
        if let Some(note) = task.note.as_ref().filter(|_| !quiet) {
            writeln!(stderr, "{id}: {note}")?;
        }
        if let State::Taken(message) = &task.state {
            writeln!(stderr, "{id}: not downloaded: {message}")?;
            taken += 1;
        }
    }
    Ok(taken)
}

fn announce(
    tasks: &[WantedMatrix],
    missing: &[&WantedMatrix],
    to: &Path,
    stderr: &mut dyn Write,
) -> io::Result<()> {
    let (to, count, present) = (to.display(), tasks.len(), present(tasks));
    let bytes: u64 = missing.iter().map(|task| task.matrix.archive_bytes_estimate()).sum();
    let (missing, megabytes) = (missing.len(), megabytes(bytes));
    writeln!(
        stderr,
        "{to}: {present} of {count} matrices present, {missing} to download: about {megabytes} MB"
    )
}

/// Returns an error if the disk has too little space for all files and for the archives that exist at the same
/// time, minus the parts of them that are already downloaded.
fn check_room(missing: &[&WantedMatrix], fetch: &Fetch) -> Result<()> {
    let sum = |sizes: &mut dyn Iterator<Item = u64>| sizes.fold(0, u64::saturating_add);
    let left = |task: &&WantedMatrix| {
        let present = fetch.partial_bytes(&task.matrix)?;
        Ok(task.matrix.archive_bytes_estimate().saturating_sub(present))
    };
    let mut archives = missing.iter().map(left).collect::<Result<Vec<u64>, FetchError>>()?;
    archives.sort_unstable_by(|a, b| b.cmp(a));
    let archives = sum(&mut archives.into_iter().take(fetch.settings.jobs));
    let files = sum(&mut missing.iter().map(|task| task.file_bytes_estimate()));
    let (needed, room) = (files.saturating_add(archives), fetch.folder.room()?);
    if missing.is_empty() || needed <= room {
        return Ok(());
    }
    let (to, needed, room) = (fetch.folder.path().display(), megabytes(needed), megabytes(room));
    let parts = match fetch.folder.bytes_of_parts() {
        0 => String::new(),
        bytes => format!(", or remove the {} MB of {to}/.spmv-bench/*.part", megabytes(bytes)),
    };
    bail!(
        "{to}: about {needed} MB are needed and {room} MB are free; choose fewer matrices with \
         --filter, or another folder with --to{parts}"
    )
}

/// Returns the lines that report a downloaded matrix.
fn lines(id: &str, downloaded: &Downloaded, folder: &Folder) -> String {
    let Downloaded { files, bytes, exposed, .. } = downloaded;
    let files = files.iter().map(|file| folder.file(file).display().to_string());
    let files: Vec<String> = files.collect();
    let warning = exposed.as_ref().map_or_else(String::new, |way| {
        format!(
            "\n{id}: warning: {way}: it came over http and its SHA-256 is not known, so nothing vouches for its \
             values"
        )
    });
    format!("{id}: {}, {} MB{warning}", files.join(", "), megabytes(*bytes))
}

impl Tally {
    /// Counts the result of a task and returns the lines for the user.
    fn take(&mut self, id: &str, report: Report, folder: &Folder, quiet: bool) -> Option<String> {
        match report {
            Report::Note(text) => Some(format!("{id}: {text}")).filter(|_| !quiet),
            Report::Ended(Ok(result)) => {
                self.downloaded += 1;
                self.archive_bytes += result.archive_bytes;
                Some(lines(id, &result, folder)).filter(|_| !quiet)
            }
            Report::Ended(Err(FetchError::Interrupted)) => None,
            Report::Ended(Err(error)) => {
                self.failed += 1;
                Some(format!("{id}: not downloaded: {error}"))
            }
        }
    }

    fn write(&self, seconds: f64, interrupted: bool, stderr: &mut dyn Write) -> io::Result<()> {
        let Self { downloaded, present, failed, archive_bytes } = self;
        let megabytes = megabytes(*archive_bytes);
        let stopped = match interrupted {
            true => "interrupted, the next run resumes unfinished downloads; ",
            false => "",
        };
        writeln!(
            stderr,
            "{stopped}{downloaded} downloaded, {present} present, {failed} failed: {megabytes} MB of \
             archives in {seconds:.1} s"
        )
    }
}

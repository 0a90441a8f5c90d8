//! Downloads the missing matrices, and prints a line for each or draws progress bars on a terminal: one for each
//! running download and one for the total.

use std::collections::{BTreeMap, HashMap};

use anyhow::{Result, ensure};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::args::FetchArgs;
use super::list::megabytes;
use crate::campaign::env::Env;
use crate::cli::verb::CommandStatus;
use crate::collection::Matrix;
use crate::collection::fetch::address::is_exposed;
use crate::collection::fetch::folder::Folder;
use crate::collection::fetch::ledger::LedgerRow;
use crate::collection::fetch::plan::{State, WantedMatrix};
use crate::collection::fetch::{Event, Fetch, FetchError};
use spmv_results::table::terminal::shown;

const BAR: &str = "{bar:24} {decimal_bytes}/{decimal_total_bytes}, {decimal_bytes_per_sec}: {wide_msg}";
const TOTAL: &str = "{bar:24} {pos} of {len} matrices, {elapsed}";

pub fn run(args: &FetchArgs, tasks: &[WantedMatrix], fetch: &Fetch, env: &mut Env) -> Result<CommandStatus> {
    let begun = env.clock.now();
    let missing = missing(args, tasks, fetch, env)?;
    let present = tasks.iter().filter(|task| task.state == State::Present).count();
    let taken = tasks.len() - present - missing.len();
    if !args.quiet {
        let bytes = missing.iter().map(|task| task.matrix.archive_bytes_estimate()).sum();
        writeln!(
            env.stderr,
            "{}: {present} of {} matrices present, {} to download: about {} MB of archives, {} MB free",
            fetch.folder.path.display(),
            tasks.len(),
            missing.len(),
            megabytes(bytes),
            megabytes(fetch.folder.room()?)
        )?;
    }
    check_room(&missing, fetch)?;
    let Downloads { archives, failed, offline } = download(args, &missing, fetch, env);
    let failed = taken + failed;
    let is_interrupted = fetch.web.is_interrupted();
    if !args.quiet {
        let interrupted = "interrupted, the next run resumes unfinished downloads; ";
        let stopped = if is_interrupted { interrupted } else { "" };
        writeln!(
            env.stderr,
            "{stopped}{} downloaded, {present} present, {failed} failed: {} MB of archives in {:.1} s",
            archives.len(),
            megabytes(archives.iter().sum()),
            (env.clock.now() - begun).as_secs_f64()
        )?;
    }
    if let Some(why) = offline {
        writeln!(
            env.stderr,
            "ended early, with {} matrices left, because no site can be reached: {why}; check the network and the \
             proxy (HTTPS_PROXY), or copy the files into {} by hand",
            missing.len() - archives.len(),
            fetch.folder.path.display()
        )?;
    }
    Ok(CommandStatus::bad_if(failed > 0 || is_interrupted))
}

/// Returns the matrices to download, and says what is special about the others.
fn missing<'t>(
    args: &FetchArgs,
    tasks: &'t [WantedMatrix],
    fetch: &Fetch,
    env: &mut Env,
) -> Result<Vec<&'t WantedMatrix>> {
    let mut missing = Vec::new();
    for task in tasks {
        let id = &task.matrix.id;
        if let Some(note) = task.note.as_ref().filter(|_| !args.quiet) {
            writeln!(env.stderr, "{id}: {note}")?;
        }
        match &task.state {
            State::Missing => missing.push(task),
            // An earlier run was killed before it could remove the archive.
            State::Present => fetch.folder.part(&task.matrix).discard()?,
            State::Taken(message) => writeln!(env.stderr, "{id}: not downloaded: {message}")?,
        }
    }
    Ok(missing)
}

#[derive(Default)]
struct Downloads {
    /// The bytes of each downloaded archive.
    archives: Vec<u64>,
    failed: usize,
    /// Why the download has ended early, if it has: no site of the last matrices could be reached.
    offline: Option<String>,
}

/// Downloads the missing matrices. Their lines are printed in the order of the tasks; those of matrices whose sites
/// cannot be reached come last, unless one message stands for all of them.
fn download(args: &FetchArgs, missing: &[&WantedMatrix], fetch: &Fetch, env: &mut Env) -> Downloads {
    let mut bars = Bars::new(missing.len(), env.terminal && !args.quiet);
    let (mut done, mut unreachable) = (Downloads::default(), Vec::new());
    let (mut ended, mut next) = (BTreeMap::new(), 0);
    let is_offline = fetch.download(missing, |number, event| {
        let id = &missing[number].matrix.id;
        bars.show(number, id, &event);
        // Downloads continue if nobody reads the messages.
        let mut print = |line| drop(bars.all.suspend(|| writeln!(env.stderr, "{line}")));
        match event {
            Event::Note(text) if !args.quiet => print(format!("{id}: {text}")),
            Event::Ended(result) => drop(ended.insert(number, result)),
            _ => {}
        }
        while let Some(result) = ended.remove(&next) {
            let matrix = &missing[next].matrix;
            next += 1;
            match result {
                Ok(rows) => {
                    done.archives.push(rows[0].archive_bytes);
                    if !args.quiet {
                        print(lines(matrix, &rows, fetch.folder));
                    }
                }
                Err(FetchError::Interrupted) => {}
                Err(FetchError::Unreachable(why)) => unreachable.push((&matrix.id, why)),
                Err(error) => {
                    done.failed += 1;
                    print(format!("{}: not downloaded: {error}", matrix.id));
                }
            }
        }
    });
    bars.total.finish_and_clear();
    done.failed += unreachable.len();
    if is_offline {
        done.offline = unreachable.pop().map(|(_, why)| why);
    }
    for (id, why) in unreachable.iter().filter(|_| !is_offline) {
        let _ = writeln!(env.stderr, "{id}: not downloaded: {why}");
    }
    done
}

fn lines(matrix: &Matrix, rows: &[LedgerRow], folder: &Folder) -> String {
    let (id, address) = (&matrix.id, &rows[0].address);
    let file = |row: &LedgerRow| folder.file(&row.file).display().to_string();
    let files = rows.iter().map(file).collect::<Vec<_>>().join(", ");
    let megabytes = megabytes(rows.iter().map(|row| row.bytes).sum());
    let mut lines = format!("{id}: {files}, {megabytes} MB");
    if matrix.sha256.is_none() && is_exposed(address) {
        lines += &format!(
            "\n{id}: warning: {address}: it came over http and its SHA-256 is not known, so nothing vouches for its \
             values"
        );
    }
    lines
}

/// Returns an error if the disk has too little space for all files and the archives that exist at the same time.
fn check_room(missing: &[&WantedMatrix], fetch: &Fetch) -> Result<()> {
    let mut archives = Vec::new();
    for task in missing {
        let part = fetch.folder.part(&task.matrix);
        if part.bytes() > fetch.settings.most_archive_bytes(&task.matrix) {
            part.discard()?;
        }
        archives.push(task.matrix.archive_bytes_estimate().saturating_sub(part.bytes()));
    }
    archives.sort_unstable_by(|a, b| b.cmp(a));
    archives.truncate(fetch.settings.jobs);
    let files = missing.iter().map(|task| task.file_bytes_estimate());
    let needed = files.chain(archives).fold(0, u64::saturating_add);
    let (to, room) = (fetch.folder.path.display(), fetch.folder.room()?);
    let parts = match fetch.folder.bytes_of_parts() {
        0 => String::new(),
        bytes => format!(", or remove the {} MB of {to}/.spmv-bench/*.part", megabytes(bytes)),
    };
    ensure!(
        needed <= room || missing.is_empty(),
        "{to}: about {} MB are needed and {} MB are free; choose fewer matrices with \
         --filter, or another folder with --to{parts}",
        megabytes(needed),
        megabytes(room)
    );
    Ok(())
}

struct Bars {
    all: MultiProgress,
    total: ProgressBar,
    running: HashMap<usize, ProgressBar>,
}

impl Bars {
    fn new(tasks: usize, is_visible: bool) -> Self {
        let (stderr, hidden) = (ProgressDrawTarget::stderr(), ProgressDrawTarget::hidden());
        let all = MultiProgress::with_draw_target(if is_visible { stderr } else { hidden });
        let total = all.add(ProgressBar::new(tasks as u64).with_style(style(TOTAL)));
        Self { all, total, running: HashMap::new() }
    }

    fn show(&mut self, number: usize, id: &str, event: &Event) {
        match event {
            Event::Bytes(bytes, total) => {
                let bar = self.running.entry(number).or_insert_with(|| {
                    let bar = ProgressBar::no_length().with_style(style(BAR)).with_position(*bytes);
                    let bar = self.all.insert_before(&self.total, bar);
                    bar.set_message(shown(id).into_owned());
                    // The bytes of an earlier run must not count for the speed of this run.
                    bar.reset_eta();
                    bar
                });
                bar.set_length(total.unwrap_or(*bytes).max(*bytes));
                bar.set_position(*bytes);
            }
            Event::Extracting => {
                if let Some(bar) = self.running.get(&number) {
                    bar.set_message(format!("{}, extracting", shown(id)));
                }
            }
            Event::Note(_) => {}
            Event::Ended(_) => {
                if let Some(bar) = self.running.remove(&number) {
                    bar.finish_and_clear();
                }
                self.total.inc(1);
            }
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("a valid template")
}

//! `spmv-bench fetch`: downloads matrices of the collection.

mod choose;
mod download;
mod verify;

use std::cell::RefCell;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use anyhow::Result;
use clap::Args;

use super::measure::{RARE, grouped};
use super::values::{seconds, whole_from};
use super::{CommandStatus, Env};
use crate::collection::fetch::address::Site;
use crate::collection::fetch::client::Client;
use crate::collection::fetch::folder::{DATA, Folder};
use crate::collection::fetch::ledger::Ledger;
use crate::collection::fetch::plan::{State, WantedMatrix, plan};
use crate::collection::fetch::{Fetch, FetchError, Form, Settings, index};
use crate::collection::fields::FORMS;
use crate::collection::{Datasets, Matrix};
use spmv_matrix::memory::Size;
use spmv_results::filter::Filter;

#[derive(Debug, Args)]
#[command(mut_args = grouped)]
pub struct FetchArgs {
    /// Sets (see --list) and matrices [default: the set `default`]
    ///
    /// A matrix is GROUP/NAME, or NAME if no other group has it.
    #[arg(value_name = "SET|MATRIX")]
    pub words: Vec<String>,
    /// All matrices in the collection's index
    #[arg(long, conflicts_with = "words")]
    pub all: bool,
    /// Only matrices such as 'nnz<1e7 && kind~circuit'
    #[arg(long, value_name = "EXPR",
          long_help = format!("Only matrices of the named sets, or of the whole collection, that pass a filter such as \
              'nnz<1e7 && kind~circuit'. A filter consists of {FORMS}"))]
    pub filter: Option<Filter<Matrix>>,
    /// Further matrices and sets, in the format of the project's datasets.toml
    #[arg(help_heading = RARE, long, value_name = "FILE")]
    pub datasets: Option<PathBuf>,
    /// The folder to download into
    #[arg(long, value_name = "DIR", default_value = DATA)]
    pub to: PathBuf,
    /// Keep the archives (NAME.tar.gz) instead of the extracted matrices; they are checked in the same way
    #[arg(help_heading = RARE, long)]
    pub keep_archives: bool,
    /// Also extract the vectors and texts in the archives; a vector becomes NAME_b.mtx.aux, so that corpus does not
    /// measure it
    #[arg(help_heading = RARE, long, conflicts_with = "keep_archives")]
    pub aux: bool,
    /// A copy of the collection in place of its own sites
    ///
    /// It has the files URL/MM/GROUP/NAME.tar.gz and URL/files/ssstats.csv. Several URLs are separated by commas; a
    /// file that is missing on one is requested from the next. The variable SPMV_BENCH_MIRROR is the same.
    #[arg(long, value_name = "URL", env = "SPMV_BENCH_MIRROR", hide_env = true, value_delimiter = ',',
          value_parser = Site::mirror)]
    pub mirror: Vec<Site>,
    /// The largest size of an archive, such as 2GiB [default: 8 times the expected size plus 256 MiB]
    #[arg(help_heading = RARE, long, value_name = "SIZE")]
    pub max_archive: Option<Size>,
    /// Accept archives with another SHA-256 than the datasets file states: for a mirror of surrogates
    #[arg(help_heading = RARE, long)]
    pub any_archive: bool,
    /// Matrices to download at the same time [default: 4]
    #[arg(help_heading = RARE, long, value_name = "N",
          default_value_t = 4, hide_default_value = true, value_parser = whole_from(1, 64))]
    pub jobs: u32,
    /// Close a connection that delivers nothing for this time [default: 60]
    #[arg(help_heading = RARE, long, value_name = "S",
          default_value = "60", hide_default_value = true, value_parser = positive_seconds,
          allow_negative_numbers = true)]
    pub timeout: Duration,
    /// The pause before the second of four attempts, which doubles before each further one; a server may ask for a
    /// longer one, of at most ten minutes [default: 1]
    #[arg(help_heading = RARE, long, value_name = "S",
          default_value = "1", hide_default_value = true, value_parser = seconds,
          allow_negative_numbers = true)]
    pub pause: Duration,
    /// Replace the built-in index of 2020-10-08 by today's
    ///
    /// It is that of the collection or of the mirror, and is used from now on. Without sets, matrices, --all, --filter
    /// or --list, nothing else is downloaded.
    #[arg(long)]
    pub update_index: bool,
    /// List sets and matrices with their sizes; download nothing
    #[arg(long)]
    pub list: bool,
    /// Check the hashes of the files; download nothing
    ///
    /// Reports the files, of the named sets and matrices or of all, that are missing or differ from what was
    /// downloaded.
    #[arg(long, conflicts_with_all = ["list", "all", "filter", "update_index"])]
    pub verify: bool,
    /// Print only errors to stderr
    #[arg(long, short)]
    pub quiet: bool,
}

impl FetchArgs {
    fn selects(&self) -> bool {
        !self.words.is_empty() || self.all || self.filter.is_some()
    }
}

fn positive_seconds(text: &str) -> Result<Duration, String> {
    match seconds(text)? {
        Duration::ZERO => Err("it must be more than 0 seconds".into()),
        time => Ok(time),
    }
}

pub fn run(args: &FetchArgs, env: &mut Env) -> Result<CommandStatus> {
    match execute(args, env) {
        Err(error) if matches!(error.downcast_ref(), Some(FetchError::Interrupted)) => {
            writeln!(env.stderr, "interrupted")?;
            Ok(CommandStatus::Bad)
        }
        ended => ended,
    }
}

fn execute(args: &FetchArgs, env: &mut Env) -> Result<CommandStatus> {
    let datasets = Datasets::with(args.datasets.as_deref())?;
    let folder = Folder::new(&args.to);
    if args.verify {
        return verify::run(args, &datasets, &folder, env);
    }
    let web = Client::new(args.timeout, env.interrupted)?;
    let settings = Settings {
        sites: if args.mirror.is_empty() { Site::collection() } else { args.mirror.clone() },
        jobs: args.jobs as usize,
        pause: args.pause,
        form: if args.keep_archives { Form::Archive } else { Form::Mtx },
        aux: args.aux,
        date: env.date.clone(),
        most_archive: args.max_archive.map(|size| size.0),
    };
    let stderr = RefCell::new(&mut *env.stderr);
    let note = |text| {
        if !args.quiet {
            // Whoever closed stderr does not want the notes.
            let _ = writeln!(stderr.borrow_mut(), "{text}");
        }
    };
    if args.update_index {
        index::update(&web, &settings, &note)?;
        if !args.selects() && !args.list {
            index::collection(&settings, &note);
            return Ok(CommandStatus::Ok);
        }
    }
    let matrices = choose::matrices(args, &datasets, || index::collection(&settings, &note))?;
    if args.list {
        let tasks = plan(matrices, &Ledger::read(&folder)?, settings.form);
        if !args.selects() {
            list_sets(&datasets, env.stdout)?;
        }
        list_matrices(&tasks, env.stdout)?;
        return Ok(CommandStatus::Ok);
    }
    // From the planning to the last file.
    let _lock = folder.lock(&web, env.stderr)?;
    let ledger = Ledger::read(&folder)?;
    let tasks = plan(matrices, &ledger, settings.form);
    let ledger = Mutex::new(ledger);
    let fetch = Fetch { folder: &folder, settings: &settings, web: &web, ledger };
    download::run(args, &tasks, &fetch, env)
}

fn list_sets(datasets: &Datasets, out: &mut dyn Write) -> io::Result<()> {
    let width = datasets.sets.keys().map(String::len).max().unwrap_or(0).max(3);
    writeln!(out, "{:<width$}  matrices  source", "set")?;
    for (name, set) in &datasets.sets {
        let count = datasets.matrices_of(set).len();
        writeln!(out, "{name:<width$}  {count:>8}  {}", set.source)?;
        if let Some(note) = &set.note {
            writeln!(out, "{:<width$}  {:>8}  {note}", "", "")?;
        }
    }
    writeln!(out)
}

fn list_matrices(tasks: &[WantedMatrix], out: &mut dyn Write) -> io::Result<()> {
    let width = tasks.iter().map(|task| task.matrix.id.len()).max().unwrap_or(0).max(6);
    writeln!(
        out,
        "{:<width$}  {:>11}  {:>11}  {:>13}  {:>10}  {:<7}  kind",
        "matrix", "rows", "cols", "nnz", "archive MB", "present"
    )?;
    let (mut missing, mut missing_bytes) = (0, 0);
    for task in tasks {
        let Matrix { id, rows, cols, nnz, kind, .. } = &task.matrix;
        let bytes = task.matrix.archive_bytes_estimate();
        let is_present = match &task.state {
            State::Present => "yes",
            State::Missing => "no",
            State::Taken(_) => "taken",
        };
        if task.state != State::Present {
            (missing, missing_bytes) = (missing + 1, missing_bytes + bytes);
        }
        let size = format!("~{}", megabytes(bytes));
        writeln!(
            out,
            "{id:<width$}  {rows:>11}  {cols:>11}  {nnz:>13}  {size:>10}  {is_present:<7}  {kind}"
        )?;
    }
    let (present, megabytes) = (tasks.len() - missing, megabytes(missing_bytes));
    writeln!(out, "{present} present, {missing} to download: ~{megabytes} MB of archives")
}

/// Formats bytes as megabytes, with three digits for small numbers.
fn megabytes(bytes: u64) -> String {
    let digits = if bytes < 1_000_000 { 3 } else { 1 };
    format!("{:.digits$}", bytes as f64 / 1e6)
}

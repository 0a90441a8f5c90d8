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
use crate::record::filter::Filter;
use spmv_matrix::memory::Size;

#[derive(Debug, Args)]
pub struct FetchArgs {
    /// Named sets (--list lists them) and matrices, without GROUP if no other group has the name [default: the set
    /// `default`]
    #[arg(value_name = "SET|[GROUP/]NAME")]
    pub words: Vec<String>,
    /// Select all matrices in the collection's index
    #[arg(long, conflicts_with = "words")]
    pub all: bool,
    /// Select only matrices of the named sets, or of the whole collection, that pass a filter such as
    /// 'nnz<1e7 && kind~circuit'
    #[arg(long, value_name = "EXPR",
              long_help = format!("Select only matrices of the named sets, or of the whole collection, that pass \
              a filter such as 'nnz<1e7 && kind~circuit'. A filter consists of {FORMS}"))]
    pub filter: Option<Filter<Matrix>>,
    /// A file that defines further matrices and sets, in the format of the project's datasets.toml
    #[arg(long, value_name = "FILE")]
    pub datasets: Option<PathBuf>,
    /// The folder to download into
    #[arg(long, value_name = "DIR", default_value = DATA)]
    pub to: PathBuf,
    /// Keep the archives (NAME.tar.gz) instead of the extracted matrices; they are checked in the same way
    #[arg(long)]
    pub keep_archives: bool,
    /// Also extract the vectors and texts in the archives; a vector is written as NAME_b.mtx.aux, so that
    /// corpus does not treat it as a matrix
    #[arg(long, conflicts_with = "keep_archives")]
    pub aux: bool,
    /// Download from URL/MM/GROUP/NAME.tar.gz and URL/files/ssstats.csv instead of the collection's sites.
    /// Several URLs are separated by commas; a file that is missing on one is requested from the next
    #[arg(long, value_name = "URL", env = "SPMV_BENCH_MIRROR", value_delimiter = ',',
          value_parser = Site::mirror)]
    pub mirror: Vec<Site>,
    /// The largest size of an archive, such as 2GiB [default: 8 times the expected size plus 256 MiB]
    #[arg(long, value_name = "SIZE")]
    pub max_archive: Option<Size>,
    /// Accept archives with any SHA-256, even if the datasets file specifies a different one: for a mirror
    /// of surrogates
    #[arg(long)]
    pub any_archive: bool,
    /// Number of matrices to download at the same time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = whole_from(1, 64))]
    pub jobs: u32,
    /// Close a connection that delivers nothing for this many seconds
    #[arg(long, value_name = "S", default_value = "60", value_parser = positive_seconds,
          allow_negative_numbers = true)]
    pub timeout: Duration,
    /// Seconds to wait before the second of four attempts; the time doubles before each further attempt. A server may
    /// ask for a longer pause, of at most ten minutes
    #[arg(long, value_name = "S", default_value = "1", value_parser = seconds,
          allow_negative_numbers = true)]
    pub pause: Duration,
    /// Download the collection's index, or that of the mirror, and use it from now on instead of the built-in one of
    /// 2020-10-08; without sets, matrices, --all, --filter or --list, download nothing else
    #[arg(long)]
    pub update_index: bool,
    /// List the sets and the matrices with the approximate sizes of the archives; download nothing
    #[arg(long)]
    pub list: bool,
    /// Compare the hashes of the downloaded files with those recorded at download, and report files that are
    /// missing or have changed: for the named sets and matrices, or for all. Does not use the network
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

//! `spmv-bench fetch`: downloads matrices of the collection.

pub mod args;
mod choose;
mod download;
mod list;
mod progress;
mod verify;

use anyhow::Result;

use super::command::{CommandStatus, Env};
use crate::collection::fetch::address::Site;
use crate::collection::fetch::client::Client;
use crate::collection::fetch::folder::{Folder, Form};
use crate::collection::fetch::ledger::Ledger;
use crate::collection::fetch::plan;
use crate::collection::fetch::{Fetch, FetchError, Settings};
use crate::collection::{Datasets, Matrix};
use args::FetchArgs;
use choose::Choice;
use spmv_matrix::cache::CacheFolder;

/// Runs the command and returns the status with which the process ends.
pub fn run(args: &FetchArgs, env: &mut Env) -> Result<CommandStatus> {
    let result = execute(args, env);
    let error = result.as_ref().err().and_then(|error| error.downcast_ref::<FetchError>());
    match error {
        Some(FetchError::Interrupted) => {
            writeln!(env.stderr, "interrupted")?;
            Ok(CommandStatus::Bad)
        }
        _ => result,
    }
}

fn execute(args: &FetchArgs, env: &mut Env) -> Result<CommandStatus> {
    let datasets = Datasets::with(args.datasets.as_deref())?;
    let folder = Folder::new(&args.to);
    if args.verify {
        return verify::run(args, &datasets, &folder, env);
    }
    let web = Client::new(args.timeout, env.interrupted)?;
    let settings = settings(args, env);
    let choice = Choice {
        args,
        datasets: &datasets,
        web: &web,
        settings: &settings,
        cache: CacheFolder::of_user("index"),
    };
    let matrices = choice.matrices(env.stderr)?;
    if args.list {
        let tasks = plan::plan(&matrices, &folder, &Ledger::read(&folder)?, settings.form);
        if args.words.is_empty() && !args.all && args.filter.is_none() {
            list::sets(&datasets, env.stdout)?;
            writeln!(env.stdout)?;
        }
        list::matrices(&tasks, env.stdout)?;
        return Ok(CommandStatus::Ok);
    }
    download(args, &matrices, &Fetch { folder: &folder, settings: &settings, web: &web }, env)
}

/// Downloads the matrices. The folder is locked from the planning to the last file.
fn download(
    args: &FetchArgs,
    matrices: &[Matrix],
    fetch: &Fetch,
    env: &mut Env,
) -> Result<CommandStatus> {
    let mut written = Ok(());
    let wait = || {
        let to = args.to.display();
        written =
            writeln!(env.stderr, "{to}: another fetch uses this folder, waiting until it ends");
    };
    let lock = fetch.folder.lock(fetch.web, wait)?;
    written?;
    let mut ledger = Ledger::read(fetch.folder)?;
    ledger.settle(&|| fetch.web.is_interrupted())?;
    let tasks = plan::plan(matrices, fetch.folder, &ledger, fetch.settings.form);
    let verdict = download::run(args, &tasks, ledger, fetch, env);
    drop(lock);
    verdict
}

fn settings(args: &FetchArgs, env: &Env) -> Settings {
    Settings {
        sites: if args.mirror.is_empty() { Site::collection() } else { args.mirror.clone() },
        jobs: args.jobs as usize,
        pause: args.pause,
        form: if args.keep_archives { Form::Archive } else { Form::Mtx },
        aux: args.aux,
        date: env.date.clone(),
        most_archive: args.max_archive.map(|size| size.0),
    }
}

/// Formats bytes as megabytes, with three digits for small numbers.
fn megabytes(bytes: u64) -> String {
    let digits = if bytes < 1_000_000 { 3 } else { 1 };
    format!("{:.digits$}", bytes as f64 / 1e6)
}

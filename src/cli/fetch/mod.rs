//! `spmv-bench fetch`: brings matrices of the collection.

pub mod args;
mod bring;
mod choose;
mod list;
mod progress;
mod verify;

use anyhow::Result;

use super::{Verdict, World};
use crate::cache::Cache;
use crate::datasets::{Datasets, Matrix};
use crate::fetch::address::Site;
use crate::fetch::folder::Folder;
use crate::fetch::ledger::Ledger;
use crate::fetch::plan::{self, Form};
use crate::fetch::web::Web;
use crate::fetch::{Fetch, Settings, Trouble};
use args::FetchArgs;
use choose::Choice;

/// Runs the command.
pub fn run(args: &FetchArgs, world: &mut World) -> Result<Verdict> {
    let result = execute(args, world);
    let trouble = result.as_ref().err().and_then(|error| error.downcast_ref::<Trouble>());
    match trouble {
        Some(Trouble::Interrupted) => {
            writeln!(world.stderr, "interrupted")?;
            Ok(Verdict::Bad)
        }
        _ => result,
    }
}

fn execute(args: &FetchArgs, world: &mut World) -> Result<Verdict> {
    let datasets = Datasets::with(args.datasets.as_deref())?;
    let folder = Folder::new(&args.to);
    if args.verify {
        return verify::run(args, &datasets, &folder, world);
    }
    let web = Web::new(args.timeout, world.interrupted)?;
    let settings = settings(args, world);
    let choice = Choice {
        args,
        datasets: &datasets,
        web: &web,
        settings: &settings,
        cache: Cache::of_user("index"),
    };
    let matrices = choice.matrices(world.stderr)?;
    if args.list {
        let tasks = plan::plan(&matrices, &folder, &Ledger::read(&folder)?, settings.form);
        if args.words.is_empty() && !args.all && args.filter.is_none() {
            list::sets(&datasets, world.stdout)?;
            writeln!(world.stdout)?;
        }
        list::matrices(&tasks, world.stdout)?;
        return Ok(Verdict::Ok);
    }
    bring(args, &matrices, &Fetch { folder: &folder, settings: &settings, web: &web }, world)
}

/// Has the folder to itself from the plan to the last file.
fn bring(
    args: &FetchArgs,
    matrices: &[Matrix],
    fetch: &Fetch,
    world: &mut World,
) -> Result<Verdict> {
    let mut told = Ok(());
    let wait = || {
        let to = args.to.display();
        told = writeln!(world.stderr, "{to}: another fetch is at work there, waiting for its end");
    };
    let lock = fetch.folder.lock(fetch.web, wait)?;
    told?;
    let mut ledger = Ledger::read(fetch.folder)?;
    ledger.settle(&|| fetch.web.is_interrupted())?;
    let tasks = plan::plan(matrices, fetch.folder, &ledger, fetch.settings.form);
    let verdict = bring::run(args, &tasks, ledger, fetch, world);
    drop(lock);
    verdict
}

fn settings(args: &FetchArgs, world: &World) -> Settings {
    Settings {
        sites: if args.mirror.is_empty() { Site::collection() } else { args.mirror.clone() },
        jobs: args.jobs as usize,
        pause: args.pause,
        form: if args.keep_archives { Form::Archive } else { Form::Mtx },
        aux: args.aux,
        date: world.date.clone(),
        most_archive: args.max_archive.map(|size| size.0),
    }
}

/// Bytes as megabytes, of small ones three digits.
fn megabytes(bytes: u64) -> String {
    let digits = if bytes < 1_000_000 { 3 } else { 1 };
    format!("{:.digits$}", bytes as f64 / 1e6)
}

//! `spmv-bench fetch`: downloads matrices of the collection.

mod args;
mod choose;
mod download;
mod list;
mod verify;

use std::cell::RefCell;
use std::sync::Mutex;

use anyhow::Result;

use super::verb::{CommandStatus, Needs, Verb};
use crate::campaign::env::Env;
use crate::collection::Datasets;
use crate::collection::fetch::address::Site;
use crate::collection::fetch::client::Client;
use crate::collection::fetch::folder::Folder;
use crate::collection::fetch::ledger::Ledger;
use crate::collection::fetch::plan::plan;
use crate::collection::fetch::{Fetch, FetchError, Form, Settings, index};

pub use args::FetchArgs;

impl Verb for FetchArgs {
    fn needs(&self) -> Needs {
        Needs::ORDER
    }

    fn run(&self, env: &mut Env) -> Result<CommandStatus> {
        match execute(self, env) {
            Err(error) if matches!(error.downcast_ref(), Some(FetchError::Interrupted)) => {
                writeln!(env.stderr, "interrupted")?;
                Ok(CommandStatus::Bad)
            }
            ended => ended,
        }
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
            list::sets(&datasets, env.stdout)?;
        }
        list::matrices(&tasks, env.stdout)?;
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

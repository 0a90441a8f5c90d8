//! Measures in child processes, so that a crashing library, a lost device or lack of memory ends a method and not
//! the whole run.
//!
//! A child is used for many matrices, and replaced when it has ended. Starting a process, opening libraries and
//! compiling kernels for each matrix would take longer than measuring a small matrix.

mod child;
mod connection;
mod decide;
mod process;
mod several;
mod supervisor;
mod watch;
mod wire;
pub mod worker;

use std::path::Path;

use anyhow::Result;

use super::choice::{ask_for_gpu, chosen};
use super::collect::{Collector, completing};
use super::env::Env;
use super::plan::Plan;
use super::session::Session;
use super::work::{Part, Work};
use crate::bench::event::Event;
use child::NotReady;
pub use child::{Interrupted, OUT_OF_MEMORY, REQUEST_TO_CHILD, ask, listen};
use process::{Process, Role, processes};
use spmv_methods::method::{Choice, Device};
use spmv_results::run::RunRecord;
use supervisor::Supervisor;
use watch::Finish;
use wire::Hello;
pub use wire::{send, send_to_parent, to_parent};

pub enum Runner<'a> {
    /// This process itself, without children.
    Here(Box<Session<'a>>, Box<RunRecord>),
    /// Child processes, in the order of [`processes`].
    Children(Vec<Supervisor<'a>>),
}

impl<'a> Runner<'a> {
    /// Prepares the measurement, in child processes if `isolate`. Also returns the run record.
    pub fn start(plan: &Plan, isolate: bool, env: &mut Env<'a>) -> Result<(Self, RunRecord)> {
        if let Some(program) = env.program.clone().filter(|_| isolate) {
            ask_for_gpu(&plan.run, env)?;
            let (children, record) = match children(&program, plan, env) {
                // A GPU that can be opened may still fail when it is used for the first time.
                Err(error) if error.is::<NotReady>() && env.gpus.give_up(&error) => children(&program, plan, env)?,
                started => started?,
            };
            return Ok((Self::Children(children), record));
        }
        let session = Session::start(plan, env)?;
        let record = session.record(env);
        Ok((Self::Here(Box::new(session), Box::new(record.clone())), record))
    }

    /// Measures the open cells of a matrix. Returns whether it was interrupted, or an error if no child can be started.
    pub fn run(&mut self, work: &Work, emit: &mut dyn FnMut(Event)) -> Result<bool> {
        match self {
            Self::Here(session, record) => {
                let collector = Collector::new(record, &work.existing, &[]);
                let task = collector.task(work, Part::all(collector.open()));
                let emit = completing(collector, &work.existing, emit);
                Ok(session.carry_out(&task, &emit).is_err())
            }
            Self::Children(children) => {
                let is_helper = |child: &Supervisor| child.process.role == Role::Helper;
                for processes in children.chunk_by_mut(|child, _| is_helper(child)) {
                    match several::measure(processes, work, emit)? {
                        Finish::Done => (),
                        Finish::NotMeasured => break,
                        Finish::Interrupted => return Ok(true),
                    }
                }
                Ok(false)
            }
        }
    }
}

/// Starts the children. Returns them with the run record, which is that of the child with the most threads, extended
/// by the cells of all children.
fn children<'a>(program: &Path, plan: &Plan, env: &Env<'a>) -> Result<(Vec<Supervisor<'a>>, RunRecord)> {
    let chosen = chosen(&plan.run)?;
    let of_cpu = chosen.iter().filter(|choice| choice.method.device() == Device::Cpu);
    let of_cpu: Vec<_> = of_cpu.map(Choice::name).collect();
    let hello = |process: &Process| Hello::new(process.plan(plan, &of_cpu), env.run_id.clone(), env.gpus.clone());
    let mut all = Vec::new();
    let mut records = Vec::new();
    for dividing in processes(&plan.run, &chosen).chunk_by(|it, _| it.role == Role::Helper) {
        let (main, helpers) = dividing.split_last().expect("there is a process");
        let program = program.to_owned();
        let main = Supervisor::start(program, hello(main), env.interrupted, main.clone())?;
        let of_main = |helper: &Process| Supervisor::helper(&main, hello(helper), helper.clone());
        all.extend(helpers.iter().map(of_main));
        records.push(main.record.clone());
        all.push(main);
    }
    let cells = records.iter().flat_map(|record| record.cells.clone()).collect();
    let threads = |record: &RunRecord| record.cells.iter().filter_map(|cell| cell.threads).max();
    let whole = records.into_iter().max_by_key(threads).expect("there is a child");
    Ok((all, RunRecord { cells, ..whole }))
}

#[cfg(test)]
mod tests;

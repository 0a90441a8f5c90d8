//! Measures in child processes, so that a crashing library, a lost device or lack of memory ends a method and not
//! the whole run.
//!
//! A child is used for many matrices, and replaced when it has ended. Starting a process, opening libraries and
//! compiling kernels for each matrix would take longer than measuring a small matrix.

mod child;
mod connection;
mod several;
mod supervisor;
mod watch;
mod wire;
pub mod worker;

use std::cell::RefCell;
use std::path::Path;

use anyhow::Result;

use super::choice::{ask_for_gpu, chosen, is_parallel};
use super::collect::{Collector, conclude};
use super::env::Env;
use super::session::Session;
use super::{Plan, Work};
use crate::bench::event::Event;
use child::NotReady;
pub use child::{Interrupted, OUT_OF_MEMORY, REQUEST_TO_CHILD, ask, listen};
use spmv_methods::method::{Choice, Device};
use spmv_results::run::RunRecord;
use spmv_results::settings::DeviceChoice;
use supervisor::{Finish, Supervisor};
use wire::Hello;
pub use wire::send;
pub use worker::{send_to_parent, to_parent};

pub enum Runner<'a> {
    /// This process itself, without children.
    Here(Box<Session<'a>>, Box<RunRecord>),
    /// Child processes: one for each modelled GPU, or one for each number of threads, because the parallel parts of
    /// setups share one thread pool per process.
    /// For each of them several processes divide the rounds.
    Children(Vec<Vec<Supervisor<'a>>>),
}

impl<'a> Runner<'a> {
    /// Prepares the measurement, in child processes if `isolate`. Also returns the run record.
    pub fn start(plan: &Plan, isolate: bool, env: &mut Env<'a>) -> Result<(Self, RunRecord)> {
        if let Some(program) = env.program.clone().filter(|_| isolate) {
            ask_for_gpu(&plan.run, env)?;
            let (children, record) = match children(&program, plans(plan)?, env) {
                // A GPU that can be opened may still fail when it is used for the first time.
                Err(error) if error.is::<NotReady>() && env.gpus.give_up(&error) => {
                    children(&program, plans(plan)?, env)?
                }
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
                let mut collector = Collector::new(record, work.existing, &[]);
                let task = collector.task(work, &[]);
                let both = RefCell::new((&mut collector, emit));
                let ended = session.carry_out(&task, &|mut event| {
                    let (collector, emit) = &mut *both.borrow_mut();
                    collector.take(&mut event);
                    if let Event::Group(group) | Event::Partial(group) = &mut event {
                        conclude(group, &record.cells, work.existing);
                    }
                    emit(event);
                });
                Ok(ended.is_err())
            }
            Self::Children(children) => {
                for processes in children {
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

/// Returns the plans of the processes that divide the rounds of a child: of all but the last only methods of the CPU.
fn processes(plan: Plan) -> Result<Vec<Plan>> {
    let is_on_host = |choice: &Choice| choice.method.device() == Device::Cpu;
    let names: Vec<_> =
        chosen(&plan.run)?.iter().filter(|it| is_on_host(it)).map(Choice::name).collect();
    let shares = if names.is_empty() { vec![[0, 0]] } else { plan.run.settings.shares() };
    let count = shares.len();
    let of = |(place, share)| {
        let mut plan = plan.clone();
        plan.run.settings.share = (count > 1).then_some(share);
        if place + 1 < count {
            (plan.run.methods, plan.run.device) = (Some(names.clone()), DeviceChoice::Cpu);
            (plan.run.quiet, plan.bandwidth) = (true, false);
        }
        plan
    };
    Ok(shares.into_iter().enumerate().map(of).collect())
}

/// Returns the plan of each child. With fewer threads than the largest number, only the methods that depend on it are
/// measured.
fn plans(plan: &Plan) -> Result<Vec<Plan>> {
    let (threads, models) = (&plan.run.threads, plan.run.models());
    if models.len() > 1 {
        let of = |name: &String| {
            let mut plan = plan.clone();
            plan.run.device = DeviceChoice::Models(vec![name.clone()]);
            plan.run.quiet |= *name != models[0];
            plan
        };
        return Ok(models.iter().map(of).collect());
    }
    let Some(&most) = threads.iter().max() else { return Ok(vec![plan.clone()]) };
    let all_needed = threads.len() > 1 && chosen(&plan.run)?.iter().any(is_parallel);
    let of = |&threads: &usize| {
        let (mut plan, is_first) = (plan.clone(), threads == most);
        plan.run.threads = vec![threads];
        plan.run.only_parallel = !is_first;
        plan.run.quiet |= !is_first;
        plan.bandwidth &= is_first;
        plan
    };
    Ok(if all_needed { threads.iter().map(of).collect() } else { vec![of(&most)] })
}

/// Starts the children. Returns them with the run record, which is that of the child with the most threads, extended
/// by the cells of all children.
fn children<'a>(
    program: &Path,
    plans: Vec<Plan>,
    env: &Env<'a>,
) -> Result<(Vec<Vec<Supervisor<'a>>>, RunRecord)> {
    let settings = plans[0].run.settings.clone();
    let start = |plan| started(program, processes(plan)?, env);
    let children = plans.into_iter().map(start).collect::<Result<Vec<_>>>()?;
    let records = children.iter().filter_map(|processes| Some(&processes.last()?.record));
    let cells = records.clone().flat_map(|record| record.cells.clone()).collect();
    let threads = |record: &&RunRecord| record.cells.iter().filter_map(|cell| cell.threads).max();
    let whole = records.max_by_key(threads).expect("there is a child").clone();
    Ok((children, RunRecord { cells, settings, ..whole }))
}

/// Starts the last of the processes that divide the rounds, which measures all that the others do. They start when they
/// are needed: a method must not be able to end those that wait.
fn started<'a>(program: &Path, mut plans: Vec<Plan>, env: &Env<'a>) -> Result<Vec<Supervisor<'a>>> {
    let hello = |plan| Hello::new(plan, env.run_id.clone(), env.gpus.clone());
    let last = hello(plans.pop().expect("there is a process"));
    let last = Supervisor::start(program.to_owned(), last, env.interrupted)?;
    let mut all = Vec::new();
    for plan in plans {
        all.push(Supervisor::later(program.to_owned(), hello(plan), env.interrupted, &last.record));
    }
    all.push(last);
    Ok(all)
}

#[cfg(test)]
mod tests;

//! Measures in child processes, so that a crashing library, a lost device or lack of memory ends a method and not
//! the whole run.
//!
//! A child is used for many matrices, and replaced when it has ended. Starting a process, opening libraries and
//! compiling kernels for each matrix would take longer than measuring a small matrix.

mod child;
mod supervisor;
#[cfg(test)]
mod tests;
mod wire;
pub mod worker;

use std::cell::Cell;
use std::path::Path;

use anyhow::Result;

use super::choice::{chosen, is_parallel};
use super::session::Session;
use super::task::{Event, MatrixTask};
use crate::cli::Env;
use crate::cli::args::MeasureArgs;
use crate::record::run::RunRecord;
pub use child::{Interrupted, OUT_OF_MEMORY, ask};
use supervisor::Supervisor;
use wire::Hello;
pub use wire::send;

/// The process or processes that carry out tasks.
pub enum Runner<'a> {
    /// This process.
    Here(Box<Session<'a>>),
    /// Child processes: one for each modelled GPU, or one for each number of threads, because the parallel parts of
    /// setups share one thread pool per process.
    Children(Vec<Supervisor<'a>>),
}

impl<'a> Runner<'a> {
    /// Prepares the measurement, in child processes if `isolate`. Also returns the run record, which includes the
    /// machine's bandwidth if `bandwidth`.
    ///
    /// # Errors
    /// Returns an error if the command line cannot be run on this machine.
    pub fn start(
        args: &MeasureArgs,
        isolate: bool,
        bandwidth: bool,
        command: Vec<String>,
        env: &mut Env<'a>,
    ) -> Result<(Self, RunRecord)> {
        if let Some(program) = env.program.clone().filter(|_| isolate) {
            let hello = Hello::new(&env.arguments, env.run_id.clone(), bandwidth);
            let (children, record) = children(&program, hellos(args, hello)?, env)?;
            return Ok((Self::Children(children), RunRecord { command, ..record }));
        }
        let mut session = Session::start(args, env)?;
        let bandwidth = session.bandwidth(bandwidth, &env.system);
        let record = session.facts(command, &env.date, &env.system, bandwidth);
        Ok((Self::Here(Box::new(session)), record))
    }

    /// Carries out a task. Returns whether it was interrupted.
    ///
    /// # Errors
    /// Returns an error if no child can be started.
    pub fn run(&mut self, task: MatrixTask, emit: &mut dyn FnMut(Event)) -> Result<bool> {
        match self {
            Self::Here(session) => Ok(session.carry_out(&task, emit).is_err()),
            Self::Children(children) => {
                let is_over = Cell::new(false);
                let mut emit = |event: Event| {
                    if let Event::Matrix(report) = &event {
                        is_over.set(report.ended.is_some());
                    }
                    emit(event);
                };
                for child in children.iter_mut().filter(|child| child.has_open(&task)) {
                    if child.run(task.clone(), &mut emit)? {
                        return Ok(true);
                    }
                    if is_over.get() {
                        break;
                    }
                }
                Ok(false)
            }
        }
    }
}

/// Returns the numbers of threads for which methods are measured. It is empty if no number is given, and has only
/// the largest number if no method depends on it.
fn threads(args: &MeasureArgs) -> Result<Vec<usize>> {
    let threads = args.threads();
    let is_needed = threads.len() > 1 && chosen(args)?.iter().any(is_parallel);
    let most = threads.iter().max().copied();
    Ok(if is_needed { threads } else { most.into_iter().collect() })
}

/// Returns the first message for each child.
fn hellos(args: &MeasureArgs, hello: Hello) -> Result<Vec<Hello>> {
    let (threads, models) = (threads(args)?, args.models());
    let most = threads.iter().max().copied();
    Ok(match most {
        _ if models.len() > 1 => {
            let of = |(number, name): (usize, &String)| {
                hello.clone().with_model(name.clone(), number == 0)
            };
            models.iter().enumerate().map(of).collect()
        }
        Some(most) => {
            threads.iter().map(|&threads| hello.clone().with_threads(threads, most)).collect()
        }
        None => vec![hello],
    })
}

/// Starts the children. Returns them with the run record, which is that of the child with the most threads, extended
/// by the cells of all children.
fn children<'a>(
    program: &Path,
    hellos: Vec<Hello>,
    env: &Env<'a>,
) -> Result<(Vec<Supervisor<'a>>, RunRecord)> {
    let start = |hello| Supervisor::start(program.to_owned(), hello, env.interrupted);
    let started = hellos.into_iter().map(start);
    let (children, records): (Vec<_>, Vec<_>) =
        started.collect::<Result<Vec<_>>>()?.into_iter().unzip();
    let cells = records.iter().flat_map(|record| record.cells.clone()).collect();
    let whole = records.into_iter().max_by_key(|record| record.pinned_to.len());
    Ok((children, RunRecord { cells, ..whole.expect("there is a child") }))
}

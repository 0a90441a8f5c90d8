//! Measuring in a child process, so that a library that crashes, a device that is lost and memory that
//! runs out end a method and not the run.
//!
//! The child is kept from matrix to matrix, and replaced when it has ended: starting a process, opening
//! libraries and compiling kernels anew for each matrix would cost more than many a matrix itself.

mod child;
mod supervisor;
#[cfg(test)]
mod tests;
mod wire;
pub mod worker;

use std::cell::Cell;
use std::path::Path;

use anyhow::Result;

use super::Env;
use super::args::MeasureArgs;
use super::choice::{chosen, is_parallel};
use super::session::Session;
use super::task::{Event, MatrixTask};
use crate::record::run::RunRecord;
pub use child::{Interrupted, OUT_OF_MEMORY, ask};
use supervisor::Supervisor;
use wire::Hello;
pub use wire::send;

/// Who carries out tasks.
pub enum Runner<'a> {
    /// This process.
    Here(Box<Session<'a>>),
    /// One child for each number of threads, because the parallel parts of setups share one thread pool in a process,
    /// and for each modelled GPU.
    Children(Vec<Supervisor<'a>>),
}

impl<'a> Runner<'a> {
    /// Gets ready, in a child if `isolate`; and the facts of the run, with the machine's bandwidth if that is
    /// wanted.
    ///
    /// # Errors
    /// When the command line cannot be run on this machine.
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

    /// Carries out a task; whether it was interrupted.
    ///
    /// # Errors
    /// When no child can be started.
    pub fn run(&mut self, task: MatrixTask, tell: &mut dyn FnMut(Event)) -> Result<bool> {
        match self {
            Self::Here(session) => Ok(session.carry_out(&task, tell).is_err()),
            Self::Children(children) => {
                let is_over = Cell::new(false);
                let mut tell = |event: Event| {
                    if let Event::Matrix(report) = &event {
                        is_over.set(report.ended.is_some());
                    }
                    tell(event);
                };
                for child in children.iter_mut().filter(|child| child.has_open(&task)) {
                    if child.run(task.clone(), &mut tell)? {
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

/// The numbers of threads that have methods; none for a single one.
fn threads(args: &MeasureArgs) -> Result<Vec<usize>> {
    let threads = args.threads();
    let is_needed = threads.len() > 1 && chosen(args)?.iter().any(is_parallel);
    let most = threads.iter().max().copied();
    Ok(if is_needed { threads } else { most.into_iter().collect() })
}

/// What each child is to be.
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

/// The children, and the facts of the run. These are the facts of the child with the most threads, with the cells of
/// all children.
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

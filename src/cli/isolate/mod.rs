//! Measuring in a child process, so that a library that crashes, a device that is lost and memory that
//! runs out end a method and not the run.
//!
//! The child is kept from matrix to matrix, and replaced when it has ended: starting a process, opening
//! libraries and compiling kernels anew for each matrix would cost more than many a matrix itself.

mod child;
mod keeper;
#[cfg(test)]
mod tests;
mod wire;
pub mod worker;

use anyhow::Result;

use super::World;
use super::args::MeasureArgs;
use super::session::Session;
use super::task::{Event, Task};
use crate::record::run::RunRecord;
pub use child::{Interrupted, OUT_OF_MEMORY, ask};
use keeper::Keeper;
use wire::Hello;
pub use wire::send;

/// Who carries out tasks.
pub enum Runner<'a> {
    /// This process.
    Here(Box<Session<'a>>),
    /// A child.
    Child(Box<Keeper<'a>>),
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
        world: &mut World<'a>,
    ) -> Result<(Self, RunRecord)> {
        if let Some(program) = world.program.clone().filter(|_| isolate) {
            let hello = Hello::new(&world.arguments, world.run_id.clone(), bandwidth);
            let (keeper, record) = Keeper::start(program, hello, world.interrupted)?;
            return Ok((Self::Child(Box::new(keeper)), RunRecord { command, ..record }));
        }
        let mut session = Session::start(args, world)?;
        let bandwidth = session.bandwidth(bandwidth, &world.system);
        let record = session.facts(command, &world.date, &world.system, bandwidth);
        Ok((Self::Here(Box::new(session)), record))
    }

    /// Carries out a task; whether it was interrupted.
    ///
    /// # Errors
    /// When no child can be started.
    pub fn run(&mut self, task: Task, tell: &mut dyn FnMut(Event)) -> Result<bool> {
        match self {
            Self::Here(session) => Ok(session.carry_out(&task, tell).is_err()),
            Self::Child(keeper) => keeper.run(task, tell),
        }
    }
}

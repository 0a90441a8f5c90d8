//! `mpirun -n N spmv-bench MATRIX --methods mpi-merge`: measures one product that is distributed over all
//! MPI processes.

use std::io;
use std::rc::Rc;

use anyhow::{Result, ensure};

use super::measure::MeasureArgs;
use super::single::SingleArgs;
use super::verb::{CommandStatus, Verb};
use crate::bench::mpi::{Ranks, launched};
use crate::campaign::choice::select;
use crate::campaign::env::{Env, Together};
use spmv_matrix::order::Order;
use spmv_methods::cpu::mpi_merge;
use spmv_results::settings::{CacheState, Values};

/// Runs the command if it selects the MPI method. `single` are its arguments unless it is another command.
/// Returns `None` if this is an ordinary command in a single process.
pub fn run(single: Option<&SingleArgs>, env: &mut Env) -> Result<Option<CommandStatus>> {
    if let Some(args) = single.filter(|args| is_only_method(&args.measure)) {
        return start(args, env).map(Some);
    }
    let (rank, ranks) = launched();
    let name = mpi_merge::NAME;
    if rank > 0 {
        return Ok(Some(CommandStatus::Ok));
    }
    let only = format!("which can only run MATRIX --methods {name}");
    ensure!(ranks == 1, "{ranks} MPI processes were started, {only}");
    Ok(None)
}

fn is_only_method(args: &MeasureArgs) -> bool {
    let words = args.methods.as_deref().unwrap_or_default();
    let chosen = select(words).unwrap_or_default();
    !chosen.is_empty() && chosen.iter().all(|choice| choice.method.name == mpi_merge::NAME)
}

/// Runs the command on all ranks. Only rank 0 prints and writes anything, and determines the exit status.
fn start(args: &SingleArgs, env: &mut Env) -> Result<CommandStatus> {
    let ranks = Ranks::start()?;
    // If the launcher does not bind the processes to CPUs, each rank starts with a different CPU.
    let cpus = &mut env.system.cpus;
    let places = cpus.len();
    cpus.rotate_left(ranks.on_machine().0 % places);
    let is_leader = ranks.rank() == 0;
    (env.program, env.together) = (None, Together { ranks: Some(Rc::new(ranks)) });
    let checked = check(&args.measure);
    let mut args = args.clone();
    args.measure.threads = vec![1];
    if !is_leader {
        env.stdout = Box::leak(Box::new(io::sink()));
        env.stderr = Box::leak(Box::new(io::sink()));
        env.terminal = false;
        (args.measure.output, args.measure.run_record) = (None, None);
        args.measure.exports.clear();
    }
    let verdict = checked.and_then(|()| args.run(env));
    if is_leader { verdict } else { Ok(CommandStatus::Ok) }
}

fn check(args: &MeasureArgs) -> Result<()> {
    let (name, run) = (mpi_merge::NAME, args.run_settings());
    let why = format!("each process of {name} has one thread; mpirun -n N starts N");
    ensure!(run.threads.iter().all(|&n| n == 1), "--threads: {why}");
    ensure!(run.orders == [Order::Natural], "--order: {name} has only the natural order");
    ensure!(run.settings.chain() == 1, "--protocol power: {name} multiplies the same x in every product");
    let is_hot = run.caches == [CacheState::Hot];
    ensure!(is_hot, "--cache cold: {name} is measured with hot caches only");
    ensure!(run.settings.values == Values::Stored, "--values: {name} has only the stored values");
    Ok(())
}

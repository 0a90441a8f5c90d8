//! The child process: carries out the tasks of its parent and sends events back.

use std::fs::{self, File};
use std::os::unix::fs::OpenOptionsExt;

use anyhow::{Context, Result, ensure};
use nix::fcntl::OFlag;
use nix::sys::prctl::{set_child_subreaper, set_name, set_thp_disable};
use nix::unistd::{dup2_stdin, getppid};

use super::wire::{Hello, Received, receive, send, to_parent};
use crate::bench::event::{Event, Stopped};
use crate::campaign::env::Env;
use crate::campaign::plugins;
use crate::campaign::session::Session;
use crate::campaign::work::MatrixTask;
use spmv_matrix::system::huge;
use spmv_results::settings::Pages;

/// The OOM score adjustment: if memory runs out, the system must kill the child, not the parent with the results.
const OOM_SCORE: &str = "500";

/// Runs the child until its parent has no more tasks or ends.
pub fn carry_out_tasks(env: &mut Env) -> Result<()> {
    let socket = to_parent()?;
    set_name(c"spmv-bench")?;
    // A process that a plug-in starts by way of another one remains a process of this one, which is seen.
    let _ = set_child_subreaper(true);
    // This may not be permitted; then the system chooses the process.
    let _ = fs::write("/proc/self/oom_score_adj", OOM_SCORE);
    let hello = receive::<Hello>(&socket).context("worker is a command that only spmv-bench itself runs")?.message;
    // The parent may have ended before the call of `set_pdeathsig`.
    ensure!(getppid().as_raw() as u32 == hello.parent, "the program that started this has ended");
    take_input_of(hello.parent);
    if hello.plan.run.settings.pages == Pages::Small {
        // If it is not permitted, the record says which pages there are.
        let _ = set_thp_disable(true);
    }
    env.system.huge_arrays = huge::are_given();
    env.run_id.clone_from(&hello.run_id);
    env.gpus = hello.gpus;
    let opened = plugins::open(&hello.added);
    let session = match opened.and_then(|()| Session::start(&hello.plan, env)) {
        Ok(session) => session.in_child(),
        Err(error) => {
            send(&socket, &Event::Ready(Err(format!("{error:#}"))))?;
            return Ok(());
        }
    };
    send(&socket, &Event::Ready(Ok(Box::new(session.record(env)))))?;
    while let Ok(Received { message: task, .. }) = receive::<MatrixTask>(&socket) {
        let emit = |event| {
            // Without a parent there is no reason to continue.
            if send(&socket, &event).is_err() {
                std::process::exit(2);
            }
        };
        let ended = session.carry_out(&task, &emit);
        let is_lost = matches!(ended, Err(Stopped::Lost { .. }));
        send(&socket, &Event::End(ended))?;
        if is_lost {
            break;
        }
    }
    Ok(())
}

/// Replaces the standard input of this process, which is the socket, by that of the parent, so that
/// `--mtx /dev/stdin` can read it. If it cannot be opened, the socket remains, and reading it as a matrix is refused.
fn take_input_of(parent: u32) {
    let mut options = File::options();
    // Opening a named pipe without a writer would otherwise wait for ever.
    options.read(true).custom_flags(OFlag::O_NONBLOCK.bits());
    if let Ok(input) = options.open(format!("/proc/{parent}/fd/0")) {
        let _ = dup2_stdin(input);
    }
}

//! The world outside the program.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
#[cfg(feature = "mpi")]
use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Result;

use super::answers::Answers;
use crate::bench::clock::Clock;
#[cfg(feature = "mpi")]
use crate::bench::mpi::Ranks;
use spmv_matrix::cache::CacheFolder;
use spmv_matrix::system::noise::Readings;
use spmv_matrix::system::usage::CpuUsage;
use spmv_matrix::system::{System, energy};
use spmv_methods::device::{Gpu, cuda};
use spmv_methods::method::Unavailable;

/// The time from 1970 to the end of the year 9999.
const LAST_SECOND: Duration = Duration::from_secs(253_402_300_799);

/// Everything outside the program that a command uses. Tests replace it by fakes.
pub struct Env<'a> {
    /// The command line, which the record of a run states.
    pub words: Vec<String>,
    /// The output for results.
    pub stdout: &'a mut dyn Write,
    /// The output for progress, warnings and summaries.
    pub stderr: &'a mut dyn Write,
    /// Whether progress bars may be drawn on the real stderr.
    pub terminal: bool,
    /// The width of stdout in characters, if it is a terminal.
    pub width: Option<u16>,
    /// The clock for all measured times.
    pub clock: &'a dyn Clock,
    /// The start time of the run in UTC, such as `2026-11-21T04:15:00Z`.
    pub date: String,
    pub run_id: String,
    /// Whether a signal such as Ctrl-C has requested the end of the run.
    pub interrupted: &'a AtomicBool,
    /// The machine, detected before any thread was bound to a CPU.
    pub system: System,
    /// Reads the current load and state of the machine.
    pub readings: fn() -> Readings,
    /// Returns what programs have used of the CPUs so far.
    pub usage: fn() -> Option<CpuUsage>,
    /// The folder of the host's counters of energy, as in Linux' powercap tree.
    pub powercap: PathBuf,
    /// The file of this program, from which child processes are started. `None`: there are no child processes.
    pub program: Option<PathBuf>,
    /// Opens the GPU with this number, or the first GPU. Commands call it only through the module `gpus`, which lets a
    /// child process try first.
    pub open_gpu: &'a dyn Fn(Option<usize>) -> Result<Gpu, Unavailable>,
    /// What child processes have said of the GPUs.
    pub gpus: Answers,
    /// The folder of the machine's bandwidth profiles. `None`: no profile is measured.
    pub profiles: Option<CacheFolder>,
    pub matrices: Option<CacheFolder>,
    pub together: Together,
}

impl<'a> Env<'a> {
    /// Returns the environment of a run that begins now, without terminal, child processes and cache of matrices.
    pub fn new(
        stdout: &'a mut dyn Write,
        stderr: &'a mut dyn Write,
        clock: &'a dyn Clock,
        interrupted: &'a AtomicBool,
        system: System,
    ) -> Self {
        let [id, date] = moment(SystemTime::now());
        Self {
            words: Vec::new(),
            stdout,
            stderr,
            terminal: false,
            width: None,
            clock,
            date,
            run_id: format!("{id}-{}", std::process::id()),
            interrupted,
            system,
            readings: Readings::now,
            usage: CpuUsage::now,
            powercap: powercap(std::env::var_os("SPMV_BENCH_POWERCAP")),
            program: None,
            open_gpu: &cuda::open,
            gpus: Answers::default(),
            profiles: Some(CacheFolder::of_user("profiles")),
            matrices: None,
            together: Together::default(),
        }
    }
}

/// The processes that run a command together: the ranks of MPI, or this process alone.
#[derive(Clone, Default)]
pub struct Together {
    /// `None`: this process is alone.
    #[cfg(feature = "mpi")]
    pub ranks: Option<Rc<Ranks>>,
}

impl Together {
    /// Returns the number of processes; `None` if this one is alone.
    pub fn count(&self) -> Option<usize> {
        #[cfg(feature = "mpi")]
        return self.ranks.as_ref().map(|ranks| ranks.count());
        #[cfg(not(feature = "mpi"))]
        None
    }

    /// Returns this process's value if every process succeeded, or else the error of the first one that did not. All
    /// of them must call it: one that ended alone would let the others wait for ever.
    pub fn agree<V>(&self, result: Result<V>) -> Result<V> {
        #[cfg(feature = "mpi")]
        if let Some(ranks) = &self.ranks {
            return ranks.agree(result);
        }
        result
    }
}

fn powercap(named: Option<OsString>) -> PathBuf {
    named.filter(|name| !name.is_empty()).map_or_else(|| energy::MOUNTED.into(), PathBuf::from)
}

/// Returns a moment as it begins the ID of a run, and as a date. A clock that is wrong may be beyond the last year that
/// has four digits, or before 1970; the moment is then the last or the first one.
fn moment(now: SystemTime) -> [String; 2] {
    let now = now.clamp(UNIX_EPOCH, UNIX_EPOCH + LAST_SECOND);
    let id = humantime::format_rfc3339_millis(now).to_string().replace(['-', ':', '.'], "");
    [id, humantime::format_rfc3339_seconds(now).to_string()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_clock_has_a_date() {
        let seconds = Duration::from_secs;
        for (now, date) in [
            (UNIX_EPOCH - seconds(1), "1970-01-01T00:00:00Z"),
            (UNIX_EPOCH + LAST_SECOND + seconds(1), "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(moment(now)[1], date);
            assert_eq!(moment(now)[0], date.replace(['-', ':'], "").replace('Z', "000Z"));
        }
    }
}

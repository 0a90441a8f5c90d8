//! The child processes of a run, and what each of them measures.

use crate::campaign::choice::is_parallel;
use crate::campaign::plan::Plan;
use spmv_methods::method::{Choice, Device};
use spmv_results::settings::{DeviceChoice, RunSettings};

/// A child process.
#[derive(Clone, Debug, PartialEq)]
pub struct Process {
    pub cells: Cells,
    /// The rounds on the CPU that other processes have taken before, and those of this one; `None`: it takes all.
    pub share: Option<[usize; 2]>,
    pub role: Role,
}

/// The cells of a run that one process can measure: the parallel parts of setups share one thread pool per process.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    All,
    /// Those of this modelled GPU, one of several.
    OfModel(String),
    /// Those with this number of threads, which is the only one or the largest, and those without threads.
    WithThreads(usize),
    /// Those of methods that depend on the number of threads, with this one.
    Parallel(usize),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Role {
    /// It takes its share of the rounds on the CPU before the next process. It starts when it is needed: a method must
    /// not be able to end a process that waits.
    Helper,
    /// It takes the last share, and measures what is not on the CPU. It starts with the run, whose record it makes.
    Main,
}

/// Returns the processes of a run of the methods `chosen`, in the order in which they measure a matrix. Processes that
/// divide the rounds of the same cells follow each other.
pub fn processes(run: &RunSettings, chosen: &[Choice]) -> Vec<Process> {
    let is_on_host = chosen.iter().any(|choice| choice.method.device() == Device::Cpu);
    let shares = if is_on_host { run.settings.shares() } else { vec![[0, 0]] };
    let mut all = Vec::new();
    for cells in cells(run, chosen) {
        for (number, &share) in (1..).zip(&shares) {
            let role = if number < shares.len() { Role::Helper } else { Role::Main };
            let share = (shares.len() > 1).then_some(share);
            all.push(Process { cells: cells.clone(), share, role });
        }
    }
    all
}

fn cells(run: &RunSettings, chosen: &[Choice]) -> Vec<Cells> {
    let models = run.models();
    if models.len() > 1 {
        return models.iter().cloned().map(Cells::OfModel).collect();
    }
    let Some(&most) = run.threads.iter().max() else { return vec![Cells::All] };
    if !chosen.iter().any(is_parallel) {
        return vec![Cells::WithThreads(most)];
    }
    let of = |&threads: &usize| {
        if threads == most { Cells::WithThreads(threads) } else { Cells::Parallel(threads) }
    };
    run.threads.iter().map(of).collect()
}

impl Process {
    /// Returns the part of a plan that this process measures. `of_cpu` are the names of all methods of the CPU. What is
    /// measured or said once for the run is so by one process.
    pub fn plan(&self, plan: &Plan, of_cpu: &[String]) -> Plan {
        let mut own = plan.clone();
        let mut is_first = self.role == Role::Main;
        match &self.cells {
            Cells::All => (),
            Cells::OfModel(name) => {
                own.run.device = DeviceChoice::Models(vec![name.clone()]);
                own.run.quiet |= *name != plan.run.models()[0];
            }
            Cells::WithThreads(threads) => own.run.threads = vec![*threads],
            Cells::Parallel(threads) => {
                own.run.threads = vec![*threads];
                own.run.only_parallel = true;
                is_first = false;
            }
        }
        if self.role == Role::Helper {
            own.run.methods = Some(of_cpu.to_vec());
            own.run.device = DeviceChoice::Cpu;
        }
        own.run.quiet |= !is_first;
        own.bandwidth &= is_first;
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::choice::chosen;
    use spmv_results::settings::{Protocol, Settings};

    /// Six rounds are divided among three processes where methods of the CPU have rounds.
    #[test]
    fn every_cell_has_processes_that_divide_its_rounds() {
        let three = [Some([0, 2]), Some([2, 2]), Some([4, 2])];
        let models = || DeviceChoice::Models(vec!["h200".into(), "v100".into()]);
        let [h200, v100] = ["h200", "v100"].map(|name| Cells::OfModel(name.into()));
        for (methods, device, threads, rounds, cells, shares) in [
            ("seq,merge", DeviceChoice::Cpu, &[][..], 6, vec![Cells::All], &three[..]),
            ("seq", DeviceChoice::Cpu, &[], 1, vec![Cells::All], &[None]),
            ("seq", DeviceChoice::Cpu, &[1, 3], 6, vec![Cells::WithThreads(3)], &three),
            (
                "seq,merge",
                DeviceChoice::Cpu,
                &[1, 3, 2],
                6,
                vec![Cells::Parallel(1), Cells::WithThreads(3), Cells::Parallel(2)],
                &three,
            ),
            ("gpu-*", models(), &[], 6, vec![h200, v100], &[None]),
            ("gpu-merge,merge", DeviceChoice::All, &[2], 6, vec![Cells::WithThreads(2)], &three),
        ] {
            let mut run = RunSettings::new(Settings::new(Protocol::MergeSpmv));
            run.settings.rounds = rounds;
            run.methods = Some(methods.split(',').map(String::from).collect());
            (run.device, run.threads) = (device, threads.to_vec());
            let found = processes(&run, &chosen(&run).unwrap());
            let expected = cells.iter().flat_map(|cells| {
                shares.iter().map(move |&share| {
                    let is_last = Some(&share) == shares.last();
                    let role = if is_last { Role::Main } else { Role::Helper };
                    Process { cells: cells.clone(), share, role }
                })
            });
            assert_eq!(found, expected.collect::<Vec<_>>(), "{methods} {threads:?}");
        }
    }

    /// Only one process measures the bandwidth and tells what the user should know, and helpers need no GPU.
    #[test]
    fn a_plan_is_divided_so_that_nothing_is_done_twice() {
        let mut run = RunSettings::new(Settings::new(Protocol::MergeSpmv));
        run.device = DeviceChoice::Models(vec!["h200".into(), "v100".into()]);
        let plan = Plan { bandwidth: true, ..Plan::new(run) };
        let of_cpu = ["merge".to_owned()];
        let model = |name: &str| Cells::OfModel(name.into());
        for (cells, role, device, threads, only_parallel, is_quiet, bandwidth) in [
            (Cells::All, Role::Main, "model:h200,v100", &[][..], false, false, true),
            (Cells::All, Role::Helper, "cpu", &[], false, true, false),
            (Cells::WithThreads(4), Role::Main, "model:h200,v100", &[4], false, false, true),
            (Cells::Parallel(2), Role::Main, "model:h200,v100", &[2], true, true, false),
            (Cells::Parallel(2), Role::Helper, "cpu", &[2], true, true, false),
            (model("h200"), Role::Main, "model:h200", &[], false, false, true),
            (model("v100"), Role::Main, "model:v100", &[], false, true, true),
        ] {
            let process = Process { cells, share: None, role };
            let Plan { run, bandwidth: own_bandwidth, .. } = process.plan(&plan, &of_cpu);
            assert_eq!(run.device.to_string(), device, "{process:?}");
            assert_eq!((&run.threads[..], run.only_parallel), (threads, only_parallel));
            assert_eq!((run.quiet, own_bandwidth), (is_quiet, bandwidth), "{process:?}");
            assert_eq!(run.methods.is_some(), role == Role::Helper);
        }
    }
}

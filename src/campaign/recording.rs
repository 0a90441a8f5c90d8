//! The run record (command, settings, machine): written when a run begins and completed when it ends.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Result, ensure};

use super::env::Env;
use super::version::REVISION;
use spmv_matrix::device::Device;
use spmv_matrix::system::groups::Throttling;
use spmv_matrix::system::noise::Readings;
use spmv_matrix::system::usage::CpuUsage;
use spmv_matrix::system::waits::Source;
use spmv_methods::device::facts::Clocks;
use spmv_results::files::run_record::write_record;
use spmv_results::matrix::Group;
use spmv_results::run::{ClockRange, Library, Others, RunRecord};
use spmv_results::settings::Pages;

/// The share of the CPU time (0 to 1) taken by the hypervisor above which a warning is printed.
const STOLEN: f64 = 0.01;

/// The warning about threads that are not bound to CPUs.
pub const UNPINNED: &str = "warning: threads cannot be bound to CPUs here (sched_setaffinity or \
    sched_getaffinity fails, as in a sandbox), so the system may move them while they are timed: times vary more; \
    allow these system calls";

/// The warning about arrays that are not in huge pages, before the reason.
const SMALL_PAGES: &str = "warning: arrays are in small pages: products beyond the caches take up to 30 % longer, and \
    methods that build their own arrays can be some per cent faster or slower for this reason alone";

pub struct Recording {
    path: Option<PathBuf>,
    pub record: RunRecord,
    readings: fn() -> Readings,
    quiet: bool,
    /// The GPU clocks under load of all groups.
    clocks: Vec<Clocks>,
    usage: fn() -> Option<CpuUsage>,
    /// What was used when the run began.
    begin: Option<CpuUsage>,
    /// The number of samples that were disturbed, and of all on the CPU.
    samples: [f64; 2],
}

impl Recording {
    pub fn new(record: RunRecord, env: &Env, quiet: bool) -> Self {
        Self {
            path: None,
            record,
            readings: env.readings,
            usage: env.usage,
            begin: (env.usage)(),
            quiet,
            clocks: Vec::new(),
            samples: [0.0; 2],
        }
    }

    /// Sets the file to which the record is written. Without a file, prints a summary line on stderr. Prints a warning
    /// if others use the GPU, if the threads are not bound to CPUs, and if there are no huge pages.
    pub fn begin(&mut self, path: Option<PathBuf>, stderr: &mut dyn Write) -> Result<()> {
        self.path = path;
        if self.quiet {
            return Ok(());
        }
        let RunRecord { run_id, system, pinned_to: cpus, gpu, cells, settings, .. } = &self.record;
        if self.path.is_none() {
            let cpu = system.cpu.as_deref().unwrap_or("unknown CPU");
            let gpu = gpu.as_ref().map_or_else(String::new, |gpu| format!("; {}", gpu.facts.name));
            let threads = match cpus[..] {
                [] => "threads that are not bound to CPUs".into(),
                [cpu] => format!("1 thread on CPU {cpu}"),
                _ => format!("{} threads on CPUs {}", cpus.len(), ranges(cpus)),
            };
            writeln!(stderr, "{cpu}, {threads}{gpu}")?;
            writeln!(stderr, "run {run_id}, revision {REVISION}")?;
        }
        if let Some(activity) = gpu.as_ref().and_then(|gpu| gpu.activity)
            && !activity.is_idle()
        {
            writeln!(
                stderr,
                "warning: the GPU was not idle before the first measurement ({activity}): times may be too long"
            )?;
        }
        if cpus.is_empty() {
            writeln!(stderr, "{UNPINNED}")?;
        }
        let is_on_host = cells.iter().any(|cell| cell.device == Device::Cpu);
        if is_on_host
            && settings.pages == Pages::Huge
            && let Some(reason) = system.refusal_of_huge_pages()
        {
            writeln!(stderr, "{SMALL_PAGES} ({reason})")?;
        }
        Ok(())
    }

    /// Records the clocks, libraries and disturbed samples of a group.
    pub fn take_group(&mut self, group: &Group) -> Result<()> {
        for (share, samples) in group.rows.iter().filter_map(|row| row.disturbed.zip(row.samples)) {
            self.samples[0] += share * samples as f64;
            self.samples[1] += samples as f64;
        }
        self.clocks.extend(group.clocks.iter().cloned());
        let kind = |library: &Library| library.name.split(' ').next().map(str::to_owned);
        for now in &group.libraries {
            match self.record.libraries.iter().find(|then| kind(then) == kind(now)) {
                Some(then) => ensure!(
                    then.name == now.name,
                    "the run began with {} ({}), but now uses {} ({}); continue with the former, or write to \
                     another file",
                    then.name,
                    then.place,
                    now.name,
                    now.place
                ),
                None => {
                    self.record.libraries.push(now.clone());
                    self.write()?;
                }
            }
        }
        Ok(())
    }

    /// Completes and writes the record at the end of the run. Prints a warning if the GPU was throttled, the hypervisor
    /// used the CPUs for others, or a control group stopped the threads.
    pub(super) fn finish(mut self, stderr: &mut dyn Write) -> Result<()> {
        let clocks = ClockRange::of(self.clocks.iter());
        let end = (self.readings)();
        let others = self.others();
        let session = self.record.sessions.last_mut().expect("a run has begun");
        let mut warn = |text| if self.quiet { Ok(()) } else { writeln!(stderr, "warning: {text}") };
        if let Some(throttling) = end.throttled_since(&session.begin) {
            let Throttling { group, periods, throttled, seconds } = throttling;
            let (group, ms) = (group.display(), 1e3 * seconds);
            warn(format!(
                "the control group {group} was throttled in {throttled} of {periods} periods ({ms:.0} ms, summed \
                 over CPUs): times are too long; raise its CPU quota (cpu.max, or cpu.cfs_quota_us), or use fewer \
                 --threads"
            ))?;
        }
        if let Some(share) = end.stolen_since(&session.begin).filter(|&share| share > STOLEN) {
            let percent = 100.0 * share;
            warn(format!("the hypervisor gave {percent:.1} % of the CPU time to other machines"))?;
        }
        if let Some(clocks) = clocks.as_ref().filter(|clocks| !clocks.throttled_by.is_empty()) {
            let reasons: Vec<_> = clocks.throttled_by.iter().cloned().collect();
            let ([lowest, highest], reasons) = (clocks.multiprocessor_mhz, reasons.join(", "));
            warn(format!("the GPU was throttled ({reasons}): {lowest} to {highest} MHz"))?;
        }
        if let Some(text) = others.describe().filter(|_| !self.quiet) {
            writeln!(stderr, "{text}")?;
        }
        (session.end, session.others) = (Some(end), Some(others));
        if let Some(gpu) = &mut self.record.gpu {
            // The record of a resumed run already contains clocks.
            gpu.clocks = ClockRange::join(gpu.clocks.take(), clocks);
        }
        self.write()
    }

    fn others(&self) -> Others {
        let [disturbed, all] = self.samples;
        let cpus = |(begin, end): (CpuUsage, CpuUsage)| (end.of_others_since(&begin), end.cpus);
        Others {
            cpus: self.begin.zip((self.usage)()).map(cpus),
            disturbed: (all > 0.0).then(|| disturbed / all),
            by: Source::detect(),
        }
    }

    /// Writes the current state of the record, if it has a file.
    pub fn write(&self) -> Result<()> {
        self.path.as_ref().map_or(Ok(()), |path| write_record(path, &self.record))
    }
}

/// Lists numbers with their ranges: `0-3, 8`.
fn ranges(numbers: &[usize]) -> String {
    let range = |range: &[usize]| match *range {
        [first, .., last] => format!("{first}-{last}"),
        _ => range[0].to_string(),
    };
    let ranges = numbers.chunk_by(|a, b| a + 1 == *b).map(range);
    ranges.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_numbers_are_ranges() {
        for (numbers, expected) in
            [(&[][..], ""), (&[3], "3"), (&[0, 1, 2, 5, 8, 9], "0-2, 5, 8-9"), (&[2, 0, 1], "2, 0-1")]
        {
            assert_eq!(ranges(numbers), expected);
        }
    }
}

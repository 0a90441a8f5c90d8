//! The run record (command, settings, machine): written when a run begins and completed when it ends.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use super::session::Session;
use crate::cache;
use crate::cli::args::MeasureArgs;
use crate::cli::system;
use crate::device::facts::Clocks;
use crate::record::file::is_not_regular_file;
use crate::record::run::{self, Bandwidth, ClockRange, GpuRecord, Library, REVISION, RunRecord};
use crate::record::{Group, MatrixReport};
use crate::system::System;
use crate::system::noise::Readings;

/// The share of the CPU time (0 to 1) taken by the hypervisor above which a warning is printed.
const STOLEN: f64 = 0.01;

impl Session<'_> {
    /// Creates the record of the run at its beginning.
    pub fn facts(
        &self,
        command: Vec<String>,
        date: &str,
        machine: &System,
        bandwidth: Vec<Bandwidth>,
    ) -> RunRecord {
        let gpu = self.gpu.as_ref().map(|gpu| GpuRecord {
            facts: gpu.facts().clone(),
            nominal_gbs: gpu.facts().nominal_gbs(),
            bandwidth: self.device.bandwidth.clone(),
            launch_us: self.device.launch_us,
            clocks: None,
        });
        let (date, begin) = (date.to_owned(), (self.readings)());
        RunRecord {
            run_id: self.run_id.clone(),
            date: date.clone(),
            version: env!("CARGO_PKG_VERSION").into(),
            revision: REVISION.into(),
            command,
            system: machine.clone(),
            pinned_to: self.team.cpus().to_vec(),
            settings: self.settings.clone(),
            expand: self.expand,
            order: self.orders[0],
            cells: self.cells().collect(),
            gpu,
            libraries: Vec::new(),
            bandwidth,
            corpus: None,
            sessions: vec![run::Session { date, begin, end: None }],
            joined: Vec::new(),
        }
    }

    /// Measures the memory bandwidth if `wanted`: returns that of the host, and stores that of the GPU.
    pub fn bandwidth(&mut self, wanted: bool, machine: &System) -> Vec<Bandwidth> {
        let sizes = if wanted { system::sizes(machine) } else { Vec::new() };
        if let Some(gpu) = self.gpu.as_ref().filter(|_| wanted) {
            self.device = system::device(gpu);
        }
        system::bandwidth(&self.team, self.clock, &sizes)
    }

    /// Measures the bandwidth and creates the run record. If no file is named for it, prints a summary line on
    /// stderr.
    pub fn record(
        &mut self,
        args: &MeasureArgs,
        command: Vec<String>,
        stderr: &mut dyn Write,
        date: &str,
        machine: &System,
    ) -> Result<Recording> {
        let path = args.record_path();
        let bandwidth = self.bandwidth(args.wants_bandwidth(), machine);
        let record = self.facts(command, date, machine, bandwidth);
        Recording::begin(path, record, self.readings, args.quiet, stderr)
    }
}

/// The record of a run and the file to which it is written, if any.
pub struct Recording {
    path: Option<PathBuf>,
    pub record: RunRecord,
    readings: fn() -> Readings,
    /// The GPU clocks under load of all groups.
    clocks: Vec<Clocks>,
}

impl Recording {
    /// Creates the recording. Without a file, prints a summary line on stderr.
    pub fn begin(
        path: Option<PathBuf>,
        record: RunRecord,
        readings: fn() -> Readings,
        quiet: bool,
        stderr: &mut dyn Write,
    ) -> Result<Self> {
        let recording = Self { path, record, readings, clocks: Vec::new() };
        if recording.path.is_none() && !quiet {
            recording.summarise(stderr)?;
        }
        Ok(recording)
    }

    /// Records the clocks and libraries of all groups of a report: see [`Self::take_group`].
    ///
    /// # Errors
    /// Returns an error if a library is not the one with which the run began.
    pub fn take(&mut self, report: &MatrixReport) -> Result<()> {
        report.groups.iter().try_for_each(|group| self.take_group(group))
    }

    /// Records the clocks and libraries of a group.
    ///
    /// # Errors
    /// Returns an error if a library is not the one with which the run began.
    pub fn take_group(&mut self, group: &Group) -> Result<()> {
        self.clocks.extend(group.clocks.iter().cloned());
        let kind = |library: &Library| library.name.split(' ').next().map(str::to_owned);
        for now in &group.libraries {
            let known = self.record.libraries.iter();
            match known.clone().find(|then| kind(then) == kind(now)) {
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

    /// Completes and writes the record at the end of the run. Prints a warning if the GPU was throttled or the
    /// hypervisor used the CPUs for others.
    pub fn finish(mut self, quiet: bool, stderr: &mut dyn Write) -> Result<()> {
        let clocks = ClockRange::of(self.clocks.iter());
        let session = self.record.sessions.last_mut().expect("a run has begun");
        let end = (self.readings)();
        let stolen = end.stolen_since(&session.begin).filter(|&share| share > STOLEN);
        session.end = Some(end);
        if let Some(share) = stolen.filter(|_| !quiet) {
            let percent = 100.0 * share;
            writeln!(
                stderr,
                "warning: the hypervisor gave {percent:.1} % of the CPU time to other machines"
            )?;
        }
        if let Some(clocks) =
            clocks.as_ref().filter(|clocks| !clocks.throttled_by.is_empty() && !quiet)
        {
            let reasons: Vec<_> = clocks.throttled_by.iter().cloned().collect();
            let ([lowest, highest], reasons) = (clocks.multiprocessor_mhz, reasons.join(", "));
            writeln!(
                stderr,
                "warning: the GPU was throttled ({reasons}): {lowest} to {highest} MHz"
            )?;
        }
        if let Some(gpu) = &mut self.record.gpu {
            // The record of a resumed run already contains clocks.
            gpu.clocks = ClockRange::join(gpu.clocks.take(), clocks);
        }
        self.write()
    }

    /// Writes the current state of the record.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn write(&self) -> Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let json = serde_json::to_string_pretty(&self.record)? + "\n";
        let written = if is_not_regular_file(path) {
            std::fs::write(path, json)
        } else {
            cache::replace(path, |file| file.write_all(json.as_bytes()))
        };
        written.with_context(|| format!("cannot write {}", path.display()))
    }

    fn summarise(&self, stderr: &mut dyn Write) -> Result<()> {
        let RunRecord { run_id, system, pinned_to: cpus, gpu, .. } = &self.record;
        let cpu = system.cpu.as_deref().unwrap_or("unknown CPU");
        let gpu = gpu.as_ref().map_or_else(String::new, |gpu| format!("; {}", gpu.facts.name));
        let threads = cpus.len();
        writeln!(
            stderr,
            "run {run_id}, revision {REVISION}: {cpu}, {threads} threads on CPUs {cpus:?}{gpu}"
        )?;
        Ok(())
    }
}

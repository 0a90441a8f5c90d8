//! The facts of a run: written when it begins, completed when it ends.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use super::args::MeasureArgs;
use super::session::Session;
use super::system;
use crate::cache;
use crate::device::facts::Clocks;
use crate::record::file::is_no_file;
use crate::record::run::{self, Bandwidth, ClockRange, GpuRecord, Library, REVISION, RunRecord};
use crate::record::{Group, MatrixReport};
use crate::system::System;
use crate::system::noise::Readings;

/// A stolen share of the CPUs' time that is worth a warning.
const STOLEN: f64 = 0.01;

impl Session<'_> {
    /// The facts of the run so far.
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

    /// Measured now, if it is wanted: the host's, and the GPU's for its part of the facts.
    pub fn bandwidth(&mut self, wanted: bool, machine: &System) -> Vec<Bandwidth> {
        let sizes = if wanted { system::sizes(machine) } else { Vec::new() };
        if let Some(gpu) = self.gpu.as_ref().filter(|_| wanted) {
            self.device = system::device(gpu);
        }
        system::bandwidth(&self.team, self.clock, &sizes)
    }

    /// The facts of the run, to be written where they were asked for; with results on stdout and no file
    /// named, a line on stderr.
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

/// The facts of a run and the file that they are written to, if any.
pub struct Recording {
    path: Option<PathBuf>,
    pub record: RunRecord,
    readings: fn() -> Readings,
    /// The GPU's clocks under load, of all groups.
    clocks: Vec<Clocks>,
}

impl Recording {
    /// The facts, for a file; without one, a line on stderr.
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

    /// Notes what a matrix' report says of the circumstances: see [`Self::take_group`].
    ///
    /// # Errors
    /// The same.
    pub fn take(&mut self, report: &MatrixReport) -> Result<()> {
        report.groups.iter().try_for_each(|group| self.take_group(group))
    }

    /// Notes what a group says of the circumstances.
    ///
    /// # Errors
    /// When a library is another than the one that the run began with.
    pub fn take_group(&mut self, group: &Group) -> Result<()> {
        self.clocks.extend(group.clocks.iter().cloned());
        let kind = |library: &Library| library.name.split(' ').next().map(str::to_owned);
        for now in &group.libraries {
            let known = self.record.libraries.iter();
            match known.clone().find(|then| kind(then) == kind(now)) {
                Some(then) => ensure!(
                    then.name == now.name,
                    "the run began with {} ({}), and now it is {} ({}); continue with the former, or write to \
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

    /// Completes the facts with what is known at the end, and says so if the GPU was throttled or the
    /// CPUs were taken away.
    pub fn finish(mut self, quiet: bool, stderr: &mut dyn Write) -> Result<()> {
        let clocks = ClockRange::of(self.clocks.iter());
        let session = self.record.sessions.last_mut().expect("a run has begun");
        let end = (self.readings)();
        let stolen = end.stolen_since(&session.begin).filter(|&share| share > STOLEN);
        session.end = Some(end);
        if let Some(share) = stolen.filter(|_| !quiet) {
            let percent = 100.0 * share;
            writeln!(stderr, "the hypervisor gave {percent:.1} % of the CPUs' time to others")?;
        }
        if let Some(clocks) =
            clocks.as_ref().filter(|clocks| !clocks.throttled_by.is_empty() && !quiet)
        {
            let reasons: Vec<_> = clocks.throttled_by.iter().cloned().collect();
            let ([lowest, highest], reasons) = (clocks.multiprocessor_mhz, reasons.join(", "));
            writeln!(stderr, "the GPU was throttled ({reasons}): {lowest} to {highest} MHz")?;
        }
        if let Some(gpu) = &mut self.record.gpu {
            // A run that goes on has some already.
            gpu.clocks = ClockRange::join(gpu.clocks.take(), clocks);
        }
        self.write()
    }

    /// Writes what is known so far.
    ///
    /// # Errors
    /// When the file does not take it.
    pub fn write(&self) -> Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let json = serde_json::to_string_pretty(&self.record)? + "\n";
        let written = if is_no_file(path) {
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

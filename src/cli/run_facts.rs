//! The facts of a run: written when it begins, completed when it ends.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::args::MeasureArgs;
use super::session::Session;
use super::system;
use crate::record::run::{Bandwidth, ClockRange, GpuRecord, REVISION, RunRecord};
use crate::system::System;

impl Session<'_> {
    /// Writes the facts of the run where they were asked for; with results on stdout and no file
    /// named, a line on stderr.
    pub fn record(
        &mut self,
        args: &MeasureArgs,
        command: Vec<String>,
        stderr: &mut dyn Write,
        date: &str,
        machine: &System,
    ) -> Result<()> {
        let beside = args.output.as_ref().map(|output| {
            let mut name = output.clone().into_os_string();
            name.push(".run.json");
            PathBuf::from(name)
        });
        let Some(path) = args.run_record.clone().or(beside) else {
            return self.summarise(args.quiet, stderr, machine);
        };
        let bandwidth = system::bandwidth(&self.team, self.clock, &system::sizes(machine));
        self.record_at(path, command, date, machine, bandwidth)
    }

    /// Writes the facts of the run to a file.
    pub fn record_at(
        &mut self,
        path: PathBuf,
        command: Vec<String>,
        date: &str,
        machine: &System,
        bandwidth: Vec<Bandwidth>,
    ) -> Result<()> {
        let gpu = self.gpu.as_ref().ok().map(|gpu| GpuRecord {
            facts: gpu.facts().clone(),
            nominal_gbs: gpu.facts().nominal_gbs(),
            clocks: None,
        });
        let record = RunRecord {
            run_id: self.run_id.clone(),
            date: date.to_owned(),
            version: env!("CARGO_PKG_VERSION"),
            revision: REVISION,
            command,
            system: machine.clone(),
            pinned_to: self.team.cpus().to_vec(),
            settings: self.settings.clone(),
            expand: self.expand,
            gpu,
            libraries: self.libraries.clone(),
            bandwidth,
        };
        write_record(&path, &record)?;
        self.recorded = Some((path, record));
        Ok(())
    }

    /// Completes the facts of the run with what is known at its end, and says so if the GPU was
    /// throttled.
    pub fn finish(mut self, quiet: bool, stderr: &mut dyn Write) -> Result<()> {
        let Some(clocks) = ClockRange::of(self.clocks.iter()) else { return Ok(()) };
        if !clocks.throttled_by.is_empty() && !quiet {
            let reasons: Vec<_> = clocks.throttled_by.iter().cloned().collect();
            let [lowest, highest] = clocks.multiprocessor_mhz;
            let reasons = reasons.join(", ");
            writeln!(stderr, "the GPU was throttled ({reasons}): {lowest} to {highest} MHz")?;
        }
        let Some((path, record)) = &mut self.recorded else { return Ok(()) };
        if let Some(gpu) = &mut record.gpu {
            gpu.clocks = Some(clocks);
        }
        write_record(path, record)
    }

    fn summarise(&self, quiet: bool, stderr: &mut dyn Write, machine: &System) -> Result<()> {
        if !quiet {
            let cpu = machine.cpu.as_deref().unwrap_or("unknown CPU");
            let (threads, cpus) = (self.team.len(), self.team.cpus());
            let run = &self.run_id;
            let gpu = self
                .gpu
                .as_ref()
                .map_or_else(|_| String::new(), |gpu| format!("; {}", gpu.facts().name));
            writeln!(
                stderr,
                "run {run}, revision {REVISION}: {cpu}, {threads} threads on CPUs {cpus:?}{gpu}"
            )?;
        }
        Ok(())
    }
}

fn write_record(path: &Path, record: &RunRecord) -> Result<()> {
    let json = serde_json::to_string_pretty(record)? + "\n";
    std::fs::write(path, json).with_context(|| format!("cannot write {}", path.display()))
}

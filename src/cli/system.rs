//! `spmv-bench system`: describes the machine, finds the libraries, and measures the bandwidth.

use std::io::{self, Write};

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde::Serialize;

use super::output::{OutputArgs, TextOrJson};
use super::values::whole;
use super::verb::{CommandStatus, Needs, Verb};
use crate::campaign::REVISION;
use crate::campaign::bandwidth::{of_team, sizes};
use crate::campaign::env::Env;
use crate::campaign::recording::UNPINNED;
use crate::campaign::{gpus, idle, libraries};
use spmv_matrix::system::System;
use spmv_matrix::system::energy::Rapl;
use spmv_methods::device::facts::Facts as GpuFacts;
use spmv_methods::method::Unavailable;
use spmv_methods::team::Team;
use spmv_results::run::{Bandwidth, HostEnergy, Library};
use spmv_results::settings::Pages;

/// The largest number of GPUs that are listed. It bounds the search if every number is a valid GPU, as in tests.
const MOST_GPUS: usize = 16;

/// Describes this machine: CPU, GPUs, libraries, memory bandwidth
#[derive(Debug, Args)]
pub struct SystemArgs {
    /// The largest number of threads for the bandwidth measurement [default: one per core, or fewer if a
    /// control group (cgroup) limits the CPU time]
    #[arg(long, value_name = "N", value_parser = whole::<usize>)]
    pub threads: Option<usize>,
    /// Format of the output [default: from the extension of --output (.json or .txt), else text]
    #[arg(long, value_enum)]
    pub format: Option<TextOrJson>,
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Serialize)]
struct Facts<'a> {
    version: &'static str,
    revision: &'static str,
    #[serde(flatten)]
    system: &'a System,
    gpus: Vec<Gpu>,
    no_gpu: Option<String>,
    energy: Option<HostEnergy>,
    no_energy: Option<String>,
    libraries: Vec<Library>,
    bandwidth: Vec<Bandwidth>,
}

#[derive(Serialize)]
struct Gpu {
    #[serde(flatten)]
    facts: GpuFacts,
    nominal_gbs: f64,
}

impl Verb for SystemArgs {
    fn needs(&self) -> Needs {
        Needs { own_pages: Some(Pages::Huge), ..Needs::NOTHING }
    }

    fn run(&self, env: &mut Env) -> Result<CommandStatus> {
        let format = self.output.form(self.format, TextOrJson::Text)?;
        self.output.check(&[])?;
        let (gpus, no_gpu) = all_gpus(env);
        let system = &env.system;
        let most = self.threads.unwrap_or_else(|| system.threads());
        let cpus = system.cpus.len();
        ensure!((1..=cpus).contains(&most), "--threads {most}: it must be from 1 to {cpus}");
        let (energy, no_energy) = match Rapl::open(&env.powercap) {
            Ok(rapl) => {
                let [idle_watts, _] = idle::watts(Some(&rapl), None, env.clock);
                (Some(HostEnergy::new(&rapl, idle_watts)), None)
            }
            Err(reason) => (None, Some(reason)),
        };
        let mut bandwidth = Vec::new();
        for threads in counts(most) {
            let team = Team::pinned(&system.cpus[..threads]).context("cannot start threads")?;
            if threads == most && team.cpus().is_empty() {
                writeln!(env.stderr, "{UNPINNED}")?;
            }
            bandwidth.extend(of_team(&team, env.clock, &sizes(system)));
        }
        let facts = Facts {
            version: env!("CARGO_PKG_VERSION"),
            revision: REVISION,
            system,
            gpus,
            no_gpu,
            energy,
            no_energy,
            libraries: libraries::all(env.program.as_deref()),
            bandwidth,
        };
        let mut text = Vec::new();
        match format {
            TextOrJson::Text => write_text(&mut text, &facts)?,
            TextOrJson::Json => writeln!(text, "{}", serde_json::to_string_pretty(&facts)?)?,
        }
        self.output.write(&text, env.stdout)
    }
}

/// Returns the thread counts 1, 2, 4, … and `most`.
fn counts(most: usize) -> Vec<usize> {
    let powers = std::iter::successors(Some(1), |n| Some(2 * n)).take_while(|&n| n < most);
    powers.chain([most]).collect()
}

fn all_gpus(env: &mut Env) -> (Vec<Gpu>, Option<String>) {
    let mut found = Vec::new();
    for number in 0..MOST_GPUS {
        match gpus::facts(Some(number), gpus::LIMIT, env) {
            Ok(facts) => found.push(Gpu { nominal_gbs: facts.nominal_gbs(), facts }),
            Err(Unavailable(reason)) if number == 0 => return (found, Some(reason)),
            Err(_) => break,
        }
    }
    (found, None)
}

fn gpu_lines(gpu: &Gpu) -> [String; 3] {
    let Gpu { facts, nominal_gbs } = gpu;
    let GpuFacts { name, driver, multiprocessors, clock_mhz, .. } = facts;
    let GpuFacts { memory_bus_bits, memory_clock_mhz, .. } = facts;
    let (major, minor) = facts.compute_capability;
    let [l2, memory] = [facts.l2_bytes, facts.memory_bytes].map(|b| b as f64 / 2f64.powi(20));
    let sizes = format!("{l2:.0} MiB of L2, {:.1} GiB", memory / 1024.0);
    [
        format!("{name}, sm_{major}{minor}, {driver}"),
        format!("{multiprocessors} multiprocessors up to {clock_mhz} MHz, {sizes}"),
        format!("{nominal_gbs:.0} GB/s nominal: {memory_bus_bits} bits at {memory_clock_mhz} MHz"),
    ]
}

fn write_text(out: &mut dyn Write, facts: &Facts) -> io::Result<()> {
    let program = format!("spmv-bench {} ({})", facts.version, facts.revision);
    let mut lines = vec![("program", program)];
    lines.extend(cpu_lines(facts.system));
    lines.extend(memory_lines(facts.system));
    lines.extend(device_lines(facts));
    lines.iter().try_for_each(|(name, value)| writeln!(out, "{name:<12} {value}"))
}

type Line = (&'static str, String);

fn cpu_lines(system: &System) -> Vec<Line> {
    let System { cpu, cpus, cores, cpu_quota, caches, numa_nodes, .. } = system;
    let mut lines = vec![
        ("CPU", cpu.clone().unwrap_or_else(|| "unknown".into())),
        ("CPUs", format!("{} on {cores} cores: {cpus:?}", cpus.len())),
    ];
    if let Some(quota) = cpu_quota {
        lines.push(("CPU quota", format!("time of {quota} CPUs, limited by a control group")));
    }
    for cache in caches {
        let (level, kind, shared) = (cache.level, cache.kind.to_lowercase(), &cache.shared_by);
        let kib = cache.bytes / 1024;
        lines.push(("cache", format!("L{level} {kind}, {kib} KiB, shared by CPUs {shared}")));
    }
    for (node, cpus) in numa_nodes.iter().enumerate() {
        lines.push(("NUMA node", format!("{node}: CPUs {cpus}")));
    }
    lines
}

fn memory_lines(system: &System) -> Vec<Line> {
    let System { memory_bytes, huge_pages, glibc_tunables, huge_arrays, openmp, .. } = system;
    let memory = memory_bytes.map(|bytes| format!("{:.1} GiB", bytes as f64 / 2f64.powi(30)));
    let tunables = glibc_tunables.as_ref().map_or(String::new(), |text| format!(", {text}"));
    let huge_pages = huge_pages.as_deref().unwrap_or("unknown");
    let mut lines = vec![
        ("memory", memory.unwrap_or_else(|| "unknown".into())),
        ("huge pages", format!("{huge_pages}{tunables}")),
    ];
    if let Some(is_huge) = huge_arrays {
        let size = if *is_huge { "huge" } else { "small" };
        let reason = system.refusal_of_huge_pages().map_or(String::new(), |reason| format!(": {reason}"));
        lines.push(("arrays", format!("in {size} pages{reason}")));
    }
    lines.extend(openmp.clone().map(|variables| ("OpenMP", variables)));
    lines
}

fn device_lines(facts: &Facts) -> Vec<Line> {
    let mut lines = Vec::new();
    if let Some(HostEnergy { domains, idle_watts }) = &facts.energy {
        let idle = idle_watts.map_or(String::new(), |watts| format!("; idle: {watts:.1} W"));
        lines.push(("energy", format!("{}{idle}", domains.join(", "))));
    }
    if let Some(reason) = &facts.no_energy {
        lines.push(("energy", format!("unknown: {reason}")));
    }
    for (number, gpu) in facts.gpus.iter().enumerate() {
        lines.extend(gpu_lines(gpu).map(|text| ("GPU", format!("{number}: {text}"))));
    }
    if let Some(reason) = &facts.no_gpu {
        lines.push(("GPU", format!("none: {reason}")));
    }
    for library in &facts.libraries {
        lines.push(("library", format!("{}: {}", library.name, library.place)));
    }
    for Bandwidth { threads, bytes, peak } in &facts.bandwidth {
        let size = bytes >> 20;
        lines.push(("bandwidth", format!("{threads:>3} threads, {size:>5} MiB, GB/s: {peak}")));
    }
    lines
}

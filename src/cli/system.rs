//! `spmv-bench system`: the machine, the libraries found, the bandwidth measured.

use std::io::{self, Write};

use anyhow::{Context, Result, ensure};
use serde::Serialize;

use super::args::{SystemArgs, SystemFormat};
use super::{Verdict, World};
use crate::bench::clock::Clock;
use crate::bench::peak::Sweeps;
use crate::methods::vendor::mkl::mkl;
use crate::record::run::{Bandwidth, Library, REVISION};
use crate::system::System;
use crate::team::Team;

/// Bytes swept: inside the last-level cache, about it, and far beyond it.
const SIZES: [usize; 3] = [32 << 20, 256 << 20, 2 << 30];
const LOOKS: usize = 5;

#[derive(Serialize)]
struct Facts<'a> {
    version: &'static str,
    revision: &'static str,
    #[serde(flatten)]
    system: &'a System,
    libraries: Vec<Library>,
    bandwidth: Vec<Bandwidth>,
}

/// Runs the command.
pub fn run(args: &SystemArgs, world: &mut World) -> Result<Verdict> {
    let system = &world.system;
    let most = args.threads.unwrap_or(system.cores);
    let cpus = system.cpus.len();
    ensure!((1..=cpus).contains(&most), "--threads {most}: must be 1 to {cpus}");
    let mut bandwidth = Vec::new();
    for threads in counts(most) {
        let team = Team::pinned(&system.cpus[..threads]).context("cannot pin threads")?;
        bandwidth.extend(self::bandwidth(&team, world.clock, &sizes(system)));
    }
    let version = env!("CARGO_PKG_VERSION");
    let libraries = libraries();
    let facts = Facts { version, revision: REVISION, system, libraries, bandwidth };
    match args.format {
        SystemFormat::Text => write_text(world.stdout, &facts)?,
        SystemFormat::Json => {
            serde_json::to_writer_pretty(&mut *world.stdout, &facts)?;
            writeln!(world.stdout)?;
        }
    }
    Ok(Verdict::Ok)
}

/// 1, 2, 4, … and `most` itself.
fn counts(most: usize) -> Vec<usize> {
    let mut counts: Vec<_> =
        std::iter::successors(Some(1), |n| Some(2 * n)).take_while(|&n| n < most).collect();
    counts.push(most);
    counts
}

/// Those that leave three quarters of the memory alone.
pub fn sizes(system: &System) -> Vec<usize> {
    let memory = system.memory_bytes.unwrap_or(u64::MAX) as usize;
    SIZES.into_iter().filter(|size| *size <= memory / 4).collect()
}

/// The bandwidth of a team at each of `sizes`.
pub fn bandwidth(team: &Team, clock: &dyn Clock, sizes: &[usize]) -> Vec<Bandwidth> {
    let at = |&bytes: &usize| {
        let mut sweeps = Sweeps::new(team, bytes);
        (0..LOOKS).for_each(|_| sweeps.look(team, clock, None::<fn()>));
        Bandwidth { threads: team.len(), bytes, peak: sweeps.best() }
    };
    sizes.iter().map(at).collect()
}

/// Vendors' libraries: where they are, or how to get them.
pub fn libraries() -> Vec<Library> {
    vec![match mkl() {
        Ok(mkl) => Library { name: mkl.version.clone(), place: mkl.folder.display().to_string() },
        Err(absent) => Library { name: "MKL".into(), place: absent.to_string() },
    }]
}

fn write_text(out: &mut dyn Write, facts: &Facts) -> io::Result<()> {
    let System { cpu, cpus, cores, caches, numa_nodes, memory_bytes } = facts.system;
    let mut line = |name: &str, value: String| writeln!(out, "{name:<12} {value}");
    line("program", format!("spmv-bench {} ({})", facts.version, facts.revision))?;
    line("CPU", cpu.clone().unwrap_or_else(|| "unknown".into()))?;
    line("CPUs", format!("{} on {cores} cores: {cpus:?}", cpus.len()))?;
    for cache in caches {
        let (level, kind, shared) = (cache.level, cache.kind.to_lowercase(), &cache.shared_by);
        line(
            "cache",
            format!("L{level} {kind}, {} KiB, shared by CPUs {shared}", cache.bytes / 1024),
        )?;
    }
    for (node, cpus) in numa_nodes.iter().enumerate() {
        line("NUMA node", format!("{node}: CPUs {cpus}"))?;
    }
    let memory = memory_bytes.map(|bytes| format!("{:.1} GiB", bytes as f64 / 2f64.powi(30)));
    line("memory", memory.unwrap_or_else(|| "unknown".into()))?;
    for library in &facts.libraries {
        line("library", format!("{}: {}", library.name, library.place))?;
    }
    for Bandwidth { threads, bytes, peak } in &facts.bandwidth {
        let size = bytes >> 20;
        line("bandwidth", format!("{threads:>3} threads, {size:>5} MiB, GB/s: {peak}"))?;
    }
    Ok(())
}

//! Measures the memory bandwidth of the machine and of a GPU, for the run record.

use std::time::Duration;

use crate::bench::clock::Clock;
use crate::bench::peak::{self, Sweeps};
use spmv_matrix::memory::Available;
use spmv_matrix::system::System;
use spmv_methods::device::Gpu;
use spmv_methods::device::probe::{DeviceSweeps, Probe};
use spmv_methods::team::Team;
use spmv_results::run::{Bandwidth, DeviceBandwidth};

/// The working sets in bytes: typically smaller than the last-level cache, of similar size, and much larger.
const SIZES: [usize; 3] = [32 << 20, 256 << 20, 2 << 30];
const REPETITIONS: usize = 5;

/// Returns the working sets that need at most a quarter of the available memory.
pub fn sizes(system: &System) -> Vec<usize> {
    let memory = system.memory_bytes.unwrap_or(u64::MAX).min(Available::now(None, 0).bytes);
    SIZES.into_iter().filter(|size| *size as u64 <= memory / 4).collect()
}

/// Measures the bandwidth of a GPU within and beyond its second-level cache, with working sets of at most a quarter
/// of its free memory, and the smallest time of a kernel launch in microseconds. Values that cannot be measured are
/// omitted: the methods will report the error.
pub fn of_gpu(gpu: &Gpu) -> (Vec<DeviceBandwidth>, Option<f64>) {
    let us = |time: Duration| 1e6 * time.as_secs_f64();
    if let Some(modelled) = gpu.modelled() {
        return (Vec::new(), Some(us(modelled.launch_time)));
    }
    let (Ok(probe), Ok((free, _))) = (Probe::new(gpu), gpu.memory()) else {
        return (Vec::new(), None);
    };
    let l2 = gpu.facts().l2_bytes as usize;
    let fitting = [l2 / 2, 4 * l2, 32 * l2].into_iter().filter(|&size| size as u64 <= free / 4);
    let at = |bytes| {
        let mut sweeps = DeviceSweeps::new(gpu, bytes);
        sweeps.measure(&probe, REPETITIONS, None).ok()?;
        Some(DeviceBandwidth { bytes, peak: peak::of_gpu(gpu, &sweeps) })
    };
    let launch_us = probe.launch_time().ok().map(us);
    (fitting.filter_map(at).collect(), launch_us)
}

/// Measures the bandwidth of a team with each working set.
pub fn of_team(team: &Team, clock: &dyn Clock, sizes: &[usize]) -> Vec<Bandwidth> {
    let at = |&bytes: &usize| {
        let mut sweeps = Sweeps::new(team, bytes);
        (0..REPETITIONS).for_each(|_| sweeps.measure(team, clock, None::<fn()>));
        Bandwidth { threads: team.len(), bytes, peak: sweeps.best() }
    };
    sizes.iter().map(at).collect()
}

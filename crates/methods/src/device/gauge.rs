//! Measures the parameters of a device's model that no driver reports: latencies, bandwidths and rates. Each number is
//! the difference of two measurements of different lengths, so that their common parts (the launch, the first access
//! to the data) cancel. The shortest of several repetitions is used.

use std::time::Duration;

use super::buffer::Buffer;
use super::errors::{Failed, Unprepared};
use super::gpu::Gpu;
use super::kernel::{Argument, Kernel};
use super::launch::WARP;
use super::probe::{DeviceSweeps, Probe};
use super::program::program;

const BLOCK: usize = 256;
/// The distance in bytes between two elements of a ring.
const LINE: usize = 128;
const REPETITIONS: usize = 3;
const CHAINS: usize = 4;
/// In the two measurements: the lengths of the arithmetic chains, the numbers of atomic operations per warp, of reads
/// of the L2 cache's contents, and of loads from memory.
const CHAIN_LENGTHS: [usize; 2] = [64, 192];
const ADDITIONS: [usize; 2] = [16, 48];
const READINGS: [usize; 2] = [16, 48];
const MEMORY_STEPS: [usize; 2] = [1024, 3072];
const GRAPH_LAUNCHES: usize = 256;
const KIB: usize = 1 << 10;
/// The resolution of the measured L1 cache size in KiB.
const L1_STEP_KIB: usize = 8;
const MOST_L1_KIB: usize = 512;

/// The measured parameters. Latencies and atomic operations are in cycles of `clock_mhz`.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The clock of the multiprocessors during the measurements in MHz, or the highest one if it is not reported.
    pub clock_mhz: f64,
    /// The cycles in which a multiprocessor issues one double-precision instruction of a warp.
    pub double_cycles: f64,
    /// The size of the L1 cache on the read-only path in KiB.
    pub l1_kib: usize,
    /// Whether ordinary loads use the L1 cache.
    pub l1_caches_loads: bool,
    pub l1_latency: f64,
    pub l2_latency: f64,
    pub memory_latency: f64,
    /// The bandwidth of reads from the L2 cache in GB/s (10^9 bytes per second).
    pub l2_gbs: f64,
    /// The bandwidth of copies in memory, both directions counted, in GB/s (10^9 bytes per second).
    pub memory_gbs: f64,
    /// The cycles between two atomic operations on one word.
    pub atomic_cycles: f64,
    /// The time of an empty kernel in a sequence of them, in microseconds.
    pub launch_us: f64,
    /// The time of an empty kernel in a graph, in microseconds.
    pub graph_launch_us: f64,
}

pub struct Gauge {
    gpu: Gpu,
    probe: Probe,
    link: Kernel,
    follow: Kernel,
    follow_read_only: Kernel,
    follow_past_l1: Kernel,
    arithmetic: Kernel,
    add: Kernel,
    clock_mhz: f64,
}

/// Measures a device, and checks the results of the kernels. `l2_kib` is the capacity of one copy of its L2 cache.
pub fn measure(gpu: &Gpu, l2_kib: usize) -> Result<Measured, Unprepared> {
    let mut gauge = Gauge::new(gpu)?;
    let l2 = l2_kib * KIB;
    let l2_gbs = gauge.l2_gbs(l2 / 2)?;
    let mut sweeps = DeviceSweeps::new(gpu, 32 * l2);
    sweeps.measure(&gauge.probe, REPETITIONS, None)?;
    // The device was busy until now, so this is its clock under load.
    let clock = gpu.clocks().map(|clocks| f64::from(clocks.multiprocessor_mhz));
    gauge.clock_mhz = clock.filter(|&mhz| mhz > 0.0).unwrap_or(gauge.clock_mhz);
    let l2_latency = gauge.latency(&gauge.follow_past_l1, (l2 / 4).min(1 << 20))?;
    let l1_latency = gauge.latency(&gauge.follow_read_only, L1_STEP_KIB * KIB)?;
    let of_load = gauge.latency(&gauge.follow, L1_STEP_KIB * KIB)?;
    let nearer_l1 = |latency: f64| latency < f64::midpoint(l1_latency, l2_latency);
    // A cache that evicts random lines still holds most of a ring that is slightly too large.
    let is_held = |latency: f64| latency < l1_latency + (l2_latency - l1_latency) / 4.0;
    Ok(Measured {
        clock_mhz: gauge.clock_mhz,
        double_cycles: gauge.arithmetic_cycles()?,
        l1_kib: gauge.l1_kib(is_held)?,
        l1_caches_loads: nearer_l1(of_load),
        l1_latency,
        l2_latency,
        memory_latency: gauge.memory_latency(l2)?,
        l2_gbs,
        memory_gbs: sweeps.best_gbs[0],
        atomic_cycles: gauge.atomic_cycles()?,
        launch_us: microseconds(gauge.probe.launch_time()?),
        graph_launch_us: gauge.graph_launch_us()?,
    })
}

impl Gauge {
    /// Compiles the kernels and launches each of them once without work, because a driver may load a kernel at its
    /// first launch, which must not be part of a measurement.
    pub fn new(gpu: &Gpu) -> Result<Self, Unprepared> {
        let module =
            gpu.compile::<f64>(program!("cuda/gauge.cu"), &[("BLOCK", BLOCK), ("LINE", LINE / size_of::<u64>())])?;
        let kernel = |name| module.kernel(name);
        let gauge = Self {
            gpu: gpu.clone(),
            probe: Probe::new(gpu)?,
            link: kernel("gauge_link")?,
            follow: kernel("gauge_follow")?,
            follow_read_only: kernel("gauge_follow_read_only")?,
            follow_past_l1: kernel("gauge_follow_past_l1")?,
            arithmetic: kernel("gauge_arithmetic")?,
            add: kernel("gauge_add")?,
            clock_mhz: f64::from(gpu.facts().clock_mhz),
        };
        gauge.launch_with_nothing_to_do()?;
        Ok(gauge)
    }

    fn launch_with_nothing_to_do(&self) -> Result<(), Failed> {
        let (none, number) = (0u32, 0.5);
        let (words, doubles) = (self.gpu.upload(&[0u64])?, self.gpu.upload(&[0.0])?);
        let counter = self.gpu.upload(&[0u32])?;
        self.link.launch(1, BLOCK, 0, &[&none, &none, &words])?;
        for follow in [&self.follow, &self.follow_read_only, &self.follow_past_l1] {
            follow.launch(1, WARP, 0, &[&none, &words, &words])?;
        }
        self.arithmetic.launch(1, BLOCK, 0, &[&none, &number, &number, &doubles])?;
        self.add.launch(1, BLOCK, 0, &[&none, &counter])
    }

    /// Returns the seconds per unit of length: the difference of the two times divided by that of the lengths.
    fn slope(
        &self,
        [short, long]: [usize; 2],
        mut work: impl FnMut(usize) -> Result<(), Failed>,
        mut before: impl FnMut() -> Result<(), Failed>,
    ) -> Result<f64, Failed> {
        let mut least = |length| {
            let mut least = Duration::MAX;
            for _ in 0..REPETITIONS {
                before()?;
                least = least.min(self.probe.time(1, Duration::ZERO, || work(length))?.device);
            }
            Ok::<_, Failed>(least.as_secs_f64())
        };
        let (one, other) = (least(short)?, least(long)?);
        let slope = (other - one) / (long - short) as f64;
        if !(slope.is_finite() && slope > 0.0) {
            return Err(Failed(format!("more work did not take more time: {one} s, then {other} s")));
        }
        Ok(slope)
    }

    fn cycles(&self, seconds: f64) -> f64 {
        seconds * self.clock_mhz * 1e6
    }

    /// Builds a ring of cache lines of `bytes` in total, in an order that no prefetcher predicts.
    fn ring(&self, bytes: usize) -> Result<Ring, Failed> {
        let count = bytes / LINE;
        // Near the golden ratio, and coprime to the count, so that the ring contains all lines.
        let mut step = (count as f64 * 0.618) as usize;
        while greatest_common_divisor(step, count) > 1 {
            step += 1;
        }
        let words: Buffer<u64> = self.gpu.allocate(bytes / size_of::<u64>())?;
        let arguments: [&dyn Argument; 3] = [&(count as u32), &(step as u32), &words];
        self.link.launch(count.div_ceil(BLOCK), BLOCK, 0, &arguments)?;
        Ok(Ring { words, end: self.gpu.upload(&[0])?, count, step })
    }

    /// Returns the cycles of a load in a ring of `bytes` that is already in the caches if it fits.
    fn latency(&self, follow: &Kernel, bytes: usize) -> Result<f64, Failed> {
        let ring = self.ring(bytes)?;
        let steps = [ring.count, 3 * ring.count];
        let time = self.slope(steps, |steps| ring.follow(follow, steps), || Ok(()))?;
        ring.check(steps[1])?;
        Ok(self.cycles(time))
    }

    /// Returns the cycles of a load from memory. Before each measurement the caches are filled with other data.
    fn memory_latency(&self, l2: usize) -> Result<f64, Failed> {
        let ring = self.ring((4 * l2).next_power_of_two())?;
        let mut other: Buffer<u8> = self.gpu.allocate(2 * l2)?;
        other.fill(0)?;
        let follow = |steps| ring.follow(&self.follow_past_l1, steps);
        let time = self.slope(MEMORY_STEPS, follow, || self.probe.read(&other, 1))?;
        ring.check(MEMORY_STEPS[1])?;
        Ok(self.cycles(time))
    }

    /// Finds the largest ring that fits in the L1 cache, in KiB, by bisection.
    fn l1_kib(&self, is_held: impl Fn(f64) -> bool) -> Result<usize, Failed> {
        let (mut held, mut missed) = (1, MOST_L1_KIB / L1_STEP_KIB);
        while missed - held > 1 {
            let middle = usize::midpoint(held, missed);
            let latency = self.latency(&self.follow_read_only, middle * L1_STEP_KIB * KIB)?;
            let end = if is_held(latency) { &mut held } else { &mut missed };
            *end = middle;
        }
        Ok(held * L1_STEP_KIB)
    }

    fn l2_gbs(&self, bytes: usize) -> Result<f64, Failed> {
        let mut buffer: Buffer<u8> = self.gpu.allocate(bytes)?;
        buffer.fill(0)?;
        let time = self.slope(READINGS, |readings| self.probe.read(&buffer, readings), || Ok(()))?;
        Ok(buffer.bytes() as f64 / time / 1e9)
    }

    /// Returns the cycles per warp instruction on a multiprocessor with as many warps as possible.
    fn arithmetic_cycles(&self) -> Result<f64, Failed> {
        let grid = self.arithmetic.resident_blocks(BLOCK, 0)?;
        let to: Buffer<f64> = self.gpu.upload(&[0.0])?;
        let run = |count| {
            let (count, factor, unlikely) = (count as u32, 0.5, -1.0);
            self.arithmetic.launch(grid, BLOCK, 0, &[&count, &factor, &unlikely, &to])
        };
        let time = self.slope(CHAIN_LENGTHS, run, || Ok(()))?;
        let warps = grid * BLOCK / WARP / self.gpu.facts().multiprocessors as usize;
        Ok(self.cycles(time) / (CHAINS * warps) as f64)
    }

    fn atomic_cycles(&self) -> Result<f64, Failed> {
        let grid = self.add.resident_blocks(BLOCK, 0)?;
        let counter: Buffer<u32> = self.gpu.upload(&[0])?;
        let run = |count| self.add.launch(grid, BLOCK, 0, &[&(count as u32), &counter]);
        let time = self.slope(ADDITIONS, run, || Ok(()))?;
        let warps = grid * BLOCK / WARP;
        let added = REPETITIONS * warps * ADDITIONS.iter().sum::<usize>();
        let found = counter.to_vec()?[0] as usize;
        if found != added {
            return Err(Failed(format!("{added} atomic additions of 1 resulted in {found}")));
        }
        Ok(self.cycles(time) / warps as f64)
    }

    fn graph_launch_us(&self) -> Result<f64, Failed> {
        let launches = || (0..GRAPH_LAUNCHES).try_for_each(|_| self.probe.launch_empty());
        let graph = self.gpu.capture(launches)?;
        let mut least = Duration::MAX;
        for _ in 0..REPETITIONS {
            least = least.min(self.probe.time(1, Duration::ZERO, || graph.launch())?.device);
        }
        Ok(microseconds(least) / GRAPH_LAUNCHES as f64)
    }
}

/// Cache lines in device memory, each of which contains the address of the next.
struct Ring {
    words: Buffer<u64>,
    /// The address at which the last walk ended.
    end: Buffer<u64>,
    count: usize,
    step: usize,
}

impl Ring {
    fn follow(&self, kernel: &Kernel, steps: usize) -> Result<(), Failed> {
        kernel.launch(1, WARP, 0, &[&(steps as u32), &self.words, &self.end])
    }

    /// Checks that the last walk, which had `steps` steps, ended at the expected line.
    fn check(&self, steps: usize) -> Result<(), Failed> {
        let line = steps * self.step % self.count;
        let (expected, found) = (self.words.address() + (line * LINE) as u64, self.end.to_vec()?[0]);
        if found != expected {
            return Err(Failed(format!("{steps} loads ended at {found:#x} instead of {expected:#x}")));
        }
        Ok(())
    }
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

fn microseconds(time: Duration) -> f64 {
    1e6 * time.as_secs_f64()
}

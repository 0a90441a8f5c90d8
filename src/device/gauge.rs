//! Measures what a model of a device must know: latencies, bandwidths and rates that no driver tells. Every number
//! is the difference of two measurements of different lengths, so that what they have in common (the launch, the
//! first touch of the data) drops out; of several looks, the shortest counts.

use std::time::Duration;

use super::kernel::{Kernel, Program};
use super::probe::Probe;
use super::{Buffer, Gpu};
use crate::bench::peak::{DeviceSweeps, Peak};
use crate::method::{Failed, Unprepared};

/// The kernels' text.
static PROGRAM: Program = Program { name: "gauge.cu", source: include_str!("../../cuda/gauge.cu") };

/// Threads per block.
const BLOCK: usize = 256;
const WARP: usize = 32;
/// Bytes between two places of a ring.
const LINE: usize = 128;
/// Looks at each number.
const LOOKS: usize = 3;
/// The arithmetic chains of a thread, and their lengths in the two measurements.
const CHAINS: usize = 4;
const CHAIN_LENGTHS: [usize; 2] = [64, 192];
/// Atomic operations of a warp in the two measurements.
const ADDITIONS: [usize; 2] = [16, 48];
/// Times that the second-level cache is read in the two measurements.
const READINGS: [usize; 2] = [16, 48];
/// Steps through memory in the two measurements.
const MEMORY_STEPS: [usize; 2] = [1024, 3072];
/// Launches of a graph's empty kernels.
const GRAPH_LAUNCHES: usize = 256;
const KIB: usize = 1 << 10;
/// The sizes of first-level caches that are told apart.
const L1_STEP_KIB: usize = 8;
const MOST_L1_KIB: usize = 512;

/// What was measured. Latencies and atomic operations are in cycles of `clock_mhz`.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The multiprocessors' clock during the measurements, or the highest one where nobody tells.
    pub clock_mhz: f64,
    /// Cycles of a multiprocessor for one instruction of a warp in double precision.
    pub double_cycles: f64,
    /// What the read-only path holds.
    pub l1_kib: usize,
    /// Whether ordinary loads go through the first-level cache.
    pub l1_caches_loads: bool,
    /// From a load to its use.
    pub l1_latency: f64,
    /// The same past the first-level cache.
    pub l2_latency: f64,
    /// The same of what is in no cache.
    pub memory_latency: f64,
    /// GB/s (10^9) of reading what the second-level cache holds.
    pub l2_gbs: f64,
    /// GB/s of a copy, both directions counted, of far more than it holds.
    pub memory_gbs: f64,
    /// Between two atomic operations on one word.
    pub atomic_cycles: f64,
    /// Microseconds of an empty kernel among others.
    pub launch_us: f64,
    /// The same in a graph.
    pub graph_launch_us: f64,
}

/// The kernels, compiled for a device and loaded.
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

/// Measures a device. `l2_kib` is what one copy of its second-level cache holds.
///
/// # Errors
/// Without a compiler for the device; those of the device; a kernel that did not do what it should.
pub fn measure(gpu: &Gpu, l2_kib: usize) -> Result<Measured, Unprepared> {
    let mut gauge = Gauge::new(gpu)?;
    let l2 = l2_kib * KIB;
    let (l2_gbs, memory_gbs) = (gauge.l2_gbs(l2 / 2)?, gauge.memory_gbs(l2)?);
    // Busy until now, so that the clock is that of work.
    let clock = gpu.clocks().map(|clocks| f64::from(clocks.multiprocessor_mhz));
    gauge.clock_mhz = clock.filter(|&mhz| mhz > 0.0).unwrap_or(gauge.clock_mhz);
    let l2_latency = gauge.latency(&gauge.follow_past_l1, (l2 / 4).min(1 << 20))?;
    let l1_latency = gauge.latency(&gauge.follow_read_only, L1_STEP_KIB * KIB)?;
    let of_load = gauge.latency(&gauge.follow, L1_STEP_KIB * KIB)?;
    let nearer_l1 = |latency: f64| latency < f64::midpoint(l1_latency, l2_latency);
    Ok(Measured {
        clock_mhz: gauge.clock_mhz,
        double_cycles: gauge.arithmetic_cycles()?,
        l1_kib: gauge.l1_kib(nearer_l1)?,
        l1_caches_loads: nearer_l1(of_load),
        l1_latency,
        l2_latency,
        memory_latency: gauge.memory_latency(l2)?,
        l2_gbs,
        memory_gbs,
        atomic_cycles: gauge.atomic_cycles()?,
        launch_us: microseconds(gauge.probe.launch_time()?),
        graph_launch_us: gauge.graph_launch_us()?,
    })
}

impl Gauge {
    /// Compiles the kernels and launches each of them once with nothing to do, because a driver may load a kernel at
    /// its first launch, which must not be part of a measurement.
    ///
    /// # Errors
    /// Without a compiler for the device; those of the device.
    pub fn new(gpu: &Gpu) -> Result<Self, Unprepared> {
        let module = gpu.compile::<f64>(&PROGRAM, &[("BLOCK", BLOCK)])?;
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
        let (none, number): (u32, f64) = (0, 0.5);
        let (words, doubles): (Buffer<u64>, Buffer<f64>) =
            (self.gpu.upload(&[0])?, self.gpu.upload(&[0.0])?);
        let counter: Buffer<u32> = self.gpu.upload(&[0])?;
        self.link.launch(1, BLOCK, 0, &[&none, &none, &words])?;
        for follow in [&self.follow, &self.follow_read_only, &self.follow_past_l1] {
            follow.launch(1, WARP, 0, &[&none, &words, &words])?;
        }
        self.arithmetic.launch(1, BLOCK, 0, &[&none, &number, &number, &doubles])?;
        self.add.launch(1, BLOCK, 0, &[&none, &counter])
    }

    /// By how much work of the second length takes longer than of the first, per unit of length.
    fn slope(
        &self,
        [short, long]: [usize; 2],
        mut work: impl FnMut(usize) -> Result<(), Failed>,
        mut before: impl FnMut() -> Result<(), Failed>,
    ) -> Result<f64, Failed> {
        let mut least = |length| {
            let mut look = || {
                before()?;
                self.probe.time(|| work(length))
            };
            let looks = (0..LOOKS).map(|_| look()).collect::<Result<Vec<_>, _>>()?;
            Ok::<_, Failed>(looks.into_iter().min().unwrap_or_default().as_secs_f64())
        };
        let (one, other) = (least(short)?, least(long)?);
        let slope = (other - one) / (long - short) as f64;
        let is_plain = slope.is_finite() && slope > 0.0;
        let failed = || Failed(format!("no longer work took longer: {one} s, {other} s"));
        is_plain.then_some(slope).ok_or_else(failed)
    }

    fn cycles(&self, seconds: f64) -> f64 {
        seconds * self.clock_mhz * 1e6
    }

    /// Of `bytes`, as lines that follow each other in an order that no prefetcher foresees.
    fn ring(&self, bytes: usize) -> Result<Ring, Failed> {
        let count = bytes / LINE;
        // Near the golden section, and without a common divisor, so that the ring has all lines.
        let mut step = (count as f64 * 0.618) as usize;
        while greatest_common_divisor(step, count) > 1 {
            step += 1;
        }
        let words: Buffer<u64> = self.gpu.allocate(bytes / size_of::<u64>())?;
        let arguments = (count as u32, step as u32);
        let grid = count.div_ceil(BLOCK);
        self.link.launch(grid, BLOCK, 0, &[&arguments.0, &arguments.1, &words])?;
        Ok(Ring { words, end: self.gpu.upload(&[0])?, count, step })
    }

    /// Cycles of a load in a ring of `bytes` that has been followed before.
    fn latency(&self, follow: &Kernel, bytes: usize) -> Result<f64, Failed> {
        let ring = self.ring(bytes)?;
        let steps = [ring.count, 3 * ring.count];
        let time = self.slope(steps, |steps| ring.follow(follow, steps), || Ok(()))?;
        ring.check(steps[1]).map(|()| self.cycles(time))
    }

    /// The same in memory: the caches are filled with something else before.
    fn memory_latency(&self, l2: usize) -> Result<f64, Failed> {
        let ring = self.ring((4 * l2).next_power_of_two())?;
        let mut other: Buffer<u8> = self.gpu.allocate(2 * l2)?;
        other.fill(0)?;
        let follow = |steps| ring.follow(&self.follow_past_l1, steps);
        let time = self.slope(MEMORY_STEPS, follow, || self.probe.read(&other, 1))?;
        ring.check(MEMORY_STEPS[1]).map(|()| self.cycles(time))
    }

    /// The largest ring that the first-level cache holds.
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
        let time =
            self.slope(READINGS, |readings| self.probe.read(&buffer, readings), || Ok(()))?;
        Ok(buffer.bytes() as f64 / time / 1e9)
    }

    fn memory_gbs(&self, l2: usize) -> Result<f64, Failed> {
        let mut sweeps = DeviceSweeps::new(&self.gpu, 32 * l2);
        sweeps.look(&self.probe, LOOKS, None)?;
        let Peak::Gpu { copy_gbs, .. } = sweeps.best() else {
            return Err(Failed("the sweeps of a device are those of a host".into()));
        };
        Ok(copy_gbs)
    }

    /// Cycles of a multiprocessor that is full of warps for an instruction of one of them.
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
        let added = LOOKS * warps * ADDITIONS.iter().sum::<usize>();
        let found = counter.to_vec()?[0] as usize;
        if found != added {
            return Err(Failed(format!("{added} atomic additions of 1 gave {found}")));
        }
        Ok(self.cycles(time) / warps as f64)
    }

    /// Per kernel of a graph of empty ones.
    fn graph_launch_us(&self) -> Result<f64, Failed> {
        let launches = || (0..GRAPH_LAUNCHES).try_for_each(|_| self.probe.launch_empty());
        let graph = self.gpu.capture(launches)?;
        let look = || self.probe.time(|| graph.launch());
        let looks = (0..LOOKS).map(|_| look()).collect::<Result<Vec<_>, _>>()?;
        Ok(microseconds(looks.into_iter().min().unwrap_or_default()) / GRAPH_LAUNCHES as f64)
    }
}

/// Lines of device memory, each of which names the next.
struct Ring {
    words: Buffer<u64>,
    /// Where it was last left.
    end: Buffer<u64>,
    count: usize,
    step: usize,
}

impl Ring {
    /// Enqueues so many steps from the first line.
    fn follow(&self, kernel: &Kernel, steps: usize) -> Result<(), Failed> {
        kernel.launch(1, WARP, 0, &[&(steps as u32), &self.words, &self.end])
    }

    /// That the last of the ways, which had so many steps, ended where it should.
    fn check(&self, steps: usize) -> Result<(), Failed> {
        let line = steps * self.step % self.count;
        let (right, found) = (self.words.address() + (line * LINE) as u64, self.end.to_vec()?[0]);
        let failed = || Failed(format!("{steps} loads ended at {found:#x} and not at {right:#x}"));
        (found == right).then_some(()).ok_or_else(failed)
    }
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

fn microseconds(time: Duration) -> f64 {
    1e6 * time.as_secs_f64()
}

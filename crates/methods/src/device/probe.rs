//! Kernels that measure the device itself: the time of a launch, the bandwidth on a buffer of a given size, and a
//! kernel that occupies the device while the host enqueues the work to be timed.

use std::time::Duration;

use super::buffer::Buffer;
use super::errors::{Failed, Unprepared};
use super::gpu::Gpu;
use super::kernel::Kernel;
use super::launch::WARP;
use super::program::program;

/// Threads per block of the reading kernel.
pub const BLOCK: usize = 256;
/// The number of bytes that a thread reads at once.
const VECTOR: usize = 16;

/// The shortest time for which the device is occupied before a measurement; the host can enqueue several launches in
/// it.
const LEAD: Duration = Duration::from_micros(30);
/// The longest such time. A host that needs longer may be blocked by the work itself, such as a call that waits for it.
const LONGEST_LEAD: Duration = Duration::from_millis(20);
/// How often a batch is timed at most, if the host did not enqueue it in that time.
const ATTEMPTS: usize = 3;
/// The number of empty kernels in one measurement of the launch time.
const LAUNCHES: usize = 500;
/// The number of measurements of the launch time; the shortest is used.
const REPETITIONS: usize = 3;
/// The approximate minimum duration of a timed copy or read of a buffer, and the most of them that are timed together.
const REGION: Duration = Duration::from_micros(200);
const MOST_REPEATS: usize = 100;
/// The assumed bandwidth of a device whose nominal bandwidth is unknown, in GB/s.
const GUESSED_GBS: f64 = 1000.0;

pub struct Probe {
    gpu: Gpu,
    empty: Kernel,
    spin: Kernel,
    read: Kernel,
    read_evict_first: Kernel,
    /// The exclusive or of all words read so far, which prevents the compiler from removing the reads.
    pub sink: Buffer<u32>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Timing {
    /// The time on the device, from the start to the end of the batch.
    pub device: Duration,
    /// The time that the host has needed to enqueue the batch; zero on a model.
    pub host: Duration,
}

/// Returns how long the device is occupied before a batch that the host is expected to enqueue in the time `host`.
fn lead(host: Duration) -> Duration {
    (host * 3 / 2).clamp(LEAD, LONGEST_LEAD)
}

impl Probe {
    pub fn new(gpu: &Gpu) -> Result<Self, Unprepared> {
        let module = gpu.compile::<f64>(program!("cuda/probe.cu"), &[("BLOCK", BLOCK)])?;
        let kernel = |name| module.kernel(name);
        Ok(Self {
            gpu: gpu.clone(),
            empty: kernel("probe_empty")?,
            spin: kernel("probe_spin")?,
            read: kernel("probe_read")?,
            read_evict_first: kernel("probe_read_evict_first")?,
            sink: gpu.upload(&[0])?,
        })
    }

    /// Times a batch of `count` calls of `work`, each of which enqueues the same. The device is occupied before, so
    /// that its time contains no waiting for the host: for one and a half times `host`, the time in which the host is
    /// expected to enqueue the batch. If the host was slower, the batch is timed again, with the time that the host has
    /// needed. A single call is never repeated, because it may depend on what was before it, such as the values of y or
    /// cold caches.
    pub fn time(
        &self,
        count: usize,
        host: Duration,
        mut work: impl FnMut() -> Result<(), Failed>,
    ) -> Result<Timing, Failed> {
        let attempts = if count > 1 { ATTEMPTS } else { 1 };
        let mut timing = Timing { host, ..Timing::default() };
        for _ in 0..attempts {
            let lead = lead(timing.host);
            timing = self.time_after(lead, || (0..count).try_for_each(|_| work()))?;
            if timing.host <= lead || lead == LONGEST_LEAD {
                break;
            }
        }
        Ok(timing)
    }

    /// Times what `work` enqueues after the device was occupied for `lead`.
    fn time_after(&self, lead: Duration, work: impl FnOnce() -> Result<(), Failed>) -> Result<Timing, Failed> {
        self.occupy(lead)?;
        let mut host = Duration::ZERO;
        let device = self.gpu.time(|| {
            let start = self.gpu.host_clock();
            let done = work();
            host = self.gpu.host_clock() - start;
            done
        })?;
        Ok(Timing { device, host })
    }

    /// Returns the time on the device until it is idle, which includes work in streams of libraries. The device is
    /// occupied for 30 µs before.
    pub fn time_until_idle(&self, work: impl FnOnce() -> Result<(), Failed>) -> Result<Duration, Failed> {
        let timing = self.time_after(LEAD, || work().and_then(|()| self.gpu.synchronize()))?;
        Ok(timing.device)
    }

    /// Occupies the device for at least `lead`: its clock may be lower than the highest one.
    fn occupy(&self, lead: Duration) -> Result<(), Failed> {
        let cycles = lead.as_micros() as u64 * u64::from(self.gpu.facts().clock_mhz);
        self.spin.launch(1, WARP, 0, &[&cycles])
    }

    /// Returns the device's shortest time per launch in a sequence of empty kernels.
    pub fn launch_time(&self) -> Result<Duration, Failed> {
        let (mut host, mut least) = (Duration::ZERO, Duration::MAX);
        for _ in 0..REPETITIONS {
            let timing = self.time(LAUNCHES, host, || self.launch_empty())?;
            (host, least) = (timing.host, least.min(timing.device));
        }
        Ok(least / LAUNCHES as u32)
    }

    pub fn launch_empty(&self) -> Result<(), Failed> {
        self.empty.launch(1, WARP, 0, &[])
    }

    /// Enqueues `repeats` reads of all whole vectors of `buffer`, bypassing the L1 caches.
    pub fn read(&self, buffer: &Buffer<u8>, repeats: usize) -> Result<(), Failed> {
        self.read_with(&self.read, buffer, repeats)
    }

    /// Enqueues two reads of `buffer`, which should be twice as large as the L2 cache. The first replaces all that is
    /// there. The second has the hint evict-first (`ld.global.cs`), so that whatever is loaded later replaces the
    /// buffer. The first alone would leave lines of normal priority, which a kernel whose own loads have that hint
    /// (`STREAMED`) may not be able to replace, so it would have less of the cache than others. The second alone may
    /// for the same reason leave what earlier kernels have loaded.
    pub fn empty_l2(&self, buffer: &Buffer<u8>) -> Result<(), Failed> {
        self.read(buffer, 1)?;
        self.read_with(&self.read_evict_first, buffer, 1)
    }

    fn read_with(&self, read: &Kernel, buffer: &Buffer<u8>, repeats: usize) -> Result<(), Failed> {
        let (count, repeats) = ((buffer.len() / VECTOR) as u64, repeats as u32);
        let wave = read.resident_blocks(BLOCK, 0)?;
        let grid = wave.min((buffer.len() / VECTOR).div_ceil(BLOCK));
        read.launch(grid, BLOCK, 0, &[&count, &repeats, buffer, &self.sink])
    }
}

/// A copy within a GPU's memory and a read-only sweep over it. The memory is allocated only while it is swept.
pub struct DeviceSweeps {
    gpu: Gpu,
    bytes: usize,
    /// The number of sweeps that are timed together.
    repeats: usize,
    /// The best rates so far of the copy and of the read-only sweep, in GB/s (10^9 bytes per second).
    pub best_gbs: [f64; 2],
}

impl DeviceSweeps {
    /// Sweeps over a buffer of about `bytes`: one half is copied to the other, and all of it is read.
    pub fn new(gpu: &Gpu, bytes: usize) -> Self {
        let bytes = bytes.max(8192).next_multiple_of(512);
        let nominal = gpu.facts().nominal_gbs();
        let guess = if nominal > 0.0 { nominal } else { GUESSED_GBS };
        let repeats = (REGION.as_secs_f64() * guess * 1e9 / bytes as f64).ceil() as usize;
        Self { gpu: gpu.clone(), bytes, repeats: repeats.min(MOST_REPEATS), best_gbs: [0.0; 2] }
    }

    /// Times both sweeps `repetitions` times and keeps the best rates. Reading `evictor` empties the cache outside the
    /// timed region; with it only one sweep is timed at once.
    pub fn measure(&mut self, probe: &Probe, repetitions: usize, evictor: Option<&Buffer<u8>>) -> Result<(), Failed> {
        let repeats = if evictor.is_some() { 1 } else { self.repeats };
        let mut buffer: Buffer<u8> = self.gpu.allocate(self.bytes)?;
        buffer.fill(1)?;
        let bytes = (self.bytes * repeats) as f64;
        let gbs = |count, sweep: &mut dyn FnMut() -> Result<(), Failed>| {
            evictor.map_or(Ok(()), |evictor| probe.empty_l2(evictor))?;
            let timing = probe.time(count, Duration::ZERO, sweep)?;
            Ok::<_, Failed>(bytes / timing.device.as_secs_f64() / 1e9)
        };
        for _ in 0..repetitions {
            let copy = gbs(repeats, &mut || buffer.copy_half())?;
            let read = gbs(1, &mut || probe.read(&buffer, repeats))?;
            self.best_gbs = [self.best_gbs[0].max(copy), self.best_gbs[1].max(read)];
        }
        Ok(())
    }
}

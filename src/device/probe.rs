//! Kernels that measure the device itself: the time of a launch, the bandwidth of reads, and a kernel that occupies
//! the device while the host enqueues the work to be timed.

use std::time::Duration;

use super::kernel::{Kernel, Program};
use super::{Buffer, Gpu};
use crate::device::{Failed, Unprepared};

/// The source of the kernels.
pub static PROGRAM: Program =
    Program { name: "probe.cu", source: include_str!("../../cuda/probe.cu") };

/// Threads per block of the reading kernel.
pub const BLOCK: usize = 256;
const WARP: usize = 32;
/// The number of bytes that a thread reads at once.
const VECTOR: usize = 16;

/// The time for which the device is occupied before a measurement; the host can enqueue several launches in it.
const LEAD: Duration = Duration::from_micros(30);
/// The number of empty kernels in one measurement of the launch time.
const LAUNCHES: usize = 500;
/// The number of measurements of the launch time; the shortest is used.
const REPETITIONS: usize = 3;

/// The kernels, compiled for a device.
pub struct Probe {
    gpu: Gpu,
    empty: Kernel,
    spin: Kernel,
    read: Kernel,
    /// The result of the reads, which prevents the compiler from removing them.
    sink: Buffer<u32>,
}

impl Probe {
    /// Compiles and loads the kernels.
    ///
    /// # Errors
    /// Returns an error if there is no compiler for the device.
    pub fn new(gpu: &Gpu) -> Result<Self, Unprepared> {
        let module = gpu.compile::<f64>(&PROGRAM, &[("BLOCK", BLOCK)])?;
        let kernel = |name| module.kernel(name);
        Ok(Self {
            gpu: gpu.clone(),
            empty: kernel("probe_empty")?,
            spin: kernel("probe_spin")?,
            read: kernel("probe_read")?,
            sink: gpu.upload(&[0])?,
        })
    }

    /// Returns the time on the device for the work that `work` enqueues. The device is occupied before, so that the
    /// time does not contain the latency of the first launch.
    ///
    /// # Errors
    /// Returns the error of `work` or of the device.
    pub fn time(&self, work: impl FnOnce() -> Result<(), Failed>) -> Result<Duration, Failed> {
        self.occupy()?;
        self.gpu.time(work)
    }

    /// Like [`time`](Self::time), but waits until the device is idle, which includes work in streams of libraries.
    ///
    /// # Errors
    /// Returns the error of `work` or of the device.
    pub fn time_until_idle(
        &self,
        work: impl FnOnce() -> Result<(), Failed>,
    ) -> Result<Duration, Failed> {
        self.occupy()?;
        self.gpu.time(|| work().and_then(|()| self.gpu.synchronize()))
    }

    /// Occupies the device for [`LEAD`].
    fn occupy(&self) -> Result<(), Failed> {
        let cycles = LEAD.as_micros() as u64 * u64::from(self.gpu.facts().clock_mhz);
        self.spin.launch(1, WARP, 0, &[&cycles])
    }

    /// Returns the shortest time per launch in a sequence of empty kernels: the host's or the device's part, whichever
    /// is longer.
    ///
    /// # Errors
    /// Returns the device's error.
    pub fn launch_time(&self) -> Result<Duration, Failed> {
        let launches = || (0..LAUNCHES).try_for_each(|_| self.launch_empty());
        let times = (0..REPETITIONS).map(|_| self.time(launches)).collect::<Result<Vec<_>, _>>()?;
        Ok(times.into_iter().min().unwrap_or_default() / LAUNCHES as u32)
    }

    /// Enqueues an empty kernel.
    ///
    /// # Errors
    /// Returns the device's error.
    pub fn launch_empty(&self) -> Result<(), Failed> {
        self.empty.launch(1, WARP, 0, &[])
    }

    /// Enqueues `repeats` reads of all whole vectors of `buffer`, bypassing the L1 caches.
    ///
    /// # Errors
    /// Returns the device's error.
    pub fn read(&self, buffer: &Buffer<u8>, repeats: usize) -> Result<(), Failed> {
        let (count, repeats) = ((buffer.len() / VECTOR) as u64, repeats as u32);
        let wave = self.read.resident_blocks(BLOCK, 0)?;
        let grid = wave.min((buffer.len() / VECTOR).div_ceil(BLOCK));
        self.read.launch(grid, BLOCK, 0, &[&count, &repeats, buffer, &self.sink])
    }

    /// Returns the exclusive or of all words read so far.
    ///
    /// # Errors
    /// Returns the device's error.
    pub fn words_read(&self) -> Result<u32, Failed> {
        Ok(self.sink.to_vec()?[0])
    }
}

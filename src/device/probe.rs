//! Kernels that measure the device itself: what a launch costs, how fast memory is read, and one that
//! keeps the device busy while the host enqueues what is to be timed.

use std::time::Duration;

use super::kernel::{Kernel, Program};
use super::{Buffer, Gpu};
use crate::method::{Failed, Unprepared};

/// The kernels' text.
pub static PROGRAM: Program =
    Program { name: "probe.cu", source: include_str!("../../cuda/probe.cu") };

/// Threads per block of the reading kernel.
pub const BLOCK: usize = 256;
const WARP: usize = 32;
/// Bytes that a thread reads at once.
const VECTOR: usize = 16;

/// How long the device is kept busy before something is timed: the host enqueues several launches in it.
const LEAD: Duration = Duration::from_micros(30);
/// Launches of the empty kernel in one look at its time, and looks.
const LAUNCHES: usize = 500;
const LOOKS: usize = 3;

/// The kernels, compiled for a device.
pub struct Probe {
    gpu: Gpu,
    empty: Kernel,
    spin: Kernel,
    read: Kernel,
    /// What reading leaves, so that it cannot be left out.
    sink: Buffer<u32>,
}

impl Probe {
    /// Compiles and loads them.
    ///
    /// # Errors
    /// Without a compiler for the device.
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

    /// The time that the device takes for what `work` enqueues. It is kept busy before, so that the time
    /// does not contain the latency of the first launch.
    ///
    /// # Errors
    /// Those of `work` and of the device.
    pub fn time(&self, work: impl FnOnce() -> Result<(), Failed>) -> Result<Duration, Failed> {
        self.occupy()?;
        self.gpu.time(work)
    }

    /// The same until the whole device is idle: also work in streams of others is waited for.
    ///
    /// # Errors
    /// Those of `work` and of the device.
    pub fn time_until_idle(
        &self,
        work: impl FnOnce() -> Result<(), Failed>,
    ) -> Result<Duration, Failed> {
        self.occupy()?;
        self.gpu.time(|| work().and_then(|()| self.gpu.synchronize()))
    }

    /// Keeps the device busy for a while.
    fn occupy(&self) -> Result<(), Failed> {
        let cycles = LEAD.as_micros() as u64 * u64::from(self.gpu.facts().clock_mhz);
        self.spin.launch(1, WARP, 0, &[&cycles])
    }

    /// The least time that a launch takes when kernels that do nothing follow each other: the host's part
    /// or the device's, whichever is longer.
    ///
    /// # Errors
    /// Those of the device.
    pub fn launch_time(&self) -> Result<Duration, Failed> {
        let launches = || (0..LAUNCHES).try_for_each(|_| self.launch_empty());
        let looks = (0..LOOKS).map(|_| self.time(launches)).collect::<Result<Vec<_>, _>>()?;
        Ok(looks.into_iter().min().unwrap_or_default() / LAUNCHES as u32)
    }

    /// Enqueues a kernel that does nothing.
    ///
    /// # Errors
    /// Those of the device.
    pub fn launch_empty(&self) -> Result<(), Failed> {
        self.empty.launch(1, WARP, 0, &[])
    }

    /// Enqueues reading whole vectors of `buffer`, so often, past the first-level caches.
    ///
    /// # Errors
    /// Those of the device.
    pub fn read(&self, buffer: &Buffer<u8>, repeats: usize) -> Result<(), Failed> {
        let (count, repeats) = ((buffer.len() / VECTOR) as u64, repeats as u32);
        let wave = self.read.resident_blocks(BLOCK, 0)?;
        let grid = wave.min((buffer.len() / VECTOR).div_ceil(BLOCK));
        self.read.launch(grid, BLOCK, 0, &[&count, &repeats, buffer, &self.sink])
    }

    /// The exclusive or of all words read so far.
    ///
    /// # Errors
    /// Those of the device.
    pub fn words_read(&self) -> Result<u32, Failed> {
        Ok(self.sink.to_vec()?[0])
    }
}

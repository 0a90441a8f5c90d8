//! The bandwidth that a GPU reaches on a buffer of a given size.

use std::time::Duration;

use super::probe::Probe;
use super::{Buffer, Failed, Gpu};

/// The approximate minimum duration of a timed region.
const REGION: Duration = Duration::from_micros(200);

/// A copy within a GPU's memory and a read-only sweep over it. The memory is allocated only while it is swept.
pub struct DeviceSweeps {
    gpu: Gpu,
    bytes: usize,
    /// The number of sweeps that are timed together.
    repeats: usize,
    copy_gbs: f64,
    read_gbs: f64,
}

/// The assumed bandwidth of a device whose nominal bandwidth is unknown, in GB/s.
const GUESSED_GBS: f64 = 1000.0;
const MOST_REPEATS: usize = 100;

impl DeviceSweeps {
    /// Sweeps over a buffer of about `bytes`: one half is copied to the other, and all of it is read.
    pub fn new(gpu: &Gpu, bytes: usize) -> Self {
        let bytes = bytes.max(8192).next_multiple_of(512);
        let nominal = gpu.facts().nominal_gbs();
        let guess = if nominal > 0.0 { nominal } else { GUESSED_GBS };
        let repeats = (REGION.as_secs_f64() * guess * 1e9 / bytes as f64).ceil() as usize;
        let repeats = repeats.min(MOST_REPEATS);
        Self { gpu: gpu.clone(), bytes, repeats, copy_gbs: 0.0, read_gbs: 0.0 }
    }

    /// Times both sweeps `repetitions` times and keeps the best rates. Reading `evictor` empties the cache outside the
    /// timed region; with it only one sweep is timed at once.
    pub fn measure(
        &mut self,
        probe: &Probe,
        repetitions: usize,
        evictor: Option<&Buffer<u8>>,
    ) -> Result<(), Failed> {
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
            (self.copy_gbs, self.read_gbs) = (self.copy_gbs.max(copy), self.read_gbs.max(read));
        }
        Ok(())
    }

    /// Returns the best rates so far of the copy and of the read-only sweep, in GB/s (10^9 bytes per second).
    pub fn best_gbs(&self) -> [f64; 2] {
        [self.copy_gbs, self.read_gbs]
    }
}

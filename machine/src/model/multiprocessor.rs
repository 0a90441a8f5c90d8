//! The state of a multiprocessor in a replay: its resident blocks, and the choice of the next warp.

use super::cache::Cache;
use super::calendar::Calendar;
use super::trace::BlockTrace;

/// A multiprocessor with its resident blocks.
pub struct Multiprocessor {
    /// One place for each block that can be resident.
    pub places: Vec<Running>,
    /// The first-level cache.
    pub l1: Cache,
    /// The reservations of the load/store unit, in wavefronts.
    pub lsu: Calendar,
    /// The reservations of the issue slots of the schedulers.
    pub issue: Calendar,
    /// The time at which the last warp so far has ended, in cycles.
    pub end: f64,
}

impl Multiprocessor {
    /// Returns the place, the warp and the time of the warp with the earliest time. Ties go to the first.
    pub fn next(&self) -> Option<(usize, usize, f64)> {
        let nexts = self.places.iter().enumerate().filter_map(|(place, running)| {
            let (warp, time) = running.next?;
            Some((place, warp, time))
        });
        nexts.min_by(|a, b| a.2.total_cmp(&b.2))
    }
}

/// A resident block, or a free place.
#[derive(Default)]
pub struct Running {
    /// The trace of the block.
    pub block: BlockTrace,
    /// The progress of each warp.
    pub warps: Vec<Clock>,
    /// The number of warps that wait at the barrier.
    pub arrived: usize,
    /// The number of warps that have not ended.
    pub live: usize,
    /// The time at which the block started, in cycles.
    pub start: f64,
    /// The warp with the earliest time among those that neither wait nor have ended, and its time.
    pub next: Option<(usize, f64)>,
}

/// The progress of a warp: its position in the trace and its time.
#[derive(Clone, Copy, Default)]
pub struct Clock {
    /// The position of the next step in the trace.
    pub at: usize,
    /// The time of the next step, in cycles.
    pub time: f64,
    /// The time at which the last outstanding load completes, in cycles.
    pub pending: f64,
    /// Whether the warp waits at a barrier.
    pub waits: bool,
    /// Whether the warp has ended.
    pub ended: bool,
}

impl Running {
    /// Starts a block in this place.
    pub fn begin(&mut self, block: BlockTrace, time: f64) {
        let clock = Clock { time, ..Clock::default() };
        (self.arrived, self.live) = (0, block.warps.len());
        self.start = time;
        self.warps.clear();
        self.warps.resize(block.warps.len(), clock);
        self.block = block;
        self.find_next();
    }

    /// Updates [`next`](Self::next). Ties go to the first warp.
    pub fn find_next(&mut self) {
        let runs = self.warps.iter().enumerate().filter(|(_, clock)| !clock.waits && !clock.ended);
        self.next = runs.map(|(k, clock)| (k, clock.time)).min_by(|a, b| a.1.total_cmp(&b.1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of warps with equal times, the first warp in the first place runs.
    #[test]
    fn ties_go_to_the_first() {
        let running = |times: &[f64], waits: usize| {
            let clock = |(k, &time)| Clock { time, waits: k == waits, ..Clock::default() };
            let warps = times.iter().enumerate().map(clock).collect();
            let mut running = Running { warps, ..Running::default() };
            running.find_next();
            running
        };
        let mut multiprocessor = Multiprocessor {
            places: vec![running(&[3.0], 0), running(&[1.0, 2.0, 2.0], 0), running(&[2.0], 1)],
            l1: Cache::new(0),
            lsu: Calendar::new(1.0),
            issue: Calendar::new(1.0),
            end: 0.0,
        };
        assert_eq!(multiprocessor.next(), Some((1, 1, 2.0)));
        multiprocessor.places.truncate(1);
        assert_eq!(multiprocessor.next(), None);
    }
}

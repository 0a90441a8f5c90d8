//! A multiprocessor that is replayed: its blocks, and which of their warps goes on.

use super::cache::Cache;
use super::calendar::Calendar;
use super::trace::BlockTrace;

/// A multiprocessor with its blocks.
pub struct Multiprocessor {
    /// As many as blocks can be resident.
    pub places: Vec<Running>,
    /// The first-level cache.
    pub l1: Cache,
    /// The load and store unit.
    pub lsu: Calendar,
    /// The schedulers.
    pub issue: Calendar,
    /// When the last of its warps so far has ended.
    pub end: f64,
}

impl Multiprocessor {
    /// Of all places, the warp that is furthest behind, and its time; of several the first.
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
    /// What the block does.
    pub block: BlockTrace,
    /// How far its warps are.
    pub warps: Vec<Clock>,
    /// Warps that have come to the barrier.
    pub arrived: usize,
    /// Warps that have not ended.
    pub live: usize,
    /// When it has begun.
    pub start: f64,
    /// The warp that is furthest behind of those that can go on, and its time.
    pub next: Option<(usize, f64)>,
}

/// Where a warp is in its trace, and in time.
#[derive(Clone, Copy, Default)]
pub struct Clock {
    /// The step that comes next.
    pub at: usize,
    /// When it comes.
    pub time: f64,
    /// When the last of its loads comes.
    pub pending: f64,
    /// Whether it waits at a barrier.
    pub waits: bool,
    /// Whether nothing follows.
    pub ended: bool,
}

impl Running {
    /// A block takes the place.
    pub fn begin(&mut self, block: BlockTrace, time: f64) {
        let clock = Clock { time, ..Clock::default() };
        (self.arrived, self.live) = (0, block.warps.len());
        self.start = time;
        self.warps.clear();
        self.warps.resize(block.warps.len(), clock);
        self.block = block;
        self.find_next();
    }

    /// Looks for the warp that is furthest behind; of several the first.
    pub fn find_next(&mut self) {
        let runs = self.warps.iter().enumerate().filter(|(_, clock)| !clock.waits && !clock.ended);
        self.next = runs.map(|(k, clock)| (k, clock.time)).min_by(|a, b| a.1.total_cmp(&b.1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of warps that are equally far behind, the first goes on, in the first place that has one.
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

//! The state of a multiprocessor in a replay: its resident blocks, the choice of the next warp, and the reservations of
//! the throughput of its units.

use std::collections::{HashMap, VecDeque};

use super::cache::Cache;
use super::trace::BlockTrace;

/// The number of cycles of one entry of a calendar.
const STRETCH: f64 = 128.0;

/// The reservations of a unit with a limited throughput.
pub struct Calendar {
    /// The amount that can be reserved in each entry.
    capacity: f64,
    taken: Vec<f64>,
}

impl Calendar {
    pub fn new(per_cycle: f64) -> Self {
        Self { capacity: per_cycle * STRETCH, taken: Vec::new() }
    }

    /// Reserves `amount` from the first free capacity at or after `time`. Returns when the reservation begins and ends.
    pub fn take(&mut self, time: f64, amount: f64) -> (f64, f64) {
        let first = (time / STRETCH) as usize;
        let when = |at: usize| if at == first { time } else { at as f64 * STRETCH };
        let mut at = first;
        let mut left = amount;
        let mut begin = None;
        loop {
            if at >= self.taken.len() {
                self.taken.resize(at + 1024, 0.0);
            }
            let free = self.capacity - self.taken[at];
            if free > 0.0 {
                let begin = *begin.get_or_insert_with(|| when(at));
                self.taken[at] += left.min(free);
                left -= free;
                if left <= 0.0 {
                    return (begin, when(at));
                }
            }
            at += 1;
        }
    }
}

/// A multiprocessor with its resident blocks.
pub struct Multiprocessor {
    /// One place for each block that can be resident.
    pub places: Vec<Running>,
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
    pub block: BlockTrace,
    pub warps: Vec<Clock>,
    /// For each warp: the times at which its outstanding loads complete, in order.
    pub loads: Vec<VecDeque<f64>>,
    /// For each phase of an mbarrier: the number of copies and arrivals so far, and the time of the last one.
    pub phases: HashMap<u64, (u32, f64)>,
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
    pub at: usize,
    /// The time of the next step, in cycles.
    pub time: f64,
    /// The time at which the last access completes, in cycles.
    pub pending: f64,
    pub waits: bool,
    /// The phase of an mbarrier that the warp waits for.
    pub phase: Option<u64>,
    pub ended: bool,
}

impl Clock {
    pub fn end(&mut self) {
        self.time = self.time.max(self.pending);
        self.ended = true;
    }
}

impl Running {
    pub fn begin(&mut self, block: BlockTrace, time: f64) {
        let clock = Clock { time, ..Clock::default() };
        (self.arrived, self.live) = (0, block.warps.len());
        self.start = time;
        self.phases.clear();
        self.warps.clear();
        self.warps.resize(block.warps.len(), clock);
        self.loads.resize(block.warps.len(), VecDeque::new());
        self.block = block;
        self.find_next();
    }

    /// Records a load of a warp that is complete at a time, or when the load before it is.
    pub fn add_load(&mut self, warp: usize, done: f64) {
        let loads = &mut self.loads[warp];
        loads.push_back(loads.back().map_or(done, |last| last.max(done)));
    }

    /// Lets a warp wait for its loads except the `younger` last ones.
    pub fn wait(&mut self, warp: usize, clock: &mut Clock, younger: u32) {
        let loads = &mut self.loads[warp];
        let mut needed = loads.drain(..loads.len() - younger as usize);
        clock.time = needed.next_back().map_or(clock.time, |done| clock.time.max(done));
    }

    /// Lets a warp wait for a phase of an mbarrier.
    pub fn wait_for(&mut self, phase: u64, clock: &mut Clock) {
        match self.end_of_phase(phase) {
            Some(end) => clock.time = clock.time.max(end),
            None => clock.phase = Some(phase),
        }
    }

    /// Records a copy or an arrival in a phase of an mbarrier, which is complete at a time.
    pub fn add_to_phase(&mut self, phase: u64, time: f64) {
        let (count, last) = self.phases.entry(phase).or_default();
        (*count, *last) = (*count + 1, last.max(time));
        let Some(end) = self.end_of_phase(phase) else { return };
        for clock in self.warps.iter_mut().filter(|clock| clock.phase == Some(phase)) {
            (clock.time, clock.phase) = (clock.time.max(end), None);
        }
    }

    /// Returns the time at which a phase of an mbarrier is complete; `None` if copies or arrivals are missing.
    fn end_of_phase(&self, phase: u64) -> Option<f64> {
        let &(count, last) = self.phases.get(&phase)?;
        (count == self.block.phases[&phase]).then_some(last)
    }

    /// Updates [`next`](Self::next). Ties go to the first warp.
    pub fn find_next(&mut self) {
        let runs = |clock: &Clock| !clock.waits && !clock.ended && clock.phase.is_none();
        let runs = self.warps.iter().enumerate().filter(|(_, clock)| runs(clock));
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

    /// With a throughput of 1 per cycle, each entry has a capacity of 128.
    #[test]
    fn a_reservation_continues_in_the_next_entries() {
        let mut calendar = Calendar::new(1.0);
        assert_eq!(calendar.take(10.0, 100.0), (10.0, 10.0));
        assert_eq!(calendar.take(10.0, 300.0), (10.0, 3.0 * STRETCH));
        assert_eq!(calendar.take(0.0, 112.0), (3.0 * STRETCH, 3.0 * STRETCH));
        assert_eq!(calendar.take(0.0, 1.0), (4.0 * STRETCH, 4.0 * STRETCH));
    }
}

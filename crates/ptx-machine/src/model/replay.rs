//! The replay of a launch: computes its time from the traces of its warps with caches, latencies and throughputs.
//!
//! Every warp has a clock. An instruction advances it by the cycles until the next one can issue. A wait advances it
//! to the time when the load whose value is needed, and all loads before it, complete. A load has the latency of the
//! cache that contains its data. It also reserves throughput of each unit that it uses (see [`Calendar`]): the
//! load/store unit and the issue slots of the multiprocessor, the second-level cache, and memory. The time of a launch
//! is therefore limited by the unit with the least free throughput, or by latency if too few warps are resident to hide
//! it. The tail of the last blocks is included. No formula decides which limit applies.

use std::collections::HashMap;

use super::cache::{Cache, Request};
use super::gpu::Gpu;
use super::multiprocessor::{Calendar, Clock, Multiprocessor, Running};
use super::trace::{BlockTrace, Path, Step};
use crate::coalesce::{LINE, SECTOR, line};

/// The number of cycles for which one multiprocessor is replayed before the next. The accesses of different
/// multiprocessors to the second-level cache are out of order by at most this time.
const WINDOW: f64 = 1000.0;

/// The traffic of a launch in sectors, and its time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traffic {
    /// The sectors requested from the first-level caches, and the hits among them.
    pub l1: (u64, u64),
    /// The sectors requested from the second-level cache, and the hits among them.
    pub l2: (u64, u64),
    /// The sectors read from memory.
    pub read: u64,
    /// The sectors written to memory.
    pub written: u64,
    /// The wavefronts of all load/store units.
    pub wavefronts: u64,
    /// The issue slots used on all multiprocessors.
    pub slots: f64,
    /// The maximum number of atomic operations on one cache line.
    pub same_line: u64,
    /// The duration of the launch in cycles.
    pub cycles: f64,
    /// The mean over all multiprocessors of the time at which their last block ends, in cycles.
    pub mean_cycles: f64,
    /// The sum over all warps of the cycles from start to end.
    pub warp_cycles: f64,
}

/// Replays the blocks of a launch, which start in the order of the iterator. `per_multiprocessor` blocks are resident
/// on a multiprocessor at a time and use `shared_bytes` bytes of shared memory together. The second-level cache has the
/// contents that the launches before have left.
pub fn replay(
    gpu: &Gpu,
    l2: &mut Cache,
    blocks: impl Iterator<Item = BlockTrace>,
    per_multiprocessor: usize,
    shared_bytes: usize,
) -> Traffic {
    let taken = if gpu.l1_has_shared { shared_bytes } else { 0 };
    let multiprocessor = || Multiprocessor {
        places: (0..per_multiprocessor).map(|_| Running::default()).collect(),
        l1: Cache::new(gpu.l1_bytes.saturating_sub(taken)),
        lsu: Calendar::new(1.0),
        issue: Calendar::new(gpu.issued_per_cycle),
        end: 0.0,
    };
    let mut replay = Replay {
        gpu,
        l2,
        l2_time: Calendar::new(gpu.l2_bytes_per_cycle),
        memory_time: Calendar::new(gpu.memory_bytes_per_cycle),
        atomics: HashMap::new(),
        traffic: Traffic::default(),
    };
    let all = (0..gpu.multiprocessors).map(|_| multiprocessor()).collect();
    let ends = replay.run(all, blocks);
    let mean_cycles = ends.iter().sum::<f64>() / ends.len() as f64;
    Traffic { mean_cycles, ..replay.traffic }
}

struct Replay<'a> {
    gpu: &'a Gpu,
    l2: &'a mut Cache,
    l2_time: Calendar,
    memory_time: Calendar,
    /// For each cache line: the time at which the last atomic operation completes, and the number of operations.
    atomics: HashMap<u64, (f64, u64)>,
    traffic: Traffic,
}

impl Replay<'_> {
    /// Replays all blocks. Returns the time at which each multiprocessor has finished its last block.
    fn run(&mut self, mut all: Vec<Multiprocessor>, mut blocks: impl Iterator<Item = BlockTrace>) -> Vec<f64> {
        let places = all[0].places.len();
        for place in 0..places {
            for multiprocessor in &mut all {
                if let Some(block) = blocks.next() {
                    multiprocessor.places[place].begin(block, 0.0);
                }
            }
        }
        let mut until = 0.0;
        loop {
            until += WINDOW;
            let mut left = false;
            for multiprocessor in &mut all {
                left |= self.window(multiprocessor, &mut blocks, until);
            }
            if !left {
                return all.iter().map(|multiprocessor| multiprocessor.end).collect();
            }
        }
    }

    /// Replays the warps of a multiprocessor up to a time. Returns whether any warp is left.
    fn window(
        &mut self,
        multiprocessor: &mut Multiprocessor,
        blocks: &mut impl Iterator<Item = BlockTrace>,
        until: f64,
    ) -> bool {
        loop {
            let Some((place, warp, time)) = multiprocessor.next() else { return false };
            if time >= until {
                return true;
            }
            let mut clock = multiprocessor.places[place].warps[warp];
            self.warp(multiprocessor, place, warp, &mut clock);
            let running = &mut multiprocessor.places[place];
            running.warps[warp] = clock;
            if clock.ended {
                running.live -= 1;
                self.traffic.warp_cycles += clock.time - running.start;
                multiprocessor.end = multiprocessor.end.max(clock.time);
                self.traffic.cycles = self.traffic.cycles.max(clock.time);
            }
            if clock.waits {
                running.arrived += 1;
            }
            if running.live == 0 {
                let end = running.warps.iter().map(|clock| clock.time).fold(0.0, f64::max);
                if let Some(block) = blocks.next() {
                    running.begin(block, end);
                }
            } else if running.arrived == running.live {
                let waiting = running.warps.iter_mut().filter(|clock| clock.waits);
                let met = waiting.fold(0.0, |latest: f64, clock| latest.max(clock.time));
                for clock in running.warps.iter_mut().filter(|clock| clock.waits) {
                    (clock.time, clock.waits) = (met, false);
                }
                running.arrived = 0;
            }
            running.find_next();
        }
    }

    /// Replays a warp until it has waited for memory, reaches a barrier, or ends.
    fn warp(&mut self, multiprocessor: &mut Multiprocessor, place: usize, warp: usize, clock: &mut Clock) {
        let Multiprocessor { places, l1, lsu, issue, .. } = multiprocessor;
        let running = &mut places[place];
        loop {
            let trace = &running.block.warps[warp];
            let Some(step) = trace.steps.get(clock.at) else { return clock.end() };
            clock.at += 1;
            match *step {
                Step::Work { slots, cycles } => {
                    self.traffic.slots += slots;
                    let (begin, end) = issue.take(clock.time, slots);
                    clock.time = end.max(begin + cycles);
                }
                Step::Shared { wavefronts } => {
                    self.traffic.wavefronts += u64::from(wavefronts);
                    clock.time = lsu.take(clock.time, wavefronts.into()).1;
                }
                Step::Global { path, wavefronts, same, answers, ref lines } => {
                    self.traffic.wavefronts += u64::from(wavefronts);
                    clock.time = lsu.take(clock.time, wavefronts.into()).1;
                    let lines = &trace.lines[lines.start as usize..lines.end as usize];
                    let done = self.request(l1, clock.time, path, same, lines);
                    clock.pending = clock.pending.max(done);
                    if answers {
                        running.add_load(warp, done);
                    }
                }
                Step::Copy { phase, address, bytes, once } => {
                    let kind = if once { Request::ReadsOnce } else { Request::Reads };
                    let done = self.copy(clock.time, address, bytes.into(), kind);
                    running.add_to_phase(phase, done);
                }
                Step::Arrive { phase } => running.add_to_phase(phase, clock.time),
                Step::Wait { younger } => return running.wait(warp, clock, younger),
                Step::WaitFor { phase } => return running.wait_for(phase, clock),
                Step::Barrier => {
                    clock.waits = true;
                    return;
                }
            }
        }
    }

    /// Sends the lines of a request through the caches. Returns the time at which all data are available.
    fn request(&mut self, l1: &mut Cache, now: f64, path: Path, same: u32, lines: &[u64]) -> f64 {
        let through_l1 = match path {
            Path::Load | Path::Once => self.gpu.l1_caches_loads,
            Path::ReadOnly => true,
            _ => false,
        };
        let kind = match path {
            Path::Store | Path::Atomic => Request::Writes,
            Path::Once => Request::ReadsOnce,
            _ => Request::Reads,
        };
        let writes = kind == Request::Writes;
        let mut done = if writes { now } else { now + self.gpu.l1_latency };
        for &word in lines {
            let (line, mut sectors) = line(word);
            if through_l1 {
                let hits = l1.access(line, sectors, kind).hits;
                self.traffic.l1.0 += u64::from(sectors.count_ones());
                self.traffic.l1.1 += u64::from(hits.count_ones());
                sectors &= !hits;
                if sectors == 0 {
                    continue;
                }
            }
            let mut came = self.beyond_l1(now, line, sectors, kind);
            if path == Path::Atomic {
                came = self.atomic(line, came, same);
            }
            if !writes || path == Path::Atomic {
                done = done.max(came);
            }
        }
        done
    }

    /// Sends the lines of a copy to shared memory to the second-level cache. Returns the time at which all are copied.
    fn copy(&mut self, now: f64, address: u64, bytes: u64, kind: Request) -> f64 {
        let first = address / SECTOR;
        let end = (address + bytes).div_ceil(SECTOR);
        let mut done = now;
        let mut sector = first;
        while sector < end {
            let line = sector * SECTOR / LINE;
            let within = sector % (LINE / SECTOR);
            let count = (LINE / SECTOR - within).min(end - sector);
            let sectors = ((1 << count) - 1) << within;
            done = done.max(self.beyond_l1(now, line, sectors, kind));
            sector += count;
        }
        done
    }

    /// Sends the sectors of a line to the second-level cache, and to memory if they are missing there. Returns the time
    /// at which they are available.
    fn beyond_l1(&mut self, now: f64, line: u64, sectors: u8, kind: Request) -> f64 {
        let bytes = |sectors: u32| f64::from(sectors) * SECTOR as f64;
        let found = self.l2.access(line, sectors, kind);
        let count = sectors.count_ones();
        self.traffic.l2.0 += u64::from(count);
        self.traffic.l2.1 += u64::from(found.hits.count_ones());
        let came = self.l2_time.take(now, bytes(count)).1 + self.gpu.l2_latency;
        if found.written_back > 0 {
            self.traffic.written += u64::from(found.written_back);
            self.memory_time.take(now, bytes(found.written_back));
        }
        let mut missing = sectors & !found.hits;
        if missing == 0 || kind == Request::Writes {
            return came;
        }
        if self.gpu.fetched_sectors == 2 {
            let pairs = (missing | missing >> 1) & 0b0101;
            let both = pairs | pairs << 1;
            let there = self.l2.access(line, both & !sectors, kind).hits | found.hits;
            missing = both & !there;
        }
        let fetched = missing.count_ones();
        self.traffic.read += u64::from(fetched);
        let beyond = self.gpu.memory_latency - self.gpu.l2_latency;
        self.memory_time.take(came, bytes(fetched)).1 + beyond
    }

    /// Executes atomic operations on a line, which are serialised. Returns the time at which they are complete.
    fn atomic(&mut self, line: u64, now: f64, same: u32) -> f64 {
        let (free, count) = self.atomics.entry(line).or_default();
        *count += u64::from(same);
        *free = free.max(now) + f64::from(same) * self.gpu.atomic_cycles;
        self.traffic.same_line = self.traffic.same_line.max(*count);
        *free
    }
}

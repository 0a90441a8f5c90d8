//! The time of a launch: the traces of its warps, replayed with caches, clocks and what passes through the
//! GPU in a cycle.
//!
//! Every warp has a clock. Instructions advance it by the cycles until the next can follow; a wait advances
//! it to the time when the slowest of the outstanding loads has come. A load takes the latency of the cache
//! that has it, and waits its turn wherever something passes only so much in a cycle: the wavefronts of a
//! multiprocessor's load and store unit, its schedulers, the second-level cache, and memory. Those are
//! calendars: how much of each stretch of time is taken. So a launch takes as long as the scarcest of them,
//! or as its warps' own waiting where too few of them are resident to hide it, with its tail, without any
//! rule that says which it is.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::cache::Cache;
use super::calendar::Calendar;
use super::gpu::Gpu;
use super::multiprocessor::{Clock, Multiprocessor, Running};
use super::trace::{BlockTrace, Path, Step};
use crate::coalesce::{SECTOR, line};

/// Cycles for which warps of one multiprocessor run before those of the next: what they do to the shared
/// cache is out of order by no more.
const WINDOW: f64 = 1000.0;
/// What passed through the caches in a launch, in sectors, and what bounds its time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traffic {
    /// Asked of the first-level caches, and found there.
    pub l1: (u64, u64),
    /// Asked of the second-level cache, and found there.
    pub l2: (u64, u64),
    /// Read from memory.
    pub read: u64,
    /// Written to memory.
    pub written: u64,
    /// Wavefronts of all load and store units.
    pub wavefronts: u64,
    /// Slots of all schedulers.
    pub slots: f64,
    /// The most atomic operations on one line.
    pub same_line: u64,
    /// Cycles from the beginning to the end.
    pub cycles: f64,
    /// The same until a multiprocessor has nothing left, on average over all of them.
    pub mean_cycles: f64,
    /// Cycles from the beginning of each warp to its end, added up.
    pub warp_cycles: f64,
}

/// The second-level cache, which keeps what it has from launch to launch.
pub struct Memories {
    l2: Cache,
}

impl Memories {
    /// Empty ones.
    pub fn new(gpu: &Gpu) -> Self {
        Self { l2: Cache::new(gpu.l2_bytes) }
    }

    /// Data come into the second-level cache by a copy or a fill, not by a kernel. Those that come from the
    /// host are in memory as well; the others still have to be written there.
    pub fn write(&mut self, first_line: u64, lines: u64, from_host: bool) {
        (first_line..first_line + lines).for_each(|line| {
            self.l2.access(line, 0xf, !from_host);
        });
    }

    /// Replays a launch: its blocks in the order in which they begin, `per_multiprocessor` of them at a
    /// time, which together take so many bytes of shared memory.
    pub fn replay(
        &mut self,
        gpu: &Gpu,
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
            l2: &mut self.l2,
            l2_time: Calendar::new(gpu.l2_bytes_per_cycle),
            memory_time: Calendar::new(gpu.memory_bytes_per_cycle),
            atomics: HashMap::default(),
            traffic: Traffic::default(),
        };
        let all = (0..gpu.multiprocessors).map(|_| multiprocessor()).collect();
        let ends = replay.run(all, blocks);
        let mean_cycles = ends.iter().sum::<f64>() / ends.len() as f64;
        Traffic { mean_cycles, ..replay.traffic }
    }
}

/// Spreads the numbers of lines, which nobody chooses to collide.
#[derive(Default)]
struct LineHasher(u64);

impl Hasher for LineHasher {
    fn write(&mut self, _: &[u8]) {
        unreachable!("lines are numbers of 64 bits")
    }

    fn write_u64(&mut self, line: u64) {
        self.0 = line.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// A launch that is replayed.
struct Replay<'a> {
    gpu: &'a Gpu,
    l2: &'a mut Cache,
    l2_time: Calendar,
    memory_time: Calendar,
    /// By line: when the last atomic operation on it is done, and how many there were.
    atomics: HashMap<u64, (f64, u64), BuildHasherDefault<LineHasher>>,
    traffic: Traffic,
}

impl Replay<'_> {
    /// Runs all blocks; when each multiprocessor has nothing left.
    fn run(
        &mut self,
        mut all: Vec<Multiprocessor>,
        mut blocks: impl Iterator<Item = BlockTrace>,
    ) -> Vec<f64> {
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

    /// Runs a multiprocessor's warps up to a time. Whether any is left.
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

    /// Runs a warp until it has waited for memory, or comes to a barrier, or ends.
    fn warp(
        &mut self,
        multiprocessor: &mut Multiprocessor,
        place: usize,
        warp: usize,
        clock: &mut Clock,
    ) {
        let Multiprocessor { places, l1, lsu, issue, .. } = multiprocessor;
        let trace = &places[place].block.warps[warp];
        loop {
            let Some((step, next)) = trace.step(clock.at) else {
                clock.time = clock.time.max(clock.pending);
                clock.ended = true;
                return;
            };
            clock.at = next;
            match step {
                Step::Work { slots, cycles } => {
                    self.traffic.slots += slots;
                    let (begin, end) = issue.take(clock.time, slots);
                    clock.time = end.max(begin + cycles);
                }
                Step::Shared { wavefronts } => {
                    self.traffic.wavefronts += u64::from(wavefronts);
                    clock.time = lsu.take(clock.time, wavefronts.into()).1;
                }
                Step::Global { path, wavefronts, same, lines } => {
                    self.traffic.wavefronts += u64::from(wavefronts);
                    clock.time = lsu.take(clock.time, wavefronts.into()).1;
                    let done = self.request(l1, clock.time, path, same, lines);
                    clock.pending = clock.pending.max(done);
                }
                Step::Wait => {
                    clock.time = clock.time.max(clock.pending);
                    return;
                }
                Step::Barrier => {
                    clock.waits = true;
                    return;
                }
            }
        }
    }

    /// Takes the lines of a request through the caches; when all are there.
    fn request(&mut self, l1: &mut Cache, now: f64, path: Path, same: u32, lines: &[u64]) -> f64 {
        let through_l1 = match path {
            Path::Load => self.gpu.l1_caches_loads,
            Path::ReadOnly => true,
            _ => false,
        };
        let writes = matches!(path, Path::Store | Path::Atomic);
        let mut done = if writes { now } else { now + self.gpu.l1_latency };
        for &word in lines {
            let (line, mut sectors) = line(word);
            if through_l1 {
                let hits = l1.access(line, sectors, false).hits;
                self.traffic.l1.0 += u64::from(sectors.count_ones());
                self.traffic.l1.1 += u64::from(hits.count_ones());
                sectors &= !hits;
                if sectors == 0 {
                    continue;
                }
            }
            let mut came = self.beyond_l1(now, line, sectors, writes);
            if path == Path::Atomic {
                came = self.atomic(line, came, same);
            }
            if !writes || path == Path::Atomic {
                done = done.max(came);
            }
        }
        done
    }

    /// Takes sectors through the second-level cache, and from memory where it lacks them.
    fn beyond_l1(&mut self, now: f64, line: u64, sectors: u8, writes: bool) -> f64 {
        let bytes = |sectors: u32| f64::from(sectors) * SECTOR as f64;
        let found = self.l2.access(line, sectors, writes);
        let count = sectors.count_ones();
        self.traffic.l2.0 += u64::from(count);
        self.traffic.l2.1 += u64::from(found.hits.count_ones());
        let came = self.l2_time.take(now, bytes(count)).1 + self.gpu.l2_latency;
        if found.written_back > 0 {
            self.traffic.written += u64::from(found.written_back);
            self.memory_time.take(now, bytes(found.written_back));
        }
        let mut missing = sectors & !found.hits;
        if missing == 0 || writes {
            return came;
        }
        if self.gpu.fetched_sectors == 2 {
            let pairs = (missing | missing >> 1) & 0b0101;
            let both = pairs | pairs << 1;
            let there = self.l2.access(line, both & !sectors, false).hits | found.hits;
            missing = both & !there;
        }
        let fetched = missing.count_ones();
        self.traffic.read += u64::from(fetched);
        let beyond = self.gpu.memory_latency - self.gpu.l2_latency;
        self.memory_time.take(came, bytes(fetched)).1 + beyond
    }

    /// Atomic operations on one line are done one after the other.
    fn atomic(&mut self, line: u64, now: f64, same: u32) -> f64 {
        let (free, count) = self.atomics.entry(line).or_default();
        *count += u64::from(same);
        *free = free.max(now) + f64::from(same) * self.gpu.atomic_cycles;
        self.traffic.same_line = self.traffic.same_line.max(*count);
        *free
    }
}

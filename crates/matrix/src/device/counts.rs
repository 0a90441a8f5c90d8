//! Counts of a kernel on a modelled GPU: exact counts, and results of the modelled caches.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The counts of a stage's launches. Those before `l1_sectors` are exact properties of the kernel and the matrix on any
/// GPU of this architecture. The others are modelled.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    pub warp_instructions: u64,
    /// The number of lanes that executed them, summed over the instructions.
    pub thread_instructions: u64,
    /// The bytes that lanes loaded from global memory.
    pub loaded_bytes: u64,
    /// The sectors of 32 bytes that contain these bytes.
    pub loaded_sectors: u64,
    pub stored_bytes: u64,
    pub stored_sectors: u64,
    /// The number of lanes that executed an atomic operation on global memory.
    pub atomics: u64,
    pub shared_accesses: u64,
    /// The wavefronts of these accesses: one per access without bank conflicts, two for 8 bytes per lane.
    pub shared_wavefronts: u64,
    /// Per thread.
    pub registers: u32,
    pub shared_bytes: u32,
    /// The sectors requested from the L1 caches, and those of them that were there.
    pub l1_sectors: u64,
    pub l1_hits: u64,
    pub l2_sectors: u64,
    pub l2_hits: u64,
    /// The bytes read from memory and written to it.
    pub read_bytes: u64,
    pub written_bytes: u64,
    pub cycles: f64,
    /// The cycles until a multiprocessor had no work left, averaged over all multiprocessors.
    pub mean_cycles: f64,
    /// The resident times of all warps in cycles, summed and divided by the number of warp slots.
    pub occupied_cycles: f64,
    /// The cycles in which each part of the GPU was busy, averaged over its copies.
    pub busy: Busy,
    /// The counts of each executed source line, ordered by file and line, if they were requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<LineCounts>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LineCounts {
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    pub text: String,
    pub warp_instructions: u64,
    pub thread_instructions: u64,
    /// The sectors of global memory that the accesses touched.
    pub sectors: u64,
    /// The smallest number of sectors that could contain the accessed bytes.
    pub needed_sectors: u64,
    /// The wavefronts of shared memory accesses.
    pub wavefronts: u64,
    /// The smallest number of wavefronts that could transfer the accessed bytes.
    pub needed_wavefronts: u64,
}

impl LineCounts {
    /// Returns the sectors that accesses to contiguous bytes would not have touched.
    pub fn wasted_sectors(&self) -> u64 {
        self.sectors - self.needed_sectors
    }

    /// Returns the wavefronts that bank conflicts caused.
    pub fn extra_wavefronts(&self) -> u64 {
        self.wavefronts - self.needed_wavefronts
    }

    /// Returns the number of inactive lanes, summed over the executed instructions of the line.
    pub fn idle_lanes(&self) -> u64 {
        32 * self.warp_instructions - self.thread_instructions
    }

    fn add(&mut self, more: &Self) {
        self.warp_instructions += more.warp_instructions;
        self.thread_instructions += more.thread_instructions;
        self.sectors += more.sectors;
        self.needed_sectors += more.needed_sectors;
        self.wavefronts += more.wavefronts;
        self.needed_wavefronts += more.needed_wavefronts;
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Busy {
    pub memory: f64,
    pub l2: f64,
    pub l1: f64,
    pub issue: f64,
    pub atomics: f64,
}

/// The share of the time for which a part must be busy to be the bound. Below it, waiting is the bound.
const BOUND_FROM_SHARE: f64 = 0.6;

impl Counts {
    /// Returns the average share of a multiprocessor's warps that are resident while it has any (achieved occupancy).
    pub fn achieved_occupancy(&self) -> Option<f64> {
        (self.mean_cycles > 0.0).then(|| self.occupied_cycles / self.mean_cycles)
    }

    /// Returns the share of active lanes per executed instruction (the profiler's warp execution efficiency).
    pub fn warp_execution_efficiency(&self) -> Option<f64> {
        share(self.thread_instructions, 32 * self.warp_instructions)
    }

    /// Returns the requested bytes divided by the bytes of the sectors (the profiler's global load efficiency).
    pub fn load_efficiency(&self) -> Option<f64> {
        share(self.loaded_bytes, 32 * self.loaded_sectors)
    }

    /// Returns the bound of the time and the share of the time for which the busiest part was busy. The bound is the
    /// busiest part; if it is not busy enough, "imbalance" if multiprocessors are idle for much of the time, else
    /// "latency".
    pub fn limit(&self) -> (&'static str, f64) {
        let shares = self.busy_shares().into_iter();
        let (name, of_time) = shares.max_by(|a, b| a.1.total_cmp(&b.1)).expect("five");
        match of_time >= BOUND_FROM_SHARE {
            true => (name, of_time),
            false if self.mean_cycles < BOUND_FROM_SHARE * self.cycles => ("imbalance", of_time),
            false => ("latency", of_time),
        }
    }

    pub fn busy_shares(&self) -> [(&'static str, f64); 5] {
        let Busy { memory, l2, l1, issue, atomics } = self.busy;
        let parts = [("memory", memory), ("L2", l2), ("L1", l1), ("issue", issue), ("atomics", atomics)];
        parts.map(|(name, busy)| (name, if self.cycles > 0.0 { busy / self.cycles } else { 0.0 }))
    }

    pub fn counted(&self) -> String {
        let percent = |share: Option<f64>| share.map_or("-".into(), |share| format!("{:.0} %", 100.0 * share));
        let conflicts = match self.shared_accesses {
            0 => String::new(),
            accesses => {
                let turns = self.shared_wavefronts as f64 / accesses as f64;
                format!(", {turns:.1} wavefronts per access to shared memory")
            }
        };
        let megabytes = |bytes: u64| bytes as f64 / 1e6;
        format!(
            "warps {} active, loads {} used{conflicts}; L1 hits {}, L2 hits {}, {:.2} MB read and {:.2} MB written",
            percent(self.warp_execution_efficiency()),
            percent(self.load_efficiency()),
            percent(share(self.l1_hits, self.l1_sectors)),
            percent(share(self.l2_hits, self.l2_sectors)),
            megabytes(self.read_bytes),
            megabytes(self.written_bytes),
        )
    }

    /// Adds the counts of a later launch of the same stage.
    pub fn add(&mut self, more: &Self) {
        let pairs = [
            (&mut self.warp_instructions, more.warp_instructions),
            (&mut self.thread_instructions, more.thread_instructions),
            (&mut self.loaded_bytes, more.loaded_bytes),
            (&mut self.loaded_sectors, more.loaded_sectors),
            (&mut self.stored_bytes, more.stored_bytes),
            (&mut self.stored_sectors, more.stored_sectors),
            (&mut self.atomics, more.atomics),
            (&mut self.shared_accesses, more.shared_accesses),
            (&mut self.shared_wavefronts, more.shared_wavefronts),
            (&mut self.l1_sectors, more.l1_sectors),
            (&mut self.l1_hits, more.l1_hits),
            (&mut self.l2_sectors, more.l2_sectors),
            (&mut self.l2_hits, more.l2_hits),
            (&mut self.read_bytes, more.read_bytes),
            (&mut self.written_bytes, more.written_bytes),
        ];
        pairs.into_iter().for_each(|(sum, more)| *sum += more);
        self.cycles += more.cycles;
        self.mean_cycles += more.mean_cycles;
        self.occupied_cycles += more.occupied_cycles;
        for line in &more.lines {
            let known = |of: &&mut LineCounts| (&of.file, of.line) == (&line.file, line.line);
            match self.lines.iter_mut().find(known) {
                Some(of) => of.add(line),
                None => self.lines.push(line.clone()),
            }
        }
        let (busy, more) = (&mut self.busy, &more.busy);
        busy.memory += more.memory;
        busy.l2 += more.l2;
        busy.l1 += more.l1;
        busy.issue += more.issue;
        busy.atomics += more.atomics;
    }
}

/// The metrics of a profiler for a product. For several kernels they are means weighted by the kernels' times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// In percent, as the two after it: see the functions of [`Counts`].
    pub achieved_occupancy: Option<f64>,
    pub warp_execution_efficiency: Option<f64>,
    pub global_load_efficiency: Option<f64>,
    /// The bytes that all kernels read from memory and write to memory.
    pub memory_bytes: u64,
    /// The bound of the kernel that takes most of the time; see [`Counts::limit`].
    pub bound_by: &'static str,
    pub warp_instructions: u64,
    /// The sectors of global memory that the loads and stores of all kernels access.
    pub global_sectors: u64,
    /// The registers per thread of the kernel that takes most of the time.
    pub registers: u32,
}

impl Profile {
    /// Computes the profile of a product from the times and counts of its kernels; `None` if there are none.
    pub fn of<'c>(kernels: impl Iterator<Item = (f64, &'c Counts)> + Clone) -> Option<Self> {
        let (_, longest) = kernels.clone().max_by(|a, b| a.0.total_cmp(&b.0))?;
        let mean = |share: fn(&Counts) -> Option<f64>| {
            let known = kernels.clone().filter_map(|(ms, counts)| Some((ms, ms * share(counts)?)));
            let (whole, sum) = known.fold((0.0, 0.0), |(a, b), (ms, part)| (a + ms, b + part));
            (whole > 0.0).then(|| 100.0 * sum / whole)
        };
        let total = |count: fn(&Counts) -> u64| kernels.clone().map(|(_, of)| count(of)).sum();
        Some(Self {
            achieved_occupancy: mean(Counts::achieved_occupancy),
            warp_execution_efficiency: mean(Counts::warp_execution_efficiency),
            global_load_efficiency: mean(Counts::load_efficiency),
            memory_bytes: total(|counts| counts.read_bytes + counts.written_bytes),
            bound_by: longest.limit().0,
            warp_instructions: total(|counts| counts.warp_instructions),
            global_sectors: total(|counts| counts.loaded_sectors + counts.stored_sectors),
            registers: longest.registers,
        })
    }
}

impl fmt::Display for Counts {
    /// Writes one line: the bound of the time, then [`counted`](Self::counted).
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (limit, of_time) = self.limit();
        write!(f, "bound by {limit} ({:.0} % busy); {}", 100.0 * of_time, self.counted())
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
#[test]
fn a_profile_is_the_mean_over_the_times_of_kernels() {
    let busy = Counts {
        warp_instructions: 10,
        thread_instructions: 320,
        loaded_bytes: 64,
        loaded_sectors: 4,
        registers: 32,
        read_bytes: 100,
        cycles: 100.0,
        mean_cycles: 90.0,
        occupied_cycles: 45.0,
        busy: Busy { memory: 70.0, l2: 10.0, ..Busy::default() },
        ..Counts::default()
    };
    let lone = Counts {
        warp_instructions: 10,
        thread_instructions: 80,
        written_bytes: 1,
        cycles: 50.0,
        mean_cycles: 5.0,
        ..Counts::default()
    };
    assert_eq!((busy.limit().0, lone.limit().0), ("memory", "imbalance"));
    assert_eq!(Counts { mean_cycles: 50.0, ..lone.clone() }.limit().0, "latency");
    let profile = Profile::of([(3.0, &busy), (1.0, &lone)].into_iter()).unwrap();
    assert_eq!(profile.achieved_occupancy, Some(37.5));
    assert_eq!(profile.warp_execution_efficiency, Some(75.0 + 6.25));
    assert_eq!(profile.global_load_efficiency, Some(50.0), "of the kernel that loads");
    assert_eq!((profile.memory_bytes, profile.bound_by), (101, "memory"));
    assert_eq!((profile.warp_instructions, profile.global_sectors), (20, 4));
    assert_eq!(profile.registers, 32);
    assert_eq!(Profile::of(std::iter::empty()), None);
}

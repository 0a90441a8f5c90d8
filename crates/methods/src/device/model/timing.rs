use std::collections::BTreeMap;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use ptx_machine::coalesce::{LINE, SECTOR};
use ptx_machine::model::{Cache, Counts as InstructionCounts, Cure, Gpu, Recorder, Traffic, replay};
use ptx_machine::program::{Access, Atomic, Operation, Space};
use ptx_machine::{Fault, Kernel, Launch, Machine};

use super::loaded::Loaded;
use super::occupancy::Limits;
use crate::device::sources;
use crate::team::unpin;
use spmv_matrix::device::counts::{Busy, Counts, LineCounts};

/// The maximum number of blocks whose traces wait for the replay.
const BLOCKS_AHEAD: usize = 64;

/// The performance model of a GPU, with its second-level cache, whose contents persist between launches.
pub struct Timing {
    gpu: Gpu,
    limits: Limits,
    pub l2: Cache,
    pub cure: Cure,
}

impl Timing {
    pub fn new(gpu: Gpu, limits: Limits) -> Self {
        Self { l2: Cache::new(gpu.l2_bytes), gpu, limits, cure: Cure::Nothing }
    }

    /// Executes a launch, of which at most `most` blocks are resident on a multiprocessor, while another thread replays
    /// the traces of its warps. Returns the modelled time and the counts.
    pub fn run(
        &mut self,
        machine: &mut Machine,
        launch: &Launch,
        loaded: &Loaded,
        most: usize,
    ) -> Result<(Duration, Counts), Box<Fault>> {
        let Self { gpu, limits, l2, cure } = self;
        let threads = launch.shape.iter().product::<u32>();
        let warps = (threads as usize).div_ceil(32);
        let shared = launch.kernel.shared_bytes + launch.dynamic_shared;
        let blocks = launch.grid.iter().product::<u32>() as usize;
        let fit = blocks.div_ceil(gpu.multiprocessors);
        let shared_bytes = most.min(fit) * shared;
        let resident = match cure {
            Cure::Occupancy => fit.min(limits.most_blocks(threads) as usize),
            _ => fit.min(most),
        };
        let (sender, blocks) = sync_channel(BLOCKS_AHEAD);
        let (counted, traffic) = thread::scope(|scope| {
            let replayed = scope.spawn(|| {
                unpin();
                replay(gpu, l2, blocks.into_iter(), resident, shared_bytes)
            });
            // Sending fails only if the other thread has panicked, which is reported when it is joined.
            let mut recorder = Recorder::new(launch.kernel, gpu, *cure, warps, move |block| drop(sender.send(block)));
            let ran = machine.launch(launch, Some(&mut recorder));
            let counts = recorder.end();
            let traffic = replayed.join().unwrap_or_else(|cause| std::panic::resume_unwind(cause));
            (ran.map(|()| counts), traffic)
        });
        let counts = counts(launch, loaded, &counted?, &traffic, (gpu, limits));
        Ok((Duration::from_secs_f64(traffic.cycles / (1e6 * gpu.clock_mhz)), counts))
    }

    /// Returns the time between two kernels of a stream, or of a graph.
    pub fn gap(&self, in_graph: bool) -> Duration {
        let us = if in_graph { self.gpu.graph_launch_us } else { self.gpu.launch_us };
        Duration::from_secs_f64(1e-6 * us)
    }

    pub fn memory_gbs(&self) -> f64 {
        self.gpu.memory_bytes_per_cycle * self.gpu.clock_mhz / 1e3
    }

    /// Records that a copy or a fill has written memory through the second-level cache.
    pub fn written(&mut self, to: u64, bytes: usize, from_host: bool) {
        self.l2.fill(to / LINE..(to + bytes as u64).div_ceil(LINE), from_host);
    }

    /// Lets the `share` (0 to 1) of these bytes persist in a part (0 to 1) of the second-level cache.
    pub fn persist(&mut self, address: u64, bytes: usize, share: f64, part: f64) {
        let lines = (address + bytes as u64).div_ceil(LINE) - address / LINE;
        self.l2.persist(address / LINE, lines, share, part);
    }
}

fn counts(
    launch: &Launch,
    loaded: &Loaded,
    counted: &[InstructionCounts],
    traffic: &Traffic,
    (gpu, limits): (&Gpu, &Limits),
) -> Counts {
    let (read_bytes, written_bytes) = (SECTOR * traffic.read, SECTOR * traffic.written);
    let multiprocessors = gpu.multiprocessors as f64;
    let mut sum = Counts {
        registers: loaded.usage(launch.kernel).registers,
        shared_bytes: (launch.kernel.shared_bytes + launch.dynamic_shared) as u32,
        l1_sectors: traffic.l1.0,
        l1_hits: traffic.l1.1,
        l2_sectors: traffic.l2.0,
        l2_hits: traffic.l2.1,
        read_bytes,
        written_bytes,
        cycles: traffic.cycles,
        mean_cycles: traffic.mean_cycles,
        occupied_cycles: traffic.warp_cycles / (gpu.multiprocessors * limits.threads as usize / 32) as f64,
        busy: Busy {
            memory: (read_bytes + written_bytes) as f64 / gpu.memory_bytes_per_cycle,
            l2: (SECTOR * traffic.l2.0) as f64 / gpu.l2_bytes_per_cycle,
            l1: traffic.wavefronts as f64 / multiprocessors,
            issue: traffic.slots / gpu.issued_per_cycle / multiprocessors,
            atomics: traffic.same_line as f64 * gpu.atomic_cycles,
        },
        lines: lines(launch.kernel, counted, loaded),
        ..Counts::default()
    };
    add_instructions(&mut sum, launch.kernel, counted);
    sum
}

/// Adds what each instruction has done.
fn add_instructions(sum: &mut Counts, kernel: &Kernel, counted: &[InstructionCounts]) {
    for (instruction, counts) in kernel.code.iter().zip(counted) {
        sum.warp_instructions += counts.warps;
        sum.thread_instructions += counts.lanes;
        sum.shared_wavefronts += counts.wavefronts;
        match &instruction.operation {
            Operation::Load(Access { space: Space::Shared, .. })
            | Operation::Store(Access { space: Space::Shared, .. })
            | Operation::Atomic(Atomic { space: Space::Shared, .. }) => {
                sum.shared_accesses += counts.warps;
            }
            Operation::Load(_) | Operation::Copy(_) => {
                sum.loaded_bytes += counts.bytes;
                sum.loaded_sectors += counts.sectors;
            }
            Operation::Store(_) => {
                sum.stored_bytes += counts.bytes;
                sum.stored_sectors += counts.sectors;
            }
            Operation::Atomic(_) => sum.atomics += counts.lanes,
            _ => (),
        }
    }
}

fn lines(kernel: &Kernel, counted: &[InstructionCounts], loaded: &Loaded) -> Vec<LineCounts> {
    let mut by_line = BTreeMap::<_, LineCounts>::new();
    for (instruction, counts) in counted.iter().enumerate() {
        let of_line = by_line.entry(kernel.line(instruction)).or_default();
        of_line.warp_instructions += counts.warps;
        of_line.thread_instructions += counts.lanes;
        of_line.sectors += counts.sectors;
        of_line.needed_sectors += counts.needed_sectors;
        of_line.wavefronts += counts.wavefronts;
        of_line.needed_wavefronts += counts.needed_wavefronts;
    }
    let executed = by_line.into_iter().filter(|(_, counts)| counts.warp_instructions > 0);
    let in_full = executed.map(|((file, line), counts)| {
        let header = || sources::headers().find(|(name, _)| *name == file).map(|(_, text)| text);
        let known = if loaded.name == file { Some(&*loaded.source) } else { header() };
        let text = known.and_then(|text| text.lines().nth(line.checked_sub(1)?));
        let text = text.unwrap_or_default().trim().to_owned();
        LineCounts { file: file.into(), line, text, ..counts }
    });
    in_full.collect()
}

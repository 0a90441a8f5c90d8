//! The recorder of a launch: counts the work of each instruction and records the traces of warps.

use std::collections::HashMap;

use super::gpu::{Cure, Gpu};
use super::trace::{BlockTrace, Path, Step, Trace};
use crate::arithmetic::{Type, widths};
use crate::coalesce::{LINE, Lines, SECTOR, wavefronts};
use crate::lanes::{LANES, Mask, which};
use crate::program::{Collective, Comparison, Kernel, Operation, Space, loads, waits};

/// A warp of a launch: the linear index of its block in the grid, and its own index in the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpId {
    pub block: u32,
    pub warp: u16,
}

/// An access of a warp to one memory: `size` bytes at an address for each lane of `mask`.
pub struct WarpAccess {
    pub space: Space,
    pub path: Path,
    /// Whether the warp receives a value.
    pub answers: bool,
    pub addresses: [u64; LANES],
    pub mask: Mask,
    pub size: usize,
}

/// The exact counts of one instruction in a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The number of times that a warp executed it.
    pub warps: u64,
    /// The number of times that a lane executed it.
    pub lanes: u64,
    /// The number of sectors of global memory that its accesses touch.
    pub sectors: u64,
    /// The minimum number of sectors for the bytes that its accesses request.
    pub needed_sectors: u64,
    /// The number of bytes that its lanes request from global and shared memory.
    pub bytes: u64,
    /// The number of wavefronts of shared memory.
    pub wavefronts: u64,
    /// The minimum number of wavefronts for the bytes that its lanes request.
    pub needed_wavefronts: u64,
}

/// The cost of an instruction without its memory access.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Cost {
    slots: f64,
    /// The number of cycles until the next instruction of the warp can issue.
    cycles: f64,
    /// Whether it waits for loads.
    waits: bool,
}

/// The traces of the running blocks.
struct Running {
    /// The number of warps per block.
    warps: usize,
    blocks: Vec<BlockTrace>,
    /// The index of the block that executed the last instruction.
    latest: usize,
}

impl Running {
    #[inline(always)]
    fn block(&mut self, number: u32) -> &mut BlockTrace {
        let latest = self.blocks.get(self.latest);
        if latest.is_none_or(|block| block.number != number) {
            self.find(number);
        }
        &mut self.blocks[self.latest]
    }

    #[inline(always)]
    fn trace(&mut self, warp: WarpId) -> &mut Trace {
        &mut self.block(warp.block).warps[usize::from(warp.warp)]
    }

    /// Selects a block, and creates it if it has not run yet.
    fn find(&mut self, number: u32) {
        let place = self.blocks.iter().position(|block| block.number == number);
        self.latest = place.unwrap_or_else(|| {
            let warps = vec![Trace::default(); self.warps];
            self.blocks.push(BlockTrace { number, warps, phases: HashMap::new() });
            self.blocks.len() - 1
        });
    }
}

/// Records a launch of one kernel.
pub struct Recorder {
    costs: Vec<Cost>,
    /// For each instruction: its number among the loads, and the numbers of those that it waits for.
    loads: Vec<(Option<usize>, Vec<usize>)>,
    cure: Cure,
    counts: Vec<Counts>,
    /// For each instruction: the end of the stretch that starts there, and the numbers of warps and lanes that executed
    /// it.
    stretches: Vec<(usize, u64, u64)>,
    running: Running,
    /// Receives the trace of each block when it has ended.
    take: Box<dyn FnMut(BlockTrace)>,
}

impl Recorder {
    /// Creates a recorder for blocks of `warps` warps that leaves out the problem `cure`. `take` receives the traces.
    pub fn new(kernel: &Kernel, gpu: &Gpu, cure: Cure, warps: usize, take: impl FnMut(BlockTrace) + 'static) -> Self {
        let code = || kernel.code.iter();
        let loads = numbered(kernel);
        let costs = code()
            .zip(&loads)
            .map(|(it, (_, waits))| Cost { waits: !waits.is_empty(), ..cost(&it.operation, gpu) });
        let end = |at, stretch| if stretch > 0 { at + stretch as usize } else { 0 };
        Self {
            costs: costs.collect(),
            loads,
            cure,
            counts: vec![Counts::default(); kernel.code.len()],
            stretches: code().enumerate().map(|(at, it)| (end(at, it.stretch), 0, 0)).collect(),
            running: Running { warps, blocks: Vec::new(), latest: 0 },
            take: Box::new(take),
        }
    }

    pub fn end(mut self) -> Vec<Counts> {
        for (first, &(end, warps, lanes)) in self.stretches.iter().enumerate() {
            for counts in self.counts[..end].iter_mut().skip(first) {
                (counts.warps, counts.lanes) = (warps, lanes);
            }
        }
        self.counts
    }

    /// Called when a warp executes the stretch of instructions that begins at `first` with the lanes `active`. Guards
    /// of single instructions may exclude some of these lanes. The accesses of the stretch's last instruction are
    /// recorded after this call.
    #[inline(always)]
    pub(crate) fn executed(&mut self, warp: WarpId, first: usize, active: Mask) {
        let (end, warps, lanes) = &mut self.stretches[first];
        *warps += 1;
        *lanes += u64::from(active.count_ones());
        let part = match self.cure {
            Cure::IdleLanes => f64::from(active.count_ones()) / LANES as f64,
            _ => 1.0,
        };
        let trace = self.running.trace(warp);
        for (cost, at) in self.costs[first..*end].iter().zip(first..) {
            if cost.waits {
                trace.wait(&self.loads[at].1);
            }
            trace.work(part * cost.slots, part * cost.cycles);
        }
    }

    /// Called when a warp accesses memory.
    #[inline(always)]
    pub(crate) fn accessed(&mut self, warp: WarpId, instruction: usize, access: &WarpAccess) {
        match access.space {
            Space::Global => self.global(warp, instruction, access),
            Space::Shared => self.shared(warp, instruction, access),
            _ => (),
        }
    }

    #[inline(always)]
    fn global(&mut self, warp: WarpId, instruction: usize, access: &WarpAccess) {
        let &WarpAccess { path, answers, ref addresses, mask, size, .. } = access;
        let mut lines = Lines::of(addresses, mask);
        let asked = mask.count_ones() * size as u32;
        let (touched, needed) = (lines.sectors(), asked.div_ceil(SECTOR as u32));
        let counts = &mut self.counts[instruction];
        counts.sectors += u64::from(touched);
        counts.needed_sectors += u64::from(needed.min(touched));
        counts.bytes += u64::from(asked);
        if self.cure == Cure::WastedSectors {
            lines.keep_sectors(needed);
        }
        let turns = match path {
            Path::Atomic => mask.count_ones(),
            _ => asked.div_ceil(4 * LANES as u32).max(lines.get().len() as u32),
        };
        let contends = path == Path::Atomic && self.cure != Cure::Contention;
        let same = if contends { most_at_one(addresses, mask) } else { 0 };
        let load = self.loads[instruction].0.filter(|_| answers);
        self.running.trace(warp).push_global(path, [turns, same], lines.get(), load);
    }

    #[inline(always)]
    fn shared(&mut self, warp: WarpId, instruction: usize, access: &WarpAccess) {
        let &WarpAccess { path, addresses: ref offsets, mask, size, .. } = access;
        let turns = match path {
            Path::Atomic => most_at_one(offsets, mask).max(wavefronts(offsets, mask, size)),
            _ => wavefronts(offsets, mask, size),
        };
        let asked = u64::from(mask.count_ones()) * size as u64;
        let needed = (asked.div_ceil(LINE) as u32).clamp(1, turns.max(1));
        let counts = &mut self.counts[instruction];
        counts.wavefronts += u64::from(turns);
        counts.needed_wavefronts += u64::from(needed);
        counts.bytes += asked;
        let turns = if self.cure == Cure::BankConflicts { needed } else { turns };
        self.running.trace(warp).push(Step::Shared { wavefronts: turns });
    }

    /// Called when a thread issues a copy to shared memory from an address with a size. `phase` identifies the phase of
    /// an mbarrier that waits for the copy. `once` is true if the second-level cache evicts these data first.
    pub(crate) fn copied(
        &mut self,
        warp: WarpId,
        instruction: usize,
        phase: u64,
        (address, bytes): (u64, u32),
        once: bool,
    ) {
        let sectors = (address + u64::from(bytes)).div_ceil(SECTOR) - address / SECTOR;
        let counts = &mut self.counts[instruction];
        counts.sectors += sectors;
        counts.needed_sectors += sectors;
        counts.bytes += u64::from(bytes);
        *self.running.block(warp.block).phases.entry(phase).or_default() += 1;
        self.running.trace(warp).push(Step::Copy { phase, address, bytes, once });
    }

    /// Called when a thread arrives at an mbarrier in a phase.
    pub(crate) fn arrived(&mut self, warp: WarpId, phase: u64) {
        *self.running.block(warp.block).phases.entry(phase).or_default() += 1;
        self.running.trace(warp).push(Step::Arrive { phase });
    }

    /// Called when a wait for a phase of an mbarrier has succeeded.
    pub(crate) fn waited(&mut self, warp: WarpId, phase: u64) {
        self.running.trace(warp).push(Step::WaitFor { phase });
    }

    /// Called when the warps that a barrier of the block expects have arrived.
    pub(crate) fn barrier(&mut self, block: u32) {
        let running = self.running.blocks.iter_mut().filter(|running| running.number == block);
        running.flat_map(|block| &mut block.warps).for_each(|trace| trace.push(Step::Barrier));
    }

    /// Called when all warps of a block have exited.
    pub(crate) fn ended(&mut self, block: u32) {
        let blocks = &mut self.running.blocks;
        let Some(at) = blocks.iter().position(|running| running.number == block) else { return };
        let mut ended = blocks.swap_remove(at);
        ended.warps.iter_mut().for_each(Trace::end);
        (self.take)(ended);
    }
}

/// Returns the maximum number of lanes that access the same address.
#[inline(always)]
fn most_at_one(addresses: &[u64; LANES], mask: Mask) -> u32 {
    let mut left = mask;
    let mut most = 0;
    while left != 0 {
        let address = addresses[left.trailing_zeros() as usize];
        let same = left & which(|lane| addresses[lane] == address);
        most = most.max(Mask::count_ones(same));
        left &= !same;
    }
    most
}

/// Returns for each instruction its number among the loads if it is one, and the numbers of those that it waits for.
fn numbered(kernel: &Kernel) -> Vec<(Option<usize>, Vec<usize>)> {
    let mut count = 0;
    let number = |operation| {
        loads(operation).then(|| {
            count += 1;
            count - 1
        })
    };
    let numbers: Vec<_> = kernel.code.iter().map(|it| &it.operation).map(number).collect();
    let of = |loads: Vec<usize>| loads.into_iter().filter_map(|at| numbers[at]).collect();
    numbers.iter().copied().zip(waits(&kernel.code).into_iter().map(of)).collect()
}

/// Returns the cost of an instruction. A 64-bit integer instruction counts as two of 32 bits.
fn cost(operation: &Operation, gpu: &Gpu) -> Cost {
    let of = |slots: f64, cycles: f64| Cost { slots, cycles, waits: false };
    match operation {
        _ if operation.is_free() => of(0.0, 0.0),
        Operation::Compute { function, kind, .. } => match kind {
            Type::f64 => of(gpu.double_cycles, 4.0 + gpu.double_cycles),
            _ if kind.is_wide() || widths(*function, *kind).0 => of(2.0, 4.0),
            _ => of(1.0, 2.5),
        },
        Operation::Convert { .. } => of(4.0, 8.0),
        Operation::Compare(Comparison { kind: Type::f64, .. }) => of(gpu.double_cycles, 4.0),
        Operation::Compare(Comparison { kind, .. }) if kind.is_wide() => of(2.0, 5.0),
        Operation::Load(access) if access.space == Space::Shared => of(1.0, 12.0),
        Operation::Store(access) if access.space == Space::Shared => of(1.0, 3.0),
        Operation::Atomic(atomic) if atomic.space == Space::Shared => of(2.0, 20.0),
        Operation::Collective { collective, .. } => match collective {
            Collective::Multiply { .. } => of(gpu.matrix_cycles, 8.0 + gpu.matrix_cycles),
            Collective::Vote { .. } | Collective::Barrier => of(1.0, 6.0),
            _ => of(2.0, 12.0),
        },
        Operation::Barrier(_) => of(1.0, 10.0),
        Operation::Fence => of(1.0, gpu.l2_latency),
        Operation::Mbarrier(_) | Operation::Copy(_) | Operation::ProxyFence => of(2.0, 20.0),
        Operation::Branch { .. } => of(1.0, 4.0),
        _ => of(1.0, 2.5),
    }
}

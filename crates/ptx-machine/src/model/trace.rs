//! The trace of a warp: the steps that its time depends on.

use std::collections::HashMap;
use std::ops::Range;

/// The resolution of cycles and slots: they are rounded down to eighths.
const PARTS: f64 = 8.0;
/// The number of cycles of work after which a step is ended, so that other warps can reserve issue slots in between.
const PIECE: f64 = 128.0;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// The steps in order. The recorder completes the last one with [`Trace::end`].
    pub steps: Vec<Step>,
    /// The lines of all accesses to global memory, as encoded by [`Lines`](crate::coalesce::Lines).
    pub lines: Vec<u64>,
    /// The slots and cycles of work that are not in a step yet.
    work: (f64, f64),
    /// The number of loads so far, and how many of these the warp has waited for.
    issued: u32,
    waited: u32,
    /// For each load instruction of the kernel: the number of the last load that it has issued.
    latest: Vec<u32>,
}

#[derive(Debug, Default)]
pub struct BlockTrace {
    /// The linear index of the block in the grid.
    pub number: u32,
    pub warps: Vec<Trace>,
    /// The number of copies and arrivals that each phase of an mbarrier waits for.
    pub phases: HashMap<u64, u32>,
}

/// The path of a request through the caches. Those that do not name the first-level cache bypass it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// Through the first-level cache if the GPU caches such loads there.
    Load,
    /// Always through the first-level cache.
    ReadOnly,
    Strong,
    /// An ordinary load of data that are used once, which are the first to be evicted.
    Once,
    Store,
    Atomic,
}

/// A step of a trace.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Instructions: their issue slots, and the cycles until the next instruction can issue.
    Work { slots: f64, cycles: f64 },
    /// An access to global memory: the number of wavefronts, the maximum number of lanes that update the same address,
    /// whether the warp receives a value, and the places of its lines in [`Trace::lines`].
    Global { path: Path, wavefronts: u32, same: u32, answers: bool, lines: Range<u32> },
    /// An access to shared memory.
    Shared { wavefronts: u32 },
    /// A wait for all loads but the last ones. A multiprocessor returns the data of a warp's loads in order.
    Wait { younger: u32 },
    /// A wait for the other warps of the block.
    Barrier,
    /// A copy from global to shared memory, which a phase of an mbarrier waits for, and whether its data are used once.
    Copy { phase: u64, address: u64, bytes: u32, once: bool },
    /// An arrival in a phase of an mbarrier.
    Arrive { phase: u64 },
    /// A wait for a phase of an mbarrier.
    WaitFor { phase: u64 },
}

impl Trace {
    /// Appends instructions. Long sequences become several steps, between which other warps can run.
    #[inline(always)]
    pub fn work(&mut self, slots: f64, cycles: f64) {
        self.work.0 += slots;
        self.work.1 += cycles;
        if self.work.1 >= PIECE {
            self.end_work();
        }
    }

    /// Appends an access, or an event of a barrier or an mbarrier.
    #[inline(always)]
    pub fn push(&mut self, step: Step) {
        self.end_work();
        self.steps.push(step);
    }

    /// Appends an access to these lines of global memory. `load` is the number of the instruction among the loads of
    /// the kernel if the warp receives a value.
    #[inline(always)]
    pub fn push_global(&mut self, path: Path, [wavefronts, same]: [u32; 2], lines: &[u64], load: Option<usize>) {
        let first = self.lines.len() as u32;
        self.lines.extend_from_slice(lines);
        let lines = first..self.lines.len() as u32;
        self.push(Step::Global { path, wavefronts, same, answers: load.is_some(), lines });
        let Some(load) = load else { return };
        self.issued += 1;
        if load >= self.latest.len() {
            self.latest.resize(load + 1, 0);
        }
        self.latest[load] = self.issued;
    }

    /// Appends a wait for the last loads of these instructions, unless the warp has waited for them already.
    #[inline(always)]
    pub fn wait(&mut self, loads: &[usize]) {
        let latest = loads.iter().filter_map(|&load| self.latest.get(load).copied()).max();
        self.wait_until(latest.unwrap_or(0));
    }

    /// Completes the trace, with a wait if a load is outstanding.
    pub fn end(&mut self) {
        self.wait_until(self.issued);
        self.end_work();
        self.latest = Vec::new();
    }

    fn wait_until(&mut self, number: u32) {
        if number > self.waited {
            self.waited = number;
            self.push(Step::Wait { younger: self.issued - number });
        }
    }

    fn end_work(&mut self) {
        let (slots, cycles) = std::mem::take(&mut self.work);
        if slots + cycles > 0.0 {
            let [slots, cycles] = [slots, cycles].map(|number| (number * PARTS).floor() / PARTS);
            self.steps.push(Step::Work { slots, cycles });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_joined_and_each_load_is_waited_for_once() {
        let mut trace = Trace::default();
        trace.wait(&[0]);
        trace.work(1.5, 4.0);
        trace.work(1.0, 2.1);
        trace.push_global(Path::ReadOnly, [2, 0], &[7, 8], Some(0));
        trace.push_global(Path::Load, [1, 0], &[9], Some(1));
        trace.push(Step::Shared { wavefronts: 3 });
        trace.wait(&[0, 2]);
        trace.wait(&[0]);
        trace.push_global(Path::Load, [1, 0], &[9], Some(0));
        trace.push_global(Path::Atomic, [1, 1], &[9], None);
        trace.wait(&[1]);
        trace.end();
        let global = |path, wavefronts, answers, lines| {
            let same = u32::from(path == Path::Atomic);
            Step::Global { path, wavefronts, same, answers, lines }
        };
        let expected = [
            Step::Work { slots: 2.5, cycles: 6.0 },
            global(Path::ReadOnly, 2, true, 0..2),
            global(Path::Load, 1, true, 2..3),
            Step::Shared { wavefronts: 3 },
            Step::Wait { younger: 1 },
            global(Path::Load, 1, true, 3..4),
            global(Path::Atomic, 1, false, 4..5),
            Step::Wait { younger: 1 },
            Step::Wait { younger: 0 },
        ];
        assert_eq!((&trace.steps[..], &trace.lines[..]), (&expected[..], &[7, 8, 9, 9, 9][..]));
    }
}

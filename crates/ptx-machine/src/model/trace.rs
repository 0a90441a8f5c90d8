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
    /// Whether a load is outstanding.
    outstanding: bool,
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
    /// and the places of its lines in [`Trace::lines`].
    Global { path: Path, wavefronts: u32, same: u32, lines: Range<u32> },
    /// An access to shared memory.
    Shared { wavefronts: u32 },
    /// A wait for all outstanding loads.
    Wait,
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

    /// Appends an access to these lines of global memory. With `answers`, the warp receives a value.
    #[inline(always)]
    pub fn push_global(
        &mut self,
        path: Path,
        [wavefronts, same]: [u32; 2],
        lines: &[u64],
        answers: bool,
    ) {
        let first = self.lines.len() as u32;
        self.lines.extend_from_slice(lines);
        let lines = first..self.lines.len() as u32;
        self.push(Step::Global { path, wavefronts, same, lines });
        self.outstanding |= answers;
    }

    /// Appends a wait if a load is outstanding.
    pub fn wait(&mut self) {
        if std::mem::take(&mut self.outstanding) {
            self.push(Step::Wait);
        }
    }

    /// Completes the trace, with a wait if a load is outstanding.
    pub fn end(&mut self) {
        self.wait();
        self.end_work();
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
        trace.wait();
        trace.work(1.5, 4.0);
        trace.work(1.0, 2.1);
        trace.push_global(Path::ReadOnly, [2, 0], &[7, 8], true);
        trace.push(Step::Shared { wavefronts: 3 });
        trace.wait();
        trace.push_global(Path::Load, [1, 0], &[9], true);
        trace.end();
        let global = |path, wavefronts, lines| Step::Global { path, wavefronts, same: 0, lines };
        let expected = [
            Step::Work { slots: 2.5, cycles: 6.0 },
            global(Path::ReadOnly, 2, 0..2),
            Step::Shared { wavefronts: 3 },
            Step::Wait,
            global(Path::Load, 1, 2..3),
            Step::Wait,
        ];
        assert_eq!((&trace.steps[..], &trace.lines[..]), (&expected[..], &[7, 8, 9][..]));
    }
}

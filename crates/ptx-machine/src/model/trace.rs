//! The trace of a warp: the steps that its time depends on, encoded in words of 64 bits.

use std::collections::HashMap;

/// The number of bits for the kind of a word.
const KIND: u32 = 3;
const WORK: u64 = 0;
const GLOBAL: u64 = 1;
const SHARED: u64 = 2;
const WAIT: u64 = 3;
const BARRIER: u64 = 4;
const COPY: u64 = 5;
const ARRIVE: u64 = 6;
const WAIT_FOR: u64 = 7;
/// The resolution of cycles and slots: they are stored in eighths.
const PARTS: f64 = 8.0;
/// The number of cycles of work after which a step is ended, so that other warps can reserve issue slots in between.
const PIECE: f64 = 128.0;

/// The trace of a warp.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    words: Vec<u64>,
    /// The slots and cycles of work that have not been encoded yet.
    work: (f64, f64),
    /// Whether a load is outstanding.
    outstanding: bool,
}

/// The trace of a block.
#[derive(Debug, Default)]
pub struct BlockTrace {
    /// The linear index of the block in the grid.
    pub number: u32,
    /// The traces of its warps.
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

/// The paths by their codes in a trace.
const PATHS: [Path; 6] =
    [Path::Load, Path::ReadOnly, Path::Strong, Path::Once, Path::Store, Path::Atomic];

/// A step of a trace.
#[derive(Debug, PartialEq)]
pub enum Step<'a> {
    /// Instructions: their issue slots, and the cycles until the next instruction can issue.
    Work { slots: f64, cycles: f64 },
    /// An access to global memory: the number of wavefronts, the maximum number of lanes that update the same address,
    /// and the lines as encoded by [`Lines`](crate::coalesce::Lines).
    Global { path: Path, wavefronts: u32, same: u32, lines: &'a [u64] },
    /// An access to shared memory with its number of wavefronts.
    Shared { wavefronts: u32 },
    /// A wait for all outstanding loads.
    Wait,
    /// A barrier of the block.
    Barrier,
    /// A copy from global to shared memory, which a phase of an mbarrier waits for, and whether its data are used once.
    Copy { phase: u64, address: u64, bytes: u64, once: bool },
    /// An arrival at an mbarrier in a phase.
    Arrive { phase: u64 },
    /// A wait for a phase.
    WaitFor { phase: u64 },
}

impl Trace {
    pub fn with_room(words: usize) -> Self {
        Self { words: Vec::with_capacity(words), ..Self::default() }
    }

    pub fn words(&self) -> usize {
        self.words.len()
    }

    /// Appends instructions. Long sequences become several steps, between which other warps can run.
    #[inline(always)]
    pub fn work(&mut self, slots: f64, cycles: f64) {
        self.work.0 += slots;
        self.work.1 += cycles;
        if self.work.1 >= PIECE {
            self.flush();
        }
    }

    /// Appends an access, or an event of a barrier or an mbarrier.
    #[inline(always)]
    pub fn push(&mut self, step: Step) {
        self.flush();
        self.encode(step);
    }

    #[inline(always)]
    fn encode(&mut self, step: Step) {
        match step {
            Step::Work { slots, cycles } => {
                let part = |number: f64| ((number * PARTS) as u64).min((1 << 30) - 1);
                self.words.push(WORK | part(slots) << KIND | part(cycles) << (KIND + 30));
            }
            Step::Global { path, wavefronts, same, lines } => {
                let head = GLOBAL
                    | (path as u64) << KIND
                    | (lines.len() as u64) << 8
                    | u64::from(wavefronts) << 16
                    | u64::from(same) << 32;
                self.words.push(head);
                self.words.extend_from_slice(lines);
            }
            Step::Shared { wavefronts } => self.words.push(SHARED | u64::from(wavefronts) << KIND),
            Step::Wait => self.words.push(WAIT),
            Step::Barrier => self.words.push(BARRIER),
            Step::Copy { phase, address, bytes, once } => {
                self.words.extend([COPY | phase << KIND, address, bytes << 1 | u64::from(once)]);
            }
            Step::Arrive { phase } => self.words.push(ARRIVE | phase << KIND),
            Step::WaitFor { phase } => self.words.push(WAIT_FOR | phase << KIND),
        }
    }

    /// Records that the warp receives the value of its last access.
    pub fn expect_answer(&mut self) {
        self.outstanding = true;
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
        self.flush();
    }

    /// Encodes the pending work.
    fn flush(&mut self) {
        let (slots, cycles) = std::mem::take(&mut self.work);
        if slots + cycles > 0.0 {
            self.encode(Step::Work { slots, cycles });
        }
    }

    /// Returns the step at a position and the position of the next step; `None` at the end.
    pub fn step(&self, at: usize) -> Option<(Step<'_>, usize)> {
        let &word = self.words.get(at)?;
        let rest = word >> KIND;
        let step = match word & ((1 << KIND) - 1) {
            WORK => {
                let part = |bits: u64| (bits & ((1 << 30) - 1)) as f64 / PARTS;
                Step::Work { slots: part(rest), cycles: part(rest >> 30) }
            }
            GLOBAL => {
                let path = PATHS[(rest & 0x1f) as usize];
                let count = (word >> 8 & 0xff) as usize;
                let lines = &self.words[at + 1..at + 1 + count];
                let (wavefronts, same) = ((word >> 16 & 0xffff) as u32, (word >> 32) as u32);
                return Some((Step::Global { path, wavefronts, same, lines }, at + 1 + count));
            }
            SHARED => Step::Shared { wavefronts: rest as u32 },
            COPY => {
                let (address, bytes) = (self.words[at + 1], self.words[at + 2] >> 1);
                let once = self.words[at + 2] & 1 == 1;
                return Some((Step::Copy { phase: rest, address, bytes, once }, at + 3));
            }
            ARRIVE => Step::Arrive { phase: rest },
            WAIT_FOR => Step::WaitFor { phase: rest },
            WAIT => Step::Wait,
            _ => Step::Barrier,
        };
        Some((step, at + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coalesce::Lines;

    #[test]
    fn encoded_steps_are_decoded() {
        let mut trace = Trace::default();
        trace.wait();
        trace.work(1.5, 4.0);
        trace.work(1.0, 2.0);
        let lines = Lines::of(&std::array::from_fn(|lane| 8 * lane as u64 + 128), !0);
        let path = Path::ReadOnly;
        trace.push(Step::Global { path, wavefronts: 2, same: 0, lines: lines.get() });
        trace.expect_answer();
        trace.push(Step::Shared { wavefronts: 3 });
        trace.wait();
        trace.wait();
        let phase = 7 << 32 | 1;
        let others = || {
            let copy = Step::Copy { phase, address: 1 << 46, bytes: 512, once: true };
            [Step::Barrier, copy, Step::Arrive { phase }, Step::WaitFor { phase }]
        };
        others().into_iter().for_each(|step| trace.push(step));
        trace.end();
        let (mut at, mut steps) = (0, Vec::new());
        while let Some((step, next)) = trace.step(at) {
            steps.push(step);
            at = next;
        }
        let lines = &[1 << 8 | 0xf, 2 << 8 | 0xf];
        let mut expected = vec![
            Step::Work { slots: 2.5, cycles: 6.0 },
            Step::Global { path, wavefronts: 2, same: 0, lines },
            Step::Shared { wavefronts: 3 },
            Step::Wait,
        ];
        expected.extend(others());
        assert_eq!(steps, expected);
    }
}

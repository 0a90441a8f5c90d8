//! What a warp did, as far as its time depends on it: the model replays it with caches and clocks.

/// The number of bits that tell the kind of a word.
const KIND: u32 = 3;
const WORK: u64 = 0;
const GLOBAL: u64 = 1;
const SHARED: u64 = 2;
const WAIT: u64 = 3;
const BARRIER: u64 = 4;
/// Cycles and slots of work are counted in eighths.
const PARTS: f64 = 8.0;
/// Cycles of work that a warp does without a look at the others.
const PIECE: f64 = 128.0;

/// What a warp did, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    words: Vec<u64>,
    /// Work that is not among the words yet: slots and cycles.
    work: (f64, f64),
    /// Whether a load has not been waited for.
    outstanding: bool,
}

/// What a block did.
#[derive(Debug, Default)]
pub struct BlockTrace {
    /// Its number in the grid.
    pub number: u32,
    /// What its warps did.
    pub warps: Vec<Trace>,
}

/// How a request goes through the caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// Through both, as memory that is written.
    Load,
    /// Through both, as memory that nobody writes.
    ReadOnly,
    /// Through the second-level cache alone.
    Strong,
    /// To the second-level cache.
    Store,
    /// At the second-level cache.
    Atomic,
}

/// One thing that a warp did.
#[derive(Debug, PartialEq)]
pub enum Step<'a> {
    /// Instructions: the schedulers' slots that they take, and the cycles until the next can follow.
    Work { slots: f64, cycles: f64 },
    /// An access to global memory: how many wavefronts its lanes need, the most lanes that update one
    /// address, and its lines as [`Lines`](crate::coalesce::Lines) has them.
    Global { path: Path, wavefronts: u32, same: u32, lines: &'a [u64] },
    /// An access to shared memory in so many wavefronts.
    Shared { wavefronts: u32 },
    /// All loads must have come.
    Wait,
    /// The block's warps meet.
    Barrier,
}

impl Trace {
    /// An empty one with room for so many words.
    pub fn with_room(words: usize) -> Self {
        Self { words: Vec::with_capacity(words), ..Self::default() }
    }

    /// How many words it has.
    pub fn words(&self) -> usize {
        self.words.len()
    }

    /// Instructions that do not access memory. Long work is told in pieces, between which other warps have theirs.
    pub fn work(&mut self, slots: f64, cycles: f64) {
        self.work.0 += slots;
        self.work.1 += cycles;
        if self.work.1 >= PIECE {
            self.flush();
        }
    }

    /// An access to global memory.
    pub fn global(&mut self, path: Path, wavefronts: u32, same: u32, lines: &[u64], answers: bool) {
        self.flush();
        let head = GLOBAL
            | (path as u64) << KIND
            | (lines.len() as u64) << 8
            | u64::from(wavefronts) << 16
            | u64::from(same) << 32;
        self.words.push(head);
        self.words.extend_from_slice(lines);
        self.outstanding |= answers;
    }

    /// An access to shared memory.
    pub fn shared(&mut self, wavefronts: u32) {
        self.flush();
        self.words.push(SHARED | u64::from(wavefronts) << KIND);
    }

    /// What follows needs what was loaded.
    pub fn wait(&mut self) {
        if std::mem::take(&mut self.outstanding) {
            self.flush();
            self.words.push(WAIT);
        }
    }

    /// The block's warps meet.
    pub fn barrier(&mut self) {
        self.flush();
        self.words.push(BARRIER);
    }

    /// Nothing follows.
    pub fn end(&mut self) {
        self.wait();
        self.flush();
    }

    fn flush(&mut self) {
        let (slots, cycles) = std::mem::take(&mut self.work);
        if slots + cycles > 0.0 {
            let part = |number: f64| ((number * PARTS) as u64).min((1 << 30) - 1);
            self.words.push(WORK | part(slots) << KIND | part(cycles) << (KIND + 30));
        }
    }

    /// The step at a place, and the place of the next.
    pub fn step(&self, at: usize) -> Option<(Step<'_>, usize)> {
        let &word = self.words.get(at)?;
        let rest = word >> KIND;
        let step = match word & ((1 << KIND) - 1) {
            WORK => {
                let part = |bits: u64| (bits & ((1 << 30) - 1)) as f64 / PARTS;
                Step::Work { slots: part(rest), cycles: part(rest >> 30) }
            }
            GLOBAL => {
                let path = match rest & 0x1f {
                    0 => Path::Load,
                    1 => Path::ReadOnly,
                    2 => Path::Strong,
                    3 => Path::Store,
                    _ => Path::Atomic,
                };
                let count = (word >> 8 & 0xff) as usize;
                let lines = &self.words[at + 1..at + 1 + count];
                let (wavefronts, same) = ((word >> 16 & 0xffff) as u32, (word >> 32) as u32);
                return Some((Step::Global { path, wavefronts, same, lines }, at + 1 + count));
            }
            SHARED => Step::Shared { wavefronts: rest as u32 },
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
    fn what_was_noted_comes_back() {
        let mut trace = Trace::default();
        trace.wait();
        trace.work(1.5, 4.0);
        trace.work(1.0, 2.0);
        let lines = Lines::of(&std::array::from_fn(|lane| 8 * lane as u64 + 128), !0);
        trace.global(Path::ReadOnly, 2, 0, lines.get(), true);
        trace.shared(3);
        trace.wait();
        trace.wait();
        trace.barrier();
        trace.end();
        let (mut at, mut steps) = (0, Vec::new());
        while let Some((step, next)) = trace.step(at) {
            steps.push(step);
            at = next;
        }
        assert_eq!(
            steps,
            [
                Step::Work { slots: 2.5, cycles: 6.0 },
                Step::Global {
                    path: Path::ReadOnly,
                    wavefronts: 2,
                    same: 0,
                    lines: &[1 << 8 | 0xf, 2 << 8 | 0xf]
                },
                Step::Shared { wavefronts: 3 },
                Step::Wait,
                Step::Barrier,
            ]
        );
    }
}

//! The execution of a launch: blocks become resident, and their warps run in turns on one thread of the host.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::block::{Barrier, Block, Launch, index};
use crate::fault::{Checked, Fault};
use crate::lanes::LANES;
use crate::memory::Memory;
use crate::model::Recorder;
use crate::program::Parameter;
use crate::race::{Acquired, Releases, Word};
use crate::random::Random;
use crate::warp::{Engine, Pause, Turn, Warp};

/// The polls per ready warp without any change after which a deadlock is reported. A poll is an instruction that
/// may wait for another warp, for example a volatile load.
const IDLE_POLLS: u64 = 1000;
/// The polls per ready warp without any change after which another block starts, because the warps may wait for a
/// block that has not started.
const FEW_POLLS: u64 = 50;
/// With checks: the instructions of all warps without any change after which an endless loop is reported.
const IDLE_STEPS: u64 = 1 << 20;
/// The number that is added to [`IDLE_STEPS`] for each byte of memory in use, because a single thread may read all
/// of the memory before it writes.
const IDLE_STEPS_PER_BYTE: u64 = 16;
const MOST_THREADS: usize = 1024;

/// A GPU without caches: its global memory and the execution of kernels.
pub struct Machine {
    pub memory: Memory,
    /// The last accesses to each word (4 bytes) of global memory; empty without checks.
    words: Vec<Word>,
    /// The seed of the random decisions wherever CUDA does not define an order. `None` switches off the expensive
    /// checks and runs warps and blocks in a fixed order.
    seed: Option<u64>,
    launches: u32,
    /// The number of the first launch that the last one may have overlapped with.
    overlapped: u32,
}

#[derive(Default)]
struct Resident {
    block: Block,
    warps: Vec<Warp>,
}

/// The warps that are ready to run.
enum Queue {
    /// The next warp is chosen at random. The elements are the positions of block and warp.
    Drawn(Vec<(usize, usize)>, Random),
    /// The next warp is the one that has executed the fewest instructions. The elements are this number and the
    /// positions of block and warp.
    Fewest(BinaryHeap<Reverse<(u64, usize, usize)>>),
}

impl Queue {
    fn push(&mut self, steps: u64, place: usize, warp: usize) {
        match self {
            Self::Drawn(ready, _) => ready.push((place, warp)),
            Self::Fewest(ready) => ready.push(Reverse((steps, place, warp))),
        }
    }

    fn pop(&mut self) -> Option<(u64, usize, usize)> {
        match self {
            Self::Drawn(ready, random) => {
                let count = u32::try_from(ready.len()).expect("few warps are resident");
                if count == 0 {
                    return None;
                }
                let (place, warp) = ready.swap_remove(random.below(count) as usize);
                Some((0, place, warp))
            }
            Self::Fewest(ready) => ready.pop().map(|Reverse(next)| next),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Drawn(ready, _) => ready.len(),
            Self::Fewest(ready) => ready.len(),
        }
    }
}

impl Machine {
    /// Creates a machine with `available` bytes of memory. With a seed it detects all undefined behaviour that it can,
    /// and runs the warps in a random order.
    pub fn new(available: usize, seed: Option<u64>) -> Self {
        let memory = Memory::new(available, seed.is_some());
        Self { memory, words: Vec::new(), seed, launches: 0, overlapped: 0 }
    }

    /// Runs a kernel until all of its threads have exited, and records it if there is a recorder. Fails if the kernel
    /// has undefined behaviour, or if the launch has too many threads per block or too few bytes of arguments.
    pub fn launch(&mut self, launch: &Launch, recorder: Option<&mut Recorder>) -> Checked {
        self.launches += 1;
        if !launch.dependent || self.overlapped == 0 {
            self.overlapped = self.launches;
        }
        check(launch)?;
        let random = self.seed.map(|seed| Random::new(seed, self.launches.into()));
        if random.is_some() {
            self.words.resize(self.memory.bytes().len() / 4, Word::default());
        }
        let engine = Engine {
            kernel: launch.kernel,
            memory: &mut self.memory,
            words: &mut self.words,
            releases: Releases::default(),
            launch,
            number: self.launches,
            overlaps: self.overlapped,
            windows: vec![(0, 0); launch.kernel.code.len()],
            recorder,
            random: random.clone(),
            credit: 0,
            progress: false,
            clock: 0,
            steps: 0,
        };
        let (few, queue) = match random {
            Some(mut random) => (1 + random.below(4) as usize, Queue::Drawn(Vec::new(), random)),
            None => (1, Queue::Fewest(BinaryHeap::new())),
        };
        Run {
            engine,
            queue,
            blocks: launch.grid.iter().map(|&n| n as usize).product(),
            begun: 0,
            wanted: few.min(launch.resident).max(1),
            residents: Vec::new(),
            free: Vec::new(),
            polls: 0,
            changed: 0,
        }
        .finish()
    }
}

fn check(launch: &Launch) -> Checked {
    let Launch { kernel, arguments, .. } = launch;
    let threads = launch.threads();
    let most = kernel.max_threads.unwrap_or(MOST_THREADS);
    let taken = kernel.parameters.last().map_or(0, Parameter::end);
    let what = if threads > most {
        format!("{threads} threads per block, but at most {most} are allowed")
    } else if arguments.len() < taken {
        format!("{} bytes of arguments, but the kernel takes {taken}", arguments.len())
    } else {
        return Ok(());
    };
    let kernel = kernel.name.clone();
    Err(Box::new(Fault { kernel, thread: None, what, place: None }))
}

struct Run<'a> {
    engine: Engine<'a>,
    queue: Queue,
    blocks: usize,
    begun: usize,
    /// The number of blocks that should be resident now.
    wanted: usize,
    residents: Vec<Resident>,
    /// The positions in `residents` whose block has ended.
    free: Vec<usize>,
    /// The polls of all warps since the last change.
    polls: u64,
    /// The number of instructions that had been executed at the last change.
    changed: u64,
}

impl Run<'_> {
    fn finish(mut self) -> Checked {
        loop {
            while self.active() < self.wanted && self.begun < self.blocks {
                self.begin_block(0);
            }
            let Some((steps, place, warp)) = self.queue.pop() else {
                return match self.active() {
                    0 => Ok(()),
                    _ => Err(self.standstill()),
                };
            };
            self.turn(steps, place, warp)?;
        }
    }

    fn active(&self) -> usize {
        self.residents.len() - self.free.len()
    }

    /// Starts the next block of the grid. Its warps count as if they had executed `steps` instructions.
    fn begin_block(&mut self, steps: u64) {
        let place = self.free.pop().unwrap_or_else(|| {
            self.residents.push(Resident::default());
            self.residents.len() - 1
        });
        let Resident { block, warps } = &mut self.residents[place];
        let launch = self.engine.launch;
        block.begin(self.begun as u32, launch, self.engine.random.is_some());
        warps.resize_with(launch.warps(), Warp::default);
        for (number, warp) in warps.iter_mut().enumerate() {
            warp.begin(number as u16, block.index, launch);
            self.queue.push(steps, place, number);
        }
        self.begun += 1;
    }

    /// Runs a warp until it yields, waits at a barrier, or exits.
    fn turn(&mut self, steps: u64, place: usize, number: usize) -> Checked {
        let Resident { block, warps } = &mut self.residents[place];
        let before = self.engine.steps;
        let engine = &mut self.engine;
        let warp = &mut warps[number];
        let checks = engine.random.is_some();
        let mut turn = Turn { engine, block, warp };
        let pause = if checks { turn.run::<true>()? } else { turn.run::<false>()? };
        let steps = steps + self.engine.steps - before;
        if std::mem::take(&mut self.engine.progress) {
            (self.polls, self.changed) = (0, self.engine.steps);
        }
        match pause {
            Pause::Yielded | Pause::Polled => {
                self.queue.push(steps, place, number);
                self.polls += u64::from(pause == Pause::Polled);
                self.lend(steps, place, number)?;
            }
            Pause::Barrier(barrier, expected) => {
                if block.barriers[barrier].threads >= expected {
                    self.open(place, barrier, expected, steps);
                }
            }
            Pause::Exited => {
                block.live -= 1;
                if block.live == 0 {
                    if let Some(recorder) = &mut self.engine.recorder {
                        recorder.ended(block.number);
                    }
                    self.free.push(place);
                }
            }
        }
        Ok(())
    }

    /// Called when a warp has yielded. Starts further blocks if the GPU has room for them, so that a warp that waits
    /// for a block that has not started makes progress. Fails if nothing has changed for so long that a deadlock or an
    /// endless loop is assumed.
    fn lend(&mut self, steps: u64, place: usize, number: usize) -> Checked {
        let room = self.begun < self.blocks && self.active() < self.engine.launch.resident;
        let ready = 1 + self.queue.len() as u64;
        let still = self.engine.steps - self.changed;
        let patience = IDLE_STEPS + IDLE_STEPS_PER_BYTE * self.engine.memory.allocated_bytes().0;
        match &self.queue {
            // As many blocks as the GPU can hold run at the same time.
            Queue::Fewest(_) if room => {
                self.wanted += 1;
                self.begin_block(if self.begun < self.engine.launch.resident { 0 } else { steps });
            }
            // The warps may wait for a block that has not started.
            _ if self.polls > FEW_POLLS * ready && room => {
                self.polls = 0;
                self.wanted += 1;
            }
            _ if self.polls > IDLE_POLLS * ready => return Err(self.standstill()),
            Queue::Drawn(..) if still > patience => return Err(self.endless(place, number)),
            _ => (),
        }
        Ok(())
    }

    /// Releases the warps at a barrier when all expected threads have arrived.
    fn open(&mut self, place: usize, number: usize, expected: usize, steps: u64) {
        let Resident { block, warps } = &mut self.residents[place];
        let barrier = std::mem::take(&mut block.barriers[number]);
        if expected == self.engine.launch.threads() {
            block.epoch += 1;
            Acquired::prune(&mut block.acquired);
        } else {
            exchange(block, warps, &barrier);
        }
        if let Some(recorder) = &mut self.engine.recorder {
            recorder.barrier(block.number);
        }
        for &warp in &barrier.waiting {
            warps[usize::from(warp)].answer(barrier.asked, barrier.hold);
            self.queue.push(steps, place, warp.into());
        }
    }

    fn endless(&self, place: usize, number: usize) -> Box<Fault> {
        let Resident { block, warps } = &self.residents[place];
        let warp = &warps[number];
        let what = "is in an endless loop (nothing has changed for a long time)".into();
        self.engine.fault(block, warp, warp.first_lane(), what)
    }

    /// Returns the fault of a deadlock: the first warp that waits at a barrier and the thread that is missing there,
    /// or else the first running warp.
    fn standstill(&self) -> Box<Fault> {
        let is_active = |place: &usize| !self.free.contains(place);
        let places = (0..self.residents.len()).filter(is_active);
        let active: Vec<_> = places.map(|place| &self.residents[place]).collect();
        for resident in &active {
            if let Some((first, missing)) = resident.incomplete_barrier() {
                return self.waits_for_thread(resident, first, missing);
            }
        }
        self.waits_forever(active.first().expect("a block runs"))
    }

    fn waits_for_thread(&self, resident: &Resident, first: usize, missing: usize) -> Box<Fault> {
        let Self { engine, .. } = self;
        let Resident { block, warps } = resident;
        let other = &warps[missing];
        let thread = other.thread(other.first_lane());
        let [x, y, z] = index(thread.into(), engine.launch.shape);
        let doing = if other.exited == other.exists {
            "has exited".to_owned()
        } else {
            format!("is at {}", engine.kernel.place(other.at))
        };
        let what = format!("__syncthreads waits for thread ({x},{y},{z}), which {doing};");
        let mut fault = engine.fault(block, &warps[first], 0, what);
        // The waiting warp is already at the instruction after the barrier.
        fault.place = Some(engine.kernel.place(warps[first].at - 1).to_owned());
        fault
    }

    fn waits_forever(&self, resident: &Resident) -> Box<Fault> {
        let runs = |warp: &&Warp| warp.exited != warp.exists;
        let warp = resident.warps.iter().find(runs).expect("a warp runs");
        let what = match warp.lacks(&resident.block) {
            Some(lack) => format!("waits forever for {lack}"),
            None => "waits forever (no running thread makes progress)".into(),
        };
        self.engine.fault(&resident.block, warp, warp.first_lane(), what)
    }
}

impl Resident {
    /// Returns the first warp that waits at a barrier of the block, and the first one that does not.
    fn incomplete_barrier(&self) -> Option<(usize, usize)> {
        let mut waits = vec![false; self.warps.len()];
        for barrier in &self.block.barriers {
            barrier.waiting.iter().for_each(|&warp| waits[usize::from(warp)] = true);
        }
        let first = waits.iter().position(|&waits| waits)?;
        let missing = waits.iter().position(|&waits| !waits)?;
        Some((first, missing))
    }
}

/// Orders the accesses of warps that have met at a barrier of a part of the block: what each of them did before the
/// barrier happens before what the others do after it.
fn exchange(block: &mut Block, warps: &mut [Warp], barrier: &Barrier) {
    let mut releases = Vec::new();
    for &number in &barrier.waiting {
        let warp = &mut warps[usize::from(number)];
        warp.clock.barrier(warp.exists);
        releases.push(warp.clock.release(block.number, block.epoch, number, &block.acquired));
    }
    for &number in &barrier.waiting {
        let clock = &mut warps[usize::from(number)].clock;
        for release in &releases {
            let thread = number * LANES as u16;
            block.acquired.push(Acquired::new(release.clone(), block.epoch, thread, clock));
        }
        clock.barrier(u32::MAX);
    }
}

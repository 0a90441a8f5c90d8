//! The interpreter: executes the instructions of a warp.

use super::{Group, Warp, thread_index};
use crate::arithmetic::{self, compare};
use crate::block::Block;
use crate::fault::{Checked, Fault};
use crate::lanes::{Bits, LANES, Mask, Registers, Slot, each, lanes, put};
use crate::memory::Memory;
use crate::model::Recorder;
use crate::model::recorder::WarpId;
use crate::program::{Comparison, Kernel, Logic, Operation};
use crate::race::{Releases, Word};
use crate::random::Random;

/// The number of backward jumps after which a warp yields.
const JUMPS: u32 = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    Yielded,
    /// The warp has polled memory and yields, so that other warps can change it.
    Polled,
    /// The warp waits at a barrier: the number of the barrier and the expected number of threads.
    Barrier(usize, usize),
    Exited,
}

/// The state that all warps of a launch share.
pub struct Engine<'a> {
    pub kernel: &'a Kernel,
    pub memory: &'a mut Memory,
    /// The last accesses to each word of global memory; empty without checks.
    pub words: &'a mut [Word],
    pub releases: Releases,
    pub launch: u32,
    /// The number of the first launch that may overlap with this one; its own unless it is dependent.
    pub overlaps: u32,
    pub shape: [u32; 3],
    pub dynamic_shared: usize,
    /// For each instruction: the first address and the size of the buffer or array that it accessed last.
    pub windows: Vec<(u64, u64)>,
    pub recorder: Option<&'a mut Recorder>,
    /// The generator that decides when a warp yields before an access; `None` to yield as late as possible.
    pub random: Option<Random>,
    /// The number of accesses until the next yield.
    pub credit: u32,
    /// Whether a change has happened that another thread could wait for.
    pub progress: bool,
    /// The last value of the clock registers.
    pub clock: u64,
    /// The number of warp instructions executed so far.
    pub steps: u64,
}

/// A warp that runs, with its block and what all warps share.
pub struct Turn<'t, 'a> {
    pub engine: &'t mut Engine<'a>,
    pub block: &'t mut Block,
    pub warp: &'t mut Warp,
}

/// Defines a function that runs a warp with the instructions of the host processor that are named.
macro_rules! run_with {
    ($name:ident $(, $features:literal)?) => {
        $(#[target_feature(enable = $features)])?
        fn $name<const CHECKS: bool>(turn: &mut Turn) -> Checked<Pause> {
            // It is compiled on its own, because with every loop over lanes inlined into the interpreter, compiling
            // would take minutes.
            $(#[target_feature(enable = $features)])?
            #[inline(never)]
            fn calculate(operation: &Operation, registers: &mut Registers, mask: Mask) {
                operation.calculate(registers, mask);
            }
            turn.go::<CHECKS>(|operation, registers, mask| calculate(operation, registers, mask))
        }
    };
}
run_with!(run_plain);
#[cfg(target_arch = "x86_64")]
run_with!(run_with_avx2, "avx2,fma,bmi1,bmi2,lzcnt,popcnt");
#[cfg(target_arch = "x86_64")]
run_with!(run_with_avx512, "avx512f,avx512bw,avx512dq,avx512vl,fma,bmi1,bmi2,lzcnt,popcnt");

impl Turn<'_, '_> {
    /// Runs the warp until it stops, or until the kernel has undefined behaviour. With `CHECKS` every access is checked
    /// for uninitialised bytes and data races. The results do not depend on the instructions of the host processor.
    pub fn run<const CHECKS: bool>(&mut self) -> Checked<Pause> {
        #[cfg(target_arch = "x86_64")]
        {
            let all_have = is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("lzcnt")
                && is_x86_feature_detected!("popcnt");
            let has_512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            if all_have && has_512 {
                // SAFETY: the processor has the instructions of this function.
                return unsafe { run_with_avx512::<CHECKS>(self) };
            }
            if all_have && is_x86_feature_detected!("avx2") {
                // SAFETY: the processor has the instructions of this function.
                return unsafe { run_with_avx2::<CHECKS>(self) };
            }
        }
        run_plain::<CHECKS>(self)
    }

    /// The interpreter loop. `calculate` is [`Operation::calculate`].
    #[inline(always)]
    fn go<const CHECKS: bool>(
        &mut self,
        calculate: impl Fn(&Operation, &mut Registers, Mask),
    ) -> Checked<Pause> {
        let kernel = self.engine.kernel;
        let mut jumps = JUMPS;
        loop {
            let at = self.warp.at;
            let instruction = &kernel.code[at];
            if instruction.leads && !self.warp.others.is_empty() && self.warp.converge(&kernel.code)
            {
                continue;
            }
            let mut mask = self.warp.mask;
            if let Some(guard) = instruction.guard {
                mask &= self.warp.registers.predicate(guard);
            }
            if CHECKS && instruction.operation.accesses_memory() && self.is_interrupted() {
                return Ok(Pause::Yielded);
            }
            if instruction.stretch > 0 && !std::mem::take(&mut self.warp.again) {
                self.engine.steps += u64::from(instruction.stretch);
                let active = self.warp.mask;
                self.record(|recorder, id| recorder.executed(id, at, active));
            }
            match &instruction.operation {
                operation @ (Operation::Compute { .. }
                | Operation::Convert { .. }
                | Operation::Compare(_)
                | Operation::Select { .. }
                | Operation::Logic { .. }
                | Operation::ActiveMask { .. }) => {
                    if CHECKS {
                        self.check_divisor(operation, mask)?;
                    }
                    calculate(operation, &mut self.warp.registers, mask);
                }
                Operation::Load(access) if mask != 0 => {
                    self.load::<CHECKS>(access, mask)?;
                    if access.order.is_strong() {
                        return Ok(self.warp.poll());
                    }
                }
                Operation::Store(access) if mask != 0 => self.store::<CHECKS>(access, mask)?,
                Operation::Atomic(atomic) if mask != 0 => {
                    self.atomic::<CHECKS>(atomic, mask)?;
                    if atomic.to.is_some() {
                        return Ok(self.warp.poll());
                    }
                }
                Operation::Mbarrier(mbarrier) if mask != 0 => {
                    if let Some(pause) = self.mbarrier::<CHECKS>(mbarrier, mask)? {
                        return Ok(pause);
                    }
                }
                Operation::Copy(copy) if mask != 0 => self.copy::<CHECKS>(copy, mask)?,
                Operation::Collective { collective, members } => {
                    let members = self.warp.registers.words[usize::from(*members)];
                    let Some(met) = self.gather(&members, mask)? else { continue };
                    self.collective(collective, &members, met)?;
                }
                Operation::Barrier(barrier) => {
                    let exist = [self.warp.exists; LANES];
                    let Some(_) = self.gather(&exist, mask)? else { continue };
                    if let Some(pause) = self.arrive(barrier)? {
                        self.warp.at = at + 1;
                        return Ok(pause);
                    }
                }
                Operation::Fence => self.fence(mask),
                Operation::ProxyFence => {
                    let Block { proxy_fences, epoch, .. } = &mut *self.block;
                    proxy_fences.record(&mut self.warp.clock, mask, self.warp.number, *epoch);
                }
                Operation::WaitForEarlier => self.warp.waited |= mask,
                Operation::Clock { wide, to } => {
                    self.engine.clock += 16;
                    let clock = self.engine.clock;
                    for lane in lanes(mask) {
                        self.warp.registers.set_value(*wide, *to, lane, clock);
                    }
                }
                Operation::Sleep => return Ok(self.warp.poll()),
                Operation::Trap if mask != 0 => {
                    let lane = mask.trailing_zeros() as usize;
                    return self.fail(lane, "executes a trap instruction");
                }
                Operation::Branch { target } if mask != 0 => {
                    let target = *target as usize;
                    let left = self.warp.mask & !mask;
                    if left != 0 {
                        self.warp.others.push(Group { at: at + 1, mask: left, waits: false });
                    }
                    (self.warp.at, self.warp.mask) = (target, mask);
                    if target <= at {
                        if !self.warp.others.is_empty() {
                            self.warp.tire();
                        }
                        jumps -= 1;
                        if jumps == 0 {
                            return Ok(Pause::Yielded);
                        }
                    }
                    continue;
                }
                Operation::Exit if mask != 0 => {
                    if CHECKS {
                        self.check_waited(mask)?;
                    }
                    self.engine.progress = true;
                    self.warp.exited |= mask;
                    self.warp.mask &= !mask;
                    if self.warp.exited == self.warp.exists {
                        self.check_copies(mask)?;
                        return Ok(Pause::Exited);
                    }
                    if self.warp.mask == 0 {
                        self.next_group()?;
                        continue;
                    }
                }
                // No lane executes it.
                _ => debug_assert_eq!(mask, 0),
            }
            self.warp.at = at + 1;
        }
    }

    /// Decides at random whether the warp yields before the next access.
    fn is_interrupted(&mut self) -> bool {
        let Engine { random: Some(random), credit, .. } = &mut *self.engine else { return false };
        if *credit > 0 {
            *credit -= 1;
            return false;
        }
        let few = random.below(2) == 0;
        *credit = 1 + random.below(if few { 8 } else { 4000 });
        true
    }

    /// Tells the recorder, if there is one, of an event of the warp.
    #[inline(always)]
    pub fn record(&mut self, event: impl FnOnce(&mut Recorder, WarpId)) {
        if let Some(recorder) = &mut self.engine.recorder {
            event(recorder, WarpId { block: self.block.number, warp: self.warp.number });
        }
    }

    pub fn fence(&mut self, mask: Mask) {
        let acquired = self.warp.clock.fence(mask, self.warp.number, self.block.epoch);
        self.block.acquired.extend(acquired);
    }

    /// Returns the fault of a lane at the warp's current instruction.
    #[cold]
    pub fn fault(&self, lane: usize, what: impl Into<String>) -> Box<Fault> {
        self.engine.fault(self.block, self.warp, lane, what.into())
    }

    #[cold]
    pub fn fail<T>(&self, lane: usize, what: impl Into<String>) -> Checked<T> {
        Err(self.fault(lane, what))
    }
}

impl Engine<'_> {
    pub fn fault(&self, block: &Block, warp: &Warp, lane: usize, what: String) -> Box<Fault> {
        let thread = thread_index(warp.thread(lane), self.shape);
        Box::new(Fault {
            kernel: self.kernel.name.clone(),
            thread: Some((block.index, thread)),
            what,
            place: Some(self.kernel.place(warp.at).to_owned()),
        })
    }
}

impl Operation {
    /// Computes the result of an operation that depends only on registers.
    #[inline(always)]
    fn calculate(&self, registers: &mut Registers, mask: Mask) {
        match *self {
            Self::Compute { function, kind, to, of } => {
                arithmetic::execute(function, kind, registers, mask, to, of);
            }
            Self::Convert { conversion, to, of } => conversion.execute(registers, mask, to, of),
            Self::Compare(Comparison { relation, kind, of, to, negated, with }) => {
                let holds = compare(registers, relation, kind, of);
                let with = with.map(|(logic, other)| (logic, registers.predicate(other)));
                let result = |holds| with.map_or(holds, |(logic, other)| logic.of(holds, other));
                registers.set_predicate(to, mask, result(holds));
                if let Some(negated) = negated {
                    registers.set_predicate(negated, mask, result(!holds));
                }
            }
            Self::Select { wide, to, of: [x, y], by } => {
                let chosen = registers.predicate(by);
                match wide {
                    true => select::<u64>(registers, chosen, [x, y], to, mask),
                    false => select::<u32>(registers, chosen, [x, y], to, mask),
                }
            }
            Self::Logic { logic, to, of } => {
                let [x, y] = of.map(|of| registers.predicate(of));
                registers.set_predicate(to, mask, logic.of(x, y));
            }
            Self::ActiveMask { to } => put(registers, to, mask, &[mask; LANES]),
            _ => unreachable!("it does not depend only on registers"),
        }
    }
}

#[inline(always)]
fn select<B: Bits>(registers: &mut Registers, chosen: Mask, of: [Slot; 2], to: Slot, mask: Mask) {
    let [x, y] = of.map(|of| &B::bank(registers)[usize::from(of)]);
    let values = each(|lane| if chosen >> lane & 1 == 1 { x[lane] } else { y[lane] });
    put(registers, to, mask, &values);
}

impl Logic {
    #[inline(always)]
    fn of(self, x: Mask, y: Mask) -> Mask {
        match self {
            Self::And => x & y,
            Self::Or => x | y,
            Self::Xor => x ^ y,
            Self::First => x,
        }
    }
}

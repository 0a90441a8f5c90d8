//! The interpreter: executes the instructions of a warp.

use super::state::Group;
use super::turn::{Engine, Pause, Turn};
use crate::arithmetic::{self, compare};
use crate::block::Block;
use crate::fault::Checked;
use crate::lanes::{Bits, LANES, Mask, Registers, Slot, each, lanes, put};
use crate::program::{Comparison, Logic, Operation};

/// The number of backward jumps after which a warp yields.
const JUMPS: u32 = 4096;

/// What a warp does after an instruction.
enum Next {
    /// It goes on with the instruction behind it.
    Behind,
    /// It goes on with the instruction at which it is now.
    Here,
    Pause(Pause),
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
    fn go<const CHECKS: bool>(&mut self, calculate: impl Fn(&Operation, &mut Registers, Mask)) -> Checked<Pause> {
        let kernel = self.engine.kernel;
        let mut jumps = JUMPS;
        loop {
            let at = self.warp.at;
            let instruction = &kernel.code[at];
            if instruction.leads && !self.warp.others.is_empty() && self.warp.converge(&kernel.code) {
                continue;
            }
            let guard = instruction.guard;
            let selected = guard.map_or(Mask::MAX, |guard| self.warp.registers.predicate(guard));
            let mask = self.warp.mask & selected;
            if CHECKS && instruction.operation.accesses_memory() && self.is_interrupted() {
                return Ok(Pause::Yielded);
            }
            if instruction.stretch > 0 && !std::mem::take(&mut self.warp.again) {
                self.engine.steps += u64::from(instruction.stretch);
                let active = self.warp.mask;
                self.record(|recorder, id| recorder.executed(id, at, active));
            }
            let next = match &instruction.operation {
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
                    Next::Behind
                }
                Operation::Branch { target } if mask != 0 => {
                    jumps -= u32::from(self.jump(*target as usize, mask));
                    if jumps > 0 { Next::Here } else { Next::Pause(Pause::Yielded) }
                }
                operation => self.step::<CHECKS>(operation, mask)?,
            };
            match next {
                Next::Behind => self.warp.at = at + 1,
                Next::Here => (),
                Next::Pause(pause) => return Ok(pause),
            }
        }
    }

    /// Jumps with the lanes in `mask`; the others go on behind the branch. Returns whether it is a jump backwards.
    #[inline(always)]
    fn jump(&mut self, target: usize, mask: Mask) -> bool {
        let at = self.warp.at;
        let left = self.warp.mask & !mask;
        if left != 0 {
            self.warp.others.push(Group { at: at + 1, mask: left, waits: false });
        }
        (self.warp.at, self.warp.mask) = (target, mask);
        if target <= at && !self.warp.others.is_empty() {
            self.warp.tire();
        }
        target <= at
    }

    /// Executes an instruction that does more than to compute.
    #[inline(always)]
    fn step<const CHECKS: bool>(&mut self, operation: &Operation, mask: Mask) -> Checked<Next> {
        match operation {
            Operation::Collective { collective, members } => {
                let members = self.warp.registers.words[usize::from(*members)];
                let Some(met) = self.gather(&members, mask)? else { return Ok(Next::Here) };
                self.collective(collective, &members, met)?;
            }
            Operation::Barrier(barrier) => {
                let exist = [self.warp.exists; LANES];
                let Some(_) = self.gather(&exist, mask)? else { return Ok(Next::Here) };
                if let Some(pause) = self.arrive(barrier)? {
                    self.warp.at += 1;
                    return Ok(Next::Pause(pause));
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
            Operation::Sleep => return Ok(Next::Pause(self.poll())),
            _ if mask == 0 => (),
            Operation::Exit => return self.exit::<CHECKS>(mask),
            Operation::Trap => {
                return self.fail(mask.trailing_zeros() as usize, "executes a trap instruction");
            }
            _ => return self.access_memory::<CHECKS>(operation, mask),
        }
        Ok(Next::Behind)
    }

    /// Executes an instruction that accesses memory with at least one lane.
    #[inline(always)]
    fn access_memory<const CHECKS: bool>(&mut self, operation: &Operation, mask: Mask) -> Checked<Next> {
        let polls = match operation {
            Operation::Load(access) => {
                self.load::<CHECKS>(access, mask)?;
                access.order.is_strong()
            }
            Operation::Store(access) => {
                self.store::<CHECKS>(access, mask)?;
                false
            }
            Operation::Atomic(atomic) => {
                self.atomic::<CHECKS>(atomic, mask)?;
                atomic.to.is_some()
            }
            Operation::Mbarrier(mbarrier) => {
                let pause = self.mbarrier::<CHECKS>(mbarrier, mask)?;
                return Ok(pause.map_or(Next::Behind, Next::Pause));
            }
            Operation::Copy(copy) => {
                self.copy::<CHECKS>(copy, mask)?;
                false
            }
            _ => unreachable!("all other operations do not access memory"),
        };
        Ok(if polls { Next::Pause(self.poll()) } else { Next::Behind })
    }

    fn exit<const CHECKS: bool>(&mut self, mask: Mask) -> Checked<Next> {
        if CHECKS {
            self.check_waited(mask)?;
        }
        self.engine.progress = true;
        self.warp.exited |= mask;
        self.warp.mask &= !mask;
        if self.warp.exited == self.warp.exists {
            self.check_copies(mask)?;
            return Ok(Next::Pause(Pause::Exited));
        }
        if self.warp.mask != 0 {
            return Ok(Next::Behind);
        }
        self.next_group()?;
        Ok(Next::Here)
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
                if wide {
                    select::<u64>(registers, chosen, [x, y], to, mask);
                } else {
                    select::<u32>(registers, chosen, [x, y], to, mask);
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

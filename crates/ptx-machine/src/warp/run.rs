//! The interpreter: executes the instructions of a warp.

use super::bulk::Progress;
use super::{Group, Warp, thread_index};
use crate::arithmetic::Function;
use crate::block::Block;
use crate::fault::{Fault, Kind};
use crate::lanes::{Call, LANES, Mask, each, lanes, put};
use crate::memory::Memory;
use crate::observer::{Observer, WarpId};
use crate::program::{Comparison, Kernel, Logic, Operation};
use crate::race::{Releases, Word};
use crate::random::Random;
#[cfg(target_arch = "x86_64")]
use crate::vectors::{Avx2, Avx512};
use crate::vectors::{Plain, Vectors};

/// The number of backward jumps after which a warp yields.
const JUMPS: u32 = 4096;

/// The reason why a warp stops running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// The warp yields to other warps.
    Yielded,
    /// The warp has polled memory and yields, so that other warps can change it.
    Polled,
    /// The warp waits at a barrier: the number of the barrier and the expected number of threads.
    Barrier(usize, usize),
    /// All lanes have exited.
    Exited,
}

/// The state that all warps of a launch share.
pub struct Engine<'a, O> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// Global memory.
    pub memory: &'a mut Memory,
    /// The last accesses to each word of global memory; empty without checks.
    pub words: &'a mut [Word],
    /// The releases of all threads.
    pub releases: Releases,
    /// The number of the launch.
    pub launch: u32,
    /// The number of the first launch that may overlap with this one; its own unless it is dependent.
    pub overlaps: u32,
    /// The number of threads per block by dimension.
    pub shape: [u32; 3],
    /// The size of the dynamic shared memory in bytes.
    pub dynamic_shared: usize,
    /// For each instruction: the first address and the size of the buffer or array that it accessed last.
    pub windows: Vec<(u64, u64)>,
    /// The observer.
    pub observer: &'a mut O,
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

impl<O: Observer> Engine<'_, O> {
    /// Runs a warp until it stops. With `CHECKS` every access is checked for uninitialised bytes and data races.
    ///
    /// # Errors
    /// Returns an error if the kernel has undefined behaviour.
    pub fn run<const CHECKS: bool>(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
    ) -> Result<Pause, Box<Fault>> {
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
                // SAFETY: the processor has the instructions of this function and of `Avx512`.
                return unsafe { self.run_with_avx512::<CHECKS>(block, warp) };
            }
            if all_have && is_x86_feature_detected!("avx2") {
                // SAFETY: the processor has the instructions of this function and of `Avx2`.
                return unsafe { self.run_with_avx2::<CHECKS>(block, warp) };
            }
        }
        self.go::<CHECKS, Plain>(block, warp)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma,bmi1,bmi2,lzcnt,popcnt")]
    fn run_with_avx512<const CHECKS: bool>(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
    ) -> Result<Pause, Box<Fault>> {
        self.go::<CHECKS, Avx512>(block, warp)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    fn run_with_avx2<const CHECKS: bool>(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
    ) -> Result<Pause, Box<Fault>> {
        self.go::<CHECKS, Avx2>(block, warp)
    }

    /// The interpreter loop, compiled for the instruction set `V`.
    #[inline(always)]
    fn go<const CHECKS: bool, V: Vectors>(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
    ) -> Result<Pause, Box<Fault>> {
        let code = &self.kernel.code[..];
        let id = WarpId { block: block.number, warp: warp.number };
        let mut jumps = JUMPS;
        loop {
            let at = warp.at;
            let instruction = &code[at];
            if instruction.leads && !warp.others.is_empty() && warp.converge(code) {
                continue;
            }
            let mask = match instruction.guard {
                None => warp.mask,
                Some((predicate, negated)) => {
                    warp.mask & flipped(warp.registers.predicates[usize::from(predicate)], negated)
                }
            };
            if CHECKS && instruction.operation.accesses_memory() && self.is_interrupted() {
                return Ok(Pause::Yielded);
            }
            if instruction.stretch > 0 && !std::mem::take(&mut warp.again) {
                self.steps += u64::from(instruction.stretch);
                self.observer.executed(id, at, warp.mask);
            }
            match instruction.operation {
                Operation::Compute { function, kind, to, of, .. } => {
                    if CHECKS && matches!(function, Function::Div | Function::Rem) {
                        self.check_divisor(block, warp, at, mask, kind.is_wide(), of[1])?;
                    }
                    let registers = &mut warp.registers;
                    V::compute(function, kind, Call { registers, mask, to, of });
                }
                Operation::Convert { conversion, to, of } => {
                    V::convert(conversion, &mut warp.registers, mask, to, of);
                }
                Operation::Compare { relation, kind, of, result } => {
                    let holds = V::compare(&warp.registers, relation, kind, of);
                    conclude(&mut warp.registers.predicates, mask, holds, result);
                }
                Operation::Select { wide, to, of, by: (by, negated) } => {
                    let chosen = flipped(warp.registers.predicates[usize::from(by)], negated);
                    let [x, y] = of.map(usize::from);
                    let registers = &mut warp.registers;
                    if wide {
                        let values =
                            chosen_from(chosen, &registers.doubles[x], &registers.doubles[y]);
                        put(registers, to, mask, &values);
                    } else {
                        let values = chosen_from(chosen, &registers.words[x], &registers.words[y]);
                        put(registers, to, mask, &values);
                    }
                }
                Operation::Logic { logic, to, of } => {
                    let predicates = &mut warp.registers.predicates;
                    let [x, y] =
                        of.map(|(of, negated)| flipped(predicates[usize::from(of)], negated));
                    assign(&mut predicates[usize::from(to)], mask, logic.of(x, y));
                }
                Operation::Load(access) if mask != 0 => {
                    self.load::<CHECKS>(block, warp, &access, mask)?;
                    if access.order.is_strong() {
                        warp.polled();
                        return Ok(Pause::Polled);
                    }
                }
                Operation::Store(access) if mask != 0 => {
                    self.store::<CHECKS>(block, warp, &access, mask)?;
                }
                Operation::Atomic(atomic) if mask != 0 => {
                    self.atomic::<CHECKS>(block, warp, &atomic, mask)?;
                    if atomic.to.is_some() {
                        warp.polled();
                        return Ok(Pause::Polled);
                    }
                }
                Operation::Mbarrier(operation) if mask != 0 => {
                    match self.mbarrier::<CHECKS>(block, warp, &operation, mask)? {
                        Progress::GoesOn => (),
                        Progress::Polls => {
                            warp.polled();
                            return Ok(Pause::Polled);
                        }
                        Progress::Again => {
                            warp.again = instruction.stretch > 0;
                            return Ok(Pause::Polled);
                        }
                    }
                }
                Operation::Copy(copy) if mask != 0 => {
                    self.copy::<CHECKS>(block, warp, &copy, mask)?;
                }
                Operation::Load(_)
                | Operation::Store(_)
                | Operation::Atomic(_)
                | Operation::Mbarrier(_)
                | Operation::Copy(_) => (),
                Operation::Shuffle(shuffle) => {
                    if !self.shuffle(block, warp, &shuffle, mask)? {
                        continue;
                    }
                }
                Operation::Vote { vote, to, of, members } => {
                    if !self.vote(block, warp, (vote, to, of), members, mask)? {
                        continue;
                    }
                }
                Operation::WarpBarrier { members } => {
                    match self.gathered(block, warp, members, mask)? {
                        Some(met) => warp.clock.barrier(met),
                        None => continue,
                    }
                }
                Operation::Match { all, wide, to, of, members } => {
                    if !self.match_values(block, warp, (all, wide, to, of), members, mask)? {
                        continue;
                    }
                }
                Operation::Reduce { update, kind, to, of, members } => {
                    if !self.reduce(block, warp, (update, kind, to, of), members, mask)? {
                        continue;
                    }
                }
                Operation::Multiply(matrices) => {
                    if !self.multiply_matrices(block, warp, &matrices, mask)? {
                        continue;
                    }
                }
                Operation::Barrier(barrier) => match self.arrive(block, warp, &barrier, mask)? {
                    Arrival::Elsewhere => continue,
                    Arrival::GoesOn => (),
                    Arrival::Waits(pause) => {
                        warp.at = at + 1;
                        return Ok(pause);
                    }
                },
                Operation::ActiveMask { to } => {
                    put(&mut warp.registers, to, mask, &[mask; LANES]);
                }
                Operation::Fence => {
                    let acquired = warp.clock.fence(mask, warp.number, block.epoch);
                    block.acquired.extend(acquired);
                }
                Operation::ProxyFence => {
                    let Block { proxy_fences, epoch, .. } = block;
                    proxy_fences.record(&mut warp.clock, mask, warp.number, *epoch);
                }
                Operation::WaitForEarlier => warp.waited |= mask,
                Operation::Clock { wide, to } => {
                    self.clock += 16;
                    match wide {
                        true => put::<u64>(&mut warp.registers, to, mask, &[self.clock; LANES]),
                        false => {
                            put::<u32>(&mut warp.registers, to, mask, &[self.clock as u32; LANES]);
                        }
                    }
                }
                Operation::Sleep => {
                    warp.polled();
                    return Ok(Pause::Polled);
                }
                Operation::Trap if mask != 0 => {
                    let lane = mask.trailing_zeros() as usize;
                    let what = "executes a trap instruction".into();
                    return Err(self.fault(Kind::Trap, block, warp, lane, what));
                }
                Operation::Trap => (),
                Operation::Branch { target } => {
                    let target = target as usize;
                    if mask != 0 {
                        let left = warp.mask & !mask;
                        if left != 0 {
                            warp.others.push(Group { at: at + 1, mask: left, waits: false });
                        }
                        (warp.at, warp.mask) = (target, mask);
                        if target <= at {
                            if !warp.others.is_empty() {
                                warp.tire();
                            }
                            jumps -= 1;
                            if jumps == 0 {
                                return Ok(Pause::Yielded);
                            }
                        }
                        continue;
                    }
                }
                Operation::Exit if mask != 0 => {
                    if CHECKS {
                        self.check_waited(block, warp, mask)?;
                    }
                    self.progress = true;
                    warp.exited |= mask;
                    warp.mask &= !mask;
                    if warp.mask == 0 {
                        if warp.exited == warp.exists {
                            self.check_copies(block, warp, mask)?;
                            return Ok(Pause::Exited);
                        }
                        self.next_group(block, warp)?;
                        continue;
                    }
                }
                Operation::Exit => (),
            }
            warp.at = at + 1;
        }
    }

    /// Decides at random whether the warp yields before the next access.
    fn is_interrupted(&mut self) -> bool {
        let Some(random) = &mut self.random else { return false };
        if self.credit > 0 {
            self.credit -= 1;
            return false;
        }
        let few = random.below(2) == 0;
        self.credit = 1 + random.below(if few { 8 } else { 4000 });
        true
    }

    /// Checks that no lane divides by zero.
    fn check_divisor(
        &self,
        block: &Block,
        warp: &Warp,
        at: usize,
        mask: Mask,
        wide: bool,
        divisor: u16,
    ) -> Result<(), Box<Fault>> {
        let divisor = usize::from(divisor);
        let is_zero = |&lane: &usize| match wide {
            true => warp.registers.doubles[divisor][lane] == 0,
            false => warp.registers.words[divisor][lane] == 0,
        };
        debug_assert_eq!(at, warp.at);
        match lanes(mask).find(is_zero) {
            Some(lane) => {
                let what = "divides an integer by zero".into();
                Err(self.fault(Kind::Division, block, warp, lane, what))
            }
            None => Ok(()),
        }
    }

    /// Checks that the lanes of a dependent launch have waited before they exit.
    fn check_waited(&self, block: &Block, warp: &Warp, mask: Mask) -> Result<(), Box<Fault>> {
        let left = mask & !warp.waited;
        if self.overlaps == self.launch || left == 0 {
            return Ok(());
        }
        let what = "ends without having waited for the kernels before this dependent one (griddepcontrol.wait), so \
                    that a later kernel could overlap with them"
            .into();
        let lane = left.trailing_zeros() as usize;
        Err(self.fault(Kind::Synchronisation, block, warp, lane, what))
    }

    /// Returns a fault of a lane at the warp's current instruction.
    #[cold]
    pub fn fault(
        &self,
        kind: Kind,
        block: &Block,
        warp: &Warp,
        lane: usize,
        what: String,
    ) -> Box<Fault> {
        let thread = thread_index(warp.thread(lane), self.shape);
        Box::new(Fault {
            kind,
            kernel: self.kernel.name.clone(),
            thread: Some((block.index, thread)),
            what,
            place: Some(self.kernel.place(warp.at).to_owned()),
        })
    }
}

/// The result when a warp arrives at a barrier of its block.
pub enum Arrival {
    /// Other lanes of the warp run first, because not all lanes have arrived.
    Elsewhere,
    /// The warp continues without waiting (`barrier.arrive`).
    GoesOn,
    /// The warp waits.
    Waits(Pause),
}

/// Negates a predicate if `negated`.
#[inline(always)]
fn flipped(mask: Mask, negated: bool) -> Mask {
    if negated { !mask } else { mask }
}

/// Writes the lanes of `mask` to a predicate.
#[inline(always)]
fn assign(predicate: &mut Mask, mask: Mask, value: Mask) {
    *predicate = *predicate & !mask | value & mask;
}

#[inline(always)]
fn chosen_from<B: Copy + Default>(chosen: Mask, x: &[B; LANES], y: &[B; LANES]) -> [B; LANES] {
    each(|lane| if chosen >> lane & 1 == 1 { x[lane] } else { y[lane] })
}

/// Writes the result of a comparison to its predicates.
#[inline(always)]
fn conclude(predicates: &mut [Mask], mask: Mask, holds: Mask, result: Comparison) {
    let with = result
        .with
        .map(|(logic, other, negated)| (logic, flipped(predicates[usize::from(other)], negated)));
    let of = |holds: Mask| with.map_or(holds, |(logic, other)| logic.of(holds, other));
    assign(&mut predicates[usize::from(result.to)], mask, of(holds));
    if let Some(negated) = result.negated {
        assign(&mut predicates[usize::from(negated)], mask, of(!holds));
    }
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

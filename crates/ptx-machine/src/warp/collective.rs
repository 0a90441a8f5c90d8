//! Instructions that lanes execute together: shuffles, votes, products of matrices, and barriers (PTX ISA, sections
//! 9.7.9.6, 9.7.13 and 9.7.14).

use super::atomic::narrow;
use super::state::Group;
use super::turn::{Pause, Turn};
use crate::block::BARRIERS;
use crate::fault::{Checked, Fault};
use crate::lanes::{LANES, Mask, Registers, Slot, each, lanes, put, which};
use crate::program::{Barrier, Collective, Source, Vote};

impl Turn<'_, '_> {
    /// Called when the lanes of `mask` reach a collective instruction with the member mask of each lane. Returns the
    /// lanes all of whose members have arrived and for which the instruction is executed now, or `None` if other lanes
    /// must run first. Fails if the member masks are inconsistent or if a lane waits for lanes that never arrive.
    #[inline(always)]
    pub fn gather(&mut self, members: &[Mask; LANES], mask: Mask) -> Checked<Option<Mask>> {
        let at = self.warp.at;
        // The lanes that the guard excludes continue on their own.
        let skipping = self.warp.mask & !mask;
        if skipping != 0 {
            self.warp.others.push(Group { at: at + 1, mask: skipping, waits: false });
        }
        let mut here = mask;
        self.warp.others.retain(|group| {
            let joins = group.waits && group.at == at;
            here |= if joins { group.mask } else { 0 };
            !joins
        });
        self.warp.mask = here;
        if here == 0 {
            self.next_group()?;
            return Ok(None);
        }
        let first = members[here.trailing_zeros() as usize];
        let others = here & which(|lane| members[lane] != first);
        if others == 0 && first & self.warp.exists == here {
            return Ok(Some(here));
        }
        let complete = self.complete(members, here)?;
        if complete != here {
            self.warp.others.push(Group { at, mask: here & !complete, waits: true });
            self.warp.mask = complete;
            if complete == 0 {
                self.next_group()?;
                return Ok(None);
            }
        }
        Ok(Some(complete))
    }

    /// Returns the lanes all of whose members are `here`.
    fn complete(&self, members: &[Mask; LANES], here: Mask) -> Checked<Mask> {
        let name = self.meeting(self.warp.at);
        let mut complete = 0;
        for lane in lanes(here) {
            let own = members[lane];
            if own >> lane & 1 == 0 {
                let mask = format!("the mask {own:#010x}, which does not contain the calling lane");
                return self.fail(lane, format!("{name} with {mask},"));
            }
            let needed = own & self.warp.exists;
            if needed & !here != 0 {
                continue;
            }
            if let Some(other) = lanes(needed).find(|&other| members[other] != own) {
                let other = members[other];
                let what = format!("{name} with different masks {own:#010x} and {other:#010x}");
                return self.fail(lane, what);
            }
            complete |= 1 << lane;
        }
        Ok(complete)
    }

    /// Switches to another group of lanes, because the running lanes have exited or wait. Fails if all groups wait.
    pub fn next_group(&mut self) -> Checked {
        let Some((k, _)) = self.warp.lowest(&self.engine.kernel.code) else {
            return Err(self.stuck());
        };
        let Group { at, mask, .. } = self.warp.others.swap_remove(k);
        (self.warp.at, self.warp.mask) = (at, mask);
        Ok(())
    }

    fn meeting(&self, at: usize) -> &'static str {
        self.engine.kernel.code[at].operation.meeting().expect("lanes wait for others there")
    }

    /// Returns the fault of a warp whose lanes all wait: the first waiting lane and a lane that is missing.
    fn stuck(&mut self) -> Box<Fault> {
        let waiting = self.warp.others[0];
        (self.warp.at, self.warp.mask) = (waiting.at, waiting.mask);
        let lane = waiting.mask.trailing_zeros() as usize;
        let lacking = self.warp.exists & !waiting.mask;
        let other = lacking.trailing_zeros() as usize;
        let elsewhere = self.warp.others.iter().find(|group| group.mask >> other & 1 == 1);
        let doing = match elsewhere {
            Some(&Group { at, .. }) => {
                format!("waits in {} at {}", self.meeting(at), self.engine.kernel.place(at))
            }
            None => "has exited".into(),
        };
        let what = self.meeting(waiting.at);
        let what = format!("{what} waits for the lanes {lacking:#010x}: lane {other} {doing};");
        self.fault(lane, what)
    }

    #[inline(always)]
    pub fn collective(&mut self, collective: &Collective, members: &[Mask; LANES], met: Mask) -> Checked {
        let registers = &mut self.warp.registers;
        match *collective {
            Collective::Shuffle { .. } => shuffle(registers, collective, met),
            Collective::Vote { vote, to, of } => {
                let holds = registers.predicate(of);
                let among = each(|lane| members[lane] & met);
                match vote {
                    Vote::Ballot => put(registers, to, met, &each(|lane| holds & among[lane])),
                    _ => registers.set_predicate(to, met, votes(vote, holds, &among)),
                }
            }
            Collective::Match { all, wide, to, of } => {
                let among = each(|lane| members[lane] & met);
                let same = equals(registers, wide, of, &among);
                let agreeing = which(|lane| same[lane] == among[lane]);
                let counts = |lane: usize| all.is_none() || agreeing >> lane & 1 == 1;
                put(registers, to, met, &each(|lane| if counts(lane) { same[lane] } else { 0 }));
                if let Some(Some(predicate)) = all {
                    registers.set_predicate(predicate, met, agreeing);
                }
            }
            Collective::Reduce { update, kind, to, of } => {
                let values = &registers.words[usize::from(of)];
                let result = each(|lane| {
                    let among = lanes(members[lane] & met).map(|other| values[other]);
                    let reduced = among.reduce(|sum, value| narrow(update, kind, sum, value, 0));
                    reduced.unwrap_or_default()
                });
                put(registers, to, met, &result);
            }
            Collective::Multiply { to, left, right, of } => {
                if met != Mask::MAX {
                    let count = met.count_ones();
                    let what = format!("mma.sync needs 32 lanes, but the warp has {count};");
                    return self.fail(met.trailing_zeros() as usize, what);
                }
                let row = |slot: Slot| registers.doubles[usize::from(slot)];
                let sums = sums(&row(left), &row(right), of.map(row));
                to.into_iter().zip(&sums).for_each(|(to, sums)| put(registers, to, met, sums));
            }
            Collective::Barrier => self.warp.clock.barrier(met),
        }
        Ok(())
    }

    /// Called when all lanes of a warp have reached a barrier of its block. Returns the pause, unless the warp does not
    /// wait (`barrier.arrive`). Fails if the barrier does not exist, or if other warps wait for the whole block at
    /// another instruction.
    pub fn arrive(&mut self, barrier: &Barrier) -> Checked<Option<Pause>> {
        self.engine.progress = true;
        let lane = self.warp.mask.trailing_zeros() as usize;
        let of = |slot: Slot| self.warp.registers.words[usize::from(slot)][lane] as usize;
        let number = of(barrier.number);
        if number >= BARRIERS {
            let what = format!("uses barrier {number}, but a block has only {BARRIERS} barriers,");
            return self.fail(lane, what);
        }
        let whole = self.engine.launch.shape.iter().product::<u32>() as usize;
        let expected = barrier.threads.map_or(whole, of);
        match self.block.barriers[number].first {
            Some((at, other)) if at != self.warp.at && expected == whole && other == whole => {
                let place = self.engine.kernel.place(at);
                let what = "waits at a barrier in a branch, while other warps wait at another barrier";
                return self.fail(lane, format!("{what} at {place},"));
            }
            Some(_) => (),
            None => self.block.barriers[number].first = Some((self.warp.at, expected)),
        }
        let state = &mut self.block.barriers[number];
        // A barrier with a count counts whole warps.
        state.threads += if expected == whole { self.warp.exists.count_ones() as usize } else { LANES };
        if !barrier.waits {
            return Ok(None);
        }
        if let Some(question) = barrier.question {
            let holds = self.warp.registers.predicate(question.of) & self.warp.mask;
            state.hold += holds.count_ones();
            state.asked += self.warp.mask.count_ones();
        }
        self.warp.question = barrier.question;
        state.waiting.push(self.warp.number);
        Ok(Some(Pause::Barrier(number, expected)))
    }
}

/// Returns the lanes for which a vote of the lanes in `among` is positive.
#[inline(always)]
fn votes(vote: Vote, holds: Mask, among: &[Mask; LANES]) -> Mask {
    which(|lane| match vote {
        Vote::All => holds & among[lane] == among[lane],
        Vote::Any => holds & among[lane] != 0,
        _ => holds & among[lane] == 0 || holds & among[lane] == among[lane],
    })
}

/// Returns for each lane those in `among` that have the same value.
#[inline(always)]
fn equals(registers: &Registers, wide: bool, of: Slot, among: &[Mask; LANES]) -> [Mask; LANES] {
    let value = |lane| registers.value(wide, of, lane);
    each(|lane| among[lane] & which(|other| value(other) == value(lane)))
}

#[inline(always)]
fn shuffle(registers: &mut Registers, collective: &Collective, met: Mask) {
    let Collective::Shuffle { source, to, in_range, of, by, clamp } = *collective else { return };
    let [values, by, clamp] = [of, by, clamp].map(|slot| &registers.words[usize::from(slot)]);
    let sources = sources(source, by, clamp);
    let result = each(|lane| {
        let source = if sources[lane] == NOWHERE { lane } else { sources[lane] as usize };
        // The value of a lane that does not take part is undefined.
        if met >> (source % LANES) & 1 == 1 { values[source % LANES] } else { u32::MAX }
    });
    put(registers, to, met, &result);
    if let Some(in_range) = in_range {
        registers.set_predicate(in_range, met, which(|lane| sources[lane] != NOWHERE));
    }
}

/// The source lane of a shuffle that is out of range.
const NOWHERE: u32 = u32::MAX;

/// Returns for each lane the lane that a shuffle reads, or [`NOWHERE`].
#[inline(always)]
fn sources(source: Source, by: &[u32; LANES], clamp: &[u32; LANES]) -> [u32; LANES] {
    let segment = |lane: usize| clamp[lane] >> 8 & 31;
    let first = |lane: usize| lane as u32 & segment(lane);
    let limit = |lane: usize| first(lane) | clamp[lane] & 31 & !segment(lane);
    let by = |lane: usize| by[lane] & 31;
    let up_to_limit = |lane, source| if source <= limit(lane) { source } else { NOWHERE };
    match source {
        Source::Up => each(|lane| {
            let at = lane as u32;
            let by = by(lane);
            if at >= by + limit(lane) { at - by } else { NOWHERE }
        }),
        Source::Down => each(|lane| up_to_limit(lane, lane as u32 + by(lane))),
        Source::Butterfly => each(|lane| up_to_limit(lane, lane as u32 ^ by(lane))),
        Source::Index => each(|lane| up_to_limit(lane, first(lane) | by(lane) & !segment(lane))),
    }
}

/// Returns C + A B for A of 8 × 4, B of 4 × 8 and C of 8 × 8 doubles. Lane l holds row l / 4 and column l % 4 of A, row
/// l % 4 and column l / 4 of B, and row l / 4 and columns 2 (l % 4) and 2 (l % 4) + 1 of C. Each product is added with
/// one rounding, in the order of the columns of A.
#[inline(always)]
fn sums(left: &[u64; LANES], right: &[u64; LANES], of: [[u64; LANES]; 2]) -> [[u64; LANES]; 2] {
    let mut sums = of;
    for (second, sums) in sums.iter_mut().enumerate() {
        for k in 0..4 {
            let before = *sums;
            *sums = each(|lane| {
                let factor = f64::from_bits(left[lane / 4 * 4 + k]);
                let column = 2 * (lane % 4) + second;
                factor.mul_add(f64::from_bits(right[4 * column + k]), f64::from_bits(before[lane])).to_bits()
            });
        }
    }
    sums
}

//! Collective instructions of the lanes of a warp: shuffles, votes and barriers (PTX ISA, sections 9.7.9.6 and
//! 9.7.13).

use super::atomic::narrow;
use super::run::{Arrival, Engine, Pause};
use super::{Group, Warp};
use crate::arithmetic::Type;
use crate::block::{BARRIERS, Block};
use crate::fault::{Fault, Kind};
use crate::lanes::{LANES, Mask, Slot, each, lanes, put, which};
use crate::observer::Observer;
use crate::program::{Barrier, Question, Shuffle, Source, Update, Vote};

impl<O: Observer> Engine<'_, O> {
    /// Called when the lanes of `mask` reach a collective instruction, whose member mask each lane has in the register
    /// `members`. Returns the lanes all of whose members have arrived and for which the instruction is executed now.
    /// Returns `None` if other lanes must run first.
    ///
    /// # Errors
    /// Returns an error if the member masks are inconsistent or if a lane waits for lanes that never arrive.
    #[inline(always)]
    pub fn gathered(
        &mut self,
        block: &Block,
        warp: &mut Warp,
        members: Slot,
        mask: Mask,
    ) -> Result<Option<Mask>, Box<Fault>> {
        let members = warp.registers.words[usize::from(members)];
        self.gather(block, warp, &members, mask)
    }

    /// Implements [`Self::gathered`] with the member mask of each lane.
    #[inline(always)]
    pub fn gather(
        &mut self,
        block: &Block,
        warp: &mut Warp,
        members: &[Mask; LANES],
        mask: Mask,
    ) -> Result<Option<Mask>, Box<Fault>> {
        let at = warp.at;
        // The lanes that the guard excludes continue on their own.
        let skipping = warp.mask & !mask;
        if skipping != 0 {
            warp.others.push(Group { at: at + 1, mask: skipping, waits: false });
        }
        warp.mask = mask;
        warp.others.retain(|group| {
            let joins = group.waits && group.at == at;
            warp.mask |= if joins { group.mask } else { 0 };
            !joins
        });
        if warp.mask == 0 {
            self.next_group(block, warp)?;
            return Ok(None);
        }
        let here = warp.mask;
        let first = members[here.trailing_zeros() as usize];
        let others = here & which(|lane| members[lane] != first);
        if others == 0 && first & warp.exists == here {
            return Ok(Some(here));
        }
        let mut complete = 0;
        for lane in lanes(here) {
            let own = members[lane];
            if own >> lane & 1 == 0 {
                let what = format!(
                    "{} with the mask {own:#010x}, which does not contain the calling lane,",
                    self.together(at)
                );
                return Err(self.fault(Kind::Synchronisation, block, warp, lane, what));
            }
            let needed = own & warp.exists;
            if needed & !here != 0 {
                continue;
            }
            if let Some(other) = lanes(needed).find(|&other| members[other] != own) {
                let other = members[other];
                let what = format!(
                    "{} with different masks {own:#010x} and {other:#010x}",
                    self.together(at)
                );
                return Err(self.fault(Kind::Synchronisation, block, warp, lane, what));
            }
            complete |= 1 << lane;
        }
        if complete != here {
            warp.others.push(Group { at, mask: here & !complete, waits: true });
            warp.mask = complete;
            if complete == 0 {
                self.next_group(block, warp)?;
                return Ok(None);
            }
        }
        Ok(Some(complete))
    }

    /// Switches to another group of lanes, because the running lanes have exited or wait.
    ///
    /// # Errors
    /// Returns an error if all groups wait.
    pub fn next_group(&mut self, block: &Block, warp: &mut Warp) -> Result<(), Box<Fault>> {
        match warp.lowest(&self.kernel.code) {
            Some((k, _)) => {
                let Group { at, mask, .. } = warp.others.swap_remove(k);
                (warp.at, warp.mask) = (at, mask);
                Ok(())
            }
            None => Err(self.stuck(block, warp)),
        }
    }

    /// Returns the CUDA name of the collective instruction at `at`.
    fn together(&self, at: usize) -> &'static str {
        self.kernel.code[at].operation.together().expect("lanes wait for others there")
    }

    /// Returns the fault of a warp whose lanes all wait: the first waiting lane and a lane that is missing.
    fn stuck(&self, block: &Block, warp: &mut Warp) -> Box<Fault> {
        let waiting = warp.others[0];
        (warp.at, warp.mask) = (waiting.at, waiting.mask);
        let lane = waiting.mask.trailing_zeros() as usize;
        let lacking = warp.exists & !waiting.mask;
        let other = lacking.trailing_zeros() as usize;
        let elsewhere = warp.others.iter().find(|group| group.mask >> other & 1 == 1);
        let doing = match elsewhere {
            Some(group) => {
                format!("waits in {} at {}", self.together(group.at), self.kernel.place(group.at))
            }
            None => "has exited".into(),
        };
        let what = self.together(waiting.at);
        let what = format!("{what} waits for the lanes {lacking:#010x}: lane {other} {doing};");
        self.fault(Kind::Synchronisation, block, warp, lane, what)
    }

    /// Executes a shuffle. Returns false if other lanes must run first.
    #[inline(always)]
    pub fn shuffle(
        &mut self,
        block: &Block,
        warp: &mut Warp,
        shuffle: &Shuffle,
        mask: Mask,
    ) -> Result<bool, Box<Fault>> {
        let Some(met) = self.gathered(block, warp, shuffle.members, mask)? else {
            return Ok(false);
        };
        let row = |slot: Slot| &warp.registers.words[usize::from(slot)];
        let (values, by, clamp) = (row(shuffle.of), row(shuffle.by), row(shuffle.clamp));
        let sources = sources(shuffle.source, by, clamp);
        let in_range = which(|lane| sources[lane] != NOWHERE);
        let result = each(|lane| {
            let source = if sources[lane] == NOWHERE { lane } else { sources[lane] as usize };
            // The value of a lane that does not take part is undefined.
            if met >> (source % LANES) & 1 == 1 { values[source % LANES] } else { u32::MAX }
        });
        put(&mut warp.registers, shuffle.to, met, &result);
        if let Some(predicate) = shuffle.in_range {
            let predicate = &mut warp.registers.predicates[usize::from(predicate)];
            *predicate = *predicate & !met | in_range & met;
        }
        Ok(true)
    }

    /// Executes a vote. Returns false if other lanes must run first.
    #[inline(always)]
    pub fn vote(
        &mut self,
        block: &Block,
        warp: &mut Warp,
        (vote, to, (of, negated)): (Vote, Slot, (Slot, bool)),
        members: Slot,
        mask: Mask,
    ) -> Result<bool, Box<Fault>> {
        let Some(met) = self.gathered(block, warp, members, mask)? else {
            return Ok(false);
        };
        let predicate = warp.registers.predicates[usize::from(of)];
        let holds = if negated { !predicate } else { predicate };
        let members = warp.registers.words[usize::from(members)];
        let among = |lane: usize| members[lane] & met;
        if vote == Vote::Ballot {
            let ballots = each(|lane| holds & among(lane));
            put(&mut warp.registers, to, met, &ballots);
            return Ok(true);
        }
        let answer = |lane: usize| match vote {
            Vote::All => holds & among(lane) == among(lane),
            Vote::Any => holds & among(lane) != 0,
            _ => holds & among(lane) == 0 || holds & among(lane) == among(lane),
        };
        let answers = met & which(answer);
        let predicate = &mut warp.registers.predicates[usize::from(to)];
        *predicate = *predicate & !met | answers;
        Ok(true)
    }

    /// Executes `match.sync`. Returns false if other lanes must run first.
    pub fn match_values(
        &mut self,
        block: &Block,
        warp: &mut Warp,
        (all, wide, to, of): (Option<Option<Slot>>, bool, Slot, Slot),
        members: Slot,
        mask: Mask,
    ) -> Result<bool, Box<Fault>> {
        let Some(met) = self.gathered(block, warp, members, mask)? else {
            return Ok(false);
        };
        let members = warp.registers.words[usize::from(members)];
        let values = match wide {
            true => warp.registers.doubles[usize::from(of)],
            false => warp.registers.words[usize::from(of)].map(u64::from),
        };
        let same = |lane: usize| {
            let equal = |&other: &usize| values[other] == values[lane];
            lanes(members[lane] & met).filter(equal).fold(0, |mask, other| mask | 1 << other)
        };
        let among = |lane: usize| members[lane] & met;
        let result = each(|lane| match all {
            _ if met >> lane & 1 == 0 => 0,
            Some(_) if same(lane) != among(lane) => 0,
            _ => same(lane),
        });
        put::<u32>(&mut warp.registers, to, met, &result);
        if let Some(Some(predicate)) = all {
            let agree = |&lane: &usize| same(lane) == among(lane);
            let agreeing = lanes(met).filter(agree).fold(0, |mask, lane| mask | 1 << lane);
            let predicate = &mut warp.registers.predicates[usize::from(predicate)];
            *predicate = *predicate & !met | agreeing;
        }
        Ok(true)
    }

    /// Executes `redux.sync`. Returns false if other lanes must run first.
    pub fn reduce(
        &mut self,
        block: &Block,
        warp: &mut Warp,
        (update, kind, to, of): (Update, Type, Slot, Slot),
        members: Slot,
        mask: Mask,
    ) -> Result<bool, Box<Fault>> {
        let Some(met) = self.gathered(block, warp, members, mask)? else {
            return Ok(false);
        };
        let members = warp.registers.words[usize::from(members)];
        let values = warp.registers.words[usize::from(of)];
        let result = each(|lane| {
            let among = lanes(members[lane] & met).map(|other| values[other]);
            among.reduce(|sum, value| narrow(update, kind, sum, value, 0)).unwrap_or_default()
        });
        put::<u32>(&mut warp.registers, to, met, &result);
        Ok(true)
    }

    /// Called when a warp reaches a barrier of its block.
    ///
    /// # Errors
    /// Returns an error if the barrier does not exist, or if other warps wait for the whole block at another
    /// instruction.
    pub fn arrive(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        met: &Barrier,
        mask: Mask,
    ) -> Result<Arrival, Box<Fault>> {
        let all = [warp.exists; LANES];
        let Some(_) = self.gather(block, warp, &all, mask)? else {
            return Ok(Arrival::Elsewhere);
        };
        self.progress = true;
        let lane = warp.mask.trailing_zeros() as usize;
        let of = |slot: Slot| warp.registers.words[usize::from(slot)][lane] as usize;
        let number = of(met.number);
        if number >= BARRIERS {
            let what = format!("uses barrier {number}, but a block has only {BARRIERS} barriers,");
            return Err(self.fault(Kind::Synchronisation, block, warp, lane, what));
        }
        let whole = self.shape.iter().product::<u32>() as usize;
        let expected = met.threads.map_or(whole, of);
        match block.barriers[number].first {
            Some((at, other)) if at != warp.at && expected == whole && other == whole => {
                let place = self.kernel.place(at);
                let what = format!(
                    "waits at a barrier in a branch, while other warps wait at another barrier at {place},"
                );
                return Err(self.fault(Kind::Synchronisation, block, warp, lane, what));
            }
            Some(_) => (),
            None => block.barriers[number].first = Some((warp.at, expected)),
        }
        let barrier = &mut block.barriers[number];
        // A barrier with a count counts whole warps.
        barrier.threads +=
            if expected == whole { warp.exists.count_ones() as usize } else { LANES };
        if !met.waits {
            return Ok(Arrival::GoesOn);
        }
        if let Some(Question { of: (of, negated), .. }) = met.question {
            let predicate = warp.registers.predicates[usize::from(of)];
            let holds = if negated { !predicate } else { predicate } & warp.mask;
            barrier.hold += holds.count_ones();
            barrier.asked += warp.mask.count_ones();
        }
        warp.question = met.question;
        barrier.waiting.push(warp.number);
        Ok(Arrival::Waits(Pause::Barrier(number, expected)))
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
            let (at, by) = (lane as u32, by(lane));
            if at >= by + limit(lane) { at - by } else { NOWHERE }
        }),
        Source::Down => each(|lane| up_to_limit(lane, lane as u32 + by(lane))),
        Source::Butterfly => each(|lane| up_to_limit(lane, lane as u32 ^ by(lane))),
        Source::Index => each(|lane| up_to_limit(lane, first(lane) | by(lane) & !segment(lane))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffles_read_within_their_segments() {
        let source = |source, lane: usize, by, clamp| {
            let read = sources(source, &[by; LANES], &[clamp; LANES])[lane];
            (read != NOWHERE).then_some(read)
        };
        // __shfl_down_sync(mask, value, 1, 8): c = (32 - 8) << 8 | 31.
        let clamp = 24 << 8 | 31;
        assert_eq!(source(Source::Down, 6, 1, clamp), Some(7));
        assert_eq!(source(Source::Down, 7, 1, clamp), None);
        // __shfl_up_sync(mask, value, 2, 8): c = (32 - 8) << 8.
        assert_eq!(source(Source::Up, 10, 2, 24 << 8), Some(8));
        assert_eq!(source(Source::Up, 9, 2, 24 << 8), None);
        assert_eq!(source(Source::Up, 1, 2, 0), None);
        assert_eq!(source(Source::Index, 13, 3, clamp), Some(11));
        assert_eq!(source(Source::Index, 13, 11, clamp), Some(11));
        assert_eq!(source(Source::Butterfly, 13, 1, clamp), Some(12));
        assert_eq!(source(Source::Butterfly, 31, 16, 31), Some(15));
    }
}

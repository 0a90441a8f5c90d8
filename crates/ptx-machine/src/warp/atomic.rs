//! Atomic operations, which are executed lane by lane.

use super::Warp;
use super::access::{Place, places};
use super::run::Engine;
use crate::arithmetic::Type;
use crate::block::Block;
use crate::fault::Fault;
use crate::lanes::{LANES, Mask, each};
use crate::observer::{Action, Observer};
use crate::program::{Atomic, Order, Update};

impl<O: Observer> Engine<'_, O> {
    /// Executes an atomic operation for the lanes of `mask`.
    pub fn atomic<const CHECKS: bool>(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        atomic: &Atomic,
        mask: Mask,
    ) -> Result<(), Box<Fault>> {
        let addresses = warp.addresses(atomic.address);
        // The order of the lanes is undefined. Flipping random bits of their numbers can reverse the order of any two.
        let flips = self.random.as_mut().map_or(0, |random| random.below(LANES as u32) as usize);
        let size = if atomic.wide { 8 } else { 4 };
        let action = Action::Atomic(atomic.to.is_some());
        for (place, mask, window) in places(atomic.space, &addresses, mask) {
            if mask == 0 {
                continue;
            }
            let addresses = each(|lane| addresses[lane].wrapping_sub(window));
            self.check_bounds(block, warp, place, action, &addresses, mask, size)?;
            self.observe(block, warp, place, action, &addresses, mask, size);
            let offsets = self.offsets(place, &addresses);
            for lane in (0..LANES).map(|lane| lane ^ flips).filter(|lane| mask >> lane & 1 == 1) {
                if CHECKS && place != Place::Local {
                    self.check_update(
                        block,
                        warp,
                        place,
                        lane,
                        addresses[lane],
                        size,
                        atomic.order,
                    )?;
                }
                self.update(block, warp, place, lane, offsets[lane], atomic);
            }
        }
        Ok(())
    }

    /// Checks that the bytes were written and that the operation races with no other access.
    #[allow(clippy::too_many_arguments)]
    fn check_update(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        place: Place,
        lane: usize,
        address: u64,
        size: usize,
        order: Order,
    ) -> Result<(), Box<Fault>> {
        self.check_written(block, warp, place, lane, address, size)?;
        let fences = |block: &mut Block, warp: &mut Warp| {
            let acquired = warp.clock.fence(1 << lane, warp.number, block.epoch);
            block.acquired.extend(acquired);
        };
        if order == Order::Release {
            fences(block, warp);
        }
        let race = self.note(block, warp, place, lane, (address, size), |thread, word| {
            thread.write(word, true)
        });
        if let Some(other) = race {
            return Err(self.race(block, warp, place, lane, address, size, true, other));
        }
        if place == Place::Global {
            self.releases.read(address, lane as u16, &mut warp.clock);
            self.releases.write(address, &self.thread(block, warp, lane), true);
        }
        if matches!(order, Order::Acquire | Order::Release) {
            fences(block, warp);
        }
        Ok(())
    }

    /// Updates the memory for one lane, and writes the old value to the destination register.
    fn update(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        place: Place,
        lane: usize,
        offset: usize,
        atomic: &Atomic,
    ) {
        let bytes = match place {
            Place::Global => self.memory.bytes_mut(),
            Place::Shared => &mut block.shared,
            Place::Local => &mut warp.local,
        };
        let [x, y] = atomic.of.map(usize::from);
        if atomic.wide {
            let bytes = bytes[offset..].first_chunk_mut().expect("within bounds");
            let old = u64::from_le_bytes(*bytes);
            let bank = &mut warp.registers.doubles;
            let new = wide(atomic.update, atomic.kind, old, bank[x][lane], bank[y][lane]);
            self.progress |= new != old;
            *bytes = new.to_le_bytes();
            if let Some(to) = atomic.to {
                bank[usize::from(to)][lane] = old;
            }
        } else {
            let bytes = bytes[offset..].first_chunk_mut().expect("within bounds");
            let old = u32::from_le_bytes(*bytes);
            let bank = &mut warp.registers.words;
            let new = narrow(atomic.update, atomic.kind, old, bank[x][lane], bank[y][lane]);
            self.progress |= new != old;
            *bytes = new.to_le_bytes();
            if let Some(to) = atomic.to {
                bank[usize::from(to)][lane] = old;
            }
        }
    }
}

macro_rules! update {
    ($name:ident, $bits:ty, $signed:ident: $signed_type:ty, $float:ident: $float_type:ty) => {
        /// Returns the new value for an old value and the operands.
        pub fn $name(update: Update, kind: Type, old: $bits, x: $bits, y: $bits) -> $bits {
            let signed = kind == Type::$signed;
            match update {
                Update::Add if kind == Type::$float => {
                    (<$float_type>::from_bits(old) + <$float_type>::from_bits(x)).to_bits()
                }
                Update::Add => old.wrapping_add(x),
                Update::Min if signed => (old as $signed_type).min(x as $signed_type) as $bits,
                Update::Max if signed => (old as $signed_type).max(x as $signed_type) as $bits,
                Update::Min => old.min(x),
                Update::Max => old.max(x),
                Update::And => old & x,
                Update::Or => old | x,
                Update::Xor => old ^ x,
                Update::Exchange => x,
                Update::CompareAndSwap => {
                    if old == x {
                        y
                    } else {
                        old
                    }
                }
                Update::Increment => {
                    if old >= x {
                        0
                    } else {
                        old + 1
                    }
                }
                Update::Decrement => {
                    if old == 0 || old > x {
                        x
                    } else {
                        old - 1
                    }
                }
            }
        }
    };
}
update!(narrow, u32, i32: i32, f32: f32);
update!(wide, u64, i64: i64, f64: f64);

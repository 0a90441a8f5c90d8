//! Atomic operations, which are executed lane by lane.

use super::checks::Span;
use super::state::element;
use super::turn::Turn;
use crate::arithmetic::Type;
use crate::fault::Checked;
use crate::lanes::{LANES, Mask};
use crate::model::recorder::WarpAccess;
use crate::model::trace::Path;
use crate::program::{Atomic, Order, Space, Update};

impl Turn<'_, '_> {
    pub fn atomic<const CHECKS: bool>(&mut self, atomic: &Atomic, mask: Mask) -> Checked {
        let addresses = self.warp.addresses(atomic.address);
        // The order of the lanes is undefined. Flipping random bits of their numbers can reverse the order of any two.
        let random = self.engine.random.as_mut();
        let flips = random.map_or(0, |random| random.below(LANES as u32) as usize);
        let size = if atomic.kind.is_wide() { 8 } else { 4 };
        let space = atomic.space;
        let answers = atomic.to.is_some();
        let whole = WarpAccess { space, path: Path::Atomic, answers, addresses, mask, size };
        self.in_each_memory(whole, |turn, part, offsets| {
            let active = |lane: &usize| part.mask >> lane & 1 == 1;
            for lane in (0..LANES).map(|lane| lane ^ flips).filter(active) {
                if CHECKS && part.space != Space::Local {
                    turn.check_update(lane, Span::of(part, lane), atomic.order)?;
                }
                turn.update(part.space, lane, offsets[lane], atomic);
            }
            Ok(())
        })
    }

    /// Checks that the bytes were written and that the operation races with no other access.
    fn check_update(&mut self, lane: usize, span: Span, order: Order) -> Checked {
        self.check_written(lane, span)?;
        if order == Order::Release {
            self.fence(1 << lane);
        }
        self.access(lane, span, |thread, word| thread.write(word, true))
            .map_err(|other| self.race(lane, span, "writes", other))?;
        if span.space == Space::Global {
            self.engine.releases.read(span.address, lane as u16, &mut self.warp.clock);
            self.release(lane, span.address, true);
        }
        if matches!(order, Order::Acquire | Order::Release) {
            self.fence(1 << lane);
        }
        Ok(())
    }

    /// Updates the memory for one lane, and writes the old value to the destination register.
    fn update(&mut self, space: Space, lane: usize, offset: usize, atomic: &Atomic) {
        let &Atomic { update, kind, to, of, .. } = atomic;
        let is_wide = kind.is_wide();
        let memory = match space {
            Space::Global => self.engine.memory.bytes_mut(),
            Space::Shared => &mut self.block.shared,
            _ => &mut self.warp.local,
        };
        let size = if is_wide { 8 } else { 4 };
        let bytes = &mut memory[offset..offset + size];
        let registers = &mut self.warp.registers;
        let old = element(bytes, size, false);
        let [x, y] = of.map(|of| registers.value(is_wide, of, lane));
        let new = if is_wide {
            wide(update, kind, old, x, y)
        } else {
            narrow(update, kind, old as u32, x as u32, y as u32).into()
        };
        self.engine.progress |= new != old;
        bytes.copy_from_slice(&new.to_le_bytes()[..size]);
        if let Some(to) = to {
            registers.set_value(is_wide, to, lane, old);
        }
    }
}

macro_rules! update {
    ($name:ident, $bits:ty, $signed:ident: $signed_type:ty, $float:ident: $float_type:ty) => {
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
                Update::CompareAndSwap if old == x => y,
                Update::CompareAndSwap => old,
                Update::Increment if old >= x => 0,
                Update::Increment => old + 1,
                Update::Decrement if old == 0 || old > x => x,
                Update::Decrement => old - 1,
            }
        }
    };
}
update!(narrow, u32, i32: i32, f32: f32);
update!(wide, u64, i64: i64, f64: f64);

//! Loads and stores: addresses, bounds checks, and the transfer of bytes between registers and memory.

use super::checks::Span;
use super::state::{Warp, element};
use super::turn::{Engine, Turn};
use crate::fault::Checked;
use crate::lanes::{Bits, LANES, Mask, Registers, each, lanes, put, which};
use crate::memory::{GLOBAL, LOCAL_WINDOW, SHARED_WINDOW, WINDOW};
use crate::model::recorder::WarpAccess;
use crate::model::trace::Path;
use crate::program::{Access, Address, Order, Space};

impl Warp {
    #[inline(always)]
    pub fn addresses(&self, address: Address) -> [u64; LANES] {
        let register = usize::from(address.register);
        if address.wide {
            let base = &self.registers.doubles[register];
            each(|lane| base[lane].wrapping_add(address.offset as u64))
        } else {
            let base = &self.registers.words[register];
            each(|lane| base[lane].wrapping_add(address.offset as u32).into())
        }
    }
}

impl Turn<'_, '_> {
    #[inline(always)]
    pub fn load<const CHECKS: bool>(&mut self, access: &Access, mask: Mask) -> Checked {
        let addresses = self.warp.addresses(access.address);
        let size = access.size();
        let path = match access.order {
            Order::Weak if access.past_l1 => Path::Strong,
            Order::Weak if access.once => Path::Once,
            Order::Weak => Path::Load,
            Order::ReadOnly => Path::ReadOnly,
            _ => Path::Strong,
        };
        let space = access.space;
        let whole = WarpAccess { space, path, answers: true, addresses, mask, size };
        self.in_each_memory(whole, |turn, part, offsets| {
            if CHECKS && part.space != Space::Local {
                for lane in lanes(part.mask) {
                    turn.check_read(lane, Span::of(part, lane), access.order)?;
                }
            }
            let bytes = match part.space {
                Space::Global => turn.engine.memory.bytes(),
                Space::Shared => &turn.block.shared,
                _ => &turn.warp.local,
            };
            fetch(&mut turn.warp.registers, bytes, offsets, part.mask, access);
            Ok(())
        })
    }

    #[inline(always)]
    pub fn store<const CHECKS: bool>(&mut self, access: &Access, mask: Mask) -> Checked {
        let addresses = self.warp.addresses(access.address);
        let size = access.size();
        let space = access.space;
        let whole = WarpAccess { space, path: Path::Store, answers: false, addresses, mask, size };
        self.in_each_memory(whole, |turn, part, offsets| {
            if !CHECKS || part.space == Space::Local {
                turn.deposit(part.space, offsets, part.mask, access);
                return Ok(());
            }
            // Lane by lane, so that each check sees the writes of the previous lanes.
            for lane in lanes(part.mask) {
                turn.check_write(lane, Span::of(part, lane), access)?;
                turn.deposit(part.space, offsets, 1 << lane, access);
            }
            Ok(())
        })
    }

    #[inline(always)]
    fn deposit(&mut self, space: Space, offsets: &[usize; LANES], mask: Mask, access: &Access) {
        let memory = match space {
            Space::Global => self.engine.memory.bytes_mut(),
            Space::Shared => &mut self.block.shared,
            _ => &mut self.warp.local,
        };
        self.engine.progress |= deposit(&self.warp.registers, memory, offsets, mask, access);
    }

    /// Divides an access into those to global, shared and local memory, whose addresses are then offsets in the window
    /// of the memory. Checks the bounds of each, records it, and then calls `execute` with it and with the offset of
    /// each lane in the bytes of the memory.
    #[inline(always)]
    pub fn in_each_memory(
        &mut self,
        whole: WarpAccess,
        mut execute: impl FnMut(&mut Self, &WarpAccess, &[usize; LANES]) -> Checked,
    ) -> Checked {
        let WarpAccess { space, ref addresses, mask, .. } = whole;
        let none = (Space::Global, 0, 0);
        let parts = match space {
            Space::Constant => [(Space::Global, mask, 0), none, none],
            Space::Global | Space::Shared | Space::Local => [(space, mask, 0), none, none],
            Space::Generic => {
                let within = |start: u64| mask & which(|lane| addresses[lane].wrapping_sub(start) < WINDOW);
                let shared = within(SHARED_WINDOW);
                let local = within(LOCAL_WINDOW);
                [
                    (Space::Global, mask & !shared & !local, 0),
                    (Space::Shared, shared, SHARED_WINDOW),
                    (Space::Local, local, LOCAL_WINDOW),
                ]
            }
        };
        for (space, mask, start) in parts {
            if mask == 0 {
                continue;
            }
            let addresses = each(|lane| addresses[lane].wrapping_sub(start));
            let part = WarpAccess { space, addresses, mask, ..whole };
            self.check_bounds(&part)?;
            let at = self.warp.at;
            self.record(|recorder, id| recorder.accessed(id, at, &part));
            let offsets = self.engine.offsets(part.space, &part.addresses);
            execute(self, &part, &offsets)?;
        }
        Ok(())
    }
}

impl Engine<'_> {
    /// Returns the offset of each lane's address in the bytes of a memory.
    #[inline(always)]
    fn offsets(&self, space: Space, addresses: &[u64; LANES]) -> [usize; LANES] {
        match space {
            Space::Global => each(|lane| addresses[lane].wrapping_sub(GLOBAL) as usize),
            Space::Shared => each(|lane| addresses[lane] as usize),
            _ => {
                let bytes = self.kernel.local_bytes;
                each(|lane| addresses[lane] as usize + lane * bytes)
            }
        }
    }
}

/// Returns whether all 32 lanes access one element each, contiguously and in order.
#[inline(always)]
fn side_by_side(offsets: &[usize; LANES], mask: Mask, access: &Access) -> bool {
    let bytes = usize::from(access.bytes);
    let mut apart = 0;
    for (lane, offset) in offsets.iter().enumerate() {
        apart |= offset ^ offsets[0].wrapping_add(lane * bytes);
    }
    mask == Mask::MAX && access.count == 1 && apart == 0
}

#[inline(always)]
fn fetch(registers: &mut Registers, memory: &[u8], offsets: &[usize; LANES], mask: Mask, access: &Access) {
    let bytes = usize::from(access.bytes);
    if side_by_side(offsets, mask, access) && bytes == if access.wide { 8 } else { 4 } {
        let slot = usize::from(access.registers[0]);
        let memory = &memory[offsets[0]..offsets[0] + LANES * bytes];
        if access.wide {
            let elements = memory.as_chunks::<8>().0.iter();
            let lanes = registers.doubles[slot].iter_mut().zip(elements);
            lanes.for_each(|(lane, bytes)| *lane = u64::from_le_bytes(*bytes));
        } else {
            let elements = memory.as_chunks::<4>().0.iter();
            let lanes = registers.words[slot].iter_mut().zip(elements);
            lanes.for_each(|(lane, bytes)| *lane = u32::from_le_bytes(*bytes));
        }
        return;
    }
    for (k, &slot) in access.registers().iter().enumerate() {
        match (access.wide, bytes) {
            (true, 8) => {
                let values = gather(memory, offsets, mask, k * bytes, u64::from_le_bytes);
                put(registers, slot, mask, &values);
            }
            (false, 4) => {
                let values = gather(memory, offsets, mask, k * bytes, u32::from_le_bytes);
                put(registers, slot, mask, &values);
            }
            _ => lanes(mask).for_each(|lane| {
                let value = element(&memory[offsets[lane] + k * bytes..], bytes, access.signed);
                registers.set_value(access.wide, slot, lane, value);
            }),
        }
    }
}

/// Returns for each lane of `mask` the `N` bytes at its offset plus `beyond`, and arbitrary values for other lanes.
#[inline(always)]
fn gather<const N: usize, B: Bits>(
    memory: &[u8],
    offsets: &[usize; LANES],
    mask: Mask,
    beyond: usize,
    of: impl Fn([u8; N]) -> B,
) -> [B; LANES] {
    let at = each(|lane| if mask >> lane & 1 == 1 { offsets[lane] } else { 0 });
    let mut last = 0;
    for &at in &at {
        last = last.max(at);
    }
    assert!(last.checked_add(beyond + N).is_some_and(|end| end <= memory.len()));
    let first = memory.as_ptr().wrapping_add(beyond).cast::<[u8; N]>();
    // SAFETY: `last` is the largest offset, and the assertion checks that its bytes are within the memory.
    each(|lane| of(unsafe { *first.byte_add(at[lane]) }))
}

/// Stores the registers of the lanes in `mask`. Returns whether this changes the memory.
#[inline(always)]
fn deposit(registers: &Registers, memory: &mut [u8], offsets: &[usize; LANES], mask: Mask, access: &Access) -> bool {
    let bytes = usize::from(access.bytes);
    if side_by_side(offsets, mask, access) && bytes == if access.wide { 8 } else { 4 } {
        let slot = usize::from(access.registers[0]);
        let memory = &mut memory[offsets[0]..offsets[0] + LANES * bytes];
        return if access.wide {
            overwrite_all(memory, &registers.doubles[slot], u64::to_le_bytes)
        } else {
            overwrite_all(memory, &registers.words[slot], u32::to_le_bytes)
        };
    }
    let mut changes = false;
    for (k, &slot) in access.registers().iter().enumerate() {
        for lane in lanes(mask) {
            let value = registers.value(access.wide, slot, lane);
            let memory = &mut memory[offsets[lane] + k * bytes..];
            changes |= match bytes {
                8 => overwrite(memory, value.to_le_bytes()),
                4 => overwrite(memory, (value as u32).to_le_bytes()),
                2 => overwrite(memory, (value as u16).to_le_bytes()),
                _ => overwrite(memory, [value as u8]),
            };
        }
    }
    changes
}

#[inline(always)]
fn overwrite_all<const N: usize, B: Bits>(
    memory: &mut [u8],
    row: &[B; LANES],
    bytes_of: impl Fn(B) -> [u8; N],
) -> bool {
    let mut changes = false;
    for (bytes, &value) in memory.as_chunks_mut().0.iter_mut().zip(row) {
        changes |= *bytes != bytes_of(value);
        *bytes = bytes_of(value);
    }
    changes
}

#[inline(always)]
fn overwrite<const N: usize>(memory: &mut [u8], value: [u8; N]) -> bool {
    let bytes = memory.first_chunk_mut().expect("within bounds");
    std::mem::replace(bytes, value) != value
}

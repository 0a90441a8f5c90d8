//! Loads and stores: addresses, bounds checks, and the transfer of bytes between registers and memory.

use super::checks::Span;
use super::run::{Engine, Turn};
use super::{Warp, element};
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

/// Returns the memories that an access touches (global, shared or local), each with its lanes and the start of its
/// window, which is subtracted from the addresses.
#[inline(always)]
pub fn spaces(space: Space, addresses: &[u64; LANES], mask: Mask) -> [(Space, Mask, u64); 3] {
    let none = (Space::Global, 0, 0);
    match space {
        Space::Constant => [(Space::Global, mask, 0), none, none],
        Space::Global | Space::Shared | Space::Local => [(space, mask, 0), none, none],
        Space::Generic => {
            let within =
                |window: u64| mask & which(|lane| addresses[lane].wrapping_sub(window) < WINDOW);
            let (shared, local) = (within(SHARED_WINDOW), within(LOCAL_WINDOW));
            [
                (Space::Global, mask & !shared & !local, 0),
                (Space::Shared, shared, SHARED_WINDOW),
                (Space::Local, local, LOCAL_WINDOW),
            ]
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
        for (space, mask, window) in spaces(access.space, &addresses, mask) {
            if mask == 0 {
                continue;
            }
            let addresses = each(|lane| addresses[lane].wrapping_sub(window));
            let whole = WarpAccess { space, path, answers: true, addresses, mask, size };
            self.check_bounds(&whole)?;
            self.record_access(&whole);
            if CHECKS && space != Space::Local {
                for lane in lanes(mask) {
                    let span = Span { space, address: addresses[lane], size };
                    self.check_read(lane, span, access.order)?;
                }
            }
            let bytes = match space {
                Space::Global => self.engine.memory.bytes(),
                Space::Shared => &self.block.shared,
                _ => &self.warp.local,
            };
            let offsets = self.engine.offsets(space, &addresses);
            fetch(&mut self.warp.registers, bytes, &offsets, mask, access);
        }
        Ok(())
    }

    #[inline(always)]
    pub fn store<const CHECKS: bool>(&mut self, access: &Access, mask: Mask) -> Checked {
        let addresses = self.warp.addresses(access.address);
        let size = access.size();
        for (space, mask, window) in spaces(access.space, &addresses, mask) {
            if mask == 0 {
                continue;
            }
            let addresses = each(|lane| addresses[lane].wrapping_sub(window));
            let (path, answers) = (Path::Store, false);
            let whole = WarpAccess { space, path, answers, addresses, mask, size };
            self.check_bounds(&whole)?;
            self.record_access(&whole);
            let offsets = self.engine.offsets(space, &addresses);
            if CHECKS && space != Space::Local {
                // Lane by lane, so that each check sees the writes of the previous lanes.
                for lane in lanes(mask) {
                    let span = Span { space, address: addresses[lane], size };
                    self.check_write(lane, span, access)?;
                    self.deposit(space, &offsets, 1 << lane, access);
                }
            } else {
                self.deposit(space, &offsets, mask, access);
            }
        }
        Ok(())
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

    #[inline(always)]
    pub fn record_access(&mut self, access: &WarpAccess) {
        let at = self.warp.at;
        self.record(|recorder, id| recorder.accessed(id, at, access));
    }
}

impl Engine<'_> {
    /// Returns the offset of each lane's address in the bytes of a memory.
    #[inline(always)]
    pub fn offsets(&self, space: Space, addresses: &[u64; LANES]) -> [usize; LANES] {
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

#[inline(always)]
fn fetch(
    registers: &mut Registers,
    memory: &[u8],
    offsets: &[usize; LANES],
    mask: Mask,
    access: &Access,
) {
    let bytes = usize::from(access.bytes);
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
fn deposit(
    registers: &Registers,
    memory: &mut [u8],
    offsets: &[usize; LANES],
    mask: Mask,
    access: &Access,
) -> bool {
    let bytes = usize::from(access.bytes);
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

/// Overwrites the first `N` bytes. Returns whether this changes them.
#[inline(always)]
fn overwrite<const N: usize>(memory: &mut [u8], value: [u8; N]) -> bool {
    let bytes = memory.first_chunk_mut().expect("within bounds");
    std::mem::replace(bytes, value) != value
}

//! Device memory: one arena with a shadow that says of every byte whether it may be used.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use memmap2::{MmapMut, MmapOptions};
use spmv_bench::method::Failed;

/// Size of the arena; the shadow, of the same size, lies right behind it.
pub const ARENA: usize = 1 << 30;
/// What memory holds that nobody wrote: not a number as a float, out of every range as an index.
pub const POISON: u8 = 0xff;
/// Between any two regions.
const RED_ZONE: usize = 256;
/// All regions begin at a multiple of it.
const ALIGNMENT: usize = 256;

/// Blocks that may be resident at once.
pub const BLOCK_SLOTS: usize = 8;
/// Room for the shared memory of one block with its red zones.
pub const SHARED_ROOM: usize = 128 << 10;

/// What a region of the arena is.
#[derive(Clone, Debug, PartialEq)]
pub enum Region {
    /// Allocated by the host.
    Buffer,
    /// The same after its release.
    Released,
    /// A block's, by the array's name.
    Shared(String),
    /// A block's, as many bytes as the launch asked for.
    Dynamic,
}

/// The arena. Regions are handed out upwards; when none is left, from the beginning again.
pub struct Memory {
    map: MmapMut,
    end: usize,
    /// Size and nature by offset. A released region stays until another takes its place, so that its
    /// use can be told from a wild address.
    regions: RefCell<BTreeMap<usize, (usize, Region)>>,
    top: Cell<usize>,
    buffers: Cell<usize>,
    /// Bytes of all buffers, now and at most.
    held: Cell<u64>,
    peak: Cell<u64>,
}

/// Where buffers begin: behind the blocks' shared memory.
const FIRST: usize = BLOCK_SLOTS * SHARED_ROOM;

impl Drop for Memory {
    fn drop(&mut self) {
        let left = self.buffers.get();
        assert!(left == 0 || std::thread::panicking(), "{left} buffers were not given back");
    }
}

impl Memory {
    /// An empty arena; pages are only taken when they are written.
    pub fn new() -> Self {
        Self::with_end(ARENA)
    }

    /// The same with less to hand out.
    fn with_end(end: usize) -> Self {
        let map = MmapOptions::new().len(2 * ARENA).no_reserve_swap().map_anon();
        Self {
            map: map.expect("address space for the emulated memory"),
            end,
            regions: RefCell::default(),
            top: Cell::new(FIRST),
            buffers: Cell::new(0),
            held: Cell::new(0),
            peak: Cell::new(0),
        }
    }

    /// Bytes of all buffers.
    pub fn held(&self) -> u64 {
        self.held.get()
    }

    /// The most bytes of all buffers so far.
    pub fn peak(&self) -> u64 {
        self.peak.get()
    }

    /// Where it begins.
    pub fn base(&self) -> usize {
        self.map.as_ptr() as usize
    }

    /// A buffer of poison.
    pub fn allocate(&self, bytes: usize) -> Result<u64, Failed> {
        if self.buffers.get() == 0 {
            self.top.set(FIRST);
        }
        let offset = self.place(bytes).ok_or_else(|| {
            Failed(format!("out of memory: no {bytes} bytes left in the emulation"))
        })?;
        self.top.set(offset + bytes);
        self.buffers.set(self.buffers.get() + 1);
        self.held.set(self.held.get() + bytes as u64);
        self.peak.set(self.peak.get().max(self.held.get()));
        self.open(offset, bytes, Region::Buffer, POISON);
        Ok((self.base() + offset) as u64)
    }

    /// Room behind the newest buffer, or in the first gap that is wide enough: memory is used again as
    /// late as possible, so that uses after a release are found.
    fn place(&self, bytes: usize) -> Option<usize> {
        let regions = self.regions.borrow();
        let newest = Self::behind(self.top.get());
        let live = regions.range(FIRST..).filter(|(_, (_, region))| *region == Region::Buffer);
        let behind = live.clone().map(|(offset, (bytes, _))| Self::behind(offset + bytes));
        let limit = |start: usize| {
            let next = live.clone().map(|(&offset, _)| offset).find(|&offset| offset >= start);
            next.unwrap_or(self.end)
        };
        let mut starts = [newest, Self::behind(FIRST)].into_iter().chain(behind);
        starts.find(|&start| start + bytes + RED_ZONE <= limit(start))
    }

    /// Makes a buffer unusable.
    pub fn release(&self, address: u64) {
        let offset = address as usize - self.base();
        let bytes = match self.regions.borrow_mut().get_mut(&offset) {
            Some((bytes, region)) if *region == Region::Buffer => {
                *region = Region::Released;
                *bytes
            }
            _ => panic!("{address:#x} is released and no buffer"),
        };
        self.buffers.set(self.buffers.get() - 1);
        self.held.set(self.held.get() - bytes as u64);
        self.mark(offset, bytes, false, POISON);
    }

    /// Makes a region usable and fills it with poison.
    pub fn open(&self, offset: usize, bytes: usize, region: Region, poison: u8) {
        let mut regions = self.regions.borrow_mut();
        while let Some((&old, _)) =
            regions.range(..offset + bytes.max(1)).next_back().filter(|(old, (bytes, region))| {
                **old >= offset || *region == Region::Released && **old + bytes > offset
            })
        {
            regions.remove(&old);
        }
        regions.insert(offset, (bytes, region));
        self.mark(offset, bytes, true, poison);
    }

    /// Ends a region that `open` began.
    pub fn close(&self, offset: usize) {
        let (bytes, _) = self.regions.borrow_mut().remove(&offset).expect("an open region");
        self.mark(offset, bytes, false, POISON);
    }

    /// Where a new region may begin behind one that ends at `end`.
    pub fn behind(end: usize) -> usize {
        (end + RED_ZONE).next_multiple_of(ALIGNMENT)
    }

    fn mark(&self, offset: usize, bytes: usize, live: bool, poison: u8) {
        let data = self.map.as_ptr().cast_mut();
        // SAFETY: offset + bytes <= ARENA for every region, and the map is twice that long; it is
        // only ever accessed through raw pointers, by one thread.
        unsafe {
            data.add(offset).write_bytes(poison, bytes);
            data.add(ARENA + offset).write_bytes(u8::from(live), bytes);
        }
    }

    /// The bytes at `address` as a pointer, when `bytes` of them may be used.
    pub fn at(&self, address: u64, bytes: usize) -> Result<*mut u8, Failed> {
        let offset = (address as usize).wrapping_sub(self.base());
        if offset < ARENA && bytes <= ARENA - offset {
            // SAFETY: within the shadow.
            let shadow =
                unsafe { std::slice::from_raw_parts(self.map.as_ptr().add(ARENA + offset), bytes) };
            if shadow.iter().all(|&live| live == 1) {
                return Ok(address as *mut u8);
            }
        }
        Err(Failed(format!("the host uses {bytes} bytes {}", self.describe(address as usize))))
    }

    /// Where an address lies, for a message.
    pub fn describe(&self, address: usize) -> String {
        let offset = address.wrapping_sub(self.base());
        match self.nearest(offset) {
            Some((distance, bytes, region)) => {
                let name = match region {
                    Region::Buffer => format!("a buffer of {bytes} bytes"),
                    Region::Released => format!("a released buffer of {bytes} bytes"),
                    Region::Shared(name) => format!("the shared array `{name}` of {bytes} bytes"),
                    Region::Dynamic => format!("{bytes} bytes of dynamic shared memory"),
                };
                format!("at offset {distance} of {name}")
            }
            None => format!("at address {address:#x}, which is in no buffer"),
        }
    }

    /// The region around or next to an offset: the offset in it, its size and nature.
    fn nearest(&self, offset: usize) -> Option<(i64, usize, Region)> {
        if offset >= ARENA {
            return None;
        }
        let regions = self.regions.borrow();
        let before = regions.range(..=offset).next_back();
        let after = regions.range(offset..).next();
        let gap_before =
            before.map_or(usize::MAX, |(at, (bytes, _))| offset.saturating_sub(at + bytes));
        let gap_after = after.map_or(usize::MAX, |(at, _)| at - offset);
        let (at, (bytes, region)) = if gap_before <= gap_after { before? } else { after? };
        Some((offset as i64 - *at as i64, *bytes, region.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_used_when_the_end_is_reached() {
        let size = 4096;
        let memory = Memory::with_end(FIRST + 4 * size);
        let first = memory.allocate(size).unwrap();
        let second = memory.allocate(size).unwrap();
        let third = memory.allocate(size).unwrap();
        assert!(memory.allocate(size).is_err());
        memory.release(second);
        assert!(memory.allocate(size + 1).is_err());
        let small = memory.allocate(100).unwrap();
        assert!(small > third, "the end first");
        assert_eq!(memory.allocate(size), Ok(second));
        assert!(memory.at(first, size).is_ok() && memory.at(third, size).is_ok());
        assert!(memory.at(second, size + 1).is_err());
        [first, second, third, small].iter().for_each(|&address| memory.release(address));
    }

    #[test]
    fn the_host_is_held_to_the_bounds_too() {
        let memory = Memory::new();
        let address = memory.allocate(10).unwrap();
        assert!(memory.at(address + 2, 8).is_ok());
        let Failed(message) = memory.at(address + 2, 9).unwrap_err();
        assert_eq!(message, "the host uses 9 bytes at offset 2 of a buffer of 10 bytes");
        memory.release(address);
        let Failed(message) = memory.at(address, 1).unwrap_err();
        assert!(message.ends_with("at offset 0 of a released buffer of 10 bytes"), "{message}");
        assert_eq!(memory.describe(3), "at address 0x3, which is in no buffer");
    }
}

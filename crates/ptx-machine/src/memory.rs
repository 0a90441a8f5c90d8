//! Global memory: buffers with gaps between them, and a record of which bytes were written.

use std::collections::BTreeMap;
use std::ops::Range;

/// The address of the first byte of global memory.
pub const GLOBAL: u64 = 0x7000_0000_0000;
/// The generic address of the first byte of shared memory.
pub const SHARED_WINDOW: u64 = 0x0100_0000_0000;
/// The generic address of the first byte of local memory.
pub const LOCAL_WINDOW: u64 = 0x0200_0000_0000;
/// The size of the windows of shared and local memory in bytes.
pub const WINDOW: u64 = 1 << 32;
/// The value of bytes that were never written: it yields NaN as a number and an index out of range.
pub const POISON: u8 = 0xff;
/// The size of the gap between two buffers in bytes. No access may touch it.
const GAP: usize = 256;
/// The alignment of buffers in bytes, which is that of CUDA.
const ALIGNMENT: usize = 256;
/// The maximum distance in bytes at which an address is described relative to a buffer.
const NEAR_BYTES: usize = 1 << 20;

#[derive(Default)]
pub struct Memory {
    bytes: Vec<u8>,
    /// One bit for each byte: whether it was written; empty without checks.
    written: Vec<u8>,
    checks: bool,
    available: usize,
    /// Each buffer by its offset: its size, and whether it was released. A released one is stored until a new buffer
    /// overlaps it.
    regions: BTreeMap<usize, (usize, bool)>,
    /// The end of the newest buffer.
    top: usize,
    /// The total size of the buffers in bytes: now, and the maximum so far.
    allocated: (u64, u64),
}

impl Memory {
    /// Creates a memory of `available` bytes, gaps included, without buffers. With `checks` it records which bytes were
    /// written, and reuses released memory as late as possible.
    pub fn new(available: usize, checks: bool) -> Self {
        Self { checks, available, ..Self::default() }
    }

    /// Allocates a buffer and returns its address; `None` if there is not enough memory.
    pub fn allocate(&mut self, bytes: usize) -> Option<u64> {
        let offset = self.reserve(bytes)?;
        let end = (offset + bytes).next_multiple_of(64);
        if self.bytes.len() < end {
            self.bytes.resize(end, POISON);
        }
        self.bytes[offset..offset + bytes].fill(POISON);
        if self.checks {
            self.written.resize(self.bytes.len() / 8, 0);
            self.written[offset / 8..(offset + bytes).div_ceil(8)].fill(0);
        }
        Some(GLOBAL + offset as u64)
    }

    fn reserve(&mut self, bytes: usize) -> Option<usize> {
        if self.buffers() == 0 {
            self.top = 0;
        }
        let offset = self.free_offset(bytes)?;
        self.top = offset + bytes;
        self.allocated.0 += bytes as u64;
        self.allocated.1 = self.allocated.1.max(self.allocated.0);
        let before = self.regions.range(..offset + bytes.max(1)).rev();
        let overlapped = before.take_while(|&(&start, &(size, _))| start + size > offset || start >= offset);
        let replaced: Vec<_> = overlapped.map(|(&start, _)| start).collect();
        replaced.iter().for_each(|start| _ = self.regions.remove(start));
        self.regions.insert(offset, (bytes, false));
        Some(offset)
    }

    /// Returns the offset for a new buffer: the first gap that is large enough. With checks, the space after the newest
    /// buffer is tried first, so that accesses to released memory are detected.
    fn free_offset(&self, bytes: usize) -> Option<usize> {
        let live = || self.regions.iter().filter(|(_, (_, released))| !released);
        let behind = |end: usize| (end + GAP).next_multiple_of(ALIGNMENT);
        let limit =
            |start: usize| live().map(|(&offset, _)| offset).find(|&offset| offset >= start).unwrap_or(self.available);
        let newest = self.checks.then(|| behind(self.top));
        let gaps = live().map(|(offset, (bytes, _))| behind(offset + bytes));
        let mut starts = newest.into_iter().chain([behind(0)]).chain(gaps);
        starts.find(|&start| start.saturating_add(bytes).saturating_add(GAP) <= limit(start))
    }

    /// Releases a buffer. Returns false if no buffer starts at this address.
    pub fn release(&mut self, address: u64) -> bool {
        let region = self.regions.get_mut(&(address.wrapping_sub(GLOBAL) as usize));
        let Some((bytes, released @ false)) = region else { return false };
        *released = true;
        self.allocated.0 -= *bytes as u64;
        true
    }

    /// Returns the number of buffers that have not been released.
    pub fn buffers(&self) -> usize {
        self.regions.values().filter(|(_, released)| !released).count()
    }

    /// Returns the total size of all buffers in bytes: now, and the maximum so far.
    pub fn allocated_bytes(&self) -> (u64, u64) {
        self.allocated
    }

    /// Returns the offset and the size of the buffer that contains `bytes` bytes at an address.
    pub fn buffer(&self, address: u64, bytes: usize) -> Option<(usize, usize)> {
        let offset = address.wrapping_sub(GLOBAL) as usize;
        let (&start, &(size, released)) = self.regions.range(..=offset).next_back()?;
        let within = offset < start + size && offset + bytes <= start + size;
        (!released && within).then_some((start, size))
    }

    /// Describes an address by the nearest buffer.
    pub fn describe(&self, address: u64) -> String {
        let offset = address.wrapping_sub(GLOBAL) as usize;
        let gap = |start: usize, bytes: usize| start.saturating_sub(offset).max(offset.saturating_sub(start + bytes));
        let before = self.regions.range(..=offset).next_back();
        let after = self.regions.range(offset..).next();
        let nearest = before.into_iter().chain(after);
        let nearest = nearest.min_by_key(|&(&start, &(bytes, _))| gap(start, bytes));
        match nearest {
            Some((&start, &(bytes, released))) if gap(start, bytes) < NEAR_BYTES => {
                let distance = offset as i64 - start as i64;
                let released = if released { "released " } else { "" };
                format!("at offset {distance} of a {released}buffer of {bytes} bytes")
            }
            _ => format!("at address {address:#x}, which is not in any buffer"),
        }
    }

    /// Returns the offsets of the bytes in a buffer at an address. An error describes an access outside all buffers.
    fn range(&self, address: u64, bytes: usize) -> Result<Range<usize>, String> {
        if self.buffer(address, bytes).is_none() {
            return Err(format!("{bytes} bytes {}", self.describe(address)));
        }
        let offset = (address - GLOBAL) as usize;
        Ok(offset..offset + bytes)
    }

    pub fn upload(&mut self, from: &[u8], to: u64) -> Result<(), String> {
        let range = self.range(to, from.len())?;
        self.mark_written(range.start, range.len());
        self.bytes[range].copy_from_slice(from);
        Ok(())
    }

    pub fn download(&self, from: u64, to: &mut [u8]) -> Result<(), String> {
        to.copy_from_slice(&self.bytes[self.range(from, to.len())?]);
        Ok(())
    }

    pub fn fill(&mut self, to: u64, byte: u8, bytes: usize) -> Result<(), String> {
        let range = self.range(to, bytes)?;
        self.mark_written(range.start, range.len());
        self.bytes[range].fill(byte);
        Ok(())
    }

    /// Copies bytes within the memory. Uninitialised bytes stay uninitialised in the copy.
    pub fn copy(&mut self, from: u64, to: u64, bytes: usize) -> Result<(), String> {
        let from = self.range(from, bytes)?;
        let to = self.range(to, bytes)?;
        if self.checks {
            for k in 0..bytes {
                let written = self.is_written(from.start + k, 1);
                self.set_written(to.start + k, written);
            }
        }
        self.bytes.copy_within(from, to.start);
        Ok(())
    }

    /// Returns all bytes, indexed by their offset.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    pub fn is_written(&self, offset: usize, bytes: usize) -> bool {
        (offset..offset + bytes).all(|at| self.written[at / 8] >> (at % 8) & 1 == 1)
    }

    pub fn mark_written(&mut self, offset: usize, bytes: usize) {
        if !self.checks {
            return;
        }
        let end = offset + bytes;
        let first = offset.next_multiple_of(8).min(end);
        let last = (end / 8 * 8).max(first);
        (offset..first).chain(last..end).for_each(|at| self.set_written(at, true));
        self.written[first / 8..last / 8].fill(u8::MAX);
    }

    fn set_written(&mut self, at: usize, written: bool) {
        let byte = &mut self.written[at / 8];
        *byte = *byte & !(1 << (at % 8)) | u8::from(written) << (at % 8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_of_the_host_are_checked() {
        let mut memory = Memory::new(1 << 20, true);
        let address = memory.allocate(10).unwrap();
        assert_eq!(memory.upload(&[1; 8], address + 2), Ok(()));
        let outside = memory.upload(&[1; 9], address + 2).unwrap_err();
        assert_eq!(outside, "9 bytes at offset 2 of a buffer of 10 bytes");
        assert!(memory.release(address) && !memory.release(address));
        let outside = memory.download(address, &mut [0]).unwrap_err();
        assert_eq!(outside, "1 bytes at offset 0 of a released buffer of 10 bytes");
        assert_eq!(memory.describe(3), "at address 0x3, which is not in any buffer");
    }

    #[test]
    fn written_bytes_are_recorded() {
        let mut memory = Memory::new(1 << 20, true);
        let (a, b) = (memory.allocate(100).unwrap(), memory.allocate(100).unwrap());
        let offset = |address: u64| (address - GLOBAL) as usize;
        memory.fill(a + 3, 7, 30).unwrap();
        let written = |memory: &Memory, address| -> Vec<bool> {
            (0..40).map(|k| memory.is_written(offset(address) + k, 1)).collect()
        };
        let expected: Vec<_> = (0..40).map(|k| (3..33).contains(&k)).collect();
        assert_eq!(written(&memory, a), expected);
        memory.copy(a, b, 40).unwrap();
        assert_eq!(written(&memory, b), expected);
        assert!(memory.is_written(offset(a) + 8, 8) && !memory.is_written(offset(a), 8));
    }

    #[test]
    fn released_memory_is_reused_when_the_end_is_reached() {
        let size = 4096;
        let mut memory = Memory::new(4 * size, true);
        let first = memory.allocate(size).unwrap();
        let second = memory.allocate(size).unwrap();
        let third = memory.allocate(size).unwrap();
        assert_eq!(memory.allocate(size), None);
        assert!(memory.release(second));
        assert_eq!(memory.allocate(size + 1), None);
        let small = memory.allocate(100).unwrap();
        assert!(small > third, "the space after the newest buffer is used first");
        assert_eq!(memory.allocate(size), Some(second));
        let offset = (second - GLOBAL) as usize;
        assert_eq!(memory.buffer(second + size as u64 - 1, 1), Some((offset, size)));
        assert_eq!(memory.buffer(second + size as u64, 1), None);
        assert!([first, second, third, small].iter().all(|&address| memory.release(address)));
        assert_eq!((memory.buffers(), memory.allocated_bytes()), (0, (0, 3 * 4096 + 100)));
    }

    #[test]
    fn without_checks_released_memory_is_reused_at_once() {
        let mut memory = Memory::new(1 << 20, false);
        let first = memory.allocate(1000).unwrap();
        memory.allocate(1000).unwrap();
        memory.release(first);
        assert_eq!(memory.allocate(900), Some(first));
    }
}

//! Global memory: buffers with gaps between them, and what is known of every byte.

mod regions;

use std::fmt;

pub use regions::Nature;
use regions::Regions;

/// The address of the first byte of global memory.
pub const GLOBAL: u64 = 0x7000_0000_0000;
/// Where shared memory begins among generic addresses.
pub const SHARED_WINDOW: u64 = 0x0100_0000_0000;
/// Where local memory begins among generic addresses.
pub const LOCAL_WINDOW: u64 = 0x0200_0000_0000;
/// Bytes of the windows of shared and of local memory.
pub const WINDOW: u64 = 1 << 32;
/// What memory holds that nobody wrote: not a number, or an index out of every range.
pub const POISON: u8 = 0xff;

/// Global memory.
pub struct Memory {
    bytes: Vec<u8>,
    regions: Regions,
    /// One bit for each byte: whether it was written. Empty where nobody asks.
    written: Vec<u8>,
    checks: bool,
}

/// An access to bytes that are in no buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct Outside {
    /// How many bytes.
    pub bytes: usize,
    /// Where they are, in words.
    pub place: String,
}

impl fmt::Display for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes {}", self.bytes, self.place)
    }
}

impl std::error::Error for Outside {}

impl Memory {
    /// Empty memory that hands out at most `room` bytes, gaps included. With `checks` it knows which bytes
    /// were written, and uses released memory again as late as possible.
    pub fn new(room: usize, checks: bool) -> Self {
        Self { bytes: Vec::new(), regions: Regions::new(room, checks), written: Vec::new(), checks }
    }

    /// Whether it knows which bytes were written.
    pub fn checks(&self) -> bool {
        self.checks
    }

    /// A new buffer; `None` when there is no room for it.
    pub fn allocate(&mut self, bytes: usize) -> Option<u64> {
        let offset = self.regions.allocate(bytes)?;
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

    /// Ends a buffer; false when none begins there.
    pub fn release(&mut self, address: u64) -> bool {
        self.regions.release(address.wrapping_sub(GLOBAL) as usize)
    }

    /// Buffers that were not released.
    pub fn buffers(&self) -> usize {
        self.regions.buffers()
    }

    /// Bytes of all buffers, now and at most so far.
    pub fn held(&self) -> (u64, u64) {
        self.regions.held()
    }

    /// The buffer around `bytes` bytes at an address: its first offset and its size.
    pub fn buffer(&self, address: u64, bytes: usize) -> Option<(usize, usize)> {
        let offset = address.wrapping_sub(GLOBAL);
        let (start, size) = self.regions.around(usize::try_from(offset).ok()?)?;
        (offset as usize + bytes <= start + size).then_some((start, size))
    }

    /// Where an address is, in words.
    pub fn describe(&self, address: u64) -> String {
        match self.regions.nearest(address.wrapping_sub(GLOBAL)) {
            Some((distance, bytes, nature)) => {
                format!("at offset {distance} of a {nature} of {bytes} bytes")
            }
            None => format!("at address {address:#x}, which is in no buffer"),
        }
    }

    fn range(&self, address: u64, bytes: usize) -> Result<std::ops::Range<usize>, Outside> {
        if self.buffer(address, bytes).is_none() {
            return Err(Outside { bytes, place: self.describe(address) });
        }
        let offset = (address - GLOBAL) as usize;
        Ok(offset..offset + bytes)
    }

    /// Copies from the host.
    pub fn upload(&mut self, from: &[u8], to: u64) -> Result<(), Outside> {
        let range = self.range(to, from.len())?;
        self.mark_written(range.start, range.len());
        self.bytes[range].copy_from_slice(from);
        Ok(())
    }

    /// Copies to the host.
    pub fn download(&self, from: u64, to: &mut [u8]) -> Result<(), Outside> {
        to.copy_from_slice(&self.bytes[self.range(from, to.len())?]);
        Ok(())
    }

    /// Writes the same byte everywhere.
    pub fn fill(&mut self, to: u64, byte: u8, bytes: usize) -> Result<(), Outside> {
        let range = self.range(to, bytes)?;
        self.mark_written(range.start, range.len());
        self.bytes[range].fill(byte);
        Ok(())
    }

    /// Copies within the memory; what was not written is not written in the copy either.
    pub fn copy(&mut self, from: u64, to: u64, bytes: usize) -> Result<(), Outside> {
        let (from, to) = (self.range(from, bytes)?, self.range(to, bytes)?);
        if self.checks {
            for k in 0..bytes {
                let written = self.is_written(from.start + k, 1);
                self.set_written(to.start + k, written);
            }
        }
        self.bytes.copy_within(from, to.start);
        Ok(())
    }

    /// All bytes, by their offsets.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The same, to be written.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// Whether all of these bytes were written.
    pub fn is_written(&self, offset: usize, bytes: usize) -> bool {
        (offset..offset + bytes).all(|at| self.written[at / 8] >> (at % 8) & 1 == 1)
    }

    /// Notes that these bytes were written.
    pub fn mark_written(&mut self, offset: usize, bytes: usize) {
        if !self.checks {
            return;
        }
        let (first, last) = (offset.next_multiple_of(8), (offset + bytes) / 8 * 8);
        if first >= last {
            (offset..offset + bytes).for_each(|at| self.set_written(at, true));
            return;
        }
        (offset..first).chain(last..offset + bytes).for_each(|at| self.set_written(at, true));
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
    fn the_host_is_held_to_the_bounds() {
        let mut memory = Memory::new(1 << 20, true);
        let address = memory.allocate(10).unwrap();
        assert_eq!(memory.upload(&[1; 8], address + 2), Ok(()));
        let outside = memory.upload(&[1; 9], address + 2).unwrap_err();
        assert_eq!(outside.to_string(), "9 bytes at offset 2 of a buffer of 10 bytes");
        assert!(memory.release(address) && !memory.release(address));
        let outside = memory.download(address, &mut [0]).unwrap_err();
        assert_eq!(outside.to_string(), "1 bytes at offset 0 of a released buffer of 10 bytes");
        assert_eq!(memory.describe(3), "at address 0x3, which is in no buffer");
    }

    #[test]
    fn it_knows_what_was_written() {
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
}

//! Reads the launch bounds of kernels from machine code.

/// The attribute of a kernel with its launch bound: format and name (EIATTR_MAX_THREADS in `cuobjdump --dump-elf`).
const MAX_THREADS: [u8; 2] = [0x04, 0x05];
/// The format of attributes that are followed by the stated number of bytes; all others have 4 bytes.
const SIZED: u8 = 0x04;

/// Returns the largest number of threads per block according to the kernel's launch bound, or `None` without one.
pub fn launch_bound(cubin: &[u8], kernel: &str) -> Option<u32> {
    let wanted = format!(".nv.info.{kernel}\0");
    let names = section(cubin, number(cubin, 62, 2))?;
    let info = (0..number(cubin, 60, 2)).find_map(|index| {
        let name = number(cubin, header(cubin, index), 4);
        names[name..].starts_with(wanted.as_bytes()).then(|| section(cubin, index))?
    })?;
    let mut at = 0;
    while at + 4 <= info.len() {
        let bytes = if info[at] == SIZED { number(info, at + 2, 2) } else { 0 };
        if info[at..at + 2] == MAX_THREADS {
            let dimensions = [0, 4, 8].map(|offset| number(info, at + 4 + offset, 4) as u32);
            return Some(dimensions.iter().product());
        }
        at += 4 + bytes;
    }
    None
}

fn header(elf: &[u8], index: usize) -> usize {
    number(elf, 40, 8) + index * number(elf, 58, 2)
}

fn section(elf: &[u8], index: usize) -> Option<&[u8]> {
    let header = header(elf, index);
    elf.get(number(elf, header + 24, 8)..)?.get(..number(elf, header + 32, 8))
}

fn number(data: &[u8], at: usize, bytes: usize) -> usize {
    data[at..at + bytes].iter().rev().fold(0, |number, &byte| number << 8 | usize::from(byte))
}

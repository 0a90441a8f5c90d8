//! Finds the rows that no warp writes alone if each warp has a fixed number of consecutive nonzeros.

use super::prelude::*;

const BLOCK: usize = 256;

/// Returns the rows without nonzeros, with the first or the last of `piece` consecutive nonzeros, or with nonzeros from
/// `tail` on, in any order.
pub fn find_rows<T: Value>(
    csr: &DeviceCsr<T>,
    piece: usize,
    tail: usize,
) -> Result<Buffer<u32>, Unprepared> {
    let find = csr.gpu.compile::<T>(program!("cuda/find_rows.cu"), &[])?.kernel("find_rows")?;
    let (rows, piece, tail) = (csr.rows(), piece as u32, tail as u32);
    let mut list = csr.gpu.allocate(0)?;
    // The first launch counts the rows, the second one lists them.
    for listing in [false, true] {
        let count = csr.gpu.upload(&[0u32])?;
        let arguments: [&dyn Argument; 6] = [&rows, &csr.row_offsets, &piece, &tail, &count, &list];
        find.launch(csr.host.rows().div_ceil(BLOCK), BLOCK, 0, &arguments)?;
        if !listing {
            list = csr.gpu.allocate(count.to_vec()?[0] as usize)?;
        }
    }
    Ok(list)
}

//! The block shapes by mean row length: csr-k, section 4.1.

use crate::device::Dim3;

/// Threads of a block by case: over rows × super-rows, or over lanes of a row × rows × super-rows.
pub const BLOCKS: [&str; 4] = ["8x12", "4x8x12", "8x8x8", "16x8x4"];

/// Parses the shape of a block; two numbers mean one lane per row.
pub fn shape(block: &str) -> Dim3 {
    let mut numbers: Vec<u32> = block.split('x').map(|word| word.parse().expect("its parts are numbers")).collect();
    if numbers.len() == 2 {
        numbers.insert(0, 1);
    }
    Dim3 { x: numbers[0], y: numbers[1], z: numbers[2] }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lanes of a row are neighbours, and all rows of a warp belong to one super-row.
    #[test]
    fn shapes_are_what_their_names_say_and_lanes_fill_warps() {
        let shapes = BLOCKS.map(shape).map(|Dim3 { x, y, z }| [x, y, z]);
        assert_eq!(shapes, [[1, 8, 12], [4, 8, 12], [8, 8, 8], [16, 8, 4]]);
        assert!(shapes[1..].iter().all(|[x, y, _]| x.is_power_of_two() && x * y % 32 == 0));
    }
}

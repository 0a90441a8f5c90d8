//! The product of small matrices, which the lanes of a warp hold together (PTX ISA, section 9.7.14).

use super::Warp;
use super::run::Engine;
use crate::block::Block;
use crate::fault::{Fault, Kind};
use crate::lanes::{LANES, Lane, Mask, each, put};
use crate::observer::Observer;
use crate::program::Matrices;

impl<O: Observer> Engine<'_, O> {
    /// Executes `mma.sync.m8n8k4`. Returns false if other lanes must run first.
    #[inline(always)]
    pub fn multiply_matrices(
        &mut self,
        block: &Block,
        warp: &mut Warp,
        matrices: &Matrices,
        mask: Mask,
    ) -> Result<bool, Box<Fault>> {
        let all = [Mask::MAX; LANES];
        let Some(met) = self.gather(block, warp, &all, mask)? else {
            return Ok(false);
        };
        if met != Mask::MAX {
            let what = format!("mma.sync needs 32 lanes, but the warp has {};", met.count_ones());
            let lane = met.trailing_zeros() as usize;
            return Err(self.fault(Kind::Synchronisation, block, warp, lane, what));
        }
        let row = |slot: u16| warp.registers.doubles[usize::from(slot)];
        let sums = sums(&row(matrices.left), &row(matrices.right), matrices.of.map(row));
        for (to, sums) in matrices.to.into_iter().zip(&sums) {
            put(&mut warp.registers, to, met, sums);
        }
        Ok(true)
    }
}

/// Returns C + A B for A of 8 × 4, B of 4 × 8 and C of 8 × 8 doubles. Lane l holds row l / 4 and column l % 4 of A, row
/// l % 4 and column l / 4 of B, and row l / 4 and columns 2 (l % 4) and 2 (l % 4) + 1 of C. Each product is added with
/// one rounding, in the order of the columns of A.
#[inline(always)]
fn sums(left: &[u64; LANES], right: &[u64; LANES], of: [[u64; LANES]; 2]) -> [[u64; LANES]; 2] {
    let mut sums = of;
    for (second, sums) in sums.iter_mut().enumerate() {
        for k in 0..4 {
            let before = *sums;
            *sums = each(|lane| {
                let factor = f64::of(left[lane / 4 * 4 + k]);
                let column = 2 * (lane % 4) + second;
                factor.mul_add(f64::of(right[4 * column + k]), f64::of(before[lane])).bits()
            });
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_hold_the_parts_that_ptx_defines() {
        // A[i][k], B[k][j] and C[i][j] are distinct small integers, so that all sums are exact.
        let a = |i: usize, k: usize| (10 * i + k) as f64;
        let b = |k: usize, j: usize| (7 * k + 30 * j) as f64 - 40.0;
        let c = |i: usize, j: usize| (1000 * i + j) as f64;
        let left = each(|lane| a(lane / 4, lane % 4).bits());
        let right = each(|lane| b(lane % 4, lane / 4).bits());
        let of = [0, 1].map(|second| each(|lane| c(lane / 4, 2 * (lane % 4) + second).bits()));
        let found = sums(&left, &right, of);
        for (i, j) in (0..8).flat_map(|i| (0..8).map(move |j| (i, j))) {
            let expected = (0..4).fold(c(i, j), |sum, k| sum + a(i, k) * b(k, j));
            assert_eq!(f64::of(found[j % 2][4 * i + j / 2]), expected, "row {i}, column {j}");
        }
    }

    #[test]
    fn products_are_added_with_one_rounding() {
        let value = 1.0 + f64::EPSILON;
        let only_first = each(|lane| (if lane % 4 == 0 { value } else { 0.0 }).bits());
        let found = sums(&only_first, &only_first, [[(-value * value).bits(); LANES]; 2]);
        assert_eq!(f64::of(found[0][0]), f64::EPSILON * f64::EPSILON);
    }
}

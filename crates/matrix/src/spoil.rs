//! Pseudo-random values that overwrite y before a product, so that what the product does not write is found wrong.
//!
//! The loops over all of y are functions without type parameters, because those are compiled here, optimised for speed;
//! the program that verifies after every few products is optimised for size.

use bytemuck::{cast_slice, cast_slice_mut, pod_read_unaligned};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

use crate::scalar::{Precision, Scalar};

/// The maximum number of elements that [`few_spoilt`] returns.
const MAX_SPOILT: usize = 16;

/// Overwrites all elements with pseudo-random bits that depend only on `seed`.
pub fn spoil<T: Scalar>(y: &mut [T], seed: u64) {
    match T::PRECISION {
        Precision::F64 => spoil_f64(cast_slice_mut(y), seed),
        Precision::F32 => spoil_f32(cast_slice_mut(y), seed),
    }
}

fn spoil_f64(y: &mut [f64], seed: u64) {
    y.fill_with(spoilt_values(seed));
}

fn spoil_f32(y: &mut [f32], seed: u64) {
    y.fill_with(spoilt_values(seed));
}

/// Returns whether all elements are bitwise equal to what [`spoil`] writes for `seed`.
pub fn is_spoilt<T: Scalar>(y: &[T], seed: u64) -> bool {
    match T::PRECISION {
        Precision::F64 => is_spoilt_f64(cast_slice(y), seed),
        Precision::F32 => is_spoilt_f32(cast_slice(y), seed),
    }
}

fn is_spoilt_f64(y: &[f64], seed: u64) -> bool {
    let mut spoilt = spoilt_values::<f64>(seed);
    y.iter().all(|value| value.to_bits() == spoilt().to_bits())
}

fn is_spoilt_f32(y: &[f32], seed: u64) -> bool {
    let mut spoilt = spoilt_values::<f32>(seed);
    y.iter().all(|value| value.to_bits() == spoilt().to_bits())
}

/// Returns indices of a few of `len` elements, and the values that overwrite them. Both depend only on `len` and
/// `seed`.
pub fn few_spoilt<T: Scalar>(len: usize, seed: u64) -> impl Iterator<Item = (usize, T)> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..MAX_SPOILT.min(len)).map(move |_| (random.random_range(0..len), spoilt(&mut random)))
}

fn spoilt_values<T: Scalar>(seed: u64) -> impl FnMut() -> T {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    move || spoilt(&mut random)
}

/// Returns NaN or arbitrary bits, each with probability 1/2. A single fixed value would let a library detect that its
/// result is about to be verified.
fn spoilt<T: Scalar>(random: &mut Xoshiro256PlusPlus) -> T {
    let bits: u64 = random.random();
    let arbitrary = pod_read_unaligned(&bits.to_ne_bytes()[..size_of::<T>()]);
    // An index instead of a branch, which the processor would mispredict for every other element.
    [T::nan(), arbitrary][(bits % 2) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_changed_bit_is_found<T: Scalar>() {
        let mut y = vec![T::zero(); 1001];
        spoil(&mut y, 7);
        assert!(is_spoilt(&y, 7) && !is_spoilt(&y, 8));
        assert!((400..600).contains(&y.iter().filter(|value| value.is_nan()).count()));
        for place in [0, 500, 1000] {
            bytemuck::bytes_of_mut(&mut y[place])[0] ^= 1;
            assert!(!is_spoilt(&y, 7), "{place}");
            bytemuck::bytes_of_mut(&mut y[place])[0] ^= 1;
        }
        assert!(is_spoilt(&y, 7));
    }

    #[test]
    fn one_changed_bit_of_a_spoilt_vector_is_found() {
        one_changed_bit_is_found::<f64>();
        one_changed_bit_is_found::<f32>();
    }
}

//! Runs the body of the fuzz target `conversions` on a fixed set of random inputs.

#[path = "../fuzz/src/conversions.rs"]
mod body;

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

/// The number of matrices. Miri is several thousand times slower than native execution.
const MATRICES: u64 = if cfg!(miri) { 3 } else { 200 };

fn bytes(seed: u64) -> Vec<u8> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..8 + seed % 90).map(|_| random.random()).collect()
}

#[test]
fn random_matrices_are_correct_in_every_format() {
    (0..MATRICES).for_each(|seed| body::check(&bytes(seed)));
}

//! The body of the fuzz target `conversions` on bytes that are the same in each run.

#[path = "../fuzz/src/conversions.rs"]
mod conversions;

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

/// Matrices; an interpreter is some thousand times slower.
const MATRICES: u64 = if cfg!(miri) { 3 } else { 200 };

/// Random bytes, of one matrix more than of another.
fn bytes(seed: u64) -> Vec<u8> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..8 + seed % 90).map(|_| random.random()).collect()
}

#[test]
fn random_matrices_are_right_in_every_format() {
    (0..MATRICES).for_each(|seed| conversions::check(&bytes(seed)));
}

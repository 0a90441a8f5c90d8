//! Converts a valid matrix into the formats of the CPU. Each format must keep its invariants, and its product be
//! correct.

#![no_main]

use libfuzzer_sys::fuzz_target;
use spmv_fuzz::{alone, conversions};

fuzz_target!(|input: &[u8]| alone(|| conversions::check(input)));

//! Formats of the CPU: whatever valid matrix is converted, the format keeps its invariants, and its product is
//! right.

#![no_main]

use libfuzzer_sys::fuzz_target;
use spmv_fuzz::{alone, conversions};

fuzz_target!(|input: &[u8]| alone(|| conversions::check(input)));

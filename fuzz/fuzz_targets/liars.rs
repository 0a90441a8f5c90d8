//! Methods that leave products out under any conditions.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../tests/liars/liar.rs"]
mod liar;

fuzz_target!(|bytes: &[u8]| liar::check(bytes));

//! The text of a Matrix Market file: whatever the chunks, threads and blanks, the same matrix or the same
//! message; and what is read can be written and read again.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use spmv_fuzz::{Bench, asks_for_too_much, assert_same, assert_same_csr};
use spmv_matrix::market;

static BENCH: LazyLock<Bench> = LazyLock::new(Bench::default);

/// Lines longer than these are not read the quick way.
const LONG: usize = 130;

fuzz_target!(|text: &[u8]| {
    if asks_for_too_much(text) || text.starts_with(&[0x1f, 0x8b]) {
        return;
    }
    let how = text.last().copied().unwrap_or_default();
    for expand in [true, false] {
        let read = |text: &[u8], how| BENCH.read("a.mtx", text, expand, how);
        let market = read(text, how);
        assert_same(&read(text, how.wrapping_mul(31) ^ 0x5a), &market);
        assert_same(&read(&padded(text), how), &market);
        let Ok(market) = market else { continue };
        assert_eq!(market.text_bytes, text.len() as u64);
        let mut written = Vec::new();
        market::write(&market.csr, &mut written).expect("memory takes it");
        let again = read(&written, how).expect("what was written can be read");
        assert_same_csr(&again.csr, &market.csr);
    }
});

/// The same lines, each with blanks at its end.
fn padded(text: &[u8]) -> Vec<u8> {
    let mut padded = Vec::new();
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        let (line, end) = match line.strip_suffix(b"\n") {
            Some(line) => (line, &b"\n"[..]),
            None => (line, &b""[..]),
        };
        padded.extend_from_slice(line);
        padded.extend_from_slice(&[b' '; LONG]);
        padded.extend_from_slice(end);
    }
    padded
}

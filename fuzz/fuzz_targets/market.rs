//! Reads the text of a Matrix Market file. Whatever the chunks, threads and blanks are, the result must be the same
//! matrix or the same message; a matrix that was read can be written and read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use spmv_fuzz::{BENCH, announces_too_much, assert_same, assert_same_csr};
use spmv_matrix::reader;

/// The fast parsers do not read longer lines.
const LONG: usize = 130;

fuzz_target!(|text: &[u8]| {
    let is_text = text.starts_with(b"%") || text.starts_with(b"\xef\xbb\xbf%");
    if announces_too_much(text) || !is_text {
        return;
    }
    let how = text.last().copied().unwrap_or_default();
    for expand in [true, false] {
        let read = |text: &[u8], how| BENCH.read("a.mtx", text, expand, how);
        let matrix = read(text, how);
        assert_same(&read(text, how.wrapping_mul(31) ^ 0x5a), &matrix);
        assert_same(&read(&padded(text), how), &matrix);
        let Ok(matrix) = matrix else { continue };
        assert_eq!(matrix.text_bytes, text.len() as u64);
        let mut written = Vec::new();
        reader::write(&matrix.csr, &mut written).expect("a vector takes all bytes");
        let again = read(&written, how).expect("what was written can be read");
        assert_same_csr(&again.csr, &matrix.csr);
    }
});

fn padded(text: &[u8]) -> Vec<u8> {
    let mut padded = Vec::new();
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        let content = line.strip_suffix(b"\n").unwrap_or(line);
        padded.extend([content, &[b' '; LONG], &line[content.len()..]].concat());
    }
    padded
}

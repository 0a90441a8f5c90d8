//! Reads a file of any format and compression. Whatever it contains, it is a valid matrix or has a message; the matrix
//! does not change if the text is compressed. The first byte determines the name.

#![no_main]

use std::sync::atomic::AtomicBool;

use libfuzzer_sys::fuzz_target;
use spmv_fuzz::{BENCH, alone, assert_same_csr, check_csr, gzip};
use spmv_matrix::Csr;
use spmv_matrix::memory::ReadBounds;
use spmv_matrix::reader::{FORMATS, Opened, Options};

const OF_ARCHIVES: [&str; 2] = [".tar.gz", ".zip"];
/// Larger matrices take longer than a run may.
const MOST_BYTES: u64 = 1 << 24;

fuzz_target!(|input: &[u8]| {
    let Some((&kind, bytes)) = input.split_first() else { return };
    let of_formats = FORMATS.iter().map(|it| it.extensions.first().copied().unwrap_or_default());
    let extensions: Vec<_> = of_formats.chain(OF_ARCHIVES).collect();
    let name = &format!("a{}", extensions[usize::from(kind) % extensions.len()]);
    let Some(csr) = read(name, bytes) else { return };
    check_csr(&csr);
    assert!(csr.values().iter().all(|value| value.is_finite()));
    if !bytes.starts_with(b"PK") {
        let compressed = read(name, &gzip(bytes, 1));
        compressed.into_iter().for_each(|compressed| assert_same_csr(&compressed, &csr));
    }
});

fn read(name: &str, bytes: &[u8]) -> Option<Csr<f64>> {
    let path = BENCH.put(name, bytes);
    let never = AtomicBool::new(false);
    let bounds = ReadBounds::new(&never, MOST_BYTES, "the target");
    alone(|| Some(Opened::open(&path, &Options::default(), bounds).ok()?.read().ok()?.csr))
}

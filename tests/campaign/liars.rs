//! Tests that a library is detected if it skips products or continues computing after they have returned.

use crate::crash::{place, run_with_library};

/// Each case is what the library does, and the options. More kinds of such methods are in `tests/liars`.
#[test]
fn a_library_that_skips_products_is_wrong() {
    let place = place();
    for (how, options) in [
        ("", "--iterations 50"),
        ("known-x", "--iterations 50"),
        // Each product follows the eviction of the caches, which may be large.
        ("known-x", "--iterations 20 --rounds 2 --cache cold"),
        ("thread", "--iterations 50"),
        ("thread", "--iterations 50 --rounds 1"),
    ] {
        let matrix = "--mtx gen:uniform,rows=5000,nnz=1000000";
        let words = format!("{matrix} --methods mkl-ie --threads 1 {options} --format csv");
        let ran = run_with_library(&place, &words, &[("FAKE_MKL", how)]);
        let expected: &[&str] = match how {
            "" => &["ok"],
            // A thread that continues after its matrix has been freed may crash the process.
            "thread" => &["wrong", "failed"],
            _ => &["wrong"],
        };
        let status = ran.column("status").concat();
        assert!(expected.contains(&&*status), "{how} {options}: {ran:?}");
    }
}

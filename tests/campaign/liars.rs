//! Tests that a library is detected if it skips products or continues computing after they have returned.

use crate::crash::place;
use crate::{Ran, rows};

/// Returns status and reason of the library's row.
fn outcome(how: &str, options: &str) -> (String, String) {
    let place = place();
    let matrix = "--mtx gen:uniform,rows=20000,nnz=2000000";
    let words = format!("{matrix} --methods mkl-ie --threads 1 --iterations 50 {options}");
    let output = place
        .program(&format!("{words} --format csv"))
        .env("SPMV_BENCH_LIBRARY_PATH", place.path("libraries"))
        .env("FAKE_MKL", how)
        .output()
        .unwrap();
    let ran = Ran::of(output);
    let rows = rows(&ran.stdout);
    assert_eq!(rows.len(), 1, "{ran:?}");
    (rows[0]["status"].clone(), rows[0]["reason"].clone())
}

#[test]
fn a_library_that_always_computes_is_right() {
    assert_eq!(outcome("", "").0, "ok");
}

#[test]
fn a_library_that_skips_products_is_wrong() {
    for (how, options) in [
        ("unless-nan", ""),
        ("known-x", ""),
        ("known-x", "--cache cold"),
        ("first-call", ""),
        ("unchanged", ""),
        ("unchanged", "--rounds 1"),
        ("every-other", ""),
        ("thread", ""),
        ("thread", "--rounds 1"),
    ] {
        let (status, reason) = outcome(how, options);
        // A thread that continues after its matrix has been freed may crash the process.
        let is_found = status == "wrong" || how == "thread" && status == "failed";
        assert!(is_found, "{how} {options}: {status}, {reason}");
    }
}

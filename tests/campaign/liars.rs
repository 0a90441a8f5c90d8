//! Tests that a library is detected if it skips products or continues computing after they have returned.

use crate::crash::place;
use crate::{Place, Ran, rows};

/// Returns status and reason of the library's row.
fn outcome(place: &Place, how: &str, options: &str) -> (String, String) {
    let matrix = "--mtx gen:uniform,rows=5000,nnz=1000000";
    let words = format!("{matrix} --methods mkl-ie --threads 1 {options}");
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
    assert_eq!(outcome(&place(), "", "--iterations 50").0, "ok");
}

#[test]
fn a_library_that_skips_products_is_wrong() {
    let place = place();
    for (how, options) in [
        ("unless-nan", "--iterations 50"),
        ("known-x", "--iterations 50"),
        // Each product follows the eviction of the caches, which may be large.
        ("known-x", "--iterations 20 --rounds 2 --cache cold"),
        ("first-call", "--iterations 50"),
        ("unchanged", "--iterations 50"),
        ("unchanged", "--iterations 50 --rounds 1"),
        ("every-other", "--iterations 50"),
        ("thread", "--iterations 50"),
        ("thread", "--iterations 50 --rounds 1"),
    ] {
        let (status, reason) = outcome(&place, how, options);
        // A thread that continues after its matrix has been freed may crash the process.
        let is_found = status == "wrong" || how == "thread" && status == "failed";
        assert!(is_found, "{how} {options}: {status}, {reason}");
    }
}

//! Tests that a library is detected if it skips products or continues computing after they have returned.

use crate::Place;
use crate::crash::place;

fn outcome(place: &Place, how: &str, options: &str) -> (String, String) {
    let matrix = "--mtx gen:uniform,rows=5000,nnz=1000000";
    let words = format!("{matrix} --methods mkl-ie --threads 1 {options} --format csv");
    let libraries = place.path("libraries").display().to_string();
    let variables = [("SPMV_BENCH_LIBRARY_PATH", &*libraries), ("FAKE_MKL", how)];
    let ran = place.run_with(&words, &variables);
    (ran.column("status").concat(), ran.column("reason").concat())
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

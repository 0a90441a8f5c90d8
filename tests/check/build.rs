//! Tests of `gpu-check --build` with a fake compiler.

use crate::{Place, Ran};

/// Builds in a test folder whose fake battery compiles a kernel of this many MiB.
fn build(mib: usize) -> (Place, Ran) {
    let place = Place::new();
    place.program(
        "bin/cargo",
        r#"echo "cargo $*" >>asked; mkdir -p target/release; echo program >target/release/spmv-bench
[ "$1" = test ] && echo "{\"executable\":\"$PWD/bin/battery-1\"}" || true"#,
    );
    place.program("bin/strip", r#"cp "$3" "$2""#);
    let kernel = match mib {
        0 => String::new(),
        _ => format!("head -c {mib}M /dev/zero >$SPMV_BENCH_KERNELS/kernel"),
    };
    let battery = format!("echo \"$SPMV_BENCH_ARCHITECTURES $*\" >>asked; {kernel}");
    place.program("bin/battery-1", &battery);
    std::fs::write(place.path("target/gpu-check/stale"), "").unwrap();
    let ran = place.run("--build");
    (place, ran)
}

#[test]
fn kernels_are_stored_with_the_programs() {
    let (place, ran) = build(3);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let asked = place.asked();
    assert_eq!(asked[2], "90,80,70 --ignored --exact compiled::precompile --nocapture");
    assert_eq!(place.read("target/gpu-check/spmv-bench"), "program\n");
    assert!(place.path("target/gpu-check/kernels/kernel").exists());
    assert!(!place.path("target/gpu-check/stale").exists(), "nothing is left of an earlier build");
    assert!(ran.stdout.contains("target/gpu-check has 3 MiB, 3 MiB of them kernels"), "{ran:?}");
}

#[test]
fn a_build_that_is_too_large_or_has_no_kernels_is_refused() {
    for (mib, told) in [(57, "must stay below 56 MiB"), (0, "no kernel was compiled")] {
        let (_, ran) = build(mib);
        assert!(ran.status == Some(2) && ran.stderr.contains(told), "{ran:?}");
    }
}

//! Tests `gpu-campaign --build` with a fake compiler.

use crate::Dir;

/// Creates a folder with two matrices, and a fake compiler whose battery writes a kernel.
fn place() -> Option<Dir> {
    let place = Dir::with_scripts("")?;
    place.program(
        "bin/cargo",
        r#"mkdir -p target/release; echo program >target/release/spmv-bench
[ "$1" = test ] && echo "{\"executable\":\"$PWD/bin/devices-1\"}" || true"#,
    );
    place.program("bin/strip", r#"cp "$3" "$2""#);
    place.program("bin/devices-1", r#"echo "$SPMV_BENCH_ARCHITECTURES" >$SPMV_BENCH_KERNELS/kernel"#);
    let squares = (0..4000u64).map(|number| (number * number * 7919 % 10_007).to_string());
    place.write("matrices/large.mtx", squares.collect::<Vec<_>>().join("\n"));
    place.write("matrices/small.mtx", "%%MatrixMarket\n");
    Some(place)
}

#[test]
fn a_package_can_be_extracted() {
    let Some(place) = place() else { return };
    place.run("--build matrices").exits(0);
    place.write("target/gpu-campaign/stale", "");
    place.write("matrices/small.mtx", "%%MatrixMarket changed\n");
    place.run("--build matrices").exits(0);
    assert!(!place.path("target/gpu-campaign/stale").exists(), "nothing of an earlier build");
    // The fake program of the package does not run; extraction comes before.
    std::fs::remove_dir_all(place.path("target/gpu-campaign-state")).unwrap();
    place.run("out").exits(2);
    let state = |name: &str| place.read(&format!("target/gpu-campaign-state/{name}"));
    assert_eq!(state("kernels/kernel"), "90\n");
    assert_eq!(state("programs/spmv-bench"), "program\n");
    assert_eq!(state("matrices/small.mtx"), "%%MatrixMarket changed\n");
}

#[test]
fn the_largest_matrices_are_left_out_and_kernels_are_needed() {
    let Some(place) = place() else { return };
    let script = place.read("scripts/gpu-campaign");
    place.write("scripts/gpu-campaign", script.replace("MOST_BYTES = 63 << 20", "MOST_BYTES = 3000"));
    place.run("--build matrices").exits(0).prints("left out: large.mtx.xz");
    assert!(place.path("target/gpu-campaign/matrices/small.mtx.xz").exists());
    place.program("bin/devices-1", "true");
    place.run("--build matrices").refused("no kernel was compiled");
}

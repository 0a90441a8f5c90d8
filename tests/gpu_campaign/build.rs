//! Tests `gpu-campaign --build` with a fake compiler.

use std::fs;

use crate::{Dir, Ran};

/// Creates a folder with the sources of two methods, two matrices, and a fake compiler whose battery writes a kernel.
fn place() -> Option<Dir> {
    let place = Dir::with_scripts("")?;
    place.program(
        "bin/cargo",
        r#"mkdir -p target/release; echo program >target/release/spmv-bench
[ "$1" = test ] && echo "{\"executable\":\"$PWD/bin/battery-1\"}" || true"#,
    );
    place.program("bin/strip", r#"cp "$3" "$2""#);
    place.program(
        "bin/battery-1",
        r#"echo "$SPMV_BENCH_ARCHITECTURES" >$SPMV_BENCH_KERNELS/kernel"#,
    );
    for (name, text) in [
        ("crates/methods/src/gpu/mod.rs", ""),
        (
            "crates/methods/src/gpu/one.rs",
            r#"use super::shared::X; name: "gpu-one", include_str!("../cuda/one.cu")"#,
        ),
        ("crates/methods/src/gpu/two.rs", r#"name: "gpu-two", include_str!("../cuda/two.cu")"#),
        ("crates/methods/src/gpu/shared.rs", "shared"),
        ("cuda/one.cu", "#include \"common.cuh\"\n"),
        ("cuda/two.cu", ""),
        ("cuda/common.cuh", ""),
        ("matrices/large.mtx", &"%%MatrixMarket 1 2 3\n".repeat(9)),
        ("matrices/small.mtx", "%%MatrixMarket\n"),
    ] {
        place.write(name, text);
    }
    Some(place)
}

fn build(place: &Dir) -> Ran {
    place.run("--build matrices")
}

fn bytes(place: &Dir) -> Vec<Vec<u8>> {
    let names = ["programs.tar.xz", "kernels.tar.xz", "bundle.json", "matrices/large.mtx.xz"];
    names.map(|name| fs::read(place.path("target/gpu-campaign").join(name)).unwrap()).to_vec()
}

#[test]
fn a_bundle_is_the_same_to_the_byte_and_can_be_extracted() {
    let Some(place) = place() else { return };
    build(&place).exits(0);
    let first = bytes(&place);
    place.write("target/gpu-campaign/stale", "");
    assert!(build(&place).status == Some(0) && bytes(&place) == first);
    assert!(!place.path("target/gpu-campaign/stale").exists(), "nothing of an earlier build");
    // The fake program of the bundle does not run; extraction comes before.
    fs::remove_dir_all(place.path("target/gpu-campaign-state")).unwrap();
    place.run("out");
    assert_eq!(place.read("target/gpu-campaign-state/kernels/kernel"), "90\n");
    assert_eq!(place.read("target/gpu-campaign-state/matrices/small.mtx"), "%%MatrixMarket\n");
}

#[test]
fn the_hash_of_a_method_follows_its_sources() {
    let Some(place) = place() else { return };
    let hashes = || {
        build(&place);
        let bundle = place.json("target/gpu-campaign/bundle.json");
        ["gpu-one", "gpu-two"].map(|method| bundle["methods"][method].as_str().unwrap().to_owned())
    };
    let mut before = hashes();
    for (changed, expected) in [
        ("cuda/common.cuh", [true, false]),
        ("cuda/two.cu", [false, true]),
        ("crates/methods/src/gpu/shared.rs", [true, false]),
        ("crates/methods/src/gpu/mod.rs", [true, true]),
    ] {
        place.write(changed, &(place.read(changed) + "changed\n"));
        let now = hashes();
        assert_eq!([now[0] != before[0], now[1] != before[1]], expected, "{changed}");
        before = now;
    }
}

#[test]
fn the_largest_matrices_are_left_out_and_too_few_are_an_error() {
    let Some(place) = place() else { return };
    let script = place.read("scripts/gpu_campaign/bundle.py");
    let script = script.replace("MOST_BYTES = 40 << 20", "MOST_BYTES = 66100");
    place.write("scripts/gpu_campaign/bundle.py", &script);
    let ran = build(&place);
    ran.prints("left out: large.mtx.xz");
    ran.refused("only 1 matrices fit");
    place.program("bin/battery-1", "true");
    build(&place).refused("no kernel was compiled");
}

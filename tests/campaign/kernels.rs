//! Tests of methods that are a single `.cu` file, on a modelled GPU.

use std::path::{Path, PathBuf};

use crate::{Dir, Ran, VENV, skip};

/// Returns the path of a kernel of this repository; other paths are absolute.
fn source(kernel: impl AsRef<Path>) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(kernel)
}

/// Runs the program with a kernel and the compiler of `.venv`. Returns `None` if there is no compiler.
fn run(place: &Dir, kernel: impl AsRef<Path>, words: &str) -> Option<Ran> {
    let words = format!("{words} --kernel {}", source(kernel).display());
    let ran = place.run_with(&words, &[VENV]);
    if ran.stdout.contains("NVRTC was not found") || ran.stderr.contains("NVRTC was not found") {
        return skip("there is no NVRTC");
    }
    Some(ran)
}

const NAIVE: &str = "examples/kernels/thread_per_row.cu";
const MEASURE: &str = "--mtx matrices/m1.mtx --no-bandwidth --format csv";

/// As [`run`], with a copy of a kernel in which `from` is replaced.
fn run_changed(place: &Dir, kernel: &str, [from, to]: [&str; 2], words: &str) -> Option<Ran> {
    let text = std::fs::read_to_string(source(kernel)).unwrap();
    assert!(text.contains(from), "{from}");
    place.write("my.cu", text.replace(from, to));
    run(place, place.path("my.cu"), words)
}

#[test]
fn a_kernel_runs_without_a_gpu_and_is_verified() {
    let place = Dir::with_matrices(&[300]);
    for name in ["thread_per_row", "warp_per_row", "vector_per_row"] {
        for options in ["", "--precision f32 --alpha 2 --beta -0.5"] {
            let kernel = format!("examples/kernels/{name}.cu");
            let Some(ran) = run(&place, kernel, &format!("{MEASURE} {options}")) else { return };
            assert_eq!(ran.column("method_name"), [name.replace('_', "-")], "{ran:?}");
            assert_eq!(ran.column("status"), ["ok"], "{ran:?}");
        }
    }
    let words = "corpus matrices --methods two,gpu-naive --device model:h100 --no-bandwidth";
    let ran = run(&place, "tests/cuda/two.cu", words).unwrap();
    assert_eq!(ran.column("method_name"), ["gpu-naive", "two"], "{ran:?}");
    assert_eq!(ran.column("status"), ["ok", "ok"], "{ran:?}");
    let bytes: Vec<u64> = ran.column("extra_bytes").iter().map(|n| n.parse().unwrap()).collect();
    let nnz: u64 = ran.column("num_nonzeros")[0].parse().unwrap();
    // The second array is rounded up to 8 bytes.
    assert_eq!(bytes, [0, 8 * nnz + 4 * 300]);
}

#[test]
fn a_kernel_has_parameters_and_a_transposed_product() {
    let place = Dir::with_matrices(&[300]);
    let kernel = "tests/cuda/transposed.cu";
    let methods = "--methods transposed:block=*,transposed --transpose --beta 0.5";
    let words = format!("{MEASURE} {methods}");
    let Some(ran) = run(&place, kernel, &words) else { return };
    let names = ["transposed:block=32", "transposed:block=64", "transposed:block=128", "transposed"];
    assert_eq!(ran.column("method_name"), names, "{ran:?}");
    assert_eq!(ran.column("status"), ["ok"; 4], "{ran:?}");

    let plain = run(&place, kernel, &words.replace(" --transpose", "")).unwrap();
    assert_eq!(plain.column("status"), ["skipped"; 4], "{plain:?}");
    for (word, message) in [
        ("transposed:block=48", "cannot be '48'; it can be 32, 64, 128"),
        ("transposed:blok=32", "has no parameter 'blok'"),
    ] {
        let words = words.replace("transposed:block=*,transposed", word);
        run(&place, kernel, &words).unwrap().says(message);
    }
}

#[test]
fn mistakes_in_a_kernel_have_clear_messages() {
    let place = Dir::with_matrices(&[300]);
    let outcome = |from: &str, to: &str| {
        let ran = run_changed(&place, NAIVE, [from, to], MEASURE)?;
        let mut rows = ran.column("status").into_iter().zip(ran.column("reason"));
        let (status, reason) = rows.next_back().unwrap_or(("refused".into(), ran.stderr.clone()));
        Some(format!("{status}: {reason}"))
    };
    for (from, to, message) in [
        ("row >= rows", "row > rows", "failed: thread_per_row: "),
        ("sum += values[k]", "sum += 2 * values[k]", "wrong: row "),
        ("row_offsets[row + 1]; k++", "row_offsets[row + 1] k++", "my.cu(17): error"),
        (
            "VALUE_T beta)",
            "float beta)",
            "thread_per_row must have the parameters (unsigned rows, unsigned cols",
        ),
        ("threads = 256", "threads = 0", "refused: "),
        ("rows_per_block = 256", "blocks = 4294967296", "blocks is 4294967296; at most"),
        ("kernel = \"thread_per_row\"", "kernel = \"other\"", "other"),
        ("// spmv-bench", "// spmv_bench", "my.cu:1: the first line must be `// spmv-bench`"),
        ("rows_per_block", "rows_per_blok", "my.cu:8: unknown field `rows_per_blok`"),
    ] {
        let Some(found) = outcome(from, to) else { return };
        assert!(found.contains(message), "{from} -> {to}: {found}");
    }
}

/// A row is published; a file that a kernel includes is not.
#[test]
fn messages_of_the_compiler_quote_no_other_file_and_have_a_limit() {
    let place = Dir::with_matrices(&[300]);
    place.write("secret", "token hunter2\n".repeat(3));
    let include = format!("\n#include \"{}\"\n", place.path("secret").display());
    let long = "\nint a = b;".repeat(1000);
    for (added, shown) in [(include, "a message on "), (long, "[...]")] {
        let change = ["\n// y <-", &format!("{added}\n// y <-")];
        let Some(ran) = run_changed(&place, NAIVE, change, MEASURE) else { return };
        let reason = ran.column("reason").pop().unwrap();
        assert!(reason.contains(shown) && !ran.stdout.contains("hunter2"), "{reason}");
        assert!(reason.len() < 3000, "{}", reason.len());
    }
}

/// 2^63 values of 8 bytes would be 0 bytes in 64 bits.
#[test]
fn a_workspace_whose_size_overflows_is_refused() {
    let place = Dir::with_matrices(&[30]);
    for number in ["9223372036854775807", "2305843009213693952"] {
        let change = ["per_nonzero = 1", &format!("per_nonzero = {number}")];
        let Some(ran) = run_changed(&place, "tests/cuda/two.cu", change, MEASURE) else { return };
        let reason = ran.column("reason").pop().unwrap();
        assert!(reason.starts_with("out of memory for "), "{number}: {reason}");
    }
}

#[test]
fn an_endless_file_is_not_a_kernel() {
    let place = Dir::with_matrices(&[30]);
    let ran = place.run("--mtx matrices/m1.mtx --kernel /dev/zero").exits(2);
    ran.says("/dev/zero: it has more than 16777216 bytes");
}

/// The time of a model is not that of the simulation, so the limit is one of the process.
#[test]
fn an_endless_kernel_is_not_explained_for_ever() {
    let place = Dir::with_matrices(&[300]);
    let words = "explain my matrices/m1.mtx --timeout 1";
    let Some(ran) = run_changed(&place, NAIVE, ["k++", "k += 0"], words) else { return };
    ran.says("did not end within the 1 s of --timeout");
}

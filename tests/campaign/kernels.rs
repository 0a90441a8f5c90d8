//! Tests of methods that are a single `.cu` file, on a modelled GPU.

use std::path::{Path, PathBuf};

use crate::{Dir, Ran, VENV, skip};

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/kernels").join(name)
}

/// Runs the program with a kernel and the compiler of `.venv`. Returns `None` if there is no compiler.
fn run(place: &Dir, kernel: &Path, words: &str) -> Option<Ran> {
    let ran = place.run_with(&format!("{words} --kernel {}", kernel.display()), &[VENV]);
    if ran.stdout.contains("NVRTC was not found") || ran.stderr.contains("NVRTC was not found") {
        return skip("there is no NVRTC");
    }
    Some(ran)
}

/// The example of a kernel with a setup, a workspace and a grid by nonzeros: the products, and then their sums.
const TWO_KERNELS: &str = "// spmv-bench
// name = \"two\"
// [[workspace]]
// type = \"value_t\"
// per_nonzero = 1
// [[workspace]]
// type = \"unsigned\"
// per_row = 1
// [[setup]]
// kernel = \"lengths\"
// threads = 64
// resident = true
// [[product]]
// kernel = \"products\"
// threads = 64
// nonzeros_per_block = 64
// [[product]]
// kernel = \"sums\"
// threads = 64
// rows_per_block = 64
#include \"common.cuh\"
#define MATRIX unsigned rows, unsigned cols, unsigned nnz, const unsigned *starts, const unsigned *columns, const value_t *values
#define VECTORS const value_t *x, value_t *y, value_t alpha, value_t beta
extern \"C\" __global__ void lengths(MATRIX, value_t *products, unsigned *lengths) {
    for (unsigned row = blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += gridDim.x * blockDim.x)
        lengths[row] = starts[row + 1] - starts[row];
}
extern \"C\" __global__ void products(MATRIX, VECTORS, value_t *products, unsigned *lengths) {
    const unsigned k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < nnz) products[k] = values[k] * x[columns[k]];
}
extern \"C\" __global__ void sums(MATRIX, VECTORS, value_t *products, unsigned *lengths) {
    const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    value_t sum = 0;
    for (unsigned k = 0; k < lengths[row]; k++) sum += products[starts[row] + k];
    store(y, row, alpha, sum, beta);
}
";

#[test]
fn a_kernel_runs_without_a_gpu_and_is_verified() {
    let place = Dir::with_matrices(&[300]);
    for name in ["thread_per_row.cu", "warp_per_row.cu", "vector_per_row.cu"] {
        for options in ["", "--precision f32 --alpha 2 --beta -0.5"] {
            let words = format!("--mtx matrices/m1.mtx --no-bandwidth --format csv {options}");
            let Some(ran) = run(&place, &example(name), &words) else { return };
            let method = name.trim_end_matches(".cu").replace('_', "-");
            assert_eq!(ran.column("method_name"), [method], "{ran:?}");
            assert_eq!(ran.column("status"), ["ok"], "{ran:?}");
        }
    }
    place.write("two.cu", TWO_KERNELS);
    let words = "corpus matrices --methods two,gpu-naive --device model:h100 --no-bandwidth";
    let ran = run(&place, &place.path("two.cu"), words).unwrap();
    assert_eq!(ran.column("method_name"), ["gpu-naive", "two"], "{ran:?}");
    assert_eq!(ran.column("status"), ["ok", "ok"], "{ran:?}");
    let bytes: Vec<u64> = ran.column("extra_bytes").iter().map(|n| n.parse().unwrap()).collect();
    let nnz: u64 = ran.column("num_nonzeros")[0].parse().unwrap();
    // The second array is rounded up to 8 bytes.
    assert_eq!(bytes, [0, 8 * nnz + 4 * 300]);
}

/// A product with the transpose, with a parameter on which the launch depends.
const TRANSPOSED: &str = "// spmv-bench
// [[parameter]]
// name = \"block\"
// values = [32, 64, 128]
// default = 64
// meaning = \"threads per block\"
// [[transposed]]
// kernel = \"scale\"
// threads = \"block\"
// columns_per_block = \"threads\"
// [[transposed]]
// kernel = \"scatter\"
// threads = \"block\"
// rows_per_block = \"block / 2 * 2\"
#define MATRIX unsigned rows, unsigned cols, unsigned nnz, const unsigned *starts, const unsigned *columns, const VALUE_T *values
#define VECTORS const VALUE_T *x, VALUE_T *y, VALUE_T alpha, VALUE_T beta
extern \"C\" __global__ void __launch_bounds__(BLOCK) scale(MATRIX, VECTORS) {
    const unsigned column = blockIdx.x * BLOCK + threadIdx.x;
    if (column < cols) y[column] = beta == 0 ? VALUE_T(0) : beta * y[column];
}
extern \"C\" __global__ void __launch_bounds__(BLOCK) scatter(MATRIX, VECTORS) {
    const unsigned row = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= rows) return;
    for (unsigned k = starts[row]; k < starts[row + 1]; k++) atomicAdd(&y[columns[k]], alpha * values[k] * x[row]);
}
";

#[test]
fn a_kernel_has_parameters_and_a_transposed_product() {
    let place = Dir::with_matrices(&[300]);
    place.write("t.cu", TRANSPOSED);
    let words = "--mtx matrices/m1.mtx --no-bandwidth --format csv --methods t:block=*,t --transpose --beta 0.5";
    let Some(ran) = run(&place, &place.path("t.cu"), words) else { return };
    let names = ["t:block=32", "t:block=64", "t:block=128", "t"];
    assert_eq!(ran.column("method_name"), names, "{ran:?}");
    assert_eq!(ran.column("status"), ["ok"; 4], "{ran:?}");

    let plain = run(&place, &place.path("t.cu"), &words.replace("--transpose", "")).unwrap();
    assert_eq!(plain.column("status"), ["skipped"; 4], "{plain:?}");
    for (word, message) in [
        ("t:block=48", "cannot be '48'; it can be 32, 64, 128"),
        ("t:blok=32", "has no parameter 'blok'"),
    ] {
        let words = words.replace("t:block=*,t", word);
        run(&place, &place.path("t.cu"), &words).unwrap().says(message);
    }
}

#[test]
fn mistakes_in_a_kernel_have_clear_messages() {
    let place = Dir::with_matrices(&[300]);
    let naive = std::fs::read_to_string(example("thread_per_row.cu")).unwrap();
    let outcome = |from: &str, to: &str| {
        assert!(naive.contains(from), "{from}");
        place.write("my.cu", naive.replace(from, to));
        let words = "--mtx matrices/m1.mtx --no-bandwidth --format csv";
        let ran = run(&place, &place.path("my.cu"), words)?;
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
        ("kernel = \"thread_per_row\"", "kernel = \"other\"", "other"),
        ("// spmv-bench", "// spmv_bench", "my.cu:1: the first line must be `// spmv-bench`"),
        ("rows_per_block", "rows_per_blok", "my.cu:8: unknown field `rows_per_blok`"),
    ] {
        let Some(found) = outcome(from, to) else { return };
        assert!(found.contains(message), "{from} -> {to}: {found}");
    }
}

//! Faults planted in the kernels' text, each of which the emulation must find out: by an error that
//! names what happened, or by a wrong result under some seed.

use spmv_bench::device::Gpu;
use spmv_bench::matrix::Csr;
use spmv_bench::method::{Choice, Failed, Unprepared};
use spmv_bench::methods::METHODS;
use spmv_bench::verify::Reference;
use spmv_emulation::Emulation;

use super::product::{PLAIN, Place, products};
use super::small::vector;

/// Seeds that a fault may need until it shows.
const SEEDS: u64 = 30;

/// How a fault shows.
#[derive(Clone, Copy)]
enum Found {
    /// The launch ends with an error that contains these words.
    By(&'static str),
    /// The result is wrong, or the launch ends with an error, under some seed.
    Somehow,
}
use Found::{By, Somehow};

/// Method, text of its kernels, what takes its place, how that shows.
type Fault = (&'static str, &'static str, &'static str, Found);

const FAULTS: &[Fault] = &[
    ("gpu-csr-scalar", "if (row >= rows) return;", "", By("csr_scalar: block (2,0,0) thread")),
    ("gpu-csr-scalar", "row >= rows", "row > rows", By("reads 4 bytes at offset 2064 of")),
    ("gpu-csr-scalar", "k < end", "k + 1 < end", Somehow),
    ("gpu-csr-scalar", "store(y, row, alpha, sum, beta);", "if (sum != 0) y[row] = sum;", Somehow),
    ("gpu-csr-vector", "lane == 0 && row < rows", "lane == 1 && row < rows", Somehow),
    (
        "gpu-csr-vector",
        "lane == 0 && row < rows",
        "lane == 0",
        By("writes 8 bytes at offset 4120 of"),
    ),
    (
        "gpu-csr-vector",
        "row < rows ? row_offsets[row + 1] : 0",
        "row_offsets[row + 1]",
        By("reads 4 bytes at offset 2064 of"),
    ),
    // The barrier in a divergent branch of five-gpu-algorithms' listing.
    (
        "gpu-csr-vector",
        "sum = vector_sum<LANES>",
        "if (row < rows) __syncthreads(); sum = vector_sum<LANES>",
        By("lacks thread (96,0,0), which has exited"),
    ),
    (
        "gpu-csr-vector",
        "sum = vector_sum<LANES>(ALL_LANES, sum)",
        "sum = vector_sum<LANES>(0xffffu, sum)",
        By("in which the caller is not"),
    ),
    (
        "gpu-csr-adaptive",
        "x[column_indices[first + k]];\n    __syncthreads();",
        "x[column_indices[first + k]];",
        Somehow,
    ),
    ("gpu-csr-adaptive", "= sum;\n    __syncthreads();", "= sum;", Somehow),
    (
        "gpu-csr-adaptive",
        "k < nnz; k += BLOCK",
        "k <= nnz; k += BLOCK",
        By("reads 8 bytes at offset"),
    ),
    ("gpu-pcsr", "rows)];\n    __syncthreads();", "rows)];", Somehow),
    ("gpu-pcsr", "products[k];\n        __syncthreads();", "products[k];", Somehow),
    ("gpu-pcsr", "begin];\n        __syncthreads();", "begin];", Somehow),
    ("gpu-pcsr", "min(row, rows)", "row", By("of a buffer of 2064 bytes")),
    (
        "gpu-light:level=vector:lanes=8",
        "vector_mask<TOGETHER>()",
        "ALL_LANES",
        By("lacks the lanes"),
    ),
    (
        "gpu-light",
        "__shfl_sync(mask, bound, 1, LANES)",
        "__shfl_sync(mask, bound, 0, LANES)",
        Somehow,
    ),
    (
        "gpu-light",
        "atomicAdd(counter, TOGETHER / LANES)",
        "atomicAdd(counter, 2 * TOGETHER / LANES)",
        Somehow,
    ),
    (
        "gpu-merge",
        "rows, nnz, row_offsets);\n    __syncthreads();",
        "rows, nnz, row_offsets);",
        Somehow,
    ),
    (
        "gpu-merge",
        "column_indices[nonzero]];\n    }\n    __syncthreads();",
        "column_indices[nonzero]];\n    }",
        Somehow,
    ),
    ("gpu-merge", "= carry;\n    __syncthreads();", "= carry;", Somehow),
    (
        "gpu-merge",
        "++row;\n        }\n    }\n    __syncthreads();",
        "++row;\n        }\n    }",
        Somehow,
    ),
    ("gpu-merge", "if (thread == 0) row_ends[tile_rows] = ~0u;", "", Somehow),
    (
        "gpu-merge",
        "carry_rows[blockIdx.x] =",
        "carry_rows[blockIdx.x + 1] =",
        By("writes 4 bytes at offset"),
    ),
    (
        "gpu-merge",
        "__shfl_up_sync(ALL_LANES, carry.row, distance)",
        "__shfl_up_sync(0x7fffffffu, carry.row, distance)",
        By("in which the caller is not"),
    ),
    (
        "gpu-merge:block=32",
        "atomicAdd(&y[carry.row], alpha * carry.sum)",
        "y[carry.row] += alpha * carry.sum",
        Somehow,
    ),
];

/// Rows of all lengths up to 40, empty ones, one of 30000 nonzeros, and more rows than blocks hold.
fn matrix() -> Csr<f64> {
    let entry = |row: usize, k: usize| (row, (k * 3 + row) % 30001, ((k + row) % 9) as f64 + 0.5);
    let length = |row: usize| if row == 150 { 30000 } else { row % 41 };
    let triplets: Vec<_> =
        (0..515).flat_map(|row| (0..length(row)).map(move |k| entry(row, k))).collect();
    Csr::from_triplets(515, 30001, &triplets)
}

/// What becomes of the method with the fault under one seed; `None` when nothing is amiss.
fn symptom(choice: &Choice, csr: &Csr<f64>, seed: u64, (from, to): (&str, &str)) -> Option<String> {
    let (from, to) = (from.to_owned(), to.to_owned());
    let altered = Emulation::new(seed).rewriting(move |program, _, _| {
        assert!(program.source.contains(&from), "{} has no {from}", program.name);
        program.source.replacen(&from, &to, 1)
    });
    let gpu = Gpu::new(altered);
    let (x, y0) = (vector(csr.cols(), 0.3), vec![f64::NAN; csr.rows()]);
    match products(choice, csr, &Place::Gpu(&gpu), PLAIN, &x, &y0, 1) {
        Ok(ys) => {
            let verdict = Reference::new(csr, 1.0, &x, 0.0, &y0).judge(&ys[0]);
            (!verdict.passes()).then(|| verdict.describe())
        }
        Err(Unprepared::Failed(Failed(reason))) => Some(reason),
        Err(Unprepared::Unavailable(reason)) => panic!("{reason}"),
    }
}

fn choice(text: &str) -> Choice<'static> {
    let (name, parameters) = text.split_once(':').unwrap_or((text, ""));
    let method = METHODS.iter().find(|method| method.name == name).expect("a method's name");
    let given =
        parameters.split(':').filter_map(|text| text.split_once('=')).map(|(name, value)| {
            let parameter = method.parameters.iter().find(|p| p.name == name).expect("a parameter");
            (parameter.name, *parameter.values.iter().find(|v| **v == value).expect("a value"))
        });
    Choice { method, given: given.collect() }
}

#[test]
fn faults_in_kernels_are_found_out() {
    let csr = matrix();
    let unfound: Vec<_> = FAULTS.iter().filter(|fault| !is_found(&csr, fault)).collect();
    let names: Vec<_> = unfound.iter().map(|(name, from, to, _)| (name, from, to)).collect();
    assert!(names.is_empty(), "not found: {names:#?}");
}

fn is_found(csr: &Csr<f64>, &(name, from, to, found): &Fault) -> bool {
    let choice = choice(name);
    let symptoms = (0..SEEDS).map(|seed| symptom(&choice, csr, seed, (from, to)));
    match found {
        // Whatever the order of threads.
        By(words) => symptoms.take(2).all(|symptom| symptom.is_some_and(|s| s.contains(words))),
        Somehow => symptoms.flatten().next().is_some(),
    }
}

#[test]
fn the_same_kernels_without_faults_are_right() {
    let csr = matrix();
    for &(name, ..) in FAULTS {
        assert_eq!(symptom(&choice(name), &csr, 1, ("", "")), None, "{name}");
    }
}

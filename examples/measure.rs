//! Measures a method of its own beside the methods of this crate: `measure FILE.mtx` or `measure
//! gen:grid2d,n=300,points=5`.

use std::path::PathBuf;

use clap::Parser;
use spmv_bench::{Csr, Measurement};
use spmv_matrix::scalar::Scalar;
use spmv_matrix::system::System;
use spmv_methods::device::Unavailable;
use spmv_methods::method::{Code, Method, Prepared, Request};
use spmv_methods::vendor::mkl;

#[derive(Parser)]
struct Arguments {
    /// A Matrix Market file, or the specification of a generated matrix.
    matrix: PathBuf,
    /// The methods beside the one of this file, as `spmv-bench methods` lists them.
    #[arg(default_value = "seq,merge,mkl-ie")]
    methods: String,
}

/// The method of this file.
static FOUR_SUMS: Method = Method {
    name: "four-sums",
    source: "this example",
    summary: "one row after the other, with four sums that do not wait for each other",
    ..Method::new(Code::Cpu { parallel: false, f64: prepare, f32: prepare })
};

fn prepare<'a, T: Scalar>(csr: &'a Csr<T>, _: &Request<'a>) -> Result<Prepared<'a, T>, Unavailable> {
    let product = |alpha, x: &[T], beta, y: &mut [T]| {
        for (row, y) in y.iter_mut().enumerate() {
            let sum = dot(&csr.values()[csr.row(row)], &csr.column_indices()[csr.row(row)], x);
            // With β = 0, y may be NaN and must not be read.
            *y = if beta == T::zero() { alpha * sum } else { alpha * sum + beta * *y };
        }
        Ok(())
    };
    Ok(Prepared::new(csr, 0, product))
}

/// Returns the sum of the values times the elements of x in their columns.
fn dot<T: Scalar>(values: &[T], columns: &[u32], x: &[T]) -> T {
    let mut sums = [T::zero(); 4];
    for (place, (&value, &column)) in values.iter().zip(columns).enumerate() {
        sums[place % 4] += value * x[column as usize];
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

fn main() -> anyhow::Result<()> {
    // SAFETY: no other thread has been started yet.
    unsafe { mkl::place_threads(&System::detect().cpus) };
    let Arguments { matrix, methods } = Arguments::parse();
    let csr = spmv_bench::read(&matrix)?;
    let mut measurement = Measurement::new(&methods);
    measurement.own.push(&FOUR_SUMS);
    for row in spmv_bench::measure(&csr, &measurement)? {
        let name = row.method_name.unwrap_or_default();
        match row.median_ms {
            Some(ms) => println!("{name}: {ms:.4} ms, setup {:.4} ms", row.setup_ms.unwrap_or(0.0)),
            None => println!("{name}: {}", row.reason.text().unwrap_or_default()),
        }
    }
    Ok(())
}

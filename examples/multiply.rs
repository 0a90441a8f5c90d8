//! Multiplies the matrix of a Matrix Market file by a vector of ones with a CPU method, and verifies the product.

use std::path::PathBuf;

use anyhow::{Context, ensure};
use clap::Parser;
use spmv_bench::matrix::market;
use spmv_bench::method::Request;
use spmv_bench::methods;
use spmv_bench::system::System;
use spmv_bench::team::Team;
use spmv_bench::verify::Reference;

#[derive(Parser)]
struct Arguments {
    /// The Matrix Market file.
    file: PathBuf,
    /// The name of a CPU method.
    #[arg(default_value = "merge")]
    method: String,
}

fn main() -> anyhow::Result<()> {
    let Arguments { file, method: name } = Arguments::parse();
    let csr = market::read(&file, &market::Options::default())?.csr;
    let method = methods::named(&name).with_context(|| format!("there is no method '{name}'"))?;
    ensure!(method.operations.include(false), "{name} only multiplies by the transpose");
    let prepare = method.prepare::<f64>().with_context(|| format!("{name} needs a GPU"))?;
    let system = System::detect();
    let team = Team::pinned(&system.cpus[..system.threads()])?;
    let mut prepared = prepare(&csr, &Request::new(&team))?;
    let (x, mut y) = (vec![1.0; csr.cols()], vec![0.0; csr.rows()]);
    prepared.multiply(1.0, &x, 0.0, &mut y)?;
    let verdict = Reference::new(&csr, 1.0, &x, 0.0, &[]).judge(&y);
    ensure!(verdict.passes(), "{}", verdict.describe());
    let norm = y.iter().map(|y| y * y).sum::<f64>().sqrt();
    println!("{} rows, {} nonzeros, ||Ax|| = {norm:e}", csr.rows(), csr.nnz());
    Ok(())
}

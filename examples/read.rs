//! Reads a Matrix Market file several times and prints the time and memory of each reading.
//! `scripts/bench-reader` runs this program.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context;
use clap::Parser;
use spmv_matrix::reader;

#[derive(Parser)]
struct Arguments {
    /// The Matrix Market file.
    file: PathBuf,
    /// The number of threads that read it.
    #[arg(default_value_t = 1)]
    threads: usize,
    /// The number of times that it is read.
    #[arg(default_value_t = 1)]
    rounds: usize,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(arguments.threads).build()?;
    for _ in 0..arguments.rounds {
        let before = peak_bytes()?;
        let start = Instant::now();
        let read = || reader::read(&arguments.file, &reader::Options::default());
        let matrix = pool.install(read)?;
        let seconds = start.elapsed().as_secs_f64();
        let growth = peak_bytes()? - before;
        let (rows, nnz) = (matrix.csr.rows(), matrix.csr.nnz());
        println!("seconds {seconds:.6} rows {rows} nnz {nnz} peak_growth_bytes {growth}");
    }
    Ok(())
}

/// Returns the peak resident memory of this process so far, in bytes.
fn peak_bytes() -> anyhow::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()).context("no VmHWM")?;
    Ok(kib.parse::<u64>()? * 1024)
}

//! Reads a Matrix Market file several times and prints how long it took: what
//! `scripts/bench-reader` times.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context;
use clap::Parser;
use spmv_bench::matrix::market;

#[derive(Parser)]
struct Arguments {
    file: PathBuf,
    #[arg(default_value_t = 1)]
    threads: usize,
    #[arg(default_value_t = 1)]
    rounds: usize,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(arguments.threads).build()?;
    for _ in 0..arguments.rounds {
        let before = peak_bytes()?;
        let start = Instant::now();
        let read = || market::read(&arguments.file, &market::Options::default());
        let market = pool.install(read)?;
        let seconds = start.elapsed().as_secs_f64();
        let growth = peak_bytes()? - before;
        let (rows, nnz) = (market.csr.rows(), market.csr.nnz());
        println!("seconds {seconds:.6} rows {rows} nnz {nnz} peak_growth_bytes {growth}");
    }
    Ok(())
}

/// The most memory this process has occupied so far.
fn peak_bytes() -> anyhow::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()).context("no VmHWM")?;
    Ok(kib.parse::<u64>()? * 1024)
}

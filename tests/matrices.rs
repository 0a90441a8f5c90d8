//! Tests with real matrices, if their folder exists: the statistics must equal the table in the README of the
//! folder in all printed digits, and every method must compute correct products. Large files wait until everything is
//! tested.

use std::collections::HashMap;
use std::path::PathBuf;

use crate::support::{all, skip};
use spmv_bench::bench::clock::SystemClock;
use spmv_bench::bench::event::Event;
use spmv_bench::bench::execute::{Bench, Cell};
use spmv_bench::bench::problem::Problem;
use spmv_matrix::stats::RowStatistics;
use spmv_matrix::{Csr, reader};
use spmv_methods::METHODS;
use spmv_methods::device::Gpu;
use spmv_methods::device::buffer::Value;
use spmv_methods::device::model::{DeviceFile, Model};
use spmv_methods::method::{Choice, Device};
use spmv_methods::team::Team;
use spmv_results::matrix::Group;
use spmv_results::row::Status;
use spmv_results::settings::{Protocol, Settings};

/// Returns the folder and the rows of its table by column name. Returns `None` and prints a message if the
/// folder is absent.
fn table() -> Option<(PathBuf, Vec<HashMap<String, String>>)> {
    let folder = std::env::var("SPMV_BENCH_TEST_FILES").unwrap_or_default();
    let folder = PathBuf::from(folder).join("matrices");
    let Ok(text) = std::fs::read_to_string(folder.join("README.md")) else {
        return skip("SPMV_BENCH_TEST_FILES names no folder with matrices/README.md");
    };
    let mut rows = text
        .lines()
        .filter(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>());
    let header = rows.next().expect("the table has a header");
    let named = |row: Vec<String>| header.iter().cloned().zip(row).collect();
    Some((folder, rows.skip(1).map(named).collect()))
}

#[test]
fn statistics_equal_the_table_to_all_printed_digits() {
    let Some((folder, rows)) = table() else { return };
    assert!(rows.len() >= 30, "the table could not be parsed");
    let is_small = |path: &PathBuf| path.metadata().unwrap().len() < 1_500_000;
    for row in rows {
        let path = folder.join(&row["file"]);
        if !is_small(&path) && !all() {
            continue;
        }
        let read = reader::read(&path, &reader::Options::default());
        if row["field"] == "complex" {
            let error = read.unwrap_err();
            assert!(error.is_unsupported() && error.to_string().contains("complex"), "{error}");
            continue;
        }
        let read = read.unwrap();
        let csr = &read.csr;
        assert!(csr.is_valid());
        let stats = RowStatistics::of(csr);
        let digits = |value: Option<f64>| format!("{:.5}", value.unwrap());
        let got = [
            ("rows", csr.rows().to_string()),
            ("cols", csr.cols().to_string()),
            ("stored", read.stored.to_string()),
            ("expanded nnz", csr.nnz().to_string()),
            ("field", read.field.name().to_owned()),
            ("symmetry", read.symmetry.name().to_owned()),
            ("mean", digits(stats.mean)),
            ("std-dev", digits(stats.std_dev)),
            ("variation", digits(stats.variation)),
            ("skewness", digits(stats.skewness)),
            ("longest row", stats.max.to_string()),
            ("empty rows", stats.empty.to_string()),
        ];
        for (column, got) in got {
            assert_eq!(got, row[column], "{column} of {}", row["file"]);
        }
    }
}

fn check<T: Value>(name: &str, csr: &Csr<T>, device: Device) {
    let settings = Settings { iterations: Some(1), rounds: 1, warmups: 0, ..Settings::new(Protocol::MergeSpmv) };
    let (team, clock) = (Team::floating(2), SystemClock::default());
    let emit = |event| {
        let Event::Row(row, _) = event else { return };
        let is_fine = matches!(row.status, Some(Status::Ok | Status::Skipped));
        assert!(is_fine, "on {name}: {row:?}");
    };
    let bench = Bench { emit: &emit, ..Bench::new(&team, &clock, &settings) };
    let of_device = METHODS.iter().filter(|method| method.device() == device);
    let cells: Vec<_> = of_device.map(|method| Cell::from(Choice::from(method))).collect();
    let (mut problem, mut group) = (Problem::of(csr, &settings), Group::of(vec![]));
    let measured = match device {
        Device::Cpu => problem.on_host(&bench, &cells, &mut group),
        Device::Gpu => {
            // It executes one product of each method.
            let gpu = Gpu::new(Model::of_file("a100", &DeviceFile::find("a100").unwrap()));
            problem.on_gpu(&bench, &gpu, &cells, &mut group)
        }
        Device::Model(_) => unreachable!("no method names a modelled GPU"),
    };
    measured.unwrap();
}

/// Runs every method on a matrix of the folder. The CPU methods in `f32`, and the modelled GPU on large matrices, wait
/// until everything is tested.
fn run_all(name: &str) {
    let Some((folder, _)) = table() else { return };
    let path = folder.join(format!("{name}.mtx.gz"));
    let csr = reader::read(&path, &reader::Options::default()).unwrap().csr;
    if all() {
        check(name, &*csr.to_precision::<f32>().unwrap(), Device::Cpu);
    }
    check(name, &csr, Device::Cpu);
    if csr.nnz() < 500_000 || all() {
        check(name, &csr, Device::Gpu);
    }
}

/// Where one row is very long or most rows are empty, and on a wide and a tall matrix.
#[test]
fn every_method_is_correct_on_matrices_of_extreme_shapes() {
    for name in ["boyd1_kkt", "org_hs_gene_goall", "nw04", "scrna_10x_chickenplot"] {
        run_all(name);
    }
}

#[test]
#[ignore = "slow; scripts/test --all runs it"]
fn every_method_is_correct_where_rows_are_short() {
    run_all("mdual");
}

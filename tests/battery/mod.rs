//! The test battery: every method × precision × small matrix × α and β, on thread teams of several sizes or on a
//! modelled GPU with several seeds, and on a real GPU if there is one. Also plants bugs that the tests must detect.

mod compiled;
mod cubin;
mod faults;
mod kernels;
mod mutants;
mod planted;
mod product;
mod recorder;
mod reported;
mod tokens;

use std::io::Write;
use std::path::Path;

use proptest::prelude::*;
use spmv_bench::bench::check::small;
use spmv_matrix::Csr;
use spmv_matrix::system::System;
use spmv_matrix::verify::Reference;
use spmv_methods::METHODS;
use spmv_methods::device::buffer::Value;
use spmv_methods::device::cuda;
use spmv_methods::method::{Choice, Device, Method, Unavailable};
use spmv_methods::simd::Isa;
use spmv_methods::team::Team;
use spmv_methods::vendor::mkl::mkl;

use crate::support::all;
use product::{Case, Place, check_spoilt, modelled, variants_on};
use small::{FACTORS, Triplet, long_rows, matrices, vector};

const THREADS: [usize; 4] = [1, 2, 3, 7];
const SEEDS: [u64; 12] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];

/// Prints to stderr directly, because the test runner hides the output of a passing test.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Returns the methods to test: all, or those that match the globs in `SPMV_BENCH_METHODS`.
fn methods() -> impl Iterator<Item = &'static Method> {
    let globs = std::env::var("SPMV_BENCH_METHODS").unwrap_or("*".into());
    let globs: Vec<_> = globs.split(',').map(|glob| glob::Pattern::new(glob).unwrap()).collect();
    METHODS.iter().filter(move |method| globs.iter().any(|glob| glob.matches(method.name)))
}

fn on(device: Device) -> impl Iterator<Item = Choice<'static>> {
    methods().filter(move |method| method.device() == device).map(Choice::from)
}

/// Returns the CPU methods without parameters, and with every value of every parameter, one parameter at a time.
fn all_on_cpu() -> impl Iterator<Item = Choice<'static>> {
    on(Device::Cpu).chain(variants_on(Device::Cpu))
}

/// Checks all choices on all small matrices in all places, each with `pairs` of the pairs of α and β, which take turns;
/// with all pairs if everything is tested.
fn for_all_matrices<T: Value>(choices: &[Choice], places: &[Place], pairs: usize) {
    let pairs = if all() { FACTORS.len() } else { pairs };
    for (matrix, (name, rows, cols, triplets)) in matrices().into_iter().enumerate() {
        let csr = Csr::<f64>::from_triplets(rows, cols, &triplets);
        let csr = csr.to_precision::<T>().unwrap();
        let cases = FACTORS.map(|factors| Case::new(name, &csr, factors));
        for (number, choice) in choices.iter().enumerate() {
            for (turn, place) in (matrix + number..).zip(places) {
                let pairs = (turn..turn + pairs).map(|pair| pair % FACTORS.len());
                pairs.for_each(|pair| cases[pair].check(choice, place));
            }
        }
    }
}

/// The number of threads decides where rows are divided, and the instruction set how a division is computed. So all
/// teams use the best instruction set, and one team with more threads than work uses each of the others.
fn every_cpu_method_is_right<T: Value>(pairs: usize) {
    if let Err(Unavailable(reason)) = mkl() {
        say(&format!("the MKL methods are skipped: {reason}"));
    }
    let teams = THREADS.map(Team::floating);
    let many = &teams[THREADS.len() - 1];
    let sets = Isa::available();
    let best = teams.iter().map(|team| Place::Team(team, sets[0]));
    let others = sets[1..].iter().map(|&isa| Place::Team(many, isa));
    let places: Vec<_> = best.chain(others).collect();
    for_all_matrices::<T>(&on(Device::Cpu).collect::<Vec<_>>(), &places, pairs);
    // A parameter changes the algorithm. One team with more threads than work is enough to test it.
    let places: Vec<_> = sets.iter().map(|&isa| Place::Team(many, isa)).collect();
    for_all_matrices::<T>(&variants_on(Device::Cpu).collect::<Vec<_>>(), &places, 1);
}

#[test]
fn every_cpu_method_is_right_on_every_small_matrix_in_f64() {
    every_cpu_method_is_right::<f64>(2);
}

#[test]
fn every_cpu_method_is_right_on_every_small_matrix_in_f32() {
    every_cpu_method_is_right::<f32>(1);
}

/// Teams with more threads than cores, each bound to a core, up to two levels of the team's trees.
#[test]
fn every_cpu_method_is_right_on_more_pinned_threads_than_cores() {
    // The pool of rayon is created first, because its threads would inherit the single CPU of a pinned leader.
    let (cpus, _) = (System::detect().cpus, rayon::current_num_threads());
    let ours = |choice: &Choice| !choice.method.name.starts_with("mkl");
    let choices: Vec<_> = on(Device::Cpu).filter(ours).collect();
    for &threads in if all() { &[1, 2, 4, 8, 16][..] } else { &[8, 16] } {
        let cpus: Vec<_> = cpus.iter().copied().cycle().take(threads).collect();
        let team = Team::pinned(&cpus).unwrap();
        for_all_matrices::<f64>(&choices, &[Place::Team(&team, Isa::available()[0])], 1);
    }
}

/// Checks the GPU methods with `seeds` orders of the threads, or with all if everything is tested. The first order
/// finds almost all faults that are planted.
fn every_gpu_method_is_right<T: Value>(seeds: usize) {
    let seeds = if all() { &SEEDS } else { &SEEDS[..seeds] };
    let gpus: Vec<_> = seeds.iter().map(|&seed| modelled(seed)).collect();
    let places: Vec<_> = gpus.iter().map(Place::Gpu).collect();
    for_all_matrices::<T>(&on(Device::Gpu).collect::<Vec<_>>(), &places, 1);
    // A parameter changes the code. One or two orders of threads are enough to test it.
    let variants: Vec<_> = variants_on(Device::Gpu).collect();
    for_all_matrices::<T>(&variants, &places[..if all() { 2 } else { 1 }], 1);
}

#[test]
fn every_gpu_method_is_right_on_every_small_matrix_in_f64() {
    every_gpu_method_is_right::<f64>(4);
}

#[test]
fn every_gpu_method_is_right_on_every_small_matrix_in_f32() {
    every_gpu_method_is_right::<f32>(2);
}

#[test]
fn every_gpu_method_is_right_on_a_real_gpu() {
    match cuda::open(None) {
        Ok(gpu) => {
            let choices: Vec<_> = on(Device::Gpu).chain(variants_on(Device::Gpu)).collect();
            for_all_matrices::<f64>(&choices, &[Place::Gpu(&gpu)], FACTORS.len());
            for_all_matrices::<f32>(&choices, &[Place::Gpu(&gpu)], FACTORS.len());
        }
        Err(Unavailable(reason)) => say(&format!("skipped on a real GPU: {reason}")),
    }
}

/// Rows longer than any 16-bit count and any block, with empty rows between them.
#[test]
fn rows_longer_than_2_to_the_16_are_right() {
    let csr = Csr::<f64>::from_triplets(60, 70_000, &long_rows());
    let (team, gpu) = (Team::floating(3), modelled(1));
    let case = Case::new("rows of 70000", &csr, (2.5, -0.5));
    all_on_cpu().for_each(|choice| case.check(&choice, &Place::Team(&team, Isa::detect())));
    let variants = variants_on(Device::Gpu).filter(|_| all());
    on(Device::Gpu).chain(variants).for_each(|choice| case.check(&choice, &Place::Gpu(&gpu)));
}

/// For each size, two rows of three full blocks, which a method must not refuse.
#[test]
fn blocks_of_every_size_are_right_in_both_orders() {
    let gpu = modelled(2);
    for side in 2..=8 {
        let triplets: Vec<Triplet> = (0..2 * side)
            .flat_map(|row| (0..3 * side).map(move |col| (row, col, ((row * 7 + col * 3) % 11) as f64 - 5.5)))
            .collect();
        let csr = Csr::<f64>::from_triplets(2 * side, 3 * side, &triplets);
        let case = Case::new("full blocks", &csr, (1.0, 0.0));
        for method in methods().filter(|method| method.name == "cusparse-bsr") {
            let block = method.parameters[0].values[side - 2];
            assert_eq!(block, format!("{side}x{side}"));
            for order in ["row", "column"] {
                let given = vec![("block", block), ("order", order)];
                case.check(&Choice { method, given }, &Place::Gpu(&gpu));
            }
        }
    }
}

/// A band matrix with gaps that has more rows than any block, window or chunk of a format on the CPU if it has 5000.
fn bands_of_many_rows(rows: i64) -> Csr<f64> {
    let bands = |row: i64| [-3000, -2, -1, 0, 1, 2, 1700].map(move |band| (row, row + band));
    let inside = |&(row, col): &(i64, i64)| (0..rows - 10).contains(&col) && (row * col) % 7 != 3;
    let entry = |(row, col): (i64, i64)| (row as usize, col as usize, ((row - col) % 13) as f64);
    let triplets: Vec<Triplet> = (0..rows).flat_map(bands).filter(inside).map(entry).collect();
    Csr::<f64>::from_triplets(rows as usize, rows as usize - 10, &triplets)
}

#[test]
fn bands_of_many_rows_are_right() {
    let csr = bands_of_many_rows(5000);
    let (team, case) = (Team::floating(3), Case::new("bands", &csr, (2.5, -0.5)));
    all_on_cpu().for_each(|choice| case.check(&choice, &Place::Team(&team, Isa::detect())));
}

/// A warp of gpu-csr5-cached has several tiles only if the matrix has more than the GPU of the model has warps.
#[test]
fn a_warp_with_several_tiles_is_right() {
    let csr = bands_of_many_rows(20000);
    let (gpu, case) = (modelled(1), Case::new("bands", &csr, (2.5, -0.5)));
    let cached = on(Device::Gpu).filter(|choice| choice.method.name == "gpu-csr5-cached");
    cached.for_each(|choice| case.check(&choice, &Place::Gpu(&gpu)));
}

/// Rows of about the smallest length that `packed` divides among threads, on the same diagonals, which would be a band
/// if they were shorter. If a row is stored twice, β is applied twice.
#[test]
fn rows_that_may_be_shared_are_stored_once() {
    let entry = |row: usize, col: usize| (row, col, ((row * 7 + col * 3) % 13) as f64 - 6.0);
    let triplets: Vec<Triplet> = (0..7).flat_map(|row| (row..2051).map(move |col| entry(row, col))).collect();
    let csr = Csr::<f64>::from_triplets(7, 2060, &triplets);
    let (team, case) = (Team::floating(2), Case::new("rows of 2048", &csr, (2.5, -0.5)));
    for isa in Isa::available() {
        all_on_cpu().for_each(|choice| case.check(&choice, &Place::Team(&team, isa)));
    }
}

#[test]
fn the_list_of_methods_is_consistent() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (index, method) in METHODS.iter().enumerate() {
        let name = method.name;
        assert!(METHODS[..index].iter().all(|other| other.name != name), "{name} twice");
        assert!(!method.source.is_empty() && !method.summary.is_empty(), "{name}");
        // A file may contain variants: mkl_ie.rs also contains mkl-ie-opt.
        let stem = name.replace('-', "_");
        let stems = stem.match_indices('_').map(|(end, _)| &stem[..end]).chain([&stem[..]]);
        let has_file = |folder: &str, stem: &str| root.join(format!("crates/methods/src/{folder}/{stem}.rs")).exists();
        let mut found = stems.map(|stem| match stem.strip_prefix("gpu_") {
            Some(stem) => has_file("gpu", stem),
            None => has_file("cpu", stem) || has_file("vendor", stem),
        });
        assert!(found.any(|found| found), "{name}: no file of its name");
        for parameter in method.parameters {
            assert!(!parameter.values.is_empty() && !parameter.meaning.is_empty(), "{name}");
        }
    }
    for file in root.join("cuda").read_dir().unwrap().map(|entry| entry.unwrap().path()) {
        let host = |folder: &str| root.join(folder).join(file.file_stem().unwrap());
        let hosts = ["crates/methods/src/gpu", "crates/methods/src/device"].map(host);
        let launched = hosts.iter().any(|host| host.with_extension("rs").exists());
        assert!(launched || file.extension().unwrap() == "cuh", "{}", file.display());
    }
}

/// NaN and ∞ in x must only affect the rows that use them, although registers are filled beyond the end of a row and
/// formats are padded with zeros.
#[test]
fn nan_stays_in_its_rows() {
    let ragged = (0..50).flat_map(|row| (0..row % 9).map(move |k| (row, 2 * k + row % 2, 1.0)));
    let bands = (0..44).flat_map(|row| [0, 2, 4, 6].map(|band| (row, row + band, 1.0)));
    let other_band = (0..41).step_by(3).map(|row| (row, row + 9, 1.0));
    let bands = bands.chain(other_band).filter(|&(row, ..)| row != 17);
    let x: Vec<f64> = [f64::NAN, 1.0, f64::INFINITY, 1.0].into_iter().cycle().take(50).collect();
    let (team, gpu) = (Team::floating(3), modelled(5));
    let gpu = [Place::Gpu(&gpu)];
    let cpu: Vec<_> = Isa::available().into_iter().map(|isa| Place::Team(&team, isa)).collect();
    for triplets in [ragged.collect::<Vec<_>>(), bands.collect()] {
        let csr = Csr::<f64>::from_triplets(50, 50, &triplets);
        let choices = methods().map(Choice::from).chain(variants_on(Device::Cpu));
        // In cuSPARSE's blocks, padding is multiplied by x.
        let ours = |name: &str| !name.starts_with("mkl") && name != "cusparse-bsr";
        for choice in choices.filter(|choice| ours(choice.method.name)) {
            let places = if choice.method.device() == Device::Cpu { &cpu[..] } else { &gpu };
            places.iter().for_each(|place| check_spoilt(&choice, &csr, place, &x));
        }
    }
}

/// NaN and ∞ in x must only affect the rows that use them, also far after the first block of a format.
#[test]
fn nan_stays_in_its_rows_of_a_large_matrix() {
    let csr = bands_of_many_rows(5000);
    let x: Vec<f64> = (0..5000).map(|k| if k % 97 == 31 { f64::NAN } else { 1.0 }).collect();
    let team = Team::floating(3);
    for choice in all_on_cpu().filter(|choice| !choice.method.name.starts_with("mkl")) {
        check_spoilt(&choice, &csr, &Place::Team(&team, Isa::detect()), &x);
    }
}

fn random_matrix() -> impl Strategy<Value = (usize, usize, Vec<Triplet>)> {
    (1usize..60, 1usize..60).prop_flat_map(|(rows, cols)| {
        let cells = prop::collection::btree_map((0..rows, 0..cols), -1e3..1e3f64, 0..400);
        let triplets = cells.prop_map(|cells| cells.into_iter().map(|((r, c), v)| (r, c, v)).collect());
        (Just(rows), Just(cols), triplets)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if all() { 64 } else { 16 }))]

    #[test]
    fn random_matrices_agree_with_sprs(
        (rows, cols, triplets) in random_matrix(),
        threads in 1usize..6,
        seed in 0u64..1000,
    ) {
        let csr = Csr::<f64>::from_triplets(rows, cols, &triplets);
        let mut entries = sprs::TriMat::new((rows, cols));
        triplets.iter().for_each(|&(row, col, value)| entries.add_triplet(row, col, value));
        let x: Vec<f64> = vector(cols, 0.3);
        let mut expected = vec![0.0; rows];
        sprs::prod::mul_acc_mat_vec_csr(entries.to_csr::<usize>().view(), &x, &mut expected);
        let reference = Reference::new(&csr, 1.0, &x, 0.0, &[]);
        prop_assert!(reference.judge(&expected).passes(), "sprs against the reference");
        let (team, gpu) = (Team::floating(threads), modelled(seed));
        let cases = [(1.0, 0.0), (0.5, 2.0)].map(|factors| Case::new("a random matrix", &csr, factors));
        for choice in methods().map(Choice::from) {
            let place = match choice.method.device() {
                Device::Cpu => Place::Team(&team, Isa::detect()),
                _ => Place::Gpu(&gpu),
            };
            cases.iter().for_each(|case| case.check(&choice, &place));
        }
    }
}

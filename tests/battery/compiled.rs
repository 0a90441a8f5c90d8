//! Compiles every program with every set of constants that a method uses, by NVRTC. The methods are prepared on a
//! device that runs nothing but records programs and launches; the launches are compared with the resources of the
//! compiled kernels. The resources on one architecture are printed.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use rayon::prelude::*;
use spmv_bench::bench::backend::rehearsal_matrix;
use spmv_matrix::Csr;
use spmv_matrix::cache::CacheFolder;
use spmv_methods::METHODS;
use spmv_methods::device::buffer::Value;
use spmv_methods::device::cuda::editions::Target;
use spmv_methods::device::cuda::nvrtc::{self, Compiled, Nvrtc};
use spmv_methods::device::cuda::precompiled::Precompiled;
use spmv_methods::device::cuda::usage::Usage;
use spmv_methods::device::gauge::Gauge;
use spmv_methods::device::probe::Probe;
use spmv_methods::device::{Gpu, Program};
use spmv_methods::method::{Choice, Device, Failed, Method, Unavailable, Unprepared};

use super::cubin::launch_bound;
use super::product::{Asked, Place, products, variants_on};
use super::recorder::{Log, Recorder, Seen, Unit};
use super::small::Triplet;
use super::{methods, on, say};
use crate::support::all;

/// The values of parameters to compile. All combinations on all architectures would take an hour.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Scope {
    /// No parameter is given.
    Defaults,
    /// Every value of every parameter, one parameter at a time.
    Values,
    /// Every combination of values, and all constants that methods choose by the matrix.
    Combinations,
}

/// The major version of the compiler, the architecture, and the scope: a smaller one where the other compiler or an
/// architecture of the same generation covers the rest. Whether a block can be launched depends on registers and static
/// shared memory, whose limits are equal on all of these. So every value of every parameter is compiled for the oldest
/// and the two newest generations, each for matrices that fit in the L2 cache and for others, and all combinations for
/// the oldest architecture of the newest compiler.
const ARCHITECTURES: [(u32, (u32, u32), Scope); 12] = [
    (12, (6, 0), Scope::Values),
    (12, (7, 0), Scope::Defaults),
    (12, (7, 5), Scope::Defaults),
    (12, (8, 0), Scope::Defaults),
    (13, (7, 5), Scope::Combinations),
    (13, (8, 0), Scope::Defaults),
    (13, (8, 6), Scope::Defaults),
    (13, (8, 9), Scope::Defaults),
    (13, (9, 0), Scope::Values),
    (13, (10, 0), Scope::Defaults),
    (13, (10, 3), Scope::Defaults),
    (13, (12, 0), Scope::Values),
];
/// What is compiled unless everything is tested: the oldest architecture, and the one whose resources are printed.
const FEW_ARCHITECTURES: [(u32, (u32, u32), Scope); 2] = [(12, (6, 0), Scope::Defaults), (13, PRINTED, Scope::Values)];
/// The architecture whose resources are printed, and on which no register may be spilled.
const PRINTED: (u32, u32) = (9, 0);

/// The largest number of registers per block on every architecture above.
const REGISTERS: u32 = 64 << 10;
/// The unit of registers that are allocated to a warp. Warps are allocated in groups of four.
const PIECE: u32 = 256;
/// The bytes of shared memory that a block can use on every device without raising the limit.
const SHARED: u32 = 48 << 10;

/// Returns the method without parameters and with every combination of their values.
fn combinations(method: &'static Method) -> Vec<Choice<'static>> {
    let mut given = vec![vec![]];
    for parameter in method.parameters {
        let with = |given: &Vec<_>| {
            let with = |value| [&given[..], &[(parameter.name, value)]].concat();
            parameter.values.iter().map(|value| with(*value)).collect::<Vec<_>>()
        };
        let more: Vec<_> = given.iter().flat_map(with).collect();
        given.extend(more);
    }
    given.into_iter().map(|given| Choice { method, given }).collect()
}

/// Rows with the 33 columns around the diagonal, which padded formats accept, and enough of them that every kernel has
/// work, with more than 256 distinct values.
fn band() -> Csr<f64> {
    const SIDE: usize = 300;
    let row =
        |row: usize| (row.saturating_sub(16)..(row + 17).min(SIDE)).map(move |col| (row, col, (row + col) as f64));
    Csr::from_triplets(SIDE, SIDE, &(0..SIDE).flat_map(row).collect::<Vec<Triplet>>())
}

/// A square matrix with a row that is long enough for the kernels of long rows, and with more rows than a block scans.
fn long_row() -> Csr<f64> {
    Csr::from_triplets(1100, 1100, &(0..300).map(|col| (0, col, 1.0)).collect::<Vec<Triplet>>())
}

/// Matrices with rows of one length, for the lengths by which methods choose constants.
fn rows_of_one_length() -> impl Iterator<Item = Csr<f64>> {
    (0..=33).chain([65, 130, 300]).map(|length: usize| {
        let side = length.max(64);
        let row = |row: usize| (0..length).map(move |k| (row, (row + k) % side, 1.0));
        Csr::from_triplets(side, side, &(0..side).flat_map(row).collect::<Vec<Triplet>>())
    })
}

fn record<T: Value>(log: &Rc<RefCell<Log>>, csr: &Csr<f64>, choices: &[Choice]) {
    let gpu = Gpu::new(Recorder::new(log.clone()));
    let csr = csr.to_precision::<T>().unwrap();
    let (x, y) = (vec![T::one(); csr.cols()], vec![T::zero(); csr.rows()]);
    for choice in choices.iter().filter(|choice| choice.method.name.starts_with("gpu-")) {
        for asked in Asked::all(choice) {
            // With β ≠ 0, y is scaled by a kernel.
            let asked = Asked { factors: (1.0, 1.0), ..asked };
            match products(choice, &csr, &Place::Gpu(&gpu), asked, &[&x], &y) {
                Ok(_) | Err(Unprepared::Unavailable(_)) => (),
                Err(Unprepared::Failed(reason)) => panic!("{}: {reason:?}", choice.name()),
            }
        }
    }
}

fn record_probe(log: &Rc<RefCell<Log>>) -> Result<(), Unprepared> {
    let gpu = Gpu::new(Recorder::new(log.clone()));
    let probe = Probe::new(&gpu)?;
    probe.launch_time()?;
    Gauge::new(&gpu)?;
    Ok(probe.empty_l2(&gpu.upload(&[0; 64])?)?)
}

fn programs<T: Value>(log: &Rc<RefCell<Log>>, scope: Scope) {
    let mut choices: Vec<Choice> = on(Device::Gpu).collect();
    if scope >= Scope::Values {
        choices.extend(variants_on(Device::Gpu));
    }
    record_probe(log).unwrap();
    record::<T>(log, &rehearsal_matrix(), &choices);
    record::<T>(log, &Csr::from_triplets(8, 8, &[(0, 0, 1.0), (2, 1, 1.0)]), &choices);
    record::<T>(log, &band(), &choices);
    record::<T>(log, &long_row(), &choices);
    if scope == Scope::Combinations {
        rows_of_one_length().for_each(|csr| record::<T>(log, &csr, &choices));
        let methods = methods().filter(|method| method.device() == Device::Gpu);
        record::<T>(log, &band(), &methods.flat_map(combinations).collect::<Vec<_>>());
    }
}

/// Returns the programs and launches of all methods in both precisions. No matrix fits in the recorder's L2 cache.
fn log(scope: Scope) -> Log {
    let log = Rc::default();
    programs::<f64>(&log, scope);
    programs::<f32>(&log, scope);
    log.take()
}

/// Adds to each program of a matrix that does not fit in the L2 cache the one for a matrix that does.
fn with_cached(log: Log) -> Log {
    let cached = log.iter().map(|((name, precision, constants), seen)| {
        let of = |&(name, value)| (name, if name == "STREAMED" { 0 } else { value });
        ((*name, *precision, constants.iter().map(of).collect()), seen.clone())
    });
    cached.collect::<Vec<_>>().into_iter().chain(log).collect()
}

/// Leaves out each program in f32 that is also there in f64 with the same constants: it has the same launches, at most
/// as much shared memory and about as many registers. That it compiles is tested by its products on the model.
fn without_twins(mut log: Log) -> Log {
    let in_f64: BTreeSet<_> = log.keys().filter(|unit| unit.1 == "f64").cloned().collect();
    log.retain(|(name, precision, constants), _| {
        *precision == "f64" || !in_f64.contains(&(*name, "f64", constants.clone()))
    });
    log
}

/// Returns the machine code and the compiler's log. They depend on the unit and the compiler alone, so they are cached.
fn compiled(nvrtc: &Nvrtc, unit: &nvrtc::Unit) -> (Vec<u8>, String) {
    let key = unit.key().and([&*nvrtc.name(), "log and cubin"]);
    let compile = || {
        let Compiled { log, cubin, .. } = nvrtc.compile(unit)?;
        Ok::<_, Failed>([log.as_bytes(), b"\0", &cubin].concat())
    };
    let mut log = CacheFolder::of_user("kernels").get_or(&key, compile).unwrap();
    let end = log.iter().position(|&byte| byte == 0).unwrap();
    let cubin = log.split_off(end + 1);
    log.truncate(end);
    (cubin, String::from_utf8(log).unwrap())
}

fn check(nvrtc: &Nvrtc, architecture: (u32, u32), (unit, seen): (&Unit, &Seen)) -> Vec<Usage> {
    let (name, precision, constants) = unit;
    let program = Program { name, source: seen.source };
    let unit = nvrtc::Unit::new(architecture, &program, seen.precision, constants);
    let (cubin, log) = compiled(nvrtc, &unit);
    assert!(cubin.starts_with(b"\x7fELF"), "{name}");
    let kernels = Usage::of(&log);
    for (kernel, launches) in &seen.launches {
        let usage = kernels.iter().find(|usage| usage.kernel == *kernel).unwrap();
        let bound = launch_bound(&cubin, kernel);
        for launch in launches {
            if let Some(why) = refusal(usage, bound, *launch) {
                panic!("{kernel} on {architecture:?} in {precision} with {constants:?}: {why}");
            }
        }
    }
    kernels
}

/// Returns why a block with these threads and bytes of dynamic shared memory cannot be launched, or `None`.
fn refusal(usage: &Usage, bound: Option<u32>, (threads, dynamic): (u32, u32)) -> Option<String> {
    let Some(bound) = bound else { return Some("it has no launch bound".into()) };
    let warps = threads.div_ceil(32).next_multiple_of(4);
    let registers = warps * (usage.registers * 32).next_multiple_of(PIECE);
    let shared = usage.shared + dynamic;
    if threads > bound {
        return Some(format!("blocks of {threads} threads, bounded to {bound}"));
    }
    if registers > REGISTERS {
        return Some(format!("blocks of {threads} threads take {registers} registers"));
    }
    (shared > SHARED).then(|| format!("blocks take {shared} bytes of shared memory"))
}

/// Describes the resources of a program's kernels in a line; asserts that nothing is in memory instead of registers.
fn describe(unit: &Unit, kernels: Vec<Usage>) -> String {
    let (name, precision, constants) = unit;
    let usage = |kernel: &Usage| {
        let Usage { kernel, registers, stack, spill_stores, spill_loads, shared } = kernel;
        // An array is on the stack if its indices are not constants; it should be in registers.
        let in_memory = [stack, spill_stores, spill_loads];
        assert_eq!(in_memory, [&0; 3], "{kernel} with {constants:?}");
        format!(" {kernel} {registers} registers, {shared} B shared;")
    };
    let defined: String = constants.iter().map(|(name, value)| format!(" {name}={value}")).collect();
    let usages: String = kernels.iter().map(usage).collect();
    format!("\n  {name} {precision}{defined}:{usages}")
}

/// Returns the newest compiler of a major version, or prints that it is missing.
fn compiler(major: u32) -> Option<&'static Nvrtc> {
    let name = format!("NVRTC {major}.");
    let found = nvrtc::compilers().ok()?.iter().find(|nvrtc| nvrtc.name().starts_with(&name));
    if found.is_none() {
        say(&format!("skipped: {name}* is not installed"));
    }
    found
}

fn check_all(nvrtc: &Nvrtc, architecture: (u32, u32), log: &Log) {
    let start = Instant::now();
    let check = |unit| (unit, check(nvrtc, architecture, unit));
    // The other tests need the common threads.
    let threads = rayon::ThreadPoolBuilder::new().build().unwrap();
    let usages: Vec<((&Unit, _), Vec<Usage>)> = threads.install(|| log.par_iter().map(check).collect());
    let (major, minor) = architecture;
    let seconds = start.elapsed().as_secs_f64();
    say(&format!("{} programs for sm_{major}{minor} by {nvrtc}: {seconds:.0} s", log.len()));
    if architecture == PRINTED {
        // No kernel is missing in the check of launches: each is launched with some constants, if all methods are
        // tested.
        let launched: BTreeSet<_> = log.values().flat_map(|seen| seen.launches.keys()).collect();
        let is_partial = methods().count() < METHODS.len();
        for Usage { kernel, .. } in usages.iter().flat_map(|(_, kernels)| kernels) {
            assert!(is_partial || launched.contains(kernel), "{kernel} is never launched");
        }
        let lines: String = usages.into_iter().map(|((unit, _), kernels)| describe(unit, kernels)).collect();
        say(&format!("kernels on sm_{major}{minor}:{lines}"));
    }
}

#[test]
fn every_kernel_compiles_and_launches_on_every_architecture() {
    let architectures = if all() { &ARCHITECTURES[..] } else { &FEW_ARCHITECTURES };
    let mut logs = BTreeMap::new();
    for &(major, architecture, scope) in architectures {
        let log = logs.entry(scope).or_insert_with(|| match scope {
            Scope::Values if all() => with_cached(log(scope)),
            _ if all() => log(scope),
            _ => without_twins(log(scope)),
        });
        assert!(log.len() >= 2, "{log:?}");
        if let Some(nvrtc) = compiler(major) {
            check_all(nvrtc, architecture, log);
        }
    }
}

#[test]
fn launches_that_do_not_fit_are_rejected() {
    let usage = Usage { registers: 64, shared: 40 << 10, ..Usage::default() };
    assert_eq!(refusal(&usage, Some(1024), (1024, 0)), None);
    let reason = |registers, bound, launch| refusal(&Usage { registers, ..usage.clone() }, bound, launch).unwrap();
    let takes = "blocks of 1024 threads take 73728 registers";
    assert_eq!(reason(65, Some(1024), (1024, 0)), takes);
    assert_eq!(reason(64, Some(512), (513, 0)), "blocks of 513 threads, bounded to 512");
    assert_eq!(reason(64, None, (32, 0)), "it has no launch bound");
    let shared = "blocks take 49153 bytes of shared memory";
    assert_eq!(reason(64, Some(32), (32, (8 << 10) + 1)), shared);
}

/// Fills the folder in `SPMV_BENCH_KERNELS` with the kernels of all methods for the architectures in
/// `SPMV_BENCH_ARCHITECTURES`: `90,80,70`, or `90:12` for a driver of CUDA 12. Does nothing without a folder.
#[test]
#[ignore = "fills a folder with compiled kernels"]
fn precompile() {
    let Ok(folder) = std::env::var("SPMV_BENCH_KERNELS") else {
        return say("skipped: SPMV_BENCH_KERNELS names no folder to fill");
    };
    let list = std::env::var("SPMV_BENCH_ARCHITECTURES").expect("SPMV_BENCH_ARCHITECTURES: 90,80");
    let log = with_cached(log(Scope::Combinations));
    for word in list.split(',') {
        let (architecture, driver) = word.split_once(':').unwrap_or((word, ""));
        let number: u32 = architecture.parse().expect("an architecture: 90");
        let target = Target { architecture: (number / 10, number % 10), driver: driver.parse().ok() };
        let nvrtc = nvrtc::compiler(&target).unwrap_or_else(|Unavailable(why)| panic!("{why}"));
        let done = AtomicUsize::new(0);
        log.par_iter().for_each(|((name, _, constants), seen)| {
            let (folder, program) = (Path::new(&folder), Program { name, source: seen.source });
            let unit = nvrtc::Unit::new(target.architecture, &program, seen.precision, constants);
            let cubin = nvrtc.compile(&unit).unwrap().cubin;
            Precompiled::store(folder, target.architecture, nvrtc, &unit, &cubin);
            let found = Precompiled::open(folder, &target).get(&unit);
            assert!(found == Some(cubin), "cannot read {name} from {}", folder.display());
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            if done.is_multiple_of(100) || done == log.len() {
                say(&format!("sm_{number} by {nvrtc}: {done} of {}", log.len()));
            }
        });
    }
}

//! Checks the memory estimates of CPU methods: a method must not allocate more than its estimate, nor much less. Every
//! allocation is counted, except those that MKL makes itself.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

use spmv_bench::bench::check::small;
use spmv_matrix::Csr;
use spmv_matrix::generate::Generator;
use spmv_matrix::memory::extent::Extent;
use spmv_matrix::scalar::{Precision, Scalar};
use spmv_methods::METHODS;
use spmv_methods::cpu::auto;
use spmv_methods::method::{Choice, Device, Request};
use spmv_methods::team::Team;

use crate::alone;
use crate::support::{all, in_own_process, own_case};

/// The memory of notes, closures and lists per thread, in bytes.
const SMALL: u64 = 64 << 10;
/// The limit of the ratio of estimated to allocated memory for large matrices that the method accepts.
const LOOSE: u64 = 8;
const THREADS: usize = 3;

/// The system's allocator, with counters.
struct Counting;

static HELD: AtomicU64 = AtomicU64::new(0);
static PEAK: AtomicU64 = AtomicU64::new(0);

// SAFETY: all calls are forwarded to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size() as u64, Ordering::Relaxed) + layout.size() as u64;
        PEAK.fetch_max(held, Ordering::Relaxed);
        // SAFETY: the caller fulfils the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: the caller fulfils the contract.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn peak(work: impl FnOnce()) -> u64 {
    let before = HELD.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    work();
    PEAK.load(Ordering::Relaxed) - before
}

/// Matrices that are large enough to distinguish memory per entry from fixed memory.
const LARGE: [&str; 9] = [
    "grid3d,n=24,points=27",
    "grid2d,n=160,points=5",
    "uniform,rows=20000,nnz=130000",
    "uniform,rows=60000,cols=40,nnz=90000",
    "uniform,rows=40,cols=60000,nnz=100000",
    "power-law,rows=20000,nnz=130000,longest=10000",
    "diagonals,rows=50000,cols=50000,offsets=-1:0:1",
    "empty-rows,rows=60000,nnz=60000,empty=0.8",
    "dense,cols=600,nnz=360000",
];

fn choices() -> impl Iterator<Item = Choice<'static>> {
    let cpu = METHODS.iter().filter(|method| method.device() == Device::Cpu);
    cpu.flat_map(|method| {
        let variants = method
            .parameters
            .iter()
            .flat_map(|parameter| parameter.values.iter().map(|&value| vec![(parameter.name, value)]));
        std::iter::once(vec![]).chain(variants).map(move |given| Choice { method, given })
    })
}

/// Returns the peak memory of a method's preparation and one product in bytes, and whether it accepted the matrix.
fn taken<T: Scalar>(choice: &Choice, csr: &Csr<T>, team: &Team, transpose: bool) -> (u64, bool) {
    let request = Request { transpose, alpha: 2.0, given: &choice.given, ..Request::new(team) };
    let (inputs, outputs) = if transpose { (csr.rows(), csr.cols()) } else { (csr.cols(), csr.rows()) };
    let (x, mut y) = (vec![T::one(); inputs], vec![T::zero(); outputs]);
    let mut ready = false;
    let taken = peak(|| {
        if let Ok(mut prepared) = choice.method.prepare_on_host(csr, &request) {
            prepared.multiply(T::narrow(2.0), &x, T::zero(), &mut y).unwrap();
            ready = true;
        }
    });
    (taken, ready)
}

/// Checks all methods on a matrix. Each value of each parameter is tried with every third large matrix in `f64`, or
/// with all matrices if everything is tested.
fn check<T: Scalar>(name: &str, csr: &Csr<f64>, team: &Team, (turn, large): (usize, bool)) -> Vec<String> {
    let csr = csr.to_precision::<T>().unwrap();
    let mut wrong = Vec::new();
    let has_turn = |number: usize| large && T::PRECISION == Precision::F64 && (turn + number).is_multiple_of(3);
    for (number, choice) in choices().enumerate() {
        if !choice.given.is_empty() && !has_turn(number) && !all() {
            continue;
        }
        for transpose in [false, true] {
            if !choice.method.operations.include(transpose) {
                continue;
            }
            let (taken, ready) = taken(&choice, &csr, team, transpose);
            let extent = Extent { given: &choice.given, ..Extent::of(&csr, THREADS, transpose) };
            let estimated = (choice.method.memory)(&extent);
            // With a parameter a method may allocate less, and `auto` allocates little if it measures that this is
            // faster.
            let method = choice.method.name;
            let may_be_less = !choice.given.is_empty() || method.starts_with("mkl") || method == auto::NAME;
            let is_loose = large && ready && !may_be_less && estimated > LOOSE * taken + SMALL;
            if taken > estimated + SMALL || is_loose {
                wrong.push(format!("{name}, {}: {taken} allocated, {estimated} estimated", choice.name()));
            }
        }
    }
    wrong
}

/// Other tests in the process would allocate memory at the same time.
#[test]
fn no_method_allocates_more_than_its_estimate_or_much_less() {
    if own_case().is_none() {
        let _alone = alone();
        let this = "memory::no_method_allocates_more_than_its_estimate_or_much_less";
        return in_own_process(this, "");
    }
    rayon::ThreadPoolBuilder::new().num_threads(THREADS).build_global().unwrap();
    let team = Team::floating(THREADS);
    let small = small::matrices()
        .into_iter()
        .map(|(name, rows, cols, triplets)| (name.to_owned(), Csr::<f64>::from_triplets(rows, cols, &triplets), false));
    let large = LARGE.iter().map(|spec| {
        let random = format!("{spec},random=1");
        (random.clone(), Generator::parse(&random).unwrap().generate().unwrap(), true)
    });
    let mut wrong = Vec::new();
    for (turn, (name, csr, large)) in small.chain(large).enumerate() {
        wrong.extend(check::<f64>(&name, &csr, &team, (turn, large)));
        wrong.extend(check::<f32>(&name, &csr, &team, (turn, large)));
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

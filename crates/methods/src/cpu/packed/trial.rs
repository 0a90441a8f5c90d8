//! Predicts what packing a matrix costs and gains, by packing and multiplying a few of its rows.

use std::sync::OnceLock;
use std::time::Instant;

use memmap2::{Advice, MmapMut};

use super::build::{Packer, Packing};
use super::kernel::Multiply;
use super::window::Window;
use super::{WINDOW_ROWS, packing_for};
use crate::cpu::prelude::*;
use crate::cpu::row_kernels::{WholeRows, prefetching_pays};
use spmv_matrix::system::cache_bytes;
use spmv_matrix::system::huge::{self, HUGE_PAGE};
use spmv_matrix::system::pages::{PAGE, provided_to_thread};

/// The predicted times for the whole matrix, in seconds: of packing, and of a product of either form.
#[derive(Clone, Copy, Debug)]
pub struct Prediction {
    pub setup: f64,
    pub packed: f64,
    pub rows: f64,
}

/// The number of places in a thread's share from which rows are taken.
const PLACES: usize = 2;
/// The number of products of which the fastest counts.
const PRODUCTS: usize = 3;
/// The number of small pages for which it is measured how long the system takes to provide them.
const PAGES: usize = 8;

/// How the system provides memory.
#[derive(Clone, Copy)]
struct Provision {
    /// The time of a page in seconds; of a huge page, the part that is as large as a small one.
    page: f64,
    /// The number of small pages that are provided at once.
    at_once: usize,
}

/// The measured times of rows, in seconds, and their sizes.
#[derive(Clone, Copy, Default)]
struct Sample {
    nonzeros: usize,
    setup: f64,
    packed: f64,
    rows: f64,
    /// The first product of the CSR arrays, which are then not in the thread's caches.
    first: f64,
    packed_bytes: usize,
    csr_bytes: usize,
    /// How often the system had to provide memory while the rows were packed.
    faults: usize,
}

/// Packs and multiplies about `nonzeros` nonzeros of each thread's share, on all threads at the same time. Returns
/// `None` if an average row has more nonzeros than are taken from one place. It also returns `None` if the matrix has
/// fewer nonzeros than columns, because its values are used as x: they are in memory, but a new vector would have to be
/// paged in, which can take as long as several products.
pub fn predict<T: Scalar + Lanes>(csr: &Csr<T>, request: &Request, nonzeros: usize) -> Option<Prediction> {
    let rows_are_short = csr.nnz() <= csr.rows() * nonzeros / PLACES;
    let x = csr.values().get(..csr.cols()).filter(|_| rows_are_short)?;
    let packing = packing_for(csr, request);
    let (isa, clock, threads) = (request.isa, request.now, request.team.len());
    let mut samples = vec![CachePadded::new(Sample::default()); threads];
    request.team.run_with(&mut samples, |rank, sample| {
        for place in PLACES * rank..PLACES * (rank + 1) {
            let middle = csr.nnz() * (2 * place + 1) / (2 * PLACES * threads);
            let rows = rows_around(csr, middle, nonzeros / PLACES);
            sample.measure(csr, rows, x, packing, isa, clock);
        }
    });
    // Measured once, because a huge page takes as long as some products of a small matrix.
    static PROVISION: OnceLock<Provision> = OnceLock::new();
    let provision = *PROVISION.get_or_init(|| Provision::of_system(clock));
    let waiting = waiting(csr.bytes(), cache_bytes());
    Some(Prediction::of(&samples, csr.nnz() as f64 / threads as f64, waiting, provision))
}

/// Returns how much of the time that the first product of a sample waits for memory remains in a product of all rows,
/// from the bytes of the matrix and of the last-level cache. x, y and other programs also use this cache, so the
/// waiting grows with the matrix, up to twice the size of the cache. On 27 real matrices and a cache of 32 MiB, the
/// predicted products of CSR took 0.83 to 1.46 times the measured time; they took 0.26 to 2.2 times if either all or
/// nothing of the waiting remained.
fn waiting(matrix: u64, cache: u64) -> f64 {
    (matrix as f64 / (2 * cache).max(1) as f64).min(1.0)
}

/// Returns rows with about `nonzeros` nonzeros around the nonzero with index `middle`, at least one row.
fn rows_around<T>(csr: &Csr<T>, middle: usize, nonzeros: usize) -> Range<usize> {
    let row = |nonzero: usize| csr.row_offsets().partition_point(|&k| k as usize <= nonzero) - 1;
    let start = row(middle.saturating_sub(nonzeros / 2)).min(csr.rows() - 1);
    let end = row(middle + nonzeros / 2).min(csr.rows());
    start..end.clamp(start + 1, (start + WINDOW_ROWS).min(csr.rows()))
}

impl Sample {
    fn measure<T: Scalar + Lanes>(
        &mut self,
        csr: &Csr<T>,
        rows: Range<usize>,
        x: &[T],
        packing: Packing,
        isa: Isa,
        clock: fn() -> Instant,
    ) {
        let operands = Operands { alpha: T::one(), x, beta: T::zero() };
        let mut y = vec![T::zero(); rows.len()];
        let Range { start, end } = entries_of(csr, &rows);
        let nonzeros = end - start;
        let prefetch = prefetching_pays(csr);
        let mut multiply_rows = || {
            let (rows, y) = (rows.clone(), &mut y[..]);
            isa.run(WholeRows { csr, rows, start, operands, y, prefetch });
        };
        self.first += seconds(clock, &mut multiply_rows);
        self.rows += fastest(clock, multiply_rows);
        let mut window = Window::default();
        let pages = provided_to_thread();
        self.setup += seconds(clock, || window = Packer::new(packing).pack(csr, rows.clone()));
        self.faults += provided_to_thread() - pages;
        self.packed += fastest(clock, || {
            Multiply { csr, window: &window, operands, y: &mut y, prefetch: false }.run(isa);
        });
        self.packed_bytes += window.bytes().iter().sum::<usize>();
        self.csr_bytes += nonzeros * (size_of::<T>() + size_of::<u32>());
        self.csr_bytes += rows.len() * size_of::<u32>();
        self.nonzeros += nonzeros;
    }
}

impl Prediction {
    /// Scales the times to `nonzeros` nonzeros. The setup needs new pages for the packed matrix; the time of those that
    /// the sample did not need is added, or that of what it got in excess, as huge pages, is subtracted. The fraction
    /// `waiting` of what the first product took longer is added to the products, to that of the packed matrix in
    /// proportion to its bytes.
    fn of(
        samples: &[CachePadded<Sample>],
        nonzeros: f64,
        waiting: f64,
        Provision { page, at_once }: Provision,
    ) -> Self {
        let count = |of: fn(&Sample) -> usize| samples.iter().map(|it| of(it)).sum::<usize>();
        let time = |of: fn(&Sample) -> f64| samples.iter().map(|it| of(it)).sum::<f64>();
        let scale = nonzeros / count(|it| it.nonzeros).max(1) as f64;
        let (rows, bytes) = (time(|it| it.rows), count(|it| it.packed_bytes));
        let wait = waiting * (time(|it| it.first) - rows).max(0.0);
        let fewer = bytes as f64 / count(|it| it.csr_bytes).max(1) as f64;
        // The window of a sample may have been packed into memory that was used before.
        let missing = (bytes / PAGE) as f64 - (at_once * count(|it| it.faults)) as f64;
        let missing = if at_once == 1 { missing.max(0.0) } else { missing };
        Self {
            setup: scale * (time(|it| it.setup) + missing * page).max(0.0),
            packed: scale * (time(|it| it.packed) + fewer * wait),
            rows: scale * (rows + wait),
        }
    }
}

impl Provision {
    /// Measures it with memory of the kind that `malloc` returns. The time is zero if the system provides none.
    fn of_system(clock: fn() -> Instant) -> Self {
        let at_once = if huge::were_given() { HUGE_PAGE / PAGE } else { 1 };
        let pages = PAGES.max(at_once);
        let Ok(mut memory) = MmapMut::map_anon(2 * pages * PAGE) else {
            return Self { page: 0.0, at_once };
        };
        if at_once > 1 {
            // If it fails, a small page seems to take less time, which is harmless.
            let _ = memory.advise(Advice::HugePage);
        }
        let start = memory.as_ptr().align_offset(pages * PAGE);
        let touch = || memory[start..][..PAGES * PAGE].chunks_mut(PAGE).for_each(|page| page[0] = 1);
        Self { page: seconds(clock, touch) / pages as f64, at_once }
    }
}

fn seconds(clock: fn() -> Instant, action: impl FnOnce()) -> f64 {
    let start = clock();
    action();
    (clock() - start).as_secs_f64()
}

fn fastest(clock: fn() -> Instant, mut action: impl FnMut()) -> f64 {
    (0..PRODUCTS).map(|_| seconds(clock, &mut action)).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::team::Team;
    use spmv_matrix::generate::Generator;

    fn generated(spec: &str) -> Csr<f64> {
        Generator::parse(spec).unwrap().generate().unwrap()
    }

    #[test]
    fn a_sample_is_around_its_middle_and_in_the_matrix() {
        let grid = generated("grid2d,n=100,points=5");
        for (middle, nonzeros) in [(0, 100), (25_000, 1000), (grid.nnz(), 1000), (7, 1)] {
            let rows = rows_around(&grid, middle, nonzeros);
            let of = |row: usize| grid.row_offsets()[row] as usize;
            assert!(!rows.is_empty() && rows.end <= grid.rows(), "{rows:?}");
            assert!(of(rows.start) <= middle && middle <= of(rows.end) + nonzeros, "{rows:?}");
            assert!(of(rows.end) - of(rows.start) <= nonzeros + 10, "{rows:?}");
        }
        assert_eq!(rows_around(&generated("grid2d,n=500"), 500_000, 1 << 20).len(), WINDOW_ROWS);
    }

    #[test]
    fn waiting_for_memory_is_predicted_in_proportion_to_the_bytes() {
        let times = Sample { setup: 1.0, packed: 2.0, rows: 3.0, first: 5.0, ..Sample::default() };
        let sample = Sample { nonzeros: 10, packed_bytes: 60, csr_bytes: 120, ..times };
        let of = |waiting| {
            let Prediction { setup, packed, rows } =
                Prediction::of(&[sample.into()], 100.0, waiting, Provision { page: 0.0, at_once: 1 });
            [setup, packed, rows]
        };
        assert_eq!(of(1.0), [10.0, 30.0, 50.0]);
        assert_eq!(of(0.5), [10.0, 25.0, 40.0]);
        assert_eq!(of(0.0), [10.0, 20.0, 30.0]);
    }

    #[test]
    fn the_waiting_grows_with_the_matrix_up_to_twice_the_cache() {
        let of_32 = [0, 1, 32, 64, 99].map(|matrix| waiting(matrix, 32));
        assert_eq!((of_32, waiting(1, 0)), ([0.0, 1.0 / 64.0, 0.5, 1.0, 1.0], 1.0));
    }

    #[test]
    fn the_setup_is_predicted_with_the_time_of_all_pages() {
        let sample = Sample { nonzeros: 10, setup: 1.0, packed_bytes: 9 * PAGE, ..Sample::default() };
        let setup = |faults, page, at_once| {
            let samples = [Sample { faults, ..sample }.into()];
            Prediction::of(&samples, 100.0, 0.0, Provision { page, at_once }).setup
        };
        assert_eq!([0, 5, 9, 30].map(|faults| setup(faults, 0.5, 1)), [55.0, 30.0, 10.0, 10.0]);
        let huge = [setup(0, 0.01, 512), setup(1, 1.0 / 1024.0, 512), setup(1, 1.0, 512)];
        assert_eq!(huge, [10.9, 10.0 * (1.0 - 503.0 / 1024.0), 0.0]);
    }

    #[test]
    fn the_system_provides_new_pages_when_they_are_touched() {
        let before = provided_to_thread();
        let Provision { page, .. } = Provision::of_system(Instant::now);
        assert!(page > 0.0 && provided_to_thread() > before, "{page} s");
    }

    #[test]
    fn only_matrices_of_short_rows_and_enough_values_are_predicted() {
        let team = Team::floating(2);
        let predicted = |spec| predict(&generated(spec), &Request::new(&team), 2000);
        let Prediction { setup, packed, rows } = predicted("grid2d,n=100,points=5").unwrap();
        assert!([setup, packed, rows].iter().all(|time| (0.0..9.0).contains(time)));
        assert!(predicted("uniform,rows=10,nnz=100000,cols=20000").is_none(), "long rows");
        assert!(predicted("uniform,rows=10,nnz=1000,cols=20000").is_none(), "few values");
    }
}

//! Tests the limits of a GPU's memory, and the memory that methods allocate and keep.

use spmv_bench::bench::clock::SystemClock;
use spmv_matrix::Csr;
use spmv_matrix::generate::Generator;
use spmv_matrix::memory::extent::Extent;
use spmv_matrix::order::band_k::{Coarsening, band_k};
use spmv_methods::device::model::Model;
use spmv_methods::device::{DeviceCsr, Gpu};
use spmv_methods::method::{Choice, Method, Request};
use spmv_methods::team::Team;
use spmv_results::row::Status;
use spmv_results::settings::Settings;

use super::{choices, grid, matrix, measure, measured, settings};
use crate::fake_cusparse::FakeCuSparse;
use crate::support::all;

/// The bytes that the program leaves free on a GPU. All limits below are in addition to them.
const KEPT_FREE: u64 = 64 << 20;

fn with_room_for(bytes: u64) -> Gpu {
    Gpu::new(Model::tiny(6).with(|model| model.facts.memory_bytes = KEPT_FREE + bytes))
}

#[test]
fn a_matrix_that_does_not_fit_on_the_gpu_skips_all_with_the_figures() {
    let (choices, group) = measure(&SystemClock::default(), &with_room_for(10 << 10), &matrix(), &settings());
    assert_eq!(group.rows.len(), choices.len());
    let words = "for the matrix and its vectors, and 10.0 KiB are available (free on the GPU)";
    for row in group.rows {
        assert_eq!(row.status, Some(Status::Skipped), "{row:?}");
        let reason = row.reason.text().unwrap();
        assert!(reason.starts_with("needs ") && reason.ends_with(words), "{reason}");
    }
}

/// 256 rows and nearly 3000 entries: matrix, vectors and the bandwidth measurement need about 80 KiB, the buffer that
/// empties the L2 cache 128 KiB, and a method 64 KiB in addition to its format.
#[test]
fn methods_that_do_not_fit_on_the_gpu_are_skipped_and_others_run() {
    let (_, group) = measure(&SystemClock::default(), &with_room_for(288 << 10), &matrix(), &settings());
    let of = |name: &str| {
        let row = group.rows.iter().find(|row| row.method_name.as_deref() == Some(name)).unwrap();
        (row.status.unwrap(), row.reason.text().unwrap_or_default())
    };
    assert_eq!(of("gpu-csr-scalar").0, Status::Ok);
    let (Status::Skipped, reason) = of("gpu-hyb") else { panic!("it fits") };
    let words = "for its format";
    assert!(reason.contains(words) && reason.ends_with("(free on the GPU)"), "{reason}");
    let (Status::Ok, note) = of("gpu-light") else { panic!("gpu-light does not fit") };
    assert!(note.starts_with("measured in part ") && note.ends_with("for all methods at once"), "{note}");
}

/// Returns the device bytes in addition to CSR that a method allocates at most during its setup, even if that fails,
/// and whether it accepts the matrix.
fn taken(choice: &Choice, csr: &Csr<f64>, transpose: bool) -> (u64, bool) {
    let model = FakeCuSparse::on(Model::tiny(3));
    let machine = model.machine.clone();
    let peak = || machine.borrow().memory.allocated_bytes().1;
    let csr = DeviceCsr::upload(&Gpu::new(model), csr).unwrap();
    let held = peak();
    let team = Team::floating(1);
    let request = Request { transpose, given: &choice.given, ..Request::new(&team) };
    let is_accepted = choice.method.prepare_on_device(&csr, &request).is_ok();
    (peak() - held, is_accepted)
}

/// Returns the method without parameters, and with every value of every parameter.
fn variants(method: &'static Method) -> impl Iterator<Item = Choice<'static>> {
    let given = method
        .parameters
        .iter()
        .flat_map(|parameter| parameter.values.iter().map(|&value| vec![(parameter.name, value)]));
    std::iter::once(vec![]).chain(given).map(move |given| Choice { method, given })
}

#[test]
fn no_method_allocates_more_device_memory_than_its_bound_or_much_less() {
    const SMALL: u64 = 32 << 10;
    let mut wrong = Vec::new();
    let specs = [
        "grid3d,n=14,points=27",
        "uniform,rows=6000,nnz=40000",
        "power-law,rows=6000,nnz=40000,longest=3000",
        "diagonals,rows=20000,cols=20000,offsets=-1:0:1",
        "empty-rows,rows=40000,nnz=30000,empty=0.8",
        "dense,cols=200,nnz=40000",
        "wheel,spokes=300",
    ];
    for (turn, spec) in specs.into_iter().enumerate() {
        let csr = Generator::parse(spec).unwrap().generate().unwrap();
        for transpose in [false, true] {
            let choices = choices(transpose).into_iter().flat_map(|choice| variants(choice.method));
            // Parameters take turns: each value is tried with two or three matrices, or with all.
            let is_tried =
                |number: usize, choice: &Choice| choice.given.is_empty() || (turn + number).is_multiple_of(3) || all();
            for (number, choice) in choices.enumerate() {
                if !is_tried(number, &choice) {
                    continue;
                }
                let extent = Extent { given: &choice.given, ..Extent::of(&csr, 1, transpose) };
                let (taken, is_accepted) = taken(&choice, &csr, transpose);
                let bound = (choice.method.memory)(&extent);
                // The fake cuSPARSE has small workspaces, gpu-auto may choose a method without memory, and the codes of
                // values may have fewer bits than in the bound.
                let varies = ["gpu-auto", "gpu-packed-values"].contains(&choice.method.name);
                let comparable = choice.given.is_empty() && !varies;
                let comparable = comparable && !choice.method.name.starts_with("cusparse");
                let tight = !comparable || bound <= 5 * taken + SMALL;
                // A format that is refused allocates less.
                if taken > bound + SMALL || (is_accepted && taken > 0 && !tight) {
                    let name = choice.name();
                    wrong.push(format!("{spec}, {name}: {taken} bytes allocated, bound {bound}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_device_memory_of_methods_is_counted() {
    let (gpu, csr) = (Gpu::new(Model::tiny(1)), matrix());
    let plain = measured(&gpu, &csr, &settings());
    let extra = |name: &str| plain[name].row.extra_bytes.unwrap() as usize;
    assert_eq!(extra("gpu-csr-scalar"), 0);
    assert_eq!(extra("gpu-csr-vector"), 0);
    assert_eq!(extra("gpu-kokkos-style"), 0);
    assert_eq!(extra("gpu-pcsr"), 8 * csr.nnz());
    assert_eq!(extra("gpu-light"), 4);
    // A block has one piece of 512 nonzeros, two values and a counter. Each piece and the end have a first row.
    let blocks = csr.nnz().div_ceil(512);
    assert_eq!(extra("gpu-csr-bulk"), (blocks + 1) * 4 + blocks * (2 * 8 + 4));
    // 128 x 8 steps per tile, two values and a counter for each, and too few tiles for a search kernel.
    let tiles = (csr.rows() + csr.nnz()).div_ceil(128 * 8);
    assert_eq!(extra("gpu-merge"), 20 * tiles);
    // Blocks of 1 x 1, also for empty rows, in tiles of 128 x 16; each thread has a row, each tile two words.
    let stored = csr.nnz() + csr.row_lengths().filter(|&length| length == 0).count();
    let tiles = stored.div_ceil(128 * 16);
    assert_eq!(extra("gpu-bccoo"), tiles * 128 * (16 * 12 + 2 + 4) + 16 * tiles + 8);
    // Few entries per tile of 16 x 16: some tiles remain, and most entries are apart with both coordinates.
    let apart = 16 * csr.nnz();
    assert!((apart / 2..apart).contains(&extra("gpu-tile")));
    // 256 x 4 nonzeros per block, and the row after the last block.
    let blocks = csr.nnz().div_ceil(256 * 4);
    assert_eq!(extra("gpu-hola"), 4 * (blocks + 1));
    // 8.06 nonzeros per row: super-rows of 13 rows (four times as many above 8 nonzeros), and 6 of them in a group.
    assert_eq!(extra("gpu-csrk-3"), in_band_k(&csr, &[13, 6]));
    assert_eq!(extra("gpu-csrk-3.5"), in_band_k(&csr, &[52, 6]));
    assert_eq!(extra("gpu-csrk-2"), in_band_k(&csr, &[52 * 6]));
    assert_eq!(gpu.allocated_bytes(), 0, "everything is released");
    let transposed = measured(&gpu, &csr, &Settings { transpose: true, ..settings() });
    let extra = |name: &str| transposed[name].row.extra_bytes.unwrap() as usize;
    assert_eq!(extra("gpu-naive-t"), 0);
    assert_eq!(extra("gpu-hola-t"), 4 * (blocks + 1));
    let transpose = 4 * (csr.cols() + 1) + 12 * csr.nnz();
    assert_eq!(extra("gpu-csc"), transpose + 4 * (blocks + 1));
}

/// Returns the bytes of a matrix in CSR-k in addition to the natural one: pointers, the matrix, the permutation and x.
fn in_band_k(csr: &Csr<f64>, sizes: &[usize]) -> usize {
    let levels = band_k(csr, Coarsening::Hand, sizes).levels;
    let pointers: usize = levels.iter().map(|starts| 4 * starts.len()).sum();
    pointers + 4 * (csr.rows() + 1) + 12 * csr.nnz() + (4 + 8) * csr.rows()
}

#[test]
fn the_device_memory_of_formats_is_counted() {
    let (gpu, csr) = (Gpu::new(Model::tiny(1)), grid());
    let measured = measured(&gpu, &csr, &settings());
    let extra = |name: &str| measured[name].row.extra_bytes.unwrap() as usize;
    let (value, index) = (8, 4);
    assert_eq!((csr.rows(), csr.nnz()), (81, 288));
    // The order of rows, and 16 bytes for each block of 256 threads: 49 rows have two threads, the others one.
    assert_eq!(extra("gpu-csr-lrb"), 81 * index + 2 * 16);
    // Three intervals of 128 nonzeros; two of them share a row.
    assert_eq!(extra("gpu-coo"), (288 + 5) * index);
    assert_eq!(extra("gpu-ell"), 96 * 4 * (value + index));
    assert_eq!(extra("gpu-dia"), 4 * (96 * value + index));
    assert_eq!(extra("gpu-hyb"), 288 * (value + 2 * index), "fewer than 4096 rows: nothing in ELL");
    // 49 rows have 4 entries, 28 have 3, and 4 have 2.
    assert_eq!(extra("gpu-sell"), (4 + 4 + 3) * 32 * (value + index) + (4 + 81) * index);
    // Three slices with a head and 4 diagonals each, and two words after the last offset, of which there are none.
    assert_eq!(extra("gpu-packed"), 288 * value + 3 * (16 + 4) + 3 * 4 * 8 + 2 * 4);
    // Rows of 4 and 3 in 9 groups with a block and one of 5 rows with 15 irregular entries; two pairs of rows of 2.
    // Four groups without rows are at the end.
    let (places, words) = ((9 + 2) * 32 + 15, 81 + 77 + 2 * (10 + 4) + 2);
    assert_eq!(extra("gpu-dasp"), places * (value + index) + words * index);
    // Two tiles of 32 x 4 nonzeros, and a tail of 32; the first kernel has 14 rows, those of the tail included.
    let tile = 128 * (value + index) + 32 * index + 8;
    assert_eq!(extra("gpu-csr5"), 2 * tile + 4 + (32 + 14) * index);
    // 111 blocks of 3 x 3 need the fewest bytes.
    assert_eq!(extra("gpu-bcsr"), 111 * (9 * value + index) + (27 + 1) * index);
}

#[test]
fn some_values_of_a_device_array_are_overwritten() {
    let gpu = Gpu::new(Model::tiny(5));
    let mut buffer = gpu.upload(&[1.0, 2.0, 3.0]).unwrap();
    buffer.upload_some(&[(2, -2.0), (0, 5.0)]).unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [5.0, 2.0, -2.0]);
    let beyond = std::panic::AssertUnwindSafe(|| buffer.upload_some(&[(0, 0.0), (3, 0.0)]));
    assert!(std::panic::catch_unwind(beyond).is_err(), "there is no value 3");
}

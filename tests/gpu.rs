//! Tests the measurement of GPU methods on the modelled GPU: what is timed, counted and reported.

mod launches;
mod memory;
mod notes;
mod order;
mod recorder;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use spmv_bench::bench::clock::{Clock, FakeClock, SystemClock};
use spmv_bench::bench::event::Event;
use spmv_bench::bench::execute::{self, Bench, Stopped};
use spmv_bench::bench::problem::Problem;
use spmv_matrix::Csr;
use spmv_matrix::generate::Generator;
use spmv_matrix::scalar::Precision;
use spmv_methods::device::model::{DeviceFile, Model};
use spmv_methods::device::{Gpu, Program, Stage};
use spmv_methods::method::{Choice, Device, GRAPH};
use spmv_methods::team::Team;
use spmv_methods::{self, METHODS};
use spmv_results::matrix::Group;
use spmv_results::metrics::Peak;
use spmv_results::row::{Row, Status};
use spmv_results::settings::{CacheState, Protocol, Settings};

fn matrix() -> Csr<f64> {
    Generator::parse("rmat,scale=8,edges=3000").unwrap().generate().unwrap()
}

/// A matrix that every format accepts: 4 diagonals, 81 rows.
fn grid() -> Csr<f64> {
    Generator::parse("grid2d,n=9").unwrap().generate().unwrap()
}

/// Returns the GPU methods that have the product.
fn choices(transpose: bool) -> Vec<Choice<'static>> {
    let of_gpu = METHODS.iter().filter(|method| method.device() == Device::Gpu);
    of_gpu.filter(|method| method.operations.include(transpose)).map(Choice::from).collect()
}

fn settings() -> Settings {
    Settings { iterations: Some(4), warmups: 1, rounds: 2, ..Settings::new(Protocol::MergeSpmv) }
}

/// Measures all GPU methods that have the product.
fn measure(clock: &dyn Clock, gpu: &Gpu, csr: &Csr<f64>, settings: &Settings) -> (Vec<Choice<'static>>, Group) {
    let choices = choices(settings.transpose);
    let group = on_gpu(clock, settings, gpu, csr, &choices).unwrap();
    (choices, group)
}

/// Measures methods and returns their group, with the rows in the order of the methods.
fn on_gpu(
    clock: &dyn Clock,
    settings: &Settings,
    gpu: &Gpu,
    csr: &Csr<f64>,
    choices: &[Choice],
) -> Result<Group, Stopped> {
    let (team, rows) = (Team::floating(1), RefCell::new(Vec::new()));
    let emit = |event| {
        if let Event::Row(row, stages) = event {
            rows.borrow_mut().push((*row, stages));
        }
    };
    let bench = Bench { emit: &emit, ..Bench::new(&team, clock, settings) };
    let cells: Vec<_> = choices.iter().cloned().map(execute::Cell::from).collect();
    let mut group = Group::of(vec![]);
    Problem::of(csr, settings).on_gpu(&bench, gpu, &cells, &mut group)?;
    let mut rows = rows.take();
    rows.sort_by_key(|(row, _)| cells.iter().position(|cell| row.has_key(&cell.key)));
    (group.rows, group.stages) = rows.into_iter().unzip();
    Ok(group)
}

/// Measures a method and returns its note.
fn note(choice: Choice, gpu: &Gpu, csr: &Csr<f64>) -> String {
    let group = on_gpu(&SystemClock::default(), &settings(), gpu, csr, &[choice]).unwrap();
    assert!(group.rows[0].is_ok(), "{group:?}");
    group.rows[0].reason.text().unwrap().to_owned()
}

struct Measured {
    row: Row,
    stages: Vec<Stage>,
}

/// Returns the results by name. The methods of cuSPARSE are skipped, because the model has no cuSPARSE here, and so are
/// formats that would be mostly padding.
fn measured(gpu: &Gpu, csr: &Csr<f64>, settings: &Settings) -> BTreeMap<String, Measured> {
    let (choices, group) = measure(&SystemClock::default(), gpu, csr, settings);
    assert!(group.compile_ms.is_some());
    let Some(Peak::Gpu { copy_gbs, read_gbs, nominal_gbs }) = group.peak else { panic!("no GPU's") };
    assert!(copy_gbs > 0.0 && read_gbs > 0.0 && nominal_gbs > 0.0);
    assert_eq!(group.rows.len(), choices.len());
    let of = |(row, stages): (Row, _)| {
        let name = row.method_name.clone().unwrap();
        if row.is_ok() {
            return Some((name, Measured { row, stages }));
        }
        let reason = row.reason.text().unwrap();
        let no_library = name.starts_with("cusparse") && reason.contains("cuSPARSE");
        let is_usual = no_library || reason.starts_with("would store ");
        assert!(is_usual && row.status == Some(Status::Skipped), "{row:?}");
        None
    };
    group.rows.into_iter().zip(group.stages).filter_map(of).collect()
}

#[test]
fn every_sample_counts_and_both_caches_work() {
    let (gpu, csr) = (Gpu::new(Model::tiny(2)), matrix());
    for cache in [CacheState::Hot, CacheState::Cold] {
        let measured = measured(&gpu, &csr, &Settings { cache, ..settings() });
        for (name, Measured { row, stages }) in &measured {
            assert_eq!(row.iterations, Some(4), "{name}");
            assert!(stages.is_empty(), "{name}");
        }
        // Each enqueued operation takes a millisecond, and emptying the cache is not timed. gpu-csr5 first clears rows
        // of y.
        for (name, launches) in [("gpu-csr-scalar", 1), ("gpu-light", 1), ("gpu-merge", 1), ("gpu-csr5", 2)] {
            let Row { avg_spmv_ms, launches: counted, launch_floor_ms, .. } = measured[name].row;
            let ms = Some(launches as f64);
            let found = (avg_spmv_ms, counted, launch_floor_ms);
            assert_eq!(found, (ms, Some(launches), ms), "{name}");
        }
    }
}

/// Measures gpu-csr-vector on a random matrix, on a GPU of two multiprocessors whose L2 cache is a little larger than
/// x. Returns the note and the bytes that a product reads from memory.
fn with_small_caches(name: &str, persist_x: bool) -> (String, u64) {
    let text = std::fs::read_to_string(format!("crates/ptx-machine/devices/{name}.toml")).unwrap();
    let smaller = |line: &str| match line.split_once(" = ").map_or("", |(key, _)| key) {
        "multiprocessors" => "multiprocessors = 2\n".into(),
        "l1_kib" => "l1_kib = 32\n".into(),
        "l2_kib" => "l2_kib = 640\n".into(),
        "l2_kib_per_copy" => "l2_kib_per_copy = 320\n".into(),
        _ => format!("{line}\n"),
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.toml");
    std::fs::write(&path, text.lines().map(smaller).collect::<String>()).unwrap();
    let gpu = Gpu::new(Model::of_file("small", &DeviceFile::find(path.to_str().unwrap()).unwrap()));
    let csr = Generator::parse("uniform,rows=30000,nnz=240000").unwrap().generate().unwrap();
    let choice = Choice::from(spmv_methods::named("gpu-csr-vector").unwrap());
    let settings = Settings { persist_x, stages: true, ..settings() };
    let group = on_gpu(&SystemClock::default(), &settings, &gpu, &csr, &[choice]).unwrap();
    assert!(group.rows[0].is_ok(), "{group:?}");
    let read = group.stages[0][0].counts.as_ref().unwrap().read_bytes;
    (group.rows[0].reason.text().unwrap_or_default().to_owned(), read)
}

#[test]
fn x_that_persists_is_read_from_memory_less_often() {
    let [(plain, often), (note, less)] = [false, true].map(|on| with_small_caches("a100", on));
    assert!(!plain.contains("persists"), "{plain}");
    assert!(note.ends_with("x persists in 234.4 KiB of the L2 cache"), "{note}");
    assert!(10 * less < 9 * often, "{less} of {often} bytes");
    let [(_, often), (note, as_often)] = [false, true].map(|on| with_small_caches("v100", on));
    assert!(note.ends_with("this GPU cannot set aside L2 cache for x"), "{note}");
    assert_eq!(as_often, often);
}

/// Twenty products per round; a sample lasts at least two milliseconds: two products of one millisecond.
#[test]
fn samples_last_two_milliseconds() {
    let (gpu, csr) = (Gpu::new(Model::tiny(2)), grid());
    let measured = measured(&gpu, &csr, &Settings { iterations: Some(40), ..settings() });
    let samples = |name: &str| measured[name].row.samples;
    assert_eq!(samples("gpu-csr-scalar"), Some(20));
    assert_eq!(samples("gpu-csr5"), Some(40), "two milliseconds each");
}

#[test]
fn graphs_are_right_with_all_terms() {
    let gpu = Gpu::new(Model::tiny(5));
    let settings = Settings { alpha: -0.5, beta: 0.25, ..settings() };
    for transpose in [false, true] {
        let settings = Settings { transpose, ..settings.clone() };
        let ours = choices(transpose).into_iter();
        let ours = ours.filter(|choice| !choice.method.name.starts_with("cusparse"));
        let graphs: Vec<_> = ours.map(|choice| Choice { given: vec![(GRAPH.name, "on")], ..choice }).collect();
        let group = on_gpu(&SystemClock::default(), &settings, &gpu, &grid(), &graphs).unwrap();
        assert_eq!(group.rows.len(), graphs.len());
        for row in group.rows {
            assert!(row.is_ok() && row.launches == Some(1), "{row:?}");
        }
    }
    assert_eq!(gpu.allocated_bytes(), 0);
}

#[test]
fn stages_are_the_kernels_in_order() {
    let (gpu, csr) = (Gpu::new(Model::tiny(3)), matrix());
    let measured = measured(&gpu, &csr, &Settings { stages: true, ..settings() });
    for (name, expected) in [
        ("gpu-csr-scalar", "csr_scalar"),
        ("gpu-kokkos-style", "csr_vector"),
        ("gpu-pcsr", "pcsr_products pcsr_sums"),
        ("gpu-light", "light"),
        ("gpu-bccoo", "bccoo_tiles"),
        ("gpu-tile", "start_rows tile_units csr5"),
        // No row is long.
        ("gpu-dasp", "dasp"),
        ("gpu-csr-lrb", "csr_lrb"),
        ("gpu-csr-bulk", "csr_bulk"),
        ("gpu-merge", "merge_tiles"),
        ("gpu-packed-values", "packed"),
        ("gpu-hola", "hola_assign hola"),
        ("gpu-csrk-2", "csrk_permute_x csrk_2"),
        ("gpu-csrk-3", "csrk_permute_x csrk_3"),
        ("gpu-csrk-3.5", "csrk_permute_x csrk_3"),
        ("gpu-coo", "start_rows coo"),
        ("gpu-hyb", "hyb_ell hyb_coo"),
        ("gpu-csr5", "start_rows csr5"),
    ] {
        let stages = &measured[name].stages;
        let names: Vec<_> = stages.iter().map(|stage| &*stage.name).collect();
        assert_eq!(names.join(" "), expected, "{name}");
        assert!(stages.iter().all(|stage| stage.ms == 1.0), "{name}: {stages:?}");
    }
}

/// A thread per row fills half of this GPU from 4096 rows on.
#[test]
fn auto_chooses_by_rows_diagonals_and_products() {
    let gpu = Gpu::new(Model::tiny(9));
    let of = |rows: usize, cells: &dyn Fn(usize) -> Vec<usize>| {
        let entries = (0..rows).flat_map(|row| cells(row).into_iter().map(move |col| (row, col, 1.0)));
        Csr::from_triplets(rows, rows + 200, &entries.collect::<Vec<_>>())
    };
    let band = |row: usize| vec![row, row + 1, row + 2];
    let apart = |row: usize| vec![row % 7, 50 + row * row % 97, 160];
    let longer = |row: usize| [apart(row), (170..171 + row % 9).collect()].concat();
    let one_long = |row: usize| if row == 5 { (0..90).collect() } else { apart(row) };
    for (csr, products, expected) in [
        (of(4096, &band), 100, "gpu-dia: no row is longer than 12 nonzeros, and all are on 3 diagonals"),
        (of(4095, &band), 100, "gpu-csr-vector: no row is longer than 12 nonzeros"),
        (of(4096, &band), 99, "gpu-csr-vector: no row is longer than 12 nonzeros"),
        (of(4096, &apart), 100, "gpu-ell: almost all rows have 3 nonzeros"),
        (of(4096, &longer), 100, "gpu-csr-vector: no row is longer than 32 nonzeros"),
        (of(1200, &one_long), 100, "gpu-csr5: 1 rows are longer than 13 nonzeros"),
        (
            of(1200, &one_long),
            99,
            "gpu-merge: 1 rows are longer than 13 nonzeros, and 99 products do not pay for a conversion",
        ),
        (of(0, &band), 100, "gpu-csr-vector: no row is longer than 4 nonzeros"),
    ] {
        let settings = Settings { planned: Some(products), ..settings() };
        let row = &measured(&gpu, &csr, &settings)["gpu-auto"].row;
        let (picked, why) = expected.split_once(": ").unwrap();
        assert_eq!(row.picked.as_deref(), Some(picked));
        assert_eq!(row.reason.text().unwrap(), format!("picked {picked}; {why}"));
    }
}

/// The model allows at most two blocks per multiprocessor, which has 2048 threads. A memset is not a kernel.
#[test]
fn occupancy_is_that_of_the_longest_kernel() {
    let (gpu, csr) = (Gpu::new(Model::tiny(3)), matrix());
    let plain = measured(&gpu, &csr, &settings());
    let occupancy = |name: &str| plain[name].row.occupancy;
    assert_eq!(occupancy("gpu-csr-scalar"), Some(2.0 * 256.0 / 2048.0));
    assert_eq!(occupancy("gpu-light"), Some(1024.0 / 2048.0 * 2.0));
    assert!(plain.values().all(|measured| measured.row.occupancy.is_some()));
    let staged = measured(&gpu, &csr, &Settings { stages: true, ..settings() });
    assert_eq!(staged["gpu-light"].stages[0].occupancy, Some(1.0));
    let transposed = Settings { transpose: true, stages: true, ..settings() };
    let stages = &measured(&gpu, &csr, &transposed)["gpu-naive-t"].stages;
    let of: Vec<_> = stages.iter().map(|stage| (&stage.name[..], stage.occupancy)).collect();
    assert!(matches!(of[..], [("fill", None), (_, Some(_))]), "{of:?}");
    // Blocks of 1 x 8 x 12 threads.
    assert_eq!(staged["gpu-csrk-3"].stages[1].occupancy, Some(2.0 * 96.0 / 2048.0));
}

#[test]
fn kernels_are_compiled_once_and_not_during_setup() {
    // The fake clock counts a millisecond for the preparation, and compiling takes longer than that.
    let compiled = Rc::new(Cell::new(0));
    let count = compiled.clone();
    let slow = move |program: &Program, _, _: &[_]| {
        count.set(count.get() + 1);
        // The times of the compiler are those of the real clock.
        std::thread::sleep(Duration::from_millis(2));
        program.source.into()
    };
    let model = Model::tiny(4).with(|model| model.rewrite = Some(Box::new(slow)));
    let (gpu, csr) = (Gpu::new(model), matrix());
    let clock = FakeClock::new(Duration::from_millis(1));
    let (_, first) = measure(&clock, &gpu, &csr, &settings());
    // Methods that compile other constants for this matrix than for the small one of the rehearsal.
    assert!(first.rows.iter().any(|row| row.setup_ms == Some(0.0)));
    let compilations = compiled.get();
    assert!(compilations > 20 && first.compile_ms.unwrap() >= 2.0 * f64::from(compilations));
    measure(&clock, &gpu, &csr, &settings());
    assert_eq!(compiled.get(), compilations);
}

#[test]
fn transposed_products_are_verified() {
    let gpu = Gpu::new(Model::tiny(7));
    let wide = Generator::parse("dense,rows=3,cols=40").unwrap().generate().unwrap();
    let settings = Settings { transpose: true, beta: 0.5, stages: true, ..settings() };
    let measured = measured(&gpu, &wide, &settings);
    for name in ["gpu-naive-t", "gpu-kokkos-style"] {
        let stages = measured[name].stages.iter().map(|stage| &*stage.name);
        assert_eq!(stages.collect::<Vec<_>>(), ["start", "naive_transposed"], "{name}");
    }
}

/// A kernel that writes out of bounds makes the device unusable. The measurement ends there and names the method.
#[test]
fn a_lost_device_ends_the_measurement() {
    let csr = matrix();
    let outcome = |from: &'static str, to: &'static str| {
        let altered = move |program: &Program, _: Precision, _: &[(&'static str, usize)]| {
            let of_method = program.name.starts_with("csr_vector");
            program.source.replace(if of_method { from } else { to }, to)
        };
        let names = ["gpu-csr-scalar", "gpu-csr-vector", "gpu-merge"];
        let methods = METHODS.iter().filter(|method| names.contains(&method.name));
        let choices: Vec<_> = methods.map(Choice::from).collect();
        let gpu = Model::tiny(9).with(|model| model.rewrite = Some(Box::new(altered)));
        let gpu = Gpu::new(gpu);
        let measured = || on_gpu(&SystemClock::default(), &settings(), &gpu, &csr, &choices);
        // The second measurement stands for the next precision or matrix.
        (measured(), measured())
    };
    // A kernel that cannot be launched does not affect the other methods.
    let rows = outcome("__launch_bounds__(BLOCK)", "__launch_bounds__(16)").0.unwrap().rows;
    let statuses: Vec<_> = rows.iter().filter_map(|row| row.status).collect();
    assert_eq!(statuses, [Status::Ok, Status::Failed, Status::Ok], "{rows:?}");
    let (Err(Stopped::Lost { method, reason }), Err(next)) = outcome("store(y, row,", "store(y, row + (1 << 20),")
    else {
        panic!("it went on")
    };
    assert_eq!(method, "gpu-csr-vector");
    assert!(reason.contains("csr_vector"), "{reason}");
    assert_eq!(next.to_string(), "uploading the matrix: the context is lost: a kernel has failed");
}

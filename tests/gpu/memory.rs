//! What fits into a GPU's memory, and what methods take of it.

use spmv_bench::bench::outcome::Outcome;
use spmv_bench::device::{DeviceCsr, Gpu};
use spmv_bench::matrix::Csr;
use spmv_bench::matrix::generate::Generator;
use spmv_bench::memory::extent::Extent;
use spmv_bench::method::{Choice, Method, Request};
use spmv_bench::simd::Isa;
use spmv_bench::team::Team;
use spmv_emulation::Emulation;

use super::fake_cusparse::FakeCuSparse;
use super::{choices, matrix, measure, settings};

/// What is kept free on a GPU, and takes no part in what follows.
const KEPT_FREE: u64 = 64 << 20;

fn with_room_for(bytes: u64) -> Gpu {
    Gpu::new(Emulation::new(6).with_room_for(KEPT_FREE + bytes))
}

#[test]
fn a_matrix_that_does_not_fit_on_the_gpu_skips_all_with_the_figures() {
    let (choices, report) = measure(&with_room_for(10 << 10), &matrix(), &settings());
    assert_eq!(report.outcomes.len(), choices.len());
    let words = "for the matrix and its vectors; 10.0 KiB are available (free on the GPU)";
    for outcome in report.outcomes {
        let Outcome::Skipped(reason) = outcome else { panic!("{outcome:?}") };
        assert!(reason.starts_with("needs ") && reason.ends_with(words), "{reason}");
    }
}

/// 256 rows and nearly 3000 entries: matrix, vectors and the measuring of bandwidth take some 80 KiB, and
/// a method 64 KiB besides its format.
#[test]
fn methods_that_do_not_fit_on_the_gpu_are_skipped_and_others_run() {
    let (choices, report) = measure(&with_room_for(160 << 10), &matrix(), &settings());
    let outcome_of = |name: &str| {
        let index = choices.iter().position(|choice| choice.method.name == name).unwrap();
        &report.outcomes[index]
    };
    assert!(matches!(outcome_of("gpu-csr-scalar"), Outcome::Ok(_)));
    let Outcome::Skipped(reason) = outcome_of("gpu-hyb") else { panic!("it fits") };
    let words = "for its format";
    assert!(reason.contains(words) && reason.ends_with("(free on the GPU)"), "{reason}");
    let Outcome::Ok(light) = outcome_of("gpu-light") else { panic!("gpu-light fits") };
    let note = light.note.as_deref().unwrap();
    assert!(note.starts_with("with part ") && note.ends_with("as memory allows"), "{note}");
}

/// Device bytes beyond CSR that a method takes for its preparation, refused or not.
fn taken(choice: &Choice, csr: &Csr<f64>, transpose: bool) -> u64 {
    let emulation = Emulation::new(3).with_cusparse(Box::new(FakeCuSparse::default()));
    let peak = emulation.peak();
    let csr = DeviceCsr::upload(&Gpu::new(emulation), csr).unwrap();
    let held = peak();
    let request = Request {
        team: &Team::floating(1),
        isa: Isa::detect(),
        transpose,
        alpha: 1.0,
        beta: 0.0,
        expected_products: 1000,
        profile: None,
        given: &choice.given,
    };
    let _ = choice.method.prepare_on_gpu::<f64>().unwrap()(&csr, &request);
    peak() - held
}

/// The method alone, and with every value of every parameter.
fn variants(method: &'static Method) -> impl Iterator<Item = Choice<'static>> {
    let given = method
        .parameters
        .iter()
        .flat_map(|parameter| parameter.values.iter().map(|&value| vec![(parameter.name, value)]));
    std::iter::once(vec![]).chain(given).map(move |given| Choice { method, given })
}

#[test]
fn no_method_takes_more_device_memory_than_it_says_or_much_less() {
    const SMALL: u64 = 32 << 10;
    let mut wrong = Vec::new();
    for spec in [
        "grid3d,n=14,points=27",
        "uniform,rows=6000,nnz=40000",
        "power-law,rows=6000,nnz=40000,longest=3000",
        "diagonals,rows=20000,cols=20000,offsets=-1:0:1",
        "empty-rows,rows=40000,nnz=30000,empty=0.8",
        "dense,cols=200,nnz=40000",
        "wheel,spokes=300",
    ] {
        let csr = Generator::parse(spec).unwrap().generate().unwrap();
        for transpose in [false, true] {
            let choices = choices(transpose).into_iter().flat_map(|choice| variants(choice.method));
            for choice in choices {
                let extent = Extent { given: &choice.given, ..Extent::of(&csr, 1, transpose) };
                let taken = taken(&choice, &csr, transpose);
                let said = (choice.method.memory)(&extent);
                // The fake cuSPARSE has small workspaces, and gpu-auto may pick a method that takes nothing.
                let telling = choice.given.is_empty() && choice.method.name != "gpu-auto";
                let telling = telling && !choice.method.name.starts_with("cusparse");
                let tight = !telling || said <= 5 * taken + SMALL;
                // Of a format that was refused nothing is on the device.
                if taken > said + SMALL || (taken > 0 && !tight) {
                    wrong.push(format!("{spec}, {}: {taken} taken, {said} said", choice.name()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

//! Tests what GPU methods say of their choices and of the matrix, in the notes of their rows.

use spmv_matrix::Csr;
use spmv_matrix::generate::Generator;
use spmv_methods::device::Gpu;
use spmv_methods::device::model::Model;
use spmv_methods::method::Choice;

use super::{matrix, measured, note, settings};

/// The first matrix has 8.06 nonzeros per row, the other is not square: 8 super-rows of 16 rows are 128.
#[test]
fn csr_k_reports_its_sizes_and_its_order() {
    let gpu = Gpu::new(Model::tiny(8));
    let wide = Generator::parse("dense,rows=3,cols=40").unwrap().generate().unwrap();
    let remarks = |csr: &Csr<f64>, name: &str| measured(&gpu, csr, &settings())[name].row.reason.clone();
    let expected = "block=8x12:srs=13:ssrs=6; csr-k takes GPUSpMV-3.5 for such rows";
    assert_eq!(remarks(&matrix(), "gpu-csrk-3").text(), Some(expected));
    let expected = "natural order: 3 x 40 is not square; block=16x8x4:srs=128; csr-k takes GPUSpMV-3.5 \
                    for such rows";
    assert_eq!(remarks(&wide, "gpu-csrk-2").text(), Some(expected));
}

/// 134400 nonzeros in blocks of 4 x 4, 8 in a row of blocks. The number of blocks is estimated from half of the
/// nonzeros.
#[test]
fn bcsr_estimates_the_blocks_of_a_large_matrix() {
    let gpu = Gpu::new(Model::tiny(8));
    let cell = |row: usize, k: usize| (row, (k / 4 * 24 + row / 4 * 4) % 192 + k % 4, 1.0);
    let cells = (0..4200).flat_map(|row| (0..32).map(move |k| cell(row, k)));
    let csr = Csr::<f64>::from_triplets(4200, 192, &cells.collect::<Vec<_>>());
    let choice = Choice::from(spmv_methods::named("gpu-bcsr").unwrap());
    assert_eq!(note(choice, &gpu, &csr), "blocks of 4x4, 16 threads per row of blocks");
}

/// A long row has more than 256 entries, a medium one 4 or more, or 3 without a partner of 1. Regular blocks of 8
/// medium rows have at least 24 of 32 entries.
#[test]
fn dasp_classifies_rows_by_length() {
    let gpu = Gpu::new(Model::tiny(8));
    let classes = |lengths: &[usize]| {
        let row = |(row, &length): (usize, &usize)| (0..length).map(move |col| (row, col, 1.0));
        let triplets: Vec<_> = lengths.iter().enumerate().flat_map(row).collect();
        let csr = Csr::<f64>::from_triplets(lengths.len(), 600, &triplets);
        note(Choice::from(spmv_methods::named("gpu-dasp").unwrap()), &gpu, &csr)
    };
    for (lengths, long, medium, irregular) in [
        (&[3, 1, 0, 257, 2, 256, 4, 1, 2, 5, 1, 2, 0, 256][..], 1, 4, 521),
        (&[3, 4, 1, 3], 0, 2, 7),
        (&[5, 5, 5, 5, 5, 5, 5, 6, 8], 0, 9, 17),
        (&[7; 8], 0, 8, 0),
        (&[6; 8], 0, 8, 16),
        (&[600, 257, 40, 3], 2, 2, 43),
    ] {
        let expected = format!("{long} long and {medium} medium rows, {irregular} irregular entries");
        assert_eq!(classes(lengths), expected, "{lengths:?}");
    }
}

/// hola-spmv-ics17, Figure 10: an empty row between two nonzeros of a thread diverts its warp; too many empty rows for
/// the block divert all of its warps.
#[test]
fn hola_reports_how_many_warps_empty_rows_divert() {
    let gpu = Gpu::new(Model::tiny(8));
    let diverted = |rows, triplets: &[(usize, usize, f64)]| {
        let csr = Csr::<f64>::from_triplets(rows, 9, triplets);
        let method = spmv_methods::named("gpu-hola").unwrap();
        let choice = Choice { method, given: vec![("empty-rows", "count")] };
        note(choice, &gpu, &csr).split_once(" take").unwrap().0.to_owned()
    };
    let two = |last| [(0, 1, 1.0), (last, 2, 1.0)];
    assert_eq!(diverted(2, &two(1)), "0 of 8 warps (0.0 %)");
    assert_eq!(diverted(3, &two(2)), "1 of 8 warps (12.5 %)");
    assert_eq!(diverted(3000, &two(2999)), "8 of 8 warps (100.0 %)");
    assert_eq!(diverted(3000, &[(5, 1, 1.0)]), "0 of 8 warps (0.0 %)");
}

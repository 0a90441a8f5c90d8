//! Tests how rows are packed. The battery in `tests/` tests the products.

use super::build::{Packer, Packing};
use super::factors::Factors;
use super::kernel::Multiply;
use super::window::{Band, Columns, Segment, Slice, Window};
use crate::cpu::rows::Operands;
use crate::simd::{Isa, Lanes};
use spmv_matrix::Csr;
use spmv_matrix::generate::Generator;
use spmv_matrix::scalar::Scalar;

const PACKING: Packing = Packing { isa: Isa::Portable, table: None, longest: 1000 };

fn csr(rows: usize, cols: usize, cell: impl Fn(usize, usize) -> bool) -> Csr<f64> {
    let cells = (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col)));
    let of = |(row, col)| (row, col, 1.0 + (row * cols + col) as f64);
    let triplets: Vec<_> = cells.filter(|&(row, col)| cell(row, col)).map(of).collect();
    Csr::from_triplets(rows, cols, &triplets)
}

fn pack_all(csr: &Csr<f64>, packing: Packing) -> Window<f64> {
    Packer::new(packing).pack(csr, 0..csr.rows())
}

#[test]
fn a_grid_is_bands_without_columns_or_values() {
    let grid = Generator::parse("grid2d,n=16,points=5").unwrap().generate().unwrap();
    let window = pack_all(&grid, PACKING);
    let slices: usize = window.bands.iter().map(|band| band.slices).sum();
    // In the first and last grid line, slices with a diagonal that would leave the matrix are not bands.
    assert_eq!((slices, window.slices.len()), (14 * 4 + 2 * 3, 2));
    // Each grid line has three bands: its first slice, the two in the middle, and its last.
    let band = |row, slices, diagonals| Band { row, slices, diagonals };
    assert_eq!(window.bands[2..4], [band(16, 1, 8..13), band(20, 2, 13..18)]);
    assert_eq!(window.bands[5], band(32, 1, 8..13));
    assert!(matches!(window.factors, Factors::Full(_)), "values are compressed only on request");
    let window = pack_all(&grid, Packing { table: Some(1 << 16), ..PACKING });
    assert!(matches!(window.factors, Factors::Same(1.0)));
    let [factors, columns, rest] = window.bytes();
    assert!(factors == 8 && columns < 1000 && rest < 2000, "bytes: {factors}, {columns}, {rest}");
}

#[test]
fn rows_with_the_same_columns_share_them() {
    let blocks = csr(48, 48, |row, col| (row / 3 * 5 + col / 3 * 3) % 7 < 2);
    let window = pack_all(&blocks, PACKING);
    assert_eq!(window.segments, [Segment { height: 3, holes: false, slices: 4 }]);
    let Columns::Near { deltas, .. } = &window.columns else { panic!("48 columns are near") };
    assert_eq!(deltas.len(), blocks.nnz() / 3 + 4);
    let holes = csr(48, 48, |row, col| (row / 3 * 5 + col / 3 * 3) % 7 < 2 && (row != 7 || col != 20));
    let window = pack_all(&holes, PACKING);
    assert_eq!(window.segments, [Segment { height: 3, holes: true, slices: 4 }]);
    assert_eq!(window.masks.iter().map(|mask| mask.count_ones()).sum::<u32>(), holes.nnz() as u32);
}

#[test]
fn slices_contain_rows_by_length_without_padding() {
    let lengths = [3, 1, 0, 2, 5, 5, 5, 5, 4];
    let rows = csr(9, 30, |row, col| (col * 7 + row * 11) % 30 < lengths[row]);
    let window = pack_all(&rows, PACKING);
    assert_eq!(window.block_rows, [4, 5, 6, 7, 8, 0, 3, 1, 2]);
    let slice = |full, partial, blocks, consecutive| Slice { full, partial, blocks, consecutive };
    assert_eq!(window.slices, [slice(5, 0, 4, true), slice(1, 3, 4, false), slice(0, 0, 1, false)]);
    assert_eq!(window.lanes, [3, 2, 1]);
}

#[test]
fn rows_that_differ_too_much_are_stored_one_by_one_and_the_longest_left_out() {
    let rows = csr(3, 2000, |row, col| col % 2 == 0 && [col < 50, col < 1400, true][row]);
    let window = pack_all(&rows, Packing { longest: 700, ..PACKING });
    assert_eq!((window.slices.len(), window.long_rows), (0, vec![(1, 700), (0, 25)]));
}

#[test]
fn far_columns_have_32_bits_and_few_values_get_codes() {
    let triplets: Vec<_> = (0..40).map(|k| (k, (k * 7919) % 70_000, (k % 3) as f64 / 3.0)).collect();
    let rows = Csr::<f64>::from_triplets(40, 70_000, &triplets);
    let window = pack_all(&rows, Packing { table: Some(1 << 16), ..PACKING });
    assert!(matches!(window.columns, Columns::Far(_)));
    let Factors::Coded8(table, codes) = window.factors else { panic!("3 values") };
    assert_eq!((table, codes.len()), (vec![0.0, 1.0 / 3.0, 2.0 / 3.0], 40 + 4));
    assert!(matches!(pack_all(&rows, PACKING).factors, Factors::Full(_)));
}

/// Returns a matrix with bands, blocks with and without holes, partial steps and a long row.
fn mixed() -> Csr<f64> {
    let band = |row: usize, col: usize| row < 8 && (col == row + 2 || col == row + 4);
    let block = |row: usize, col: usize| (8..40).contains(&row) && (row / 2 * 3 + col) % 7 < 2 && (row, col) != (9, 9);
    let single = |row: usize, col: usize| row == 41 && (7..17).contains(&col);
    let long = |row: usize, col: usize| row == 42 && col < 1001;
    csr(44, 1001, move |row, col| {
        band(row, col) || block(row, col) && col < 40 || single(row, col) || long(row, col)
    })
}

/// Slots without a nonzero are multiplied, too. NaN and ∞ in x must nevertheless affect only the rows that use them.
#[test]
fn slots_without_a_nonzero_do_not_spread_nan() {
    let band_with_holes =
        csr(64, 80, |row, col| [2, 3, 5].map(|k| row + k).contains(&col) && (row % 8, col) != (3, row + 3));
    not_spread_in(&mixed());
    not_spread_in(&band_with_holes);
}

fn not_spread_in(csr: &Csr<f64>) {
    let used = |row: usize, column: u32| csr.column_indices()[csr.row(row)].contains(&column);
    for (isa, table) in Isa::available().into_iter().flat_map(|isa| [(isa, None), (isa, Some(256))]) {
        let packing = Packing { isa, table, ..PACKING };
        let window = pack_all(csr, packing);
        for (column, bad) in (0..50).flat_map(|column| [(column, f64::NAN), (column, f64::INFINITY)]) {
            let mut x = vec![1.0; csr.cols()];
            x[column as usize] = bad;
            let operands = Operands { alpha: 1.0, x: &x, beta: 0.0 };
            let mut y = vec![0.0; csr.rows()];
            let prefetch = column % 2 == 0;
            Multiply { csr, window: &window, operands, y: &mut y, prefetch }.run(isa);
            for (row, y) in y.iter().enumerate().filter(|&(row, _)| csr.row(row).len() <= 1000) {
                assert_eq!(y.is_finite(), !used(row, column), "{isa:?} row {row} column {column}");
                let sum: f64 = csr.values()[csr.row(row)].iter().sum();
                let differs = (y - sum).abs() > 1e-9 * sum;
                assert!(!y.is_finite() || !differs, "{isa:?} row {row}: {y}, not {sum}");
            }
        }
    }
}

/// Values are restored by the kernel as they were: the product does not depend on the form in which they are stored.
#[test]
#[cfg_attr(miri, ignore = "takes minutes in Miri")]
fn every_form_of_values_has_the_same_product() {
    let classes: [fn(usize) -> f64; 7] = [
        |_| 0.1,
        |k| (k % 255) as f64 - 127.0,
        |k| (k * 31 % 65_536) as f64 - 32_768.0,
        |k| (k % 2000) as f64 + 0.5,
        |k| (k % 200) as f64 / 3.0,
        |k| (k % 300) as f64 / 3.0,
        |k| k as f64 / 3.0,
    ];
    for (class, value) in classes.into_iter().enumerate() {
        let mut csr = mixed();
        csr.values_mut().iter_mut().enumerate().for_each(|(k, of)| *of = value(k));
        let single = csr.to_precision::<f32>().unwrap();
        for isa in Isa::available() {
            let of = |table| product(&csr, isa, table);
            assert_eq!(of(Some(1 << 16)), of(None), "class {class} in f64 with {isa:?}");
            let of = |table| product(&single, isa, table);
            assert_eq!(of(Some(1 << 16)), of(None), "class {class} in f32 with {isa:?}");
        }
    }
}

/// Returns the product with the values packed with tables of at most this size. If values are not looked at, it also
/// prefetches, which makes no difference.
fn product<T: Scalar + Lanes>(csr: &Csr<T>, isa: Isa, table: Option<usize>) -> Vec<T> {
    let prefetch = table.is_none();
    let packing = Packing { isa, table, longest: csr.nnz() };
    let window = Packer::new(packing).pack(csr, 0..csr.rows());
    let x: Vec<T> = (0..csr.cols()).map(|col| T::narrow(1.0 / (col + 3) as f64)).collect();
    let operands = Operands { alpha: T::one(), x: &x, beta: T::zero() };
    let mut y = vec![T::zero(); csr.rows()];
    Multiply { csr, window: &window, operands, y: &mut y, prefetch }.run(isa);
    y
}

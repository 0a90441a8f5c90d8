//! How rows are packed; that the products are right is the battery's.

use super::build::{Packing, pack};
use super::window::{Band, Columns, Factors, Segment, Slice, Window};
use crate::matrix::Csr;
use crate::matrix::generate::Generator;

const PACKING: Packing = Packing { lanes: 4, coded: false, longest: 1000 };

fn csr(rows: usize, cols: usize, cell: impl Fn(usize, usize) -> bool) -> Csr<f64> {
    let cells = (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col)));
    let of = |(row, col)| (row, col, 1.0 + (row * cols + col) as f64);
    let triplets: Vec<_> = cells.filter(|&(row, col)| cell(row, col)).map(of).collect();
    Csr::from_triplets(rows, cols, &triplets)
}

fn pack_all(csr: &Csr<f64>, packing: Packing) -> Window<f64> {
    pack(csr, 0..csr.rows, packing)
}

#[test]
fn a_grid_is_bands_without_columns_or_values() {
    let grid = Generator::parse("grid2d,n=16,points=5").unwrap().generate().unwrap();
    let window = pack_all(&grid, PACKING);
    let slices: usize = window.bands.iter().map(|band| band.slices).sum();
    // The first and last line lack a diagonal on which x would be left.
    assert_eq!((slices, window.slices.len()), (14 * 4 + 2 * 3, 2));
    // Of each line: its first slice, the two in the middle, its last.
    let band = |row, slices, diagonals| Band { row, slices, diagonals };
    assert_eq!(window.bands[2..4], [band(16, 1, 8..13), band(20, 2, 13..18)]);
    assert_eq!(window.bands[5], band(32, 1, 8..13));
    assert!(matches!(window.factors, Factors::Same(1.0)));
    assert!(window.bytes() < 3000, "{} bytes for {} nonzeros", window.bytes(), grid.nnz());
}

#[test]
fn rows_with_the_same_columns_share_them() {
    let blocks = csr(48, 48, |row, col| (row / 3 * 5 + col / 3 * 3) % 7 < 2);
    let window = pack_all(&blocks, PACKING);
    assert_eq!(window.segments, [Segment { height: 3, holes: false, slices: 4 }]);
    let Columns::Near { deltas, .. } = &window.columns else { panic!("48 columns are near") };
    assert_eq!(deltas.len(), blocks.nnz() / 3 + PACKING.lanes);
    let holes =
        csr(48, 48, |row, col| (row / 3 * 5 + col / 3 * 3) % 7 < 2 && (row != 7 || col != 20));
    let window = pack_all(&holes, PACKING);
    assert_eq!(window.segments, [Segment { height: 3, holes: true, slices: 4 }]);
    assert_eq!(window.masks.iter().map(|mask| mask.count_ones()).sum::<u32>(), holes.nnz() as u32);
}

#[test]
fn slices_hold_rows_by_length_and_nothing_else() {
    let lengths = [3, 1, 0, 2, 5, 5, 5, 5, 4];
    let rows = csr(9, 30, |row, col| (col * 7 + row * 11) % 30 < lengths[row]);
    let window = pack_all(&rows, PACKING);
    assert_eq!(window.block_rows, [4, 5, 6, 7, 8, 0, 3, 1, 2]);
    let slice = |full, partial, blocks| Slice { full, partial, blocks };
    assert_eq!(window.slices, [slice(5, 0, 4), slice(1, 3, 4), slice(0, 0, 1)]);
    assert_eq!(window.lanes, [3, 2, 1]);
}

#[test]
fn rows_that_differ_too_much_are_summed_one_by_one_and_the_longest_left_out() {
    let rows = csr(3, 2000, |row, col| col % 2 == 0 && [col < 50, col < 1400, true][row]);
    let window = pack_all(&rows, Packing { longest: 700, ..PACKING });
    assert_eq!((window.slices.len(), window.long_rows), (0, vec![(1, 700), (0, 25)]));
}

#[test]
fn far_columns_keep_32_bits_and_few_values_get_codes() {
    let triplets: Vec<_> = (0..40).map(|k| (k, (k * 7919) % 70_000, (k % 3) as f64)).collect();
    let rows = Csr::<f64>::from_triplets(40, 70_000, &triplets);
    let window = pack_all(&rows, Packing { coded: true, ..PACKING });
    assert!(matches!(window.columns, Columns::Far(_)));
    let Factors::Coded { table, codes } = window.factors else { panic!("3 values") };
    assert_eq!((table, codes.len()), (vec![0.0, 1.0, 2.0], 40 + PACKING.lanes));
    assert!(matches!(pack_all(&rows, PACKING).factors, Factors::Full(_)));
}

#[test]
fn codes_are_for_at_most_256_values() {
    let of = |count| csr(count, count, |row, col| row == col);
    let factors = |count| pack_all(&of(count), Packing { coded: true, ..PACKING }).factors;
    assert!(matches!(factors(256), Factors::Coded { table, .. } if table.len() == 256));
    assert!(matches!(factors(257), Factors::Full(_)));
}

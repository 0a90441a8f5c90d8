//! Tests the division of a matrix into tiles and units.

use super::convert::{Choices, Tiles};
use spmv_matrix::Csr;

const ALL: [Choices; 4] = [
    Choices { hyb: false, apart: false },
    Choices { hyb: false, apart: true },
    Choices { hyb: true, apart: false },
    Choices { hyb: true, apart: true },
];

/// Returns a matrix whose tiles have seven patterns in turn.
fn matrix(rows: usize, cols: usize) -> Csr<f64> {
    let is_entry = |r: usize, c: usize, kind| match kind {
        0 => r % 3 == 1,
        1 => c % 5 == 2,
        2 => !(r * 5 + c * 3).is_multiple_of(8),
        3 => (c + r).is_multiple_of(5),
        4 => c < r,
        5 => r < 9 && (c == r || r == 4 && c < 4),
        _ => (r * 7 + c * 3).is_multiple_of(25),
    };
    let cells = (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col)));
    let some = cells.filter(|&(row, col)| is_entry(row % 16, col % 16, (row / 16 * 7 + col / 16) % 7));
    let triplets: Vec<_> = some.map(|(row, col)| (row, col, (row * cols + col + 1) as f64)).collect();
    Csr::from_triplets(rows, cols, &triplets)
}

#[test]
fn listed_entries_are_taken_out() {
    let notes = ALL.map(|choices| Tiles::of(&matrix(16, 112), choices).describe());
    let others = "1 dense, 1 of dense rows, 1 of dense columns";
    assert_eq!(notes[0], format!("tiles: 2 CSR, 1 COO, 1 ELL, {others}; 0 entries apart"));
    assert_eq!(notes[1], format!("tiles: 2 CSR, 1 ELL, {others}; 10 entries apart"));
    assert_eq!(notes[2], format!("tiles: 1 CSR, 1 COO, 1 ELL, 1 HYB, {others}; 0 entries apart"));
    assert_eq!(notes[3], format!("tiles: 1 CSR, 2 ELL, {others}; 14 entries apart"));
}

#[test]
fn a_row_of_more_than_four_tiles_has_several_units() {
    let row = |row: usize, tiles: usize| (0..tiles).map(move |tile| (16 * row, 16 * tile, 1.0));
    let entries: Vec<_> = row(1, 4).chain(row(2, 5)).chain(row(3, 9)).collect();
    let csr = Csr::<f64>::from_triplets(64, 200, &entries);
    let (rows, tiles) = Tiles::of(&csr, ALL[0]).units();
    assert_eq!(rows, [16, 33, 33, 49, 49, 49]);
    assert_eq!(tiles, [0, 4, 8, 9, 13, 17, 18]);
    let none = Tiles::of(&csr, ALL[1]);
    assert_eq!((none.units().1, none.apart.len()), (vec![0], 18));
}

//! Decodes encoded tiles as the kernel reads them and compares them with the matrix.

use proptest::prelude::*;

use super::convert::{Choices, Tiles, Units};
use super::encode::Encoded;
use super::format::{Format, SIDE, Tile};
use spmv_matrix::Csr;

type Entry = (usize, usize, f64);

const ALL: [Choices; 4] = [
    Choices { hyb: false, apart: false },
    Choices { hyb: false, apart: true },
    Choices { hyb: true, apart: false },
    Choices { hyb: true, apart: true },
];

/// Returns the entries of a matrix whose tiles have the given kinds (eight patterns), repeated cyclically.
fn entries(rows: usize, cols: usize, kinds: &[usize]) -> Vec<Entry> {
    let is_entry = |r: usize, c: usize, kind| match kind {
        0 => r % 3 == 1,
        1 => c % 5 == 2,
        2 => !(r * 5 + c * 3).is_multiple_of(8),
        3 => (c + r).is_multiple_of(5),
        4 => c < r,
        5 => r < 9 && (c == r || r == 4 && c < 4),
        6 => (r * 7 + c * 3).is_multiple_of(25),
        _ => false,
    };
    let kind = |row: usize, col: usize| kinds[(row / 16 * 7 + col / 16) % kinds.len()];
    let cells = (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col)));
    let some = cells.filter(|&(row, col)| is_entry(row % 16, col % 16, kind(row, col)));
    some.map(|(row, col)| (row, col, (row * cols + col + 1) as f64)).collect()
}

/// Returns the two columns in each byte.
fn halves(bytes: &[u8]) -> Vec<usize> {
    bytes.iter().flat_map(|byte| [byte / 16, byte % 16]).map(usize::from).collect()
}

/// Returns the row, column and value of everything that a tile stores, including padding.
fn decode_tile(head: [u32; 4], encoded: &Encoded<f64>, height: usize, width: usize) -> Vec<Entry> {
    let [_, shape, values, indices] = head.map(|word| word as usize);
    let (values, indices) = (&encoded.values[values..], &encoded.indices[indices..]);
    let (size, listed) = (shape >> 3 & 255, shape >> 11);
    let grid = |columns: &dyn Fn(usize) -> usize, count: usize| -> Vec<Entry> {
        let place = |at: usize| (at % height, columns(at), values[at]);
        (0..count * height).map(place).collect()
    };
    match shape & 7 {
        0 => {
            let columns = halves(&indices[SIDE..SIDE + size.div_ceil(2)]);
            let row = |k: usize| (0..SIDE).rfind(|&row| usize::from(indices[row]) <= k).unwrap();
            (0..size).map(|k| (row(k), columns[k], values[k])).collect()
        }
        1..=3 => {
            let places = size * height;
            let columns = halves(&indices[..places.div_ceil(2)]);
            let list = &indices[places.div_ceil(2)..][..listed];
            let listed = list.iter().zip(&values[places..]);
            let listed = listed.map(|(&at, &value)| ((at / 16).into(), (at % 16).into(), value));
            grid(&|at| columns[at], size).into_iter().chain(listed).collect()
        }
        4 => grid(&|at| at / height, width),
        5 => {
            let place = |at: usize| (indices[at / width].into(), at % width, values[at]);
            (0..size * width).map(place).collect()
        }
        6 => grid(&|at| indices[at / height].into(), size),
        format => panic!("format {format}"),
    }
}

/// Returns the entries of all units and those apart, ordered by row and column.
fn decode(tiles: &Tiles<f64>, rows: usize, cols: usize) -> Vec<Entry> {
    let Units { rows: unit_rows, tiles: unit_tiles } = tiles.units();
    let mut entries = Vec::new();
    for (unit, row) in unit_rows.iter().enumerate() {
        let row = (row & !1) as usize;
        for &head in &tiles.encoded.tiles[unit_tiles[unit] as usize..unit_tiles[unit + 1] as usize]
        {
            let col = head[0] as usize * SIDE;
            let (height, width) = (SIDE.min(rows - row), SIDE.min(cols - col));
            let tile = decode_tile(head, &tiles.encoded, height, width).into_iter();
            let stored = tile.filter(|entry| entry.2 != 0.0);
            entries.extend(stored.map(|(r, c, value)| (row + r, col + c, value)));
        }
    }
    entries.extend(tiles.apart.iter().map(|&(r, c, value)| (r as usize, c as usize, value)));
    entries.sort_by_key(|&(row, col, _)| (row, col));
    entries
}

proptest! {
    #[test]
    fn tiles_hold_the_matrix(
        (rows, cols) in (0usize..90, 0usize..120),
        kinds in prop::collection::vec(0usize..8, 1..20),
        choice in 0usize..4,
    ) {
        let entries = entries(rows, cols, &kinds);
        let tiles = Tiles::of(&Csr::from_triplets(rows, cols, &entries), ALL[choice]);
        prop_assert_eq!(decode(&tiles, rows, cols), entries);
    }
}

#[test]
fn many_rows_of_tiles_are_in_order() {
    let entries = entries(3000, 40, &[0, 1, 2, 3, 4, 5, 6]);
    let tiles = Tiles::of(&Csr::from_triplets(3000, 40, &entries), ALL[3]);
    assert_eq!(decode(&tiles, 3000, 40), entries);
    assert!(tiles.apart.is_sorted_by_key(|&(row, ..)| row));
}

#[test]
fn listed_entries_are_taken_out() {
    let csr = Csr::<f64>::from_triplets(16, 112, &entries(16, 112, &[0, 1, 2, 3, 4, 5, 6]));
    let notes = ALL.map(|choices| Tiles::of(&csr, choices).describe());
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
    let units = Tiles::of(&csr, ALL[0]).units();
    assert_eq!(units.rows, [16, 33, 33, 49, 49, 49]);
    assert_eq!(units.tiles, [0, 4, 8, 9, 13, 17, 18]);
    let none = Tiles::of(&csr, ALL[1]);
    assert_eq!((none.units().tiles, none.apart.len()), (vec![0], 18));
}

/// Compares the bytes of two rows of three entries and one of two, in ELL, HYB of width 2, and CSR, with a calculation
/// by hand.
#[test]
fn bytes_of_a_small_tile() {
    let (places, values) =
        ([0x01, 0x02, 0x03, 0x11, 0x14, 0x20, 0x25, 0x26], [1., 2., 3., 4., 5., 6., 7., 8.]);
    let tile = Tile { height: 3, width: 16, places: &places, values: &values };
    let encoded = |format| {
        let mut encoded = Encoded::default();
        encoded.push(9, tile, format);
        encoded
    };
    let ell = encoded(Format::Ell { width: 3 });
    assert_eq!(ell.tiles, [[9, 2 | 3 << 3, 0, 0]]);
    assert_eq!(ell.values, [1., 4., 6., 2., 5., 7., 3., 0., 8.]);
    assert_eq!(ell.indices, [0x11, 0x02, 0x45, 0x30, 0x60]);
    let hyb = encoded(Format::Hyb { width: 2 });
    assert_eq!(hyb.tiles, [[9, 3 | 2 << 3 | 2 << 11, 0, 0]]);
    assert_eq!(hyb.values, [1., 4., 6., 2., 5., 7., 3., 8.]);
    assert_eq!(hyb.indices, [0x11, 0x02, 0x45, 0x03, 0x26]);
    let csr = encoded(Format::Csr);
    assert_eq!(csr.tiles, [[9, 8 << 3, 0, 0]]);
    assert_eq!(csr.indices[..4], [0, 3, 5, 8]);
    assert_eq!(csr.indices[16..], [0x12, 0x31, 0x40, 0x56]);
}

//! Small matrices, each named after the bug that it detects, and the factors and vectors of the products.

use spmv_matrix::scalar::Scalar;

pub type Triplet = (usize, usize, f64);

/// Pairs of α and β: the plain product, a negative factor without y, y unscaled, and all terms at once.
pub const FACTORS: [(f64, f64); 4] = [(1.0, 0.0), (-1.5, 0.0), (1.0, 1.0), (2.5, -0.5)];

/// 6000 × 40: far more rows than nonzeros. Nonempty rows are single, in groups, and far apart. Row 130 ends with
/// nonzero 1023, and the number of nonzeros is odd.
pub fn mostly_empty() -> Vec<Triplet> {
    let length = |row: usize| match row {
        7..12 => 1,
        50 => 25,
        100..131 => 32,
        1500 => 37,
        2999..3030 => row % 4,
        5990 => 40,
        _ if row % 131 == 5 => 2,
        _ => 0,
    };
    let entry = |row: usize, k: usize| (row, (k + row * 7) % 40, ((row + 3 * k) % 9) as f64 - 4.5);
    let triplets: Vec<_> = (0..6000).flat_map(|row| (0..length(row)).map(move |k| entry(row, k))).collect();
    assert!(triplets[1023].0 == 130 && triplets[1024].0 > 131 && triplets.len() % 2 == 1);
    triplets
}

/// 60 × 70000: rows longer than any 16-bit count and any block, with empty rows between them.
pub fn long_rows() -> Vec<Triplet> {
    let long = |row: usize| (0..70_000).map(move |k| (row, k, ((k * 7 + row) % 13) as f64 - 6.0));
    let short = (3..39).map(|row| (row, row * 31, 1.5));
    long(2).chain(long(40)).chain(short).collect()
}

pub fn matrices() -> Vec<(&'static str, usize, usize, Vec<Triplet>)> {
    let full = |rows: usize, cols: usize| entries((0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))));
    let rows_of = |rows: Vec<usize>, length: usize| {
        entries(rows.into_iter().flat_map(|r| (0..length).map(move |c| (r, (c * 3 + r) % 20))))
    };
    let one_long = (0..200).map(|col| (0, col)).chain((1..30).map(|row| (row, row)));
    let short = (0..40).filter(|&row| row != 20).map(|row| (row, row));
    let long_in_the_middle = short.chain((0..300).map(|col| (20, col)));
    // Blocks of 3 rows, each with entries in 5 blocks of 3 x 3.
    let block = |row: usize, k: usize| (row, (row / 3 * 7 + k / 3 * 4) % 20 * 3 + k % 3);
    let blocks = (0..60 * 15).map(|k| block(k / 15, k % 15));
    let holes = blocks.clone().filter(|(row, col)| (row * 5 + col) % 11 > 0);
    let band = (0..150)
        .flat_map(|row: usize| [-13, -12, -1, 0, 1, 12, 13].map(|offset| (row, row.wrapping_add_signed(offset))));
    let ragged = (0..40).flat_map(|row| (0..=row).map(move |col| (row, (col * 7) % 40)));
    let among_empty = (0..240).filter(|row| row % 3 != 1 || row % 60 > 50).collect();
    let far = (0..40).flat_map(|row| [(row, row), (row, 35_000 + row), (row, 69_999 - row)]);
    vec![
        ("0 x 0", 0, 0, vec![]),
        ("no rows", 0, 5, vec![]),
        ("no columns", 5, 0, vec![]),
        ("no nonzeros", 6, 4, vec![]),
        ("1 x 1", 1, 1, full(1, 1)),
        ("one row", 1, 50, full(1, 50)),
        ("one column", 50, 1, full(50, 1)),
        ("first rows empty", 20, 20, rows_of(vec![3, 4, 19], 5)),
        ("middle rows empty", 20, 20, rows_of(vec![0, 1, 18, 19], 6)),
        ("last rows empty", 20, 20, rows_of(vec![0, 7, 8], 9)),
        ("first row longer than all others together", 30, 200, entries(one_long)),
        ("middle row longer than all others together", 40, 300, entries(long_in_the_middle)),
        ("tall", 500, 3, full(500, 3)),
        ("wide", 3, 500, full(3, 500)),
        ("diagonal", 64, 64, entries((0..64).map(|k| (k, k)))),
        ("more threads than rows", 2, 10, full(2, 10)),
        ("more threads than nonzeros", 9, 9, entries([(1, 2), (7, 0)])),
        ("every row length up to 40", 40, 40, entries(ragged)),
        ("a band with gaps", 150, 150, entries(band.filter(|&(_, col)| col < 150))),
        ("blocks of 3 rows", 60, 60, entries(blocks)),
        ("blocks with holes", 60, 60, entries(holes)),
        ("rows of 8 among empty rows", 240, 20, rows_of(among_empty, 8)),
        ("tiles of every kind", 79, 75, tiles()),
        ("columns far apart", 40, 70_000, entries(far)),
        ("mostly empty rows", 6000, 40, mostly_empty()),
        ("explicit zeros", 3, 3, vec![(0, 0, 0.0), (1, 1, 2.0), (1, 2, 0.0)]),
    ]
}

fn entries(cells: impl IntoIterator<Item = (usize, usize)>) -> Vec<Triplet> {
    let value = |row: usize, col: usize| ((row * 7 + col * 3) % 11) as f64 - 4.5;
    cells.into_iter().map(|(row, col)| (row, col, value(row, col))).collect()
}

/// Tiles of 16 x 16, of which each kind has a different format, some of them cut by the edge: 79 rows and 75 columns
/// with full rows, full columns, dense tiles, and tiles with even, uneven and few entries.
pub fn tiles() -> Vec<Triplet> {
    const KINDS: [[usize; 5]; 5] =
        [[0, 1, 2, 3, 7], [4, 5, 6, 0, 2], [1, 4, 3, 5, 4], [6, 6, 6, 6, 6], [2, 1, 5, 3, 0]];
    let is_entry = |&(row, col): &(usize, usize)| {
        let (r, c) = (row % 16, col % 16);
        match KINDS[row / 16][col / 16] {
            0 => r % 3 == 1,
            1 => c % 5 == 2,
            2 => (r * 5 + c * 3) % 8 != 0,
            3 => (c + r) % 5 == 0,
            4 => c < r,
            5 => r < 9 && (c == r || r == 4 && c < 4),
            6 => (r * 7 + c * 3) % 25 == 0,
            _ => false,
        }
    };
    let cells = (0..79).flat_map(|row| (0..75).map(move |col| (row, col)));
    cells.filter(is_entry).map(|(row, col)| (row, col, (row * 3 + col) as f64 - 90.5)).collect()
}

/// Returns a vector without zeros or repeated values, so that a wrong column changes the result.
pub fn vector<T: Scalar>(len: usize, phase: f64) -> Vec<T> {
    (0..len).map(|k| T::narrow((k as f64 * 0.731 + phase).sin() + 0.01)).collect()
}

//! Chooses one of TileSpMV's seven formats for a tile.

pub const SIDE: usize = 16;
/// The largest number of entries of a COO tile.
pub const FEW: usize = 12;
/// The largest coefficient of variation of the row lengths for ELL.
const EVEN: f64 = 0.2;
/// The smallest coefficient of variation of the row lengths for HYB.
const UNEVEN: f64 = 1.0;
/// The largest number of entries that HYB lists.
const MOST_LISTED: usize = 4;

#[derive(Clone, Copy)]
pub struct Tile<'a, T> {
    pub height: usize,
    pub width: usize,
    /// The position of each entry: its row in the upper four bits, its column in the lower four.
    pub places: &'a [u8],
    pub values: &'a [T],
}

/// The formats of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Entries by row, with row offsets.
    Csr,
    /// Entries with both coordinates.
    Coo,
    /// `width` entries per row with padding, column by column.
    Ell { width: usize },
    /// ELL for the first `width` entries of each row, COO for the others.
    Hyb { width: usize },
    /// All cells, column by column.
    Dense,
    /// The number `count` of full rows; the other rows are empty.
    DenseRows { count: usize },
    /// The number `count` of full columns; the other columns are empty.
    DenseColumns { count: usize },
}

impl<T> Tile<'_, T> {
    pub fn row_lengths(&self) -> [usize; SIDE] {
        counts(self.places.iter().map(|place| place / 16))
    }

    pub fn column_lengths(&self) -> [usize; SIDE] {
        counts(self.places.iter().map(|place| place % 16))
    }

    /// Returns the first format whose condition holds, in the order of TileSpMV's rules. HYB is possible only if `hyb`.
    pub fn format(&self, hyb: bool) -> Format {
        let nnz = self.places.len();
        if nnz >= 3 * self.height * self.width / 4 {
            return Format::Dense;
        }
        if nnz <= FEW {
            return Format::Coo;
        }
        let (rows, columns) = (self.row_lengths(), self.column_lengths());
        if let Some(count) = full(&rows, self.width) {
            return Format::DenseRows { count };
        }
        if let Some(count) = full(&columns, self.height) {
            return Format::DenseColumns { count };
        }
        let lengths = &rows[..self.height];
        let variation = variation(lengths);
        if variation <= EVEN {
            return Format::Ell { width: longest(lengths) };
        }
        let width = hyb_width(lengths, size_of::<T>());
        let is_hyb = hyb && variation >= UNEVEN && listed(lengths, width) <= MOST_LISTED;
        if is_hyb { Format::Hyb { width } } else { Format::Csr }
    }
}

fn counts(indices: impl Iterator<Item = u8>) -> [usize; SIDE] {
    let mut counts = [0; SIDE];
    indices.for_each(|index| counts[usize::from(index)] += 1);
    counts
}

/// Returns the number of full rows or columns if all others are empty, otherwise `None`.
fn full(lengths: &[usize], length: usize) -> Option<usize> {
    let all = lengths.iter().all(|&l| l == 0 || l == length);
    all.then(|| lengths.iter().filter(|&&l| l > 0).count())
}

fn longest(lengths: &[usize]) -> usize {
    lengths.iter().copied().max().unwrap_or(0)
}

/// Returns the coefficient of variation: the standard deviation divided by the mean.
fn variation(lengths: &[usize]) -> f64 {
    let rows = lengths.len() as f64;
    let mean = lengths.iter().sum::<usize>() as f64 / rows;
    let squares = lengths.iter().map(|&length| (length as f64 - mean).powi(2));
    (squares.sum::<f64>() / rows).sqrt() / mean
}

/// Returns the number of entries at positions `width` and above in their rows.
fn listed(lengths: &[usize], width: usize) -> usize {
    lengths.iter().map(|length| length.saturating_sub(width)).sum()
}

/// Returns the width of HYB's ELL part: the longest row, reduced while that takes fewer bytes.
fn hyb_width(lengths: &[usize], value_bytes: usize) -> usize {
    let bytes = |width: usize| {
        let places = width * lengths.len();
        let listed = listed(lengths, width);
        places * value_bytes + places.div_ceil(2) + listed * (value_bytes + 1)
    };
    let mut width = longest(lengths);
    while width > 1 && bytes(width - 1) < bytes(width) {
        width -= 1;
    }
    width
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the format of a tile of `height` × `width` with entries in `cells`.
    fn format_of(height: usize, width: usize, cells: &[(usize, usize)], hyb: bool) -> Format {
        let mut places: Vec<_> = cells.iter().map(|&(row, col)| (row * 16 + col) as u8).collect();
        places.sort_unstable();
        let values = vec![0.0f64; places.len()];
        Tile { height, width, places: &places, values: &values }.format(hyb)
    }

    /// Returns the first `n` cells of a full tile, row by row.
    fn first(n: usize) -> Vec<(usize, usize)> {
        (0..n).map(|k| (k / 16, k % 16)).collect()
    }

    /// Returns the cells of rows with these lengths, each starting at column 0.
    fn rows(lengths: &[usize]) -> Vec<(usize, usize)> {
        let row = |(row, &length): (usize, &usize)| (0..length).map(move |col| (row, col));
        lengths.iter().enumerate().flat_map(row).collect()
    }

    #[test]
    fn tiles_with_three_quarters_of_the_cells_are_dense() {
        assert_eq!(format_of(16, 16, &first(192), false), Format::Dense);
        assert_ne!(format_of(16, 16, &first(191), false), Format::Dense);
        // 3/4 of 3 x 5 cells is 11.25; 3/4 of 1 x 2 and of 1 x 1 cells is at most 1 after rounding down.
        assert_eq!(format_of(3, 5, &rows(&[5, 5, 1]), false), Format::Dense);
        assert_eq!(format_of(3, 5, &rows(&[5, 5]), false), Format::Coo);
        assert_eq!(format_of(1, 2, &[(0, 1)], false), Format::Dense);
        assert_eq!(format_of(1, 1, &[(0, 0)], false), Format::Dense);
    }

    #[test]
    fn up_to_twelve_are_listed() {
        assert_eq!(format_of(16, 16, &[(3, 4)], false), Format::Coo);
        assert_eq!(format_of(16, 16, &first(12), false), Format::Coo);
        assert_eq!(format_of(16, 16, &first(13), false), Format::Csr);
    }

    #[test]
    fn full_rows_and_columns_count_only_cells_inside_the_matrix() {
        let transposed = |cells: Vec<(usize, usize)>| -> Vec<_> {
            cells.into_iter().map(|(row, col)| (col, row)).collect()
        };
        assert_eq!(format_of(16, 16, &first(32), false), Format::DenseRows { count: 2 });
        let columns = transposed(first(48));
        assert_eq!(format_of(16, 16, &columns, false), Format::DenseColumns { count: 3 });
        let apart = rows(&[0, 0, 13, 0, 0, 0, 0, 13]);
        assert_eq!(format_of(16, 13, &apart, false), Format::DenseRows { count: 2 });
        assert_eq!(format_of(13, 16, &transposed(apart), false), Format::DenseColumns { count: 2 });
        assert_eq!(format_of(16, 14, &rows(&[14, 0, 13]), false), Format::Csr);
    }

    #[test]
    fn even_rows_are_ell() {
        let mut lengths = [3; 16];
        lengths[9] = 4;
        assert_eq!(format_of(16, 16, &rows(&lengths), false), Format::Ell { width: 4 });
        // Eight rows of 4 and eight of 6: deviation 1, mean 5, variation 0.2. With 7: deviation 1.5, mean 5.5.
        let two = |a, b| [[a; 8], [b; 8]].concat();
        assert_eq!(format_of(16, 16, &rows(&two(4, 6)), false), Format::Ell { width: 6 });
        assert_eq!(format_of(16, 16, &rows(&two(4, 7)), false), Format::Csr);
        // Only rows inside the matrix count.
        assert_eq!(format_of(5, 16, &rows(&[4, 4, 4, 4, 5]), false), Format::Ell { width: 5 });
    }

    #[test]
    fn hyb_is_for_uneven_rows_with_few_entries_beyond() {
        let mut lengths = [1; 9];
        lengths[4] = 5;
        let cells = rows(&lengths);
        assert_eq!(format_of(16, 16, &cells, true), Format::Hyb { width: 1 });
        assert_eq!(format_of(16, 16, &cells, false), Format::Csr);
        // Five beyond a width of 1.
        lengths[4] = 6;
        assert_eq!(format_of(16, 16, &rows(&lengths), true), Format::Csr);
        // If no row is empty, the variation is too small.
        let mut lengths = [1; 16];
        lengths[0] = 5;
        assert!(variation(&lengths) < 1.0);
        assert_eq!(format_of(16, 16, &rows(&lengths), true), Format::Csr);
    }

    #[test]
    fn hyb_is_narrowed_while_that_takes_fewer_bytes() {
        // A listed entry takes 9 bytes, a row in the ELL part 8.5. 16 rows make the ELL part cheaper.
        assert_eq!(hyb_width(&[3; 16], 8), 3);
        let mut lengths = [3; 16];
        lengths[0] = 2;
        // 15 listed entries take 135 bytes, a column of ELL 136.
        assert_eq!(hyb_width(&lengths, 8), 2);
        assert_eq!(hyb_width(&lengths, 4), 3, "75 against 72");
        assert_eq!(hyb_width(&[0, 9], 8), 1);
    }
}

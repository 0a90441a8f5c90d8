//! Which of TileSpMV's seven formats a tile takes.

/// Rows and columns of a tile that no edge cuts.
pub const SIDE: usize = 16;
/// A tile with at most as many entries lists them.
pub const FEW: usize = 12;
/// The greatest coefficient of variation of the row lengths for ELL, and the least for HYB.
const EVEN: f64 = 0.2;
const UNEVEN: f64 = 1.0;
/// The most entries that HYB lists.
const MOST_LISTED: usize = 4;

/// A tile's entries by row, then column.
#[derive(Clone, Copy)]
pub struct Tile<'a, T> {
    /// Rows inside the matrix.
    pub height: usize,
    /// Columns inside the matrix.
    pub width: usize,
    /// Row and column of each entry, in the upper and the lower half.
    pub places: &'a [u8],
    /// Its value.
    pub values: &'a [T],
}

/// How a tile is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// By row.
    Csr,
    /// With both coordinates.
    Coo,
    /// As many entries in each row, column by column.
    Ell { width: usize },
    /// ELL, and what is more in COO.
    Hyb { width: usize },
    /// All cells, column by column.
    Dense,
    /// Some full rows.
    DenseRows { count: usize },
    /// Some full columns.
    DenseColumns { count: usize },
}

impl<T> Tile<'_, T> {
    /// The entries of each row.
    pub fn row_lengths(&self) -> [usize; SIDE] {
        counts(self.places.iter().map(|place| place / 16))
    }

    /// The entries of each column.
    pub fn column_lengths(&self) -> [usize; SIDE] {
        counts(self.places.iter().map(|place| place % 16))
    }

    /// The format by TileSpMV's rules, in their order; HYB only if `hyb`.
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

/// How many are full, if all are full or empty.
fn full(lengths: &[usize], length: usize) -> Option<usize> {
    let all = lengths.iter().all(|&l| l == 0 || l == length);
    all.then(|| lengths.iter().filter(|&&l| l > 0).count())
}

fn longest(lengths: &[usize]) -> usize {
    lengths.iter().copied().max().unwrap_or(0)
}

/// The standard deviation over the mean.
fn variation(lengths: &[usize]) -> f64 {
    let rows = lengths.len() as f64;
    let mean = lengths.iter().sum::<usize>() as f64 / rows;
    let squares = lengths.iter().map(|&length| (length as f64 - mean).powi(2));
    (squares.sum::<f64>() / rows).sqrt() / mean
}

/// The entries beyond `width` in their row.
fn listed(lengths: &[usize], width: usize) -> usize {
    lengths.iter().map(|length| length.saturating_sub(width)).sum()
}

/// The width of HYB's ELL: narrowed from the longest row for as long as that takes fewer bytes.
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

    /// The format of a tile of `height` × `width` with entries in these cells.
    fn format_of(height: usize, width: usize, cells: &[(usize, usize)], hyb: bool) -> Format {
        let mut places: Vec<_> = cells.iter().map(|&(row, col)| (row * 16 + col) as u8).collect();
        places.sort_unstable();
        let values = vec![0.0f64; places.len()];
        Tile { height, width, places: &places, values: &values }.format(hyb)
    }

    /// The first `n` cells, row by row.
    fn first(n: usize) -> Vec<(usize, usize)> {
        (0..n).map(|k| (k / 16, k % 16)).collect()
    }

    /// Rows of these lengths, each from the left.
    fn rows(lengths: &[usize]) -> Vec<(usize, usize)> {
        let row = |(row, &length): (usize, &usize)| (0..length).map(move |col| (row, col));
        lengths.iter().enumerate().flat_map(row).collect()
    }

    #[test]
    fn three_quarters_are_dense_rounded_down() {
        assert_eq!(format_of(16, 16, &first(192), false), Format::Dense);
        assert_ne!(format_of(16, 16, &first(191), false), Format::Dense);
        // 3/4 of 3 x 5 is 11.25, of 1 x 2 and of 1 x 1 no more than one.
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
    fn full_rows_and_columns_of_the_true_size() {
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
        // Eight rows of 4 and eight of 6: deviation 1, mean 5, variation 0.2; with 7, 1.5 and 5.5.
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
        // Rows of which none is empty vary too little.
        let mut lengths = [1; 16];
        lengths[0] = 5;
        assert!(variation(&lengths) < 1.0);
        assert_eq!(format_of(16, 16, &rows(&lengths), true), Format::Csr);
    }

    #[test]
    fn hyb_is_narrowed_while_that_takes_fewer_bytes() {
        // 9 bytes for an entry beyond, 8.5 per row in the width: 16 rows are wide enough.
        assert_eq!(hyb_width(&[3; 16], 8), 3);
        let mut lengths = [3; 16];
        lengths[0] = 2;
        // 15 beyond take 135, a column of ELL 136.
        assert_eq!(hyb_width(&lengths, 8), 2);
        assert_eq!(hyb_width(&lengths, 4), 3, "75 against 72");
        assert_eq!(hyb_width(&[0, 9], 8), 1);
    }
}

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

/// The formats of a tile, in the order of their numbers in the kernel. Each has a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Entries by row, with row offsets. The size is the number of entries.
    Csr,
    /// Entries with both coordinates. The size is 0.
    Coo,
    /// As many entries per row as the size, with padding, column by column.
    Ell,
    /// ELL for as many entries of each row as the size, COO for the others.
    Hyb,
    /// All cells, column by column. The size is 0.
    Dense,
    /// As many full rows as the size; the other rows are empty.
    DenseRows,
    /// As many full columns as the size; the other columns are empty.
    DenseColumns,
}

impl<T> Tile<'_, T> {
    pub fn row_lengths(&self) -> [usize; SIDE] {
        counts(self.places.iter().map(|place| place / 16))
    }

    pub fn column_lengths(&self) -> [usize; SIDE] {
        counts(self.places.iter().map(|place| place % 16))
    }

    /// Returns the first format whose condition holds, in the order of TileSpMV's rules, and its size. HYB is possible
    /// only if `hyb`.
    pub fn format(&self, hyb: bool) -> (Format, usize) {
        let nnz = self.places.len();
        if nnz >= 3 * self.height * self.width / 4 {
            return (Format::Dense, 0);
        }
        if nnz <= FEW {
            return (Format::Coo, 0);
        }
        let (rows, columns) = (self.row_lengths(), self.column_lengths());
        if let Some(count) = full(&rows, self.width) {
            return (Format::DenseRows, count);
        }
        if let Some(count) = full(&columns, self.height) {
            return (Format::DenseColumns, count);
        }
        let lengths = &rows[..self.height];
        let variation = variation(lengths);
        if variation <= EVEN {
            return (Format::Ell, longest(lengths));
        }
        let width = hyb_width(lengths, size_of::<T>());
        let is_hyb = hyb && variation >= UNEVEN && listed(lengths, width) <= MOST_LISTED;
        if is_hyb { (Format::Hyb, width) } else { (Format::Csr, nnz) }
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
    use super::Format::*;
    use super::*;

    /// Returns the format of a tile of `height` × `width` whose rows have the first `lengths` cells as entries, or
    /// whose columns have if `transposed`.
    fn format_of(height: usize, width: usize, lengths: &[usize], transposed: bool) -> [(Format, usize); 2] {
        let row = |(row, &length): (usize, &usize)| (0..length).map(move |col| (row, col));
        let cells = lengths.iter().enumerate().flat_map(row);
        let place = |(row, col)| (if transposed { col * 16 + row } else { row * 16 + col }) as u8;
        let mut places: Vec<_> = cells.map(place).collect();
        places.sort_unstable();
        let values = vec![0.0f64; places.len()];
        let tile = Tile { height, width, places: &places, values: &values };
        [false, true].map(|hyb| tile.format(hyb))
    }

    #[test]
    fn the_first_rule_that_holds_chooses_the_format() {
        let even = [3, 3, 3, 3, 3, 3, 3, 3, 3, 4, 3, 3, 3, 3, 3, 3];
        let two = |a, b| [[a; 8], [b; 8]].concat();
        let rows = [
            // Three quarters of the cells are 192; of 3 x 5 cells 11.25; of 1 x 1 cells at most 1 after rounding down.
            (16, 16, vec![16; 12], (Dense, 0)),
            (3, 5, vec![5, 5, 1], (Dense, 0)),
            (1, 1, vec![1], (Dense, 0)),
            (3, 5, vec![5, 5], (Coo, 0)),
            (16, 16, vec![12], (Coo, 0)),
            (16, 16, vec![13], (Csr, 13)),
            // Only cells inside the matrix count.
            (16, 16, vec![16; 2], (DenseRows, 2)),
            (16, 13, vec![0, 0, 13, 0, 0, 0, 0, 13], (DenseRows, 2)),
            (16, 14, vec![14, 0, 13], (Csr, 27)),
            (16, 16, even.to_vec(), (Ell, 4)),
            (5, 16, vec![4, 4, 4, 4, 5], (Ell, 5)),
            // Eight rows of 4 and eight of 6: deviation 1, mean 5, variation 0.2. With 7: deviation 1.5, mean 5.5.
            (16, 16, two(4, 6), (Ell, 6)),
            (16, 16, two(4, 7), (Csr, 88)),
        ];
        for (height, width, lengths, expected) in rows {
            assert_eq!(format_of(height, width, &lengths, false), [expected; 2], "{lengths:?}");
        }
        let columns = format_of(13, 16, &[0, 0, 13, 0, 0, 0, 0, 13], true);
        assert_eq!(columns, [(DenseColumns, 2); 2]);
        assert_eq!(format_of(16, 16, &[16; 3], true)[0], (DenseColumns, 3));
    }

    #[test]
    fn hyb_is_for_uneven_rows_with_few_entries_beyond() {
        let one_of = |length| [1, 1, 1, 1, length, 1, 1, 1, 1];
        assert_eq!(format_of(16, 16, &one_of(5), false), [(Csr, 13), (Hyb, 1)]);
        assert_eq!(format_of(16, 16, &one_of(6), false), [(Csr, 14); 2], "5 beyond a width of 1");
        let mut lengths = [1; 16];
        lengths[0] = 5;
        assert!(variation(&lengths) < 1.0, "no row is empty");
        assert_eq!(format_of(16, 16, &lengths, false), [(Csr, 20); 2]);
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

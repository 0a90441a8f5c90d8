use std::ops::Range;

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

/// The distribution of the columns. The columns of a row depend only on its index, its length and the seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Columns {
    pub rows: usize,
    pub cols: usize,
    pub spread: Spread,
    /// The number of adjacent columns in a run; runs are aligned within the window of the row.
    pub run: usize,
    /// The number of adjacent rows that have the same columns.
    pub alike: usize,
    /// The length of rows whose columns are drawn from the whole row instead of the window.
    pub hub: Option<usize>,
    pub seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spread {
    /// A uniform distribution in a window of this width around the diagonal. The window is at least as wide as
    /// the row is long and at most as wide as the matrix.
    Band(usize),
    /// A normal distribution around the diagonal with this standard deviation.
    Normal(f64),
}

impl Columns {
    /// Appends the `length` columns of row `row` in ascending order.
    pub fn append(&self, row: usize, length: usize, columns: &mut Vec<u32>) {
        let row = row - row % self.alike;
        let mut random = row_random(self.seed, row);
        let diagonal = (row as u128 * self.cols as u128 / self.rows as u128) as usize;
        match self.spread {
            Spread::Band(width) => {
                let width = if self.hub == Some(length) { self.cols } else { width.max(length) };
                let window = self.window(diagonal, width);
                let fits = window.len() / self.run * self.run >= length;
                let run = if fits { self.run } else { 1 };
                let slots = distinct(window.len() / run, length.div_ceil(run), &mut random);
                let starts = slots.into_iter().map(|slot| window.start + slot as usize * run);
                let runs = starts.flat_map(|start| start..start + run);
                columns.extend(runs.map(|column| column as u32).take(length));
            }
            Spread::Normal(deviation) => {
                append_normal(diagonal, deviation, self.cols, length, &mut random, columns);
            }
        }
    }

    fn window(&self, diagonal: usize, width: usize) -> Range<usize> {
        let width = width.min(self.cols);
        let start = diagonal.saturating_sub(width / 2).min(self.cols - width);
        start..start + width
    }
}

pub fn row_random(seed: u64, row: usize) -> Xoshiro256PlusPlus {
    // An odd factor gives neighbouring seeds different streams.
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_mul(FACTOR) ^ row as u64)
}

/// Draws `count` distinct numbers less than `below`, in ascending order. If these are more than half, the absent ones
/// are drawn.
fn distinct(below: usize, count: usize, random: &mut Xoshiro256PlusPlus) -> Vec<u32> {
    if 2 * count <= below {
        return draw_distinct(below, count, random);
    }
    let mut absent = draw_distinct(below, below - count, random).into_iter().peekable();
    (0..below as u32).filter(|n| absent.next_if_eq(n).is_none()).collect()
}

/// Draws at most half of the numbers less than `below`. Duplicates are drawn again.
fn draw_distinct(below: usize, count: usize, random: &mut Xoshiro256PlusPlus) -> Vec<u32> {
    let mut numbers = Vec::with_capacity(count);
    while numbers.len() < count {
        numbers.resize_with(count, || random.random_range(0..below as u32));
        numbers.sort_unstable();
        numbers.dedup();
    }
    numbers
}

/// Appends `length` normally distributed columns. Equal columns are moved apart by the smallest possible
/// distance, and all columns are then shifted so that their mean is preserved.
fn append_normal(
    centre: usize,
    deviation: f64,
    cols: usize,
    length: usize,
    random: &mut Xoshiro256PlusPlus,
    columns: &mut Vec<u32>,
) {
    let mut drawn: Vec<i64> =
        (0..length).map(|_| centre as i64 + (deviation * normal(random)).round() as i64).collect();
    drawn.sort_unstable();
    let before: i64 = drawn.iter().sum();
    for at in 1..length {
        drawn[at] = drawn[at].max(drawn[at - 1] + 1);
    }
    let moved = (drawn.iter().sum::<i64>() - before) / length.max(1) as i64;
    let (places, last) = (0..length as i64, cols as i64 - length as i64);
    // Columns outside the matrix are moved to its edge, in the same order.
    let inside = places.zip(drawn).map(|(at, column)| (column - moved).clamp(at, last + at));
    columns.extend(inside.map(|column| column as u32));
}

/// Draws from the standard normal distribution (Box and Muller), with the same result on every machine.
fn normal(random: &mut Xoshiro256PlusPlus) -> f64 {
    let (radius, angle): (f64, f64) = (random.random(), random.random());
    // 1 - radius is never 0.
    (-2.0 * libm::log(1.0 - radius)).sqrt() * libm::cos(std::f64::consts::TAU * angle)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(spread: Spread, run: usize, alike: usize) -> Columns {
        Columns { rows: 100, cols: 1000, spread, run, alike, hub: None, seed: 3 }
    }

    fn row(columns: &Columns, row: usize, length: usize) -> Vec<u32> {
        let mut found = vec![7];
        columns.append(row, length, &mut found);
        let found = found.split_off(1);
        assert_eq!(found.len(), length);
        assert!(found.is_sorted_by(|a, b| a < b), "{found:?}");
        assert!(found.last().is_none_or(|&last| last < 1000), "{found:?}");
        found
    }

    #[test]
    fn rows_of_any_length_stay_within_their_window() {
        for length in [0, 1, 2, 10, 499, 500, 501, 999, 1000] {
            for at in [0, 50, 99] {
                for spread in [Spread::Band(1000), Spread::Band(1), Spread::Normal(3.0)] {
                    row(&columns(spread, 1, 1), at, length);
                    row(&columns(spread, 7, 3), at, length);
                }
            }
        }
        let band = columns(Spread::Band(40), 1, 1);
        let all: Vec<u32> = (0..99).flat_map(|_| row(&band, 50, 12)).collect();
        assert!(all.iter().all(|column| (480..520).contains(column)), "{all:?}");
        assert_eq!(row(&band, 50, 40), (480..520).collect::<Vec<_>>());
        assert_eq!(row(&band, 0, 40), (0..40).collect::<Vec<_>>());
        assert_eq!(row(&band, 99, 40), (960..1000).collect::<Vec<_>>());
    }

    #[test]
    fn normal_columns_that_are_equal_are_moved_apart_about_their_mean() {
        let narrow = row(&columns(Spread::Normal(0.5), 1, 1), 50, 21);
        assert!((488..=491).contains(&narrow[0]), "{narrow:?}");
    }
}

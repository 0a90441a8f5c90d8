//! Patterns whose columns are computed from the row index: grids, diagonals, graphs and combinatorial objects.

use std::ops::RangeInclusive;

/// Appends in ascending order the points of a grid of nx × ny × nz points that are at most one step from
/// `point` in each dimension and differ from it in a number of coordinates that is in `steps`.
pub fn around(point: usize, [nx, ny, nz]: [usize; 3], steps: &RangeInclusive<usize>, row: &mut Vec<u32>) {
    let near = |at: usize, side: usize| at.saturating_sub(1)..(at + 2).min(side);
    let (x, y, z) = (point % nx, point / nx % ny, point / (nx * ny));
    for plane in near(z, nz) {
        for line in near(y, ny) {
            let differ = usize::from(plane != z) + usize::from(line != y);
            let is_joined = |at: &usize| steps.contains(&(differ + usize::from(*at != x)));
            let joined = near(x, nx).filter(is_joined);
            row.extend(joined.map(|at| ((plane * ny + line) * nx + at) as u32));
        }
    }
}

/// Appends the neighbours of a point in the Mycielski graph of `points` points in ascending order. The second
/// graph is a single edge. A graph of m points is followed by a graph with the points i, joined to their old
/// neighbours and the copies of these; the copies m + i, joined to the old neighbours of i; and the point 2m,
/// joined to all copies (J. Mycielski, Sur le coloriage des graphes, 1955).
pub fn mycielski(point: usize, points: usize, row: &mut Vec<u32>) {
    if points == 2 {
        row.push(1 - point as u32);
        return;
    }
    let before = points / 2;
    if point == 2 * before {
        row.extend(before as u32..point as u32);
        return;
    }
    let begin = row.len();
    mycielski(point % before, before, row);
    if point < before {
        let copies = row[begin..].iter().map(|&old| old + before as u32).collect::<Vec<_>>();
        row.extend(copies);
    } else {
        row.push(2 * before as u32);
    }
}

/// Appends the columns of a row of the wheel graph: point 0 is the hub and is joined to all `spokes` rim
/// points, and each rim point is joined to the next.
pub fn wheel(point: usize, spokes: usize, row: &mut Vec<u32>) {
    match point {
        0 => row.extend(1..=spokes as u32),
        _ => row.push((point % spokes + 1) as u32),
    }
}

/// Appends the columns in which the diagonals with these ascending offsets cross row `at`.
pub fn diagonals(at: usize, cols: usize, offsets: &[i64], row: &mut Vec<u32>) {
    let columns = offsets.iter().map(|offset| at as i64 + offset);
    row.extend(columns.filter(|col| (0..cols as i64).contains(col)).map(|col| col as u32));
}

/// Returns the binomial coefficient n choose k, or `usize::MAX` if it overflows.
pub fn choose(n: usize, k: usize) -> usize {
    let product = (0..k.min(n.saturating_sub(k))).try_fold(1usize, |product, i| {
        // Each partial product is a binomial coefficient, so the division is exact.
        let wide = product as u128 * (n - i) as u128 / (i + 1) as u128;
        usize::try_from(wide).ok()
    });
    if k > n { 0 } else { product.unwrap_or(usize::MAX) }
}

/// Appends in ascending order the blocks of `k` of `n` points that contain the pair with number `pair`. Blocks
/// and pairs are numbered in lexicographic order. The rows form the incidence matrix of the complete design.
pub fn design(pair: usize, n: usize, k: usize, row: &mut Vec<u32>) {
    let (mut first, mut rest) = (0, pair);
    while rest >= n - 1 - first {
        rest -= n - 1 - first;
        first += 1;
    }
    Blocks { n, pair: [first, first + 1 + rest] }.list(0, k, 0, row);
}

struct Blocks {
    n: usize,
    pair: [usize; 2],
}

impl Blocks {
    /// Appends the numbers of the blocks that contain the pair and consist of the points selected so far and of
    /// `left` points from `point` on. `number` is the number of the first block of this form.
    fn list(&self, point: usize, left: usize, number: usize, row: &mut Vec<u32>) {
        let to_come = self.pair.iter().filter(|&&of_pair| of_pair >= point).count();
        if left < to_come || self.n - point < left {
            return;
        }
        if left == 0 {
            return row.push(number as u32);
        }
        self.list(point + 1, left - 1, number, row);
        if !self.pair.contains(&point) {
            let with_point = choose(self.n - point - 1, left - 1);
            self.list(point + 1, left, number + with_point, row);
        }
    }
}

/// A chessboard of `m` × `n` squares for rooks that do not attack each other. Placements are numbered in the
/// lexicographic order of their squares, row by row.
#[derive(Clone, Copy)]
pub struct Board {
    pub m: usize,
    pub n: usize,
}

impl Board {
    /// Returns the number of placements of `rooks` rooks, or `usize::MAX` if it overflows.
    pub fn placements(self, rooks: usize) -> usize {
        let columns = (0..rooks).try_fold(1usize, |all, taken| all.checked_mul(self.n.saturating_sub(taken)));
        columns.and_then(|all| all.checked_mul(choose(self.m, rooks))).unwrap_or(usize::MAX)
    }

    /// Returns the board without the rows up to `line` and without one column: the squares that remain for the
    /// rooks that follow one in row `line`.
    fn below(self, line: usize) -> Self {
        Self { m: self.m - line - 1, n: self.n - 1 }
    }

    /// Returns the squares of a placement: for each rook, the number of rows between it and the previous rook,
    /// and the index of its column among the free columns.
    fn squares(mut self, mut number: usize, rooks: usize) -> Vec<(usize, usize)> {
        let mut squares = Vec::with_capacity(rooks);
        for left in (0..rooks).rev() {
            let mut line = 0;
            let others = loop {
                let others = self.below(line).placements(left);
                if number < self.n * others {
                    break others;
                }
                number -= self.n * others;
                line += 1;
            };
            squares.push((line, number / others));
            number %= others;
            self = self.below(line);
        }
        squares
    }

    fn number(mut self, squares: &[(usize, usize)]) -> usize {
        let mut number = 0;
        for (left, &(line, column)) in (0..squares.len()).rev().zip(squares) {
            let before = (0..line).map(|line| self.n * self.below(line).placements(left));
            number += before.sum::<usize>() + column * self.below(line).placements(left);
            self = self.below(line);
        }
        number
    }

    /// Appends in ascending order the placements that remain when one rook of `placement` is removed. The rows
    /// form the boundary matrix of the chessboard complex.
    pub fn boundary(self, placement: usize, rooks: usize, row: &mut Vec<u32>) {
        let begin = row.len();
        let squares = self.squares(placement, rooks);
        let others = (0..rooks).map(|taken| self.number(&without(&squares, taken)) as u32);
        row.extend(others);
        row[begin..].sort_unstable();
    }
}

/// Removes one rook from the squares of a placement in the form of [`Board::squares`]. The row of the next rook
/// then counts from the previous one, and one more column is free for all later rooks.
fn without(squares: &[(usize, usize)], taken: usize) -> Vec<(usize, usize)> {
    let (line, mut freed) = squares[taken];
    let mut others = squares[..taken].to_vec();
    for (place, &(below, column)) in (taken + 1..).zip(&squares[taken + 1..]) {
        let below = if place == taken + 1 { line + 1 + below } else { below };
        // The column index did not count the freed column, which lies either before or after it.
        let is_before = column < freed;
        others.push((below, if is_before { column } else { column + 1 }));
        freed -= usize::from(is_before);
    }
    others
}

/// Appends in ascending order the neighbours of a word of `bits` bits in the undirected de Bruijn graph: the
/// words that result from a shift by one bit in either direction, without the word itself.
pub fn de_bruijn(word: usize, bits: usize, row: &mut Vec<u32>) {
    let (all, half) = (1 << bits, 1 << (bits - 1));
    let mut next = vec![2 * word % all, (2 * word + 1) % all, word / 2, word / 2 + half];
    next.sort_unstable();
    next.dedup();
    row.extend(next.into_iter().filter(|&other| other != word).map(|other| other as u32));
}

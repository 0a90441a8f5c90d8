//! Matrices of combinatorics: block designs, chessboard complexes and de Bruijn graphs.

/// n choose k; the largest number where it is beyond all numbers.
pub fn choose(n: usize, k: usize) -> usize {
    let product = (0..k.min(n.saturating_sub(k))).try_fold(1usize, |product, i| {
        // Each of the partial products is a binomial coefficient, so the division leaves nothing.
        let wide = product as u128 * (n - i) as u128 / (i + 1) as u128;
        usize::try_from(wide).ok()
    });
    if k > n { 0 } else { product.unwrap_or(usize::MAX) }
}

/// The blocks, of `k` of `n` points, that contain the pair of a row, ascending, where blocks and pairs are numbered in
/// lexicographic order: the incidence matrix of all blocks as a design.
pub fn design(pair: usize, n: usize, k: usize, row: &mut Vec<u32>) {
    let mut rest = pair;
    let first = (0..n).find(|first| {
        let pairs = n - 1 - first;
        let is_here = rest < pairs;
        rest -= if is_here { 0 } else { pairs };
        is_here
    });
    let first = first.expect("a pair of the points");
    Blocks { n, pair: [first, first + 1 + rest] }.list(0, k, 0, row);
}

/// Blocks that contain a pair.
struct Blocks {
    n: usize,
    pair: [usize; 2],
}

impl Blocks {
    /// The numbers of those with `left` more of the points from `point` on, the first of which is `number`.
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

/// A board of `m` × `n` squares on which rooks stand that do not attack each other. Placements are numbered in the
/// lexicographic order of their squares, row by row.
#[derive(Clone, Copy)]
pub struct Board {
    pub m: usize,
    pub n: usize,
}

impl Board {
    /// The placements of so many rooks.
    pub fn placements(self, rooks: usize) -> usize {
        let columns =
            (0..rooks).try_fold(1usize, |all, taken| all.checked_mul(self.n.saturating_sub(taken)));
        columns.and_then(|all| all.checked_mul(choose(self.m, rooks))).unwrap_or(usize::MAX)
    }

    /// The board below a row of squares and without a column, for the rooks that follow one there.
    fn below(self, line: usize) -> Self {
        Self { m: self.m - line - 1, n: self.n - 1 }
    }

    /// The squares of a placement: for each rook its row, from that of the rook before on, and its column among those
    /// that are free.
    fn squares(mut self, mut number: usize, rooks: usize) -> Vec<(usize, usize)> {
        let mut squares = Vec::with_capacity(rooks);
        for left in (0..rooks).rev() {
            let mut line = 0;
            let others = loop {
                let others = self.below(line).placements(left);
                match number < self.n * others {
                    true => break others,
                    false => number -= self.n * others,
                }
                line += 1;
            };
            squares.push((line, number / others));
            number %= others;
            self = self.below(line);
        }
        squares
    }

    /// The number of a placement.
    fn number(mut self, squares: &[(usize, usize)]) -> usize {
        let mut number = 0;
        for (left, &(line, column)) in (0..squares.len()).rev().zip(squares) {
            let before = (0..line).map(|line| self.n * self.below(line).placements(left));
            number += before.sum::<usize>() + column * self.below(line).placements(left);
            self = self.below(line);
        }
        number
    }

    /// The placements that remain when one rook of a placement is taken away, ascending: the boundary matrix of the
    /// chessboard complex.
    pub fn boundary(self, placement: usize, rooks: usize, row: &mut Vec<u32>) {
        let begin = row.len();
        let squares = self.squares(placement, rooks);
        let others = (0..rooks).map(|taken| self.number(&without(&squares, taken)) as u32);
        row.extend(others);
        row[begin..].sort_unstable();
    }
}

/// Squares of a placement, as [`Board::squares`] has them, without one rook: the next one's row then counts from the
/// rook before, and its column and those of all later ones are among one more free column.
fn without(squares: &[(usize, usize)], taken: usize) -> Vec<(usize, usize)> {
    let (line, mut freed) = squares[taken];
    let mut others = squares[..taken].to_vec();
    for (place, &(below, column)) in (taken + 1..).zip(&squares[taken + 1..]) {
        let below = if place == taken + 1 { line + 1 + below } else { below };
        // Counted without the freed column, which is now one of those before or behind.
        let is_before = column < freed;
        others.push((below, if is_before { column } else { column + 1 }));
        freed -= usize::from(is_before);
    }
    others
}

/// The neighbours of a word of `bits` bits in the undirected de Bruijn graph, ascending: those whose bits are its own,
/// moved by one place, without itself.
pub fn de_bruijn(word: usize, bits: u32, row: &mut Vec<u32>) {
    let (all, half) = (1 << bits, 1 << (bits - 1));
    let mut next = [2 * word % all, (2 * word + 1) % all, word / 2, word / 2 + half];
    next.sort_unstable();
    let mut last = word;
    for other in next {
        if other != word && other != last {
            row.push(other as u32);
            last = other;
        }
    }
}

use std::fmt::Display;

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;
use serde::Deserialize;

use super::columns::{Columns, Spread};
use super::combinatorial::{Board, choose};
use super::lengths::{Ranks, empty_rows, even, hubs};
use crate::csr::MAX_INDEX;

/// The pattern of a matrix. If an optional `cols` is missing, the matrix is square. A `band` is the width of
/// the window around the diagonal from which columns are drawn; if it is missing, all columns are used. The parser of
/// specifications supplies all other defaults.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
pub enum Pattern {
    /// A dense matrix. If `rows` is missing, it is the number of full rows that `nnz` entries fill; `nnz` is
    /// 2^24 by default, as in merge-spmv.
    Dense { cols: usize, rows: Option<usize>, nnz: Option<usize> },
    /// A grid of n × n or `nx` × `ny` points, each joined to its 4 neighbours (as in merge-spmv), to 5 points
    /// including itself, or to 9 points including itself and the diagonal neighbours.
    Grid2d { n: Option<usize>, nx: Option<usize>, ny: Option<usize>, points: usize },
    /// A grid of n × n × n or `nx` × `ny` × `nz` points, each joined to its 6 neighbours (as in merge-spmv), to 7
    /// points including itself, to the 18 neighbours that differ in one or two coordinates, or to all 27 points
    /// around it including itself.
    Grid3d { n: Option<usize>, nx: Option<usize>, ny: Option<usize>, nz: Option<usize>, points: usize },
    /// The adjacency matrix of the n-th Mycielski graph; see [`super::combinatorial::mycielski`].
    Mycielski { n: usize },
    /// The undirected de Bruijn graph of the 2^`bits` words of `bits` bits; see
    /// [`super::combinatorial::de_bruijn`].
    DeBruijn { bits: usize },
    /// The incidence matrix of all pairs and all blocks of `k` of `n` points; see
    /// [`super::combinatorial::design`].
    Bibd { n: usize, k: usize },
    /// The boundary matrix of the placements of `rooks` rooks on an `m` × `n` board; see
    /// [`super::combinatorial::Board::boundary`].
    Chessboard { m: usize, n: usize, rooks: usize },
    /// A wheel graph: a hub joined to `spokes` rim points, each joined to the next. Edges are directed.
    Wheel { spokes: usize },
    /// An R-MAT graph (see [`super::rmat`]) of 2^`scale` points. `edges` edges are drawn, 16 per point by
    /// default; duplicates are merged.
    Rmat { scale: usize, edges: Option<usize>, seed: u64 },
    /// Full diagonals at these offsets from the main diagonal; positive offsets lie above it.
    Diagonals { rows: usize, cols: Option<usize>, offsets: Vec<i64> },
    /// Rows of equal length, whose columns form runs of `run` adjacent columns.
    Uniform { rows: usize, cols: Option<usize>, nnz: usize, band: Option<usize>, run: usize, seed: u64 },
    /// Rows of equal length, whose columns are normally distributed around the diagonal (hola-spmv-ics17,
    /// Figures 7 and 13).
    BandedNormal { n: usize, nnz: usize, variance: f64, seed: u64 },
    /// Row lengths that decrease with the rank of the row, by a power law or steadily.
    Ranked(Ranks),
    /// `hubs` long rows (3 by default) of `length` entries (all columns by default) in any columns. All other
    /// rows have `others` entries (1 by default) at the diagonal. With `band`, all entries lie in that window.
    Hubs { n: usize, hubs: usize, length: Option<usize>, others: usize, band: Option<usize>, seed: u64 },
    /// The fraction `empty` of the rows is empty, scattered or in `clusters` groups of adjacent rows. The other
    /// rows have equal lengths.
    EmptyRows { rows: usize, cols: Option<usize>, nnz: usize, empty: f64, clusters: usize, seed: u64 },
    /// Dense aligned r × c blocks, as in finite-element matrices.
    Block { n: usize, r: usize, c: usize, nnz: usize, band: Option<usize>, seed: u64 },
}

impl Pattern {
    /// Returns the numbers of rows and columns, or `usize::MAX` for a number that overflows.
    pub fn shape(&self) -> (usize, usize) {
        let square = |points: usize| (points, points);
        match *self {
            Self::Dense { cols, rows, nnz } => (rows.unwrap_or(nnz.unwrap_or(1 << 24) / cols.max(1)), cols),
            Self::Grid2d { .. } | Self::Grid3d { .. } => {
                square(self.sides().into_iter().fold(1, usize::saturating_mul))
            }
            Self::Mycielski { n } => square(mycielski_points(n).unwrap_or(usize::MAX)),
            Self::Bibd { n, k } => (choose(n, 2), choose(n, k)),
            Self::Chessboard { m, n, rooks } => {
                let board = Board { m, n };
                (board.placements(rooks), board.placements(rooks.saturating_sub(1)))
            }
            Self::Wheel { spokes } => square(spokes.saturating_add(1)),
            Self::Rmat { scale: bits, .. } | Self::DeBruijn { bits } => {
                let points = u32::try_from(bits).ok().and_then(|bits| 1usize.checked_shl(bits));
                square(points.unwrap_or(usize::MAX))
            }
            Self::Diagonals { rows, cols, .. }
            | Self::Uniform { rows, cols, .. }
            | Self::Ranked(Ranks { rows, cols, .. })
            | Self::EmptyRows { rows, cols, .. } => (rows, cols.unwrap_or(rows)),
            Self::BandedNormal { n, .. } | Self::Hubs { n, .. } | Self::Block { n, .. } => square(n),
        }
    }

    /// Returns the [`sides`](Self::sides), with `None` for a side that is missing.
    fn given_sides(&self) -> [Option<usize>; 3] {
        match *self {
            Self::Grid2d { n, nx, ny, .. } => [nx.or(n), ny.or(n), Some(1)],
            Self::Grid3d { n, nx, ny, nz, .. } => [nx.or(n), ny.or(n), nz.or(n)],
            _ => [Some(1); 3],
        }
    }

    /// Returns the sides of a grid: x, along which the next point is the next row, y, and z (1 in two
    /// dimensions).
    pub fn sides(&self) -> [usize; 3] {
        self.given_sides().map(|side| side.unwrap_or(1))
    }

    pub fn most_entries(&self) -> u128 {
        let (rows, cols) = self.shape();
        let (rows, cols) = (rows as u128, cols as u128);
        match *self {
            Self::Dense { .. } => rows * cols,
            Self::Grid2d { points, .. } | Self::Grid3d { points, .. } => points as u128 * rows,
            Self::Wheel { .. } => 2 * rows,
            Self::DeBruijn { .. } => 4 * rows,
            Self::Bibd { k, .. } => (k * k.saturating_sub(1) / 2) as u128 * cols,
            Self::Chessboard { rooks, .. } => rooks as u128 * rows,
            Self::Mycielski { n } => mycielski_entries(n),
            Self::Rmat { edges, .. } => edges.map_or(16 * rows, |edges| edges as u128),
            Self::Diagonals { ref offsets, .. } => offsets.len() as u128 * rows.min(cols),
            Self::Uniform { nnz, .. }
            | Self::BandedNormal { nnz, .. }
            | Self::EmptyRows { nnz, .. }
            | Self::Block { nnz, .. }
            | Self::Ranked(Ranks { nnz: Some(nnz), .. }) => nnz as u128,
            Self::Ranked(Ranks { longest, .. }) => rows * longest as u128,
            Self::Hubs { hubs, length, others, .. } => {
                let length = length.map_or(cols, |length| length as u128);
                hubs as u128 * length + rows * others as u128
            }
        }
    }

    pub fn check(&self) -> Result<(), String> {
        match *self {
            Self::Mycielski { n: n @ 0..2 } => {
                return Err(format!("n={n}: it must be at least 2, or the graph has no edges"));
            }
            Self::DeBruijn { bits: bits @ 0..2 } => {
                return Err(format!("bits={bits}: it must be at least 2"));
            }
            Self::Bibd { n, k } if !(2..=n).contains(&k) => {
                return Err(format!("k={k}: it must be from 2 to n={n}"));
            }
            Self::Chessboard { m, n, rooks } if !(2..=m.min(n)).contains(&rooks) => {
                let most = m.min(n);
                return Err(format!("rooks={rooks}: it must be from 2 to {most} on this board"));
            }
            _ => (),
        }
        if let Some(missing) = self.given_sides().iter().position(Option::is_none) {
            let name = ["nx", "ny", "nz"][missing];
            return Err(format!("{name}= is missing; n= sets all sides"));
        }
        let (rows, cols) = self.shape();
        let sizes = || format!("{} rows and {} columns", shown(rows), shown(cols));
        if rows == 0 || cols == 0 {
            return Err(format!("{}; a matrix needs at least one of each", sizes()));
        }
        if rows.max(cols) > MAX_INDEX {
            return Err(format!("{}; a matrix can have at most {MAX_INDEX} of each", sizes()));
        }
        match *self {
            Self::Grid2d { points, .. } if ![4, 5, 9].contains(&points) => {
                Err(format!("points={points}: it must be 4, 5 or 9"))
            }
            Self::Grid3d { points, .. } if ![6, 7, 18, 27].contains(&points) => {
                Err(format!("points={points}: it must be 6, 7, 18 or 27"))
            }
            Self::Block { n, r, c, .. } if r == 0 || c == 0 || !n.is_multiple_of(r) || !n.is_multiple_of(c) => {
                Err(format!("n={n} must be a multiple of r={r} and of c={c}"))
            }
            Self::Block { r, c, nnz, .. } if !nnz.is_multiple_of(r * c) => {
                Err(format!("nnz={nnz} must be a multiple of r x c, which is {}", r * c))
            }
            Self::Uniform { run: 0, .. } | Self::Ranked(Ranks { run: 0, .. }) => {
                Err("run=0: it must be at least 1".into())
            }
            _ => Ok(()),
        }
    }

    /// Checks that the number of entries fits into 32-bit indices, as far as it is known before the row
    /// lengths are computed.
    pub fn check_entries(&self) -> Result<(), String> {
        let known = match self {
            Self::Ranked(Ranks { nnz: None, .. }) => 0,
            _ => self.most_entries(),
        };
        if known > MAX_INDEX as u128 { Err(too_many(known)) } else { Ok(()) }
    }

    /// Returns the distribution of the columns of patterns whose rows are drawn at random; `None` for the others.
    pub fn columns(&self) -> Option<Columns> {
        let (rows, cols) = self.shape();
        let within = |band: Option<usize>, seed| {
            let spread = Spread::Band(band.unwrap_or(cols));
            Columns { rows, cols, spread, run: 1, alike: 1, hub: None, seed }
        };
        Some(match *self {
            Self::Uniform { band, run, seed, .. } | Self::Ranked(Ranks { band, run, seed, .. }) => {
                Columns { run, ..within(band, seed) }
            }
            Self::BandedNormal { variance, seed, .. } => {
                Columns { spread: Spread::Normal(variance.max(0.0).sqrt()), ..within(None, seed) }
            }
            Self::Hubs { length, band, seed, .. } => {
                // Without `band`, only the hubs have entries far from the diagonal.
                let hub = Some(length.unwrap_or(cols)).filter(|_| band.is_none());
                Columns { hub, ..within(band.or(Some(1)), seed) }
            }
            Self::EmptyRows { seed, .. } => within(None, seed),
            Self::Block { r, c, band, seed, .. } => Columns { alike: r, run: c, ..within(band, seed) },
            _ => return None,
        })
    }

    /// Computes the row lengths of patterns whose rows are drawn at random, one for each group of rows with the same
    /// columns, and returns them with the distribution of the columns; `None` for other patterns.
    pub fn drawn_rows(&self) -> Result<Option<(Vec<u32>, Columns)>, String> {
        let Some(columns) = self.columns() else { return Ok(None) };
        let (rows, cols) = self.shape();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(columns.seed);
        let lengths = match *self {
            Self::Uniform { nnz, .. } | Self::BandedNormal { nnz, .. } => even(nnz, rows),
            Self::Ranked(ref ranks) => {
                let mut by_rank = ranks.lengths()?;
                by_rank.shuffle(&mut random);
                by_rank
            }
            Self::Hubs { hubs: count, length, others, .. } => hubs(count, length.unwrap_or(cols), others, rows),
            Self::EmptyRows { nnz, empty, clusters, .. } => empty_rows(nnz, rows, empty, clusters, &mut random)?,
            Self::Block { r, c, nnz, .. } => {
                even(nnz / r / c, rows / r).into_iter().map(|blocks| blocks * c as u32).collect()
            }
            _ => unreachable!("all other patterns have no distribution of columns"),
        };
        match lengths.iter().max() {
            Some(&longest) if longest as usize > cols => {
                Err(format!("a row of {longest} entries does not fit into {cols} columns"))
            }
            _ => Ok(Some((lengths, columns))),
        }
    }
}

/// Returns the number of points of the n-th Mycielski graph, 3 · 2^(n-2) - 1; `None` if it overflows.
fn mycielski_points(n: usize) -> Option<usize> {
    (1..n.checked_sub(1)?).try_fold(2usize, |points, _| points.checked_mul(2)?.checked_add(1))
}

/// Returns the number of entries of the n-th Mycielski graph, twice its edges. If a graph has e edges and m
/// points, the next one has 3e + m edges.
fn mycielski_entries(n: usize) -> u128 {
    let next = |(edges, points): (u128, u128), _| {
        (edges.saturating_mul(3).saturating_add(points), points.saturating_mul(2) + 1)
    };
    2u128.saturating_mul((2..n.min(64)).fold((1, 2), next).0)
}

pub fn too_many(entries: impl Display) -> String {
    format!("{entries} nonzeros; a matrix can have at most {MAX_INDEX}")
}

/// Returns the text of a size, where `usize::MAX` stands for a size that overflowed.
fn shown(size: usize) -> String {
    if size == usize::MAX { "more than 10^19".into() } else { size.to_string() }
}

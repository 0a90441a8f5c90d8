//! The patterns of generated matrices: what each needs, its sizes, and which are refused.

use std::fmt::Display;

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::columns::{Columns, Spread};
use super::combinatorial::{Board, choose};
use super::lengths::{Fall, Law, Ranked};
use crate::matrix::csr::MAX_INDEX;

/// A matrix' pattern. Where `cols` is optional, the matrix is square without it; a `band` is the width
/// of the window about the diagonal that columns are drawn from, all columns without it.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
pub enum Pattern {
    /// Every entry stored: of `nnz`, by default 2^24 as in merge-spmv, as many rows as are full.
    Dense { cols: usize, rows: Option<usize>, nnz: Option<usize> },
    /// An n × n grid, or of `nx` points in each of `ny` lines, each point joined to its neighbours: 4 (merge-spmv's),
    /// 5 with the point itself, or 9 with the diagonal ones.
    Grid2d {
        n: Option<usize>,
        nx: Option<usize>,
        ny: Option<usize>,
        #[serde(default = "number::<4, _>")]
        points: usize,
    },
    /// An n × n × n grid, or of `nz` planes of nx × ny points: 6 neighbours (merge-spmv's), 7 with the point itself, 18
    /// that differ in two coordinates at most and without the point itself, or all 27.
    Grid3d {
        n: Option<usize>,
        nx: Option<usize>,
        ny: Option<usize>,
        nz: Option<usize>,
        #[serde(default = "number::<6, _>")]
        points: usize,
    },
    /// The adjacency matrix of the n-th Mycielski graph; see [`super::stencil::mycielski`].
    Mycielski {
        #[serde(deserialize_with = "at_most_32_bits")]
        n: u32,
    },
    /// The undirected de Bruijn graph of 2^`bits` words; see [`super::combinatorial::de_bruijn`].
    DeBruijn {
        #[serde(deserialize_with = "at_most_32_bits")]
        bits: u32,
    },
    /// All blocks of `k` of `n` points, and the pairs that they contain; see [`super::combinatorial::design`].
    Bibd { n: usize, k: usize },
    /// Placements of `rooks` rooks on a board; see [`super::combinatorial::Board::boundary`].
    Chessboard { m: usize, n: usize, rooks: usize },
    /// A hub joined to `spokes` rim points, each joined to the next; rows are directed edges.
    Wheel { spokes: usize },
    /// See [`super::rmat`]: 2^`scale` points, `edges` draws, by default 16 per point.
    Rmat {
        #[serde(deserialize_with = "at_most_32_bits")]
        scale: u32,
        edges: Option<usize>,
        #[serde(default = "number::<1, _>")]
        seed: u64,
    },
    /// Diagonals at these distances above the main one.
    Diagonals {
        rows: usize,
        cols: Option<usize>,
        #[serde(deserialize_with = "offsets")]
        offsets: Vec<i64>,
    },
    /// Rows of equal length; with `run`, columns in runs.
    Uniform {
        rows: usize,
        cols: Option<usize>,
        nnz: usize,
        band: Option<usize>,
        #[serde(default = "number::<1, _>")]
        run: usize,
        #[serde(default = "number::<1, _>")]
        seed: u64,
    },
    /// hola-spmv-ics17, Figures 7 and 13: rows of equal length, normally distributed about the diagonal.
    BandedNormal {
        n: usize,
        nnz: usize,
        variance: f64,
        #[serde(default = "number::<1, _>")]
        seed: u64,
    },
    /// See [`Fall::Power`].
    PowerLaw(Ranks),
    /// See [`Fall::Slope`].
    Sloped(Ranks),
    /// `hubs` rows, by default 3, of `length` entries, by default all, anywhere, the others with
    /// `others`, by default one, at the diagonal; with `band` all in that window.
    Hubs {
        n: usize,
        #[serde(default = "number::<3, _>")]
        hubs: usize,
        length: Option<usize>,
        #[serde(default = "number::<1, _>")]
        others: usize,
        band: Option<usize>,
        #[serde(default = "number::<1, _>")]
        seed: u64,
    },
    /// A share of the rows is empty: scattered, or in so many `clusters`; the others have equal lengths.
    EmptyRows {
        rows: usize,
        cols: Option<usize>,
        nnz: usize,
        empty: f64,
        #[serde(default)]
        clusters: usize,
        #[serde(default = "number::<1, _>")]
        seed: u64,
    },
    /// Dense r × c blocks, aligned, as of finite elements.
    Block {
        n: usize,
        r: usize,
        c: usize,
        nnz: usize,
        band: Option<usize>,
        #[serde(default = "number::<1, _>")]
        seed: u64,
    },
}

/// Lengths that fall with the row's rank; see [`Ranked`].
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Ranks {
    rows: usize,
    cols: Option<usize>,
    longest: usize,
    #[serde(default = "number::<1, _>")]
    shortest: usize,
    nnz: Option<usize>,
    exponent: Option<f64>,
    heavy: Option<usize>,
    band: Option<usize>,
    #[serde(default = "number::<1, _>")]
    run: usize,
    #[serde(default = "number::<1, _>")]
    seed: u64,
}

/// A law of row lengths, and where the entries are.
pub struct Rows {
    pub law: Law,
    pub columns: Columns,
}

/// A default.
fn number<const N: u8, T: From<u8>>() -> T {
    N.into()
}

/// A number that means the same as any larger one.
fn at_most_32_bits<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    Ok(u64::deserialize(deserializer)?.try_into().unwrap_or(u32::MAX))
}

/// `-1:0:1`, ascending in whatever order they come.
fn offsets<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<i64>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let wrong = |word: &str| D::Error::custom(format!("offsets: '{word}' must be a whole number"));
    let offset = |word: &str| word.parse().map_err(|_| wrong(word));
    let mut offsets = text.split(':').map(offset).collect::<Result<Vec<i64>, _>>()?;
    offsets.sort_unstable();
    offsets.dedup();
    Ok(offsets)
}

impl Pattern {
    /// Rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        match *self {
            Self::Dense { cols, rows, nnz } => {
                (rows.unwrap_or(nnz.unwrap_or(1 << 24) / cols.max(1)), cols)
            }
            Self::Grid2d { .. } | Self::Grid3d { .. } => {
                let points = self.sides().into_iter().fold(1, usize::saturating_mul);
                (points, points)
            }
            Self::Mycielski { n } => {
                let points = mycielski_points(n).unwrap_or(usize::MAX);
                (points, points)
            }
            Self::Bibd { n, k } => (choose(n, 2), choose(n, k)),
            Self::Chessboard { m, n, rooks } => {
                let board = Board { m, n };
                (board.placements(rooks), board.placements(rooks.saturating_sub(1)))
            }
            Self::Wheel { spokes } => (spokes.saturating_add(1), spokes.saturating_add(1)),
            Self::Rmat { scale, .. } | Self::DeBruijn { bits: scale } => {
                let points = 1usize.checked_shl(scale).unwrap_or(usize::MAX);
                (points, points)
            }
            Self::Diagonals { rows, cols, .. }
            | Self::Uniform { rows, cols, .. }
            | Self::PowerLaw(Ranks { rows, cols, .. })
            | Self::Sloped(Ranks { rows, cols, .. })
            | Self::EmptyRows { rows, cols, .. } => (rows, cols.unwrap_or(rows)),
            Self::BandedNormal { n, .. } | Self::Hubs { n, .. } | Self::Block { n, .. } => (n, n),
        }
    }

    /// The sides of a grid that are given, x first; none of other patterns.
    fn given_sides(&self) -> Vec<Option<usize>> {
        match *self {
            Self::Grid2d { n, nx, ny, .. } => vec![nx.or(n), ny.or(n)],
            Self::Grid3d { n, nx, ny, nz, .. } => vec![nx.or(n), ny.or(n), nz.or(n)],
            _ => Vec::new(),
        }
    }

    /// The sides of a grid: x, along which the next point is the next row, then y and z, which is 1 in two dimensions.
    pub fn sides(&self) -> [usize; 3] {
        let given = self.given_sides();
        std::array::from_fn(|side| given.get(side).copied().flatten().unwrap_or(1))
    }

    /// No more entries than these.
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
            | Self::PowerLaw(Ranks { nnz: Some(nnz), .. })
            | Self::Sloped(Ranks { nnz: Some(nnz), .. }) => nnz as u128,
            Self::PowerLaw(Ranks { longest, .. }) | Self::Sloped(Ranks { longest, .. }) => {
                rows * longest as u128
            }
            Self::Hubs { hubs, length, others, .. } => {
                let length = length.map_or(cols, |length| length as u128);
                hubs as u128 * length + rows * others as u128
            }
        }
    }

    /// Whether the sizes are within reason and limits.
    pub fn check(&self) -> Result<(), String> {
        if let Self::Mycielski { n: n @ 0..2 } = self {
            return Err(format!("n={n}: the first Mycielski graph of edges is that of n=2"));
        }
        match *self {
            Self::DeBruijn { bits: bits @ 0..2 } => {
                return Err(format!("bits={bits}: words need two bits at least"));
            }
            Self::Bibd { n, k } if !(2..=n).contains(&k) => {
                return Err(format!("k={k}: a block has from 2 to n={n} points"));
            }
            Self::Chessboard { m, n, rooks } if !(2..=m.min(n)).contains(&rooks) => {
                return Err(format!("rooks={rooks}: from 2 to {} fit on the board", m.min(n)));
            }
            _ => (),
        }
        let lengths = self.given_sides();
        if let Some((_, name)) =
            lengths.iter().zip(["nx", "ny", "nz"]).find(|(side, _)| side.is_none())
        {
            return Err(format!("{name}= is missing, or n= for all sides"));
        }
        let (rows, cols) = self.shape();
        if rows == 0 || cols == 0 {
            return Err(format!("{rows} rows and {cols} columns: a matrix needs one of each"));
        }
        if rows.max(cols) > MAX_INDEX {
            let (rows, cols) = (shown(rows), shown(cols));
            return Err(format!(
                "{rows} rows and {cols} columns; there can be {MAX_INDEX} of each at most"
            ));
        }
        match *self {
            Self::Grid2d { points, .. } if ![4, 5, 9].contains(&points) => {
                Err(format!("points={points}: it must be 4, 5 or 9"))
            }
            Self::Grid3d { points, .. } if ![6, 7, 18, 27].contains(&points) => {
                Err(format!("points={points}: it must be 6, 7, 18 or 27"))
            }
            Self::Block { n, r, c, nnz, .. } => check_blocks(n, r, c, nnz),
            _ => match self.rows() {
                Some(Rows { columns: Columns { run: 0, .. }, .. }) => {
                    Err("run=0: a run has one entry at least".into())
                }
                _ => Ok(()),
            },
        }
    }

    /// Whether there are not more entries than one matrix in memory may have, as far as it is known
    /// before the law of row lengths is followed.
    pub fn check_entries(&self) -> Result<(), String> {
        let known = match self {
            Self::PowerLaw(Ranks { nnz: None, .. }) | Self::Sloped(Ranks { nnz: None, .. }) => 0,
            _ => self.most_entries(),
        };
        if known > MAX_INDEX as u128 {
            return Err(too_many(known));
        }
        Ok(())
    }

    /// The law of row lengths, of patterns that have one.
    pub fn rows(&self) -> Option<Rows> {
        let (rows, cols) = self.shape();
        let anywhere = |seed| {
            let spread = Spread::Band(cols);
            Columns { rows, cols, spread, run: 1, alike: 1, hub: None, seed }
        };
        let (law, columns) = match *self {
            Self::Uniform { nnz, band, run, seed, .. } => {
                (Law::Even { nnz }, Columns { run, ..anywhere(seed).within(band) })
            }
            Self::BandedNormal { nnz, variance, seed, .. } => {
                let spread = Spread::Normal(variance.max(0.0).sqrt());
                (Law::Even { nnz }, Columns { spread, ..anywhere(seed) })
            }
            Self::PowerLaw(ref ranks) => ranks.rows(Fall::Power, anywhere(ranks.seed)),
            Self::Sloped(ref ranks) => ranks.rows(Fall::Slope, anywhere(ranks.seed)),
            Self::Hubs { hubs, length, others, band, seed, .. } => {
                let length = length.unwrap_or(cols);
                // Without a band as narrow as rows allow: only the hubs reach out.
                let hub = Some(length).filter(|_| band.is_none());
                let columns = Columns { hub, ..anywhere(seed).within(band.or(Some(1))) };
                (Law::Hubs { hubs, length, others }, columns)
            }
            Self::EmptyRows { nnz, empty, clusters, seed, .. } => {
                (Law::Empty { nnz, share: empty, clusters }, anywhere(seed))
            }
            Self::Block { r, c, nnz, band, seed, .. } => {
                let columns = Columns { alike: r, run: c, ..anywhere(seed).within(band) };
                (Law::Blocks { nnz: nnz / r, of: c }, columns)
            }
            _ => return None,
        };
        Some(Rows { law, columns })
    }
}

impl Ranks {
    fn rows(&self, fall: Fall, anywhere: Columns) -> (Law, Columns) {
        let Self { longest, shortest, exponent, nnz, heavy, band, run, .. } = *self;
        let law = Ranked { fall, longest, shortest, exponent, nnz, heavy };
        (Law::Ranked(law), Columns { run, ..anywhere.within(band) })
    }
}

/// The points of the n-th Mycielski graph, 3 · 2^(n-2) - 1.
fn mycielski_points(n: u32) -> Option<usize> {
    (1..n.checked_sub(1)?).try_fold(2usize, |points, _| points.checked_mul(2)?.checked_add(1))
}

/// Twice its edges: of e edges and m points the next graph has 3e + m.
fn mycielski_entries(n: u32) -> u128 {
    let next = |(edges, points): (u128, u128), _| {
        (edges.saturating_mul(3).saturating_add(points), points.saturating_mul(2) + 1)
    };
    2u128.saturating_mul((2..n.min(64)).fold((1, 2), next).0)
}

/// The refusal of so many entries.
pub fn too_many(entries: impl Display) -> String {
    format!("{entries} nonzeros; there can be {MAX_INDEX} at most")
}

/// A size, which is the largest number where it is beyond all numbers.
fn shown(size: usize) -> String {
    if size == usize::MAX { "more than 10^19".into() } else { size.to_string() }
}

fn check_blocks(n: usize, r: usize, c: usize, nnz: usize) -> Result<(), String> {
    if r == 0 || c == 0 || !n.is_multiple_of(r) || !n.is_multiple_of(c) {
        return Err(format!("n={n} must be a multiple of r={r} and of c={c}"));
    }
    match nnz.is_multiple_of(r * c) {
        true => Ok(()),
        false => Err(format!("nnz={nnz} must be a multiple of r x c, which is {}", r * c)),
    }
}

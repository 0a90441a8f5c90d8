//! The patterns of generated matrices: their parameters, sizes and validity checks.

use std::fmt::Display;

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::columns::{Columns, Spread};
use super::combinatorial::{Board, choose};
use super::error::ParameterError;
use super::lengths::{Fall, Law, Ranked};
use crate::csr::MAX_INDEX;

/// The pattern of a matrix. If an optional `cols` is missing, the matrix is square. A `band` is the width of
/// the window around the diagonal from which columns are drawn; if it is missing, all columns are used.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
pub enum Pattern {
    /// A dense matrix. If `rows` is missing, it is the number of full rows that `nnz` entries fill; `nnz` is
    /// 2^24 by default, as in merge-spmv.
    Dense { cols: usize, rows: Option<usize>, nnz: Option<usize> },
    /// A grid of n × n or `nx` × `ny` points, each joined to its 4 neighbours (as in merge-spmv), to 5 points
    /// including itself, or to 9 points including itself and the diagonal neighbours.
    Grid2d {
        n: Option<usize>,
        nx: Option<usize>,
        ny: Option<usize>,
        #[serde(default = "number::<4, _>")]
        points: usize,
    },
    /// A grid of n × n × n or `nx` × `ny` × `nz` points, each joined to its 6 neighbours (as in merge-spmv), to 7
    /// points including itself, to the 18 neighbours that differ in one or two coordinates, or to all 27 points
    /// around it including itself.
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
    /// The undirected de Bruijn graph of the 2^`bits` words of `bits` bits; see
    /// [`super::combinatorial::de_bruijn`].
    DeBruijn {
        #[serde(deserialize_with = "at_most_32_bits")]
        bits: u32,
    },
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
    Rmat {
        #[serde(deserialize_with = "at_most_32_bits")]
        scale: u32,
        edges: Option<usize>,
        #[serde(default = "number::<1, _>")]
        seed: u64,
    },
    /// Full diagonals at these offsets from the main diagonal; positive offsets lie above it.
    Diagonals {
        rows: usize,
        cols: Option<usize>,
        #[serde(deserialize_with = "offsets")]
        offsets: Vec<i64>,
    },
    /// Rows of equal length, whose columns form runs of `run` adjacent columns.
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
    /// Rows of equal length, whose columns are normally distributed around the diagonal (hola-spmv-ics17,
    /// Figures 7 and 13).
    BandedNormal {
        n: usize,
        nnz: usize,
        variance: f64,
        #[serde(default = "number::<1, _>")]
        seed: u64,
    },
    /// Row lengths that follow a power law; see [`Fall::Power`].
    PowerLaw(Ranks),
    /// Row lengths that decrease steadily; see [`Fall::Slope`].
    Sloped(Ranks),
    /// `hubs` long rows (3 by default) of `length` entries (all columns by default) in any columns. All other
    /// rows have `others` entries (1 by default) at the diagonal. With `band`, all entries lie in that window.
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
    /// The fraction `empty` of the rows is empty, scattered or in `clusters` groups of adjacent rows. The other
    /// rows have equal lengths.
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
    /// Dense aligned r × c blocks, as in finite-element matrices.
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

/// The parameters of patterns whose row lengths decrease with the row's rank; see [`Ranked`].
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

/// The distribution of row lengths and of the columns of the entries.
pub struct Rows {
    pub law: Law,
    pub columns: Columns,
}

/// Returns `N` as the default of a parameter.
fn number<const N: u8, T: From<u8>>() -> T {
    N.into()
}

/// Parses a number and replaces one that does not fit by `u32::MAX`, which is too large for any parameter.
fn at_most_32_bits<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    Ok(u64::deserialize(deserializer)?.try_into().unwrap_or(u32::MAX))
}

/// Parses a list of offsets such as `-1:0:1`, sorts it and removes duplicates.
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
    /// Returns the numbers of rows and columns, or `usize::MAX` for a number that overflows.
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

    /// Returns the sides of a grid, x first, with `None` for a side that is missing; empty for other patterns.
    fn given_sides(&self) -> Vec<Option<usize>> {
        match *self {
            Self::Grid2d { n, nx, ny, .. } => vec![nx.or(n), ny.or(n)],
            Self::Grid3d { n, nx, ny, nz, .. } => vec![nx.or(n), ny.or(n), nz.or(n)],
            _ => Vec::new(),
        }
    }

    /// Returns the sides of a grid: x, along which the next point is the next row, y, and z (1 in two
    /// dimensions).
    pub fn sides(&self) -> [usize; 3] {
        let given = self.given_sides();
        std::array::from_fn(|side| given.get(side).copied().flatten().unwrap_or(1))
    }

    /// Returns an upper bound on the number of entries.
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

    /// Checks that the parameters are valid and the dimensions within the limits.
    pub fn check(&self) -> Result<(), ParameterError> {
        if let Self::Mycielski { n: n @ 0..2 } = self {
            return Err(ParameterError(format!(
                "n={n}: it must be at least 2, or the graph has no edges"
            )));
        }
        match *self {
            Self::DeBruijn { bits: bits @ 0..2 } => {
                return Err(ParameterError(format!("bits={bits}: it must be at least 2")));
            }
            Self::Bibd { n, k } if !(2..=n).contains(&k) => {
                return Err(ParameterError(format!("k={k}: it must be from 2 to n={n}")));
            }
            Self::Chessboard { m, n, rooks } if !(2..=m.min(n)).contains(&rooks) => {
                return Err(ParameterError(format!(
                    "rooks={rooks}: it must be from 2 to {} on this board",
                    m.min(n)
                )));
            }
            _ => (),
        }
        let lengths = self.given_sides();
        if let Some((_, name)) =
            lengths.iter().zip(["nx", "ny", "nz"]).find(|(side, _)| side.is_none())
        {
            return Err(ParameterError(format!("{name}= is missing; n= sets all sides")));
        }
        let (rows, cols) = self.shape();
        if rows == 0 || cols == 0 {
            return Err(ParameterError(format!(
                "{rows} rows and {cols} columns; a matrix needs at least one of each"
            )));
        }
        if rows.max(cols) > MAX_INDEX {
            let (rows, cols) = (shown(rows), shown(cols));
            return Err(ParameterError(format!(
                "{rows} rows and {cols} columns; a matrix can have at most {MAX_INDEX} of each"
            )));
        }
        match *self {
            Self::Grid2d { points, .. } if ![4, 5, 9].contains(&points) => {
                Err(ParameterError(format!("points={points}: it must be 4, 5 or 9")))
            }
            Self::Grid3d { points, .. } if ![6, 7, 18, 27].contains(&points) => {
                Err(ParameterError(format!("points={points}: it must be 6, 7, 18 or 27")))
            }
            Self::Block { n, r, c, nnz, .. } => check_blocks(n, r, c, nnz),
            _ => match self.rows() {
                Some(Rows { columns: Columns { run: 0, .. }, .. }) => {
                    Err(ParameterError("run=0: it must be at least 1".into()))
                }
                _ => Ok(()),
            },
        }
    }

    /// Checks that the number of entries fits into 32-bit indices, as far as it is known before the row
    /// lengths are computed.
    pub fn check_entries(&self) -> Result<(), ParameterError> {
        let known = match self {
            Self::PowerLaw(Ranks { nnz: None, .. }) | Self::Sloped(Ranks { nnz: None, .. }) => 0,
            _ => self.most_entries(),
        };
        if known > MAX_INDEX as u128 {
            return Err(too_many(known));
        }
        Ok(())
    }

    /// Returns the distribution of row lengths and columns, or `None` for patterns that do not need one.
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
                // Without `band`, only the hubs have entries far from the diagonal.
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

/// Returns the number of points of the n-th Mycielski graph, 3 · 2^(n-2) - 1; `None` if it overflows.
fn mycielski_points(n: u32) -> Option<usize> {
    (1..n.checked_sub(1)?).try_fold(2usize, |points, _| points.checked_mul(2)?.checked_add(1))
}

/// Returns the number of entries of the n-th Mycielski graph, twice its edges. If a graph has e edges and m
/// points, the next one has 3e + m edges.
fn mycielski_entries(n: u32) -> u128 {
    let next = |(edges, points): (u128, u128), _| {
        (edges.saturating_mul(3).saturating_add(points), points.saturating_mul(2) + 1)
    };
    2u128.saturating_mul((2..n.min(64)).fold((1, 2), next).0)
}

/// Returns the error of a matrix with too many entries.
pub fn too_many(entries: impl Display) -> ParameterError {
    ParameterError(format!("{entries} nonzeros; a matrix can have at most {MAX_INDEX}"))
}

/// Returns the text of a size, where `usize::MAX` stands for a size that overflowed.
fn shown(size: usize) -> String {
    if size == usize::MAX { "more than 10^19".into() } else { size.to_string() }
}

fn check_blocks(n: usize, r: usize, c: usize, nnz: usize) -> Result<(), ParameterError> {
    if r == 0 || c == 0 || !n.is_multiple_of(r) || !n.is_multiple_of(c) {
        return Err(ParameterError(format!("n={n} must be a multiple of r={r} and of c={c}")));
    }
    match nnz.is_multiple_of(r * c) {
        true => Ok(()),
        false => Err(ParameterError(format!(
            "nnz={nnz} must be a multiple of r x c, which is {}",
            r * c
        ))),
    }
}

//! Matrices made on the spot, written `gen:NAME,key=value,…` wherever a file is accepted. All values
//! are 1, as merge-spmv's generators make them, or with `random=SEED` uniform in [-1, 1): a method that
//! stores equal values once is then on its own.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

use super::Csr;
use super::csr::MAX_INDEX;
use super::rmat::rmat;

/// A generator with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Generator {
    pattern: Pattern,
    /// The seed of random values.
    random: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Pattern {
    /// Every entry stored. `cols=64`, and `rows`, by default 2^24 / cols as in merge-spmv.
    Dense { rows: usize, cols: usize },
    /// An n × n grid, each point joined to its neighbours: `n=1000`, `points=4` (merge-spmv's) or
    /// `points=5` with the point itself.
    Grid2d { n: usize, own: bool },
    /// An n × n × n grid: `n=100`, `points=6` (merge-spmv's) or `points=7` with the point itself.
    Grid3d { n: usize, own: bool },
    /// An n × n × n grid, each point joined to itself and to all 26 around it: `grid3d` with
    /// `points=27`.
    Cube { n: usize },
    /// A hub joined to `spokes` rim points, each joined to the next; rows are directed edges.
    Wheel { spokes: usize },
    /// `n` points joined to themselves, `hubs` of them, by default 3, joined to all: `n=1000000`.
    Hubs { n: usize, hubs: usize },
    /// See [`rmat`]: 2^`scale` points, `edges` draws, by default 16 per point, `seed`, by default 1.
    Rmat { scale: usize, edges: usize, seed: usize },
}

/// What is accepted, for help and error messages.
pub const FORMS: &str = "gen:dense,cols=C[,rows=R]  gen:grid2d,n=N[,points=4|5]  \
    gen:grid3d,n=N[,points=6|7|27]  gen:wheel,spokes=S  \
    gen:hubs,n=N[,hubs=H]  gen:rmat,scale=S[,edges=E][,seed=K]  \
    and each [,random=SEED] for values other than 1";

/// Why a specification is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("gen:{spec}: {problem}; known are {FORMS}")]
pub struct SpecError {
    spec: String,
    problem: String,
}

impl Generator {
    /// Reads `NAME,key=value,…` (without `gen:`).
    ///
    /// # Errors
    /// Names the word that is not understood.
    pub fn parse(spec: &str) -> Result<Self, SpecError> {
        Self::parse_words(spec)
            .and_then(|generator| generator.pattern.check_size().map(|()| generator))
            .map_err(|problem| SpecError { spec: spec.into(), problem })
    }

    /// Makes the matrix.
    pub fn generate(&self) -> Csr<f64> {
        let mut csr = self.pattern.generate();
        if let Some(seed) = self.random {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed as u64);
            csr.values.fill_with(|| random.random_range(-1.0..1.0));
        }
        csr
    }

    fn parse_words(spec: &str) -> Result<Self, String> {
        let mut words = spec.split(',');
        let name = words.next().unwrap_or_default();
        let mut parameters = Parameters::parse(words)?;
        let random = parameters.take("random");
        let pattern = match name {
            "dense" => {
                let cols = parameters.need("cols")?;
                let rows = parameters.take("rows").unwrap_or((1 << 24) / cols.max(1));
                Pattern::Dense { rows, cols }
            }
            "grid2d" => {
                Pattern::Grid2d { own: parameters.own_point([4, 5])?, n: parameters.need("n")? }
            }
            "grid3d" if parameters.take_if("points", 27) => {
                Pattern::Cube { n: parameters.need("n")? }
            }
            "grid3d" => {
                Pattern::Grid3d { own: parameters.own_point([6, 7])?, n: parameters.need("n")? }
            }
            "wheel" => Pattern::Wheel { spokes: parameters.need("spokes")? },
            "hubs" => Pattern::Hubs {
                n: parameters.need("n")?,
                hubs: parameters.take("hubs").unwrap_or(3),
            },
            "rmat" => {
                let scale = parameters.need("scale")?;
                let edges = parameters.take("edges").unwrap_or(16 << scale.min(40));
                Pattern::Rmat { scale, edges, seed: parameters.take("seed").unwrap_or(1) }
            }
            _ => return Err(format!("no generator is called '{name}'")),
        };
        parameters.none_left().map(|()| Self { pattern, random })
    }
}

impl Pattern {
    /// (rows, an upper bound of the nonzeros), wide enough not to overflow.
    fn size(&self) -> (u128, u128) {
        let wide = |n: usize| n as u128;
        let cubed = |n: usize| wide(n).checked_pow(3).unwrap_or(u128::MAX / 27);
        match *self {
            Self::Dense { rows, cols } => (wide(rows).max(wide(cols)), wide(rows) * wide(cols)),
            Self::Grid2d { n, .. } => (wide(n).pow(2), 5 * wide(n).pow(2)),
            Self::Grid3d { n, .. } => (cubed(n), 7 * cubed(n)),
            Self::Cube { n } => (cubed(n), 27 * cubed(n)),
            Self::Wheel { spokes } => (wide(spokes) + 1, 2 * wide(spokes)),
            Self::Hubs { n, hubs } => (wide(n), wide(n) * (wide(hubs) + 1)),
            Self::Rmat { scale, edges, .. } => (1 << scale.min(64), wide(edges)),
        }
    }

    fn check_size(&self) -> Result<(), String> {
        let (rows, nnz) = self.size();
        let largest = MAX_INDEX as u128;
        if rows > largest || nnz > largest {
            return Err(format!("{rows} rows, {nnz} nonzeros exceed the limit of {largest}"));
        }
        Ok(())
    }

    fn generate(&self) -> Csr<f64> {
        match *self {
            Self::Dense { rows, cols } => {
                from_rows(rows, cols, |_, row: &mut Vec<u32>| row.extend(0..cols as u32))
            }
            Self::Grid2d { n, own } => from_rows(n * n, n * n, |point, row| {
                neighbours(point, &[n * n, n, 1], own, row);
            }),
            Self::Grid3d { n, own } => from_rows(n.pow(3), n.pow(3), |point, row| {
                neighbours(point, &[n.pow(3), n * n, n, 1], own, row);
            }),
            Self::Cube { n } => from_rows(n.pow(3), n.pow(3), |point, row| cube(point, n, row)),
            Self::Wheel { spokes } => from_rows(spokes + 1, spokes + 1, |point, row| match point {
                0 => row.extend(1..=spokes as u32),
                _ => row.push((point % spokes + 1) as u32),
            }),
            Self::Hubs { n, hubs } => from_rows(n, n, |point, row| {
                // The last point of each of `hubs` equal shares.
                if point * hubs / n < (point + 1) * hubs / n {
                    row.extend(0..n as u32);
                } else {
                    row.push(point as u32);
                }
            }),
            Self::Rmat { scale, edges, seed } => rmat(scale as u32, edges, seed as u64),
        }
    }
}

/// The points next to `point` along each dimension, ascending. `strides` holds, outermost dimension
/// first, the points that it spans; the next one's span is a step along it, and 1 ends the list.
fn neighbours(point: usize, strides: &[usize], own: bool, row: &mut Vec<u32>) {
    for pair in strides.windows(2) {
        if point % pair[0] >= pair[1] {
            row.push((point - pair[1]) as u32);
        }
    }
    if own {
        row.push(point as u32);
    }
    for pair in strides.windows(2).rev() {
        if point % pair[0] + pair[1] < pair[0] {
            row.push((point + pair[1]) as u32);
        }
    }
}

/// The points at most one step from `point` in each dimension, ascending.
fn cube(point: usize, n: usize, row: &mut Vec<u32>) {
    let near = |at: usize| at.saturating_sub(1)..(at + 2).min(n);
    for plane in near(point / (n * n)) {
        for line in near(point / n % n) {
            row.extend(near(point % n).map(|at| ((plane * n + line) * n + at) as u32));
        }
    }
}

fn from_rows(rows: usize, cols: usize, mut columns: impl FnMut(usize, &mut Vec<u32>)) -> Csr<f64> {
    let mut row_offsets = Vec::with_capacity(rows + 1);
    let mut column_indices = Vec::new();
    row_offsets.push(0);
    for row in 0..rows {
        columns(row, &mut column_indices);
        row_offsets.push(column_indices.len() as u32);
    }
    let values = vec![1.0; column_indices.len()];
    Csr { rows, cols, row_offsets, column_indices, values }
}

/// The `key=value` pairs that have not been used yet.
struct Parameters(Vec<(String, usize)>);

impl Parameters {
    fn parse<'a>(words: impl Iterator<Item = &'a str>) -> Result<Self, String> {
        let pair = |word: &str| {
            let (key, value) = word.split_once('=').ok_or(format!("'{word}' is not key=value"))?;
            let number = value.parse().map_err(|_| format!("'{value}' is not a whole number"))?;
            Ok((key.to_owned(), number))
        };
        words.map(pair).collect::<Result<_, _>>().map(Self)
    }

    fn take(&mut self, key: &str) -> Option<usize> {
        let at = self.0.iter().position(|(k, _)| k == key)?;
        Some(self.0.remove(at).1)
    }

    /// Takes `key` if it has this value.
    fn take_if(&mut self, key: &str, value: usize) -> bool {
        self.0.contains(&(key.to_owned(), value)) && self.take(key).is_some()
    }

    fn need(&mut self, key: &str) -> Result<usize, String> {
        self.take(key).filter(|&value| value > 0).ok_or(format!("needs {key}= of at least 1"))
    }

    /// Whether `points` names the stencil with the point itself; by default it does not.
    fn own_point(&mut self, [without, with]: [usize; 2]) -> Result<bool, String> {
        match self.take("points").unwrap_or(without) {
            points if points == without => Ok(false),
            points if points == with => Ok(true),
            points => Err(format!("points={points} is neither {without} nor {with}")),
        }
    }

    fn none_left(&self) -> Result<(), String> {
        self.0.first().map_or(Ok(()), |(key, _)| Err(format!("takes no '{key}', or not twice")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generate(spec: &str) -> Csr<f64> {
        let csr = Generator::parse(spec).unwrap().generate();
        assert!(csr.is_valid(), "{spec}");
        csr
    }

    fn row(csr: &Csr<f64>, row: usize) -> &[u32] {
        &csr.column_indices[csr.row(row)]
    }

    #[test]
    fn grids_join_each_point_to_its_neighbours() {
        let grid = generate("grid2d,n=3");
        assert_eq!((grid.rows, grid.nnz()), (9, 24));
        assert_eq!((row(&grid, 0), row(&grid, 4)), (&[1, 3][..], &[1, 3, 5, 7][..]));
        let grid = generate("grid2d,n=1000,points=5");
        assert_eq!((grid.rows, grid.nnz()), (1_000_000, 4_996_000));
        assert_eq!(row(&grid, 999), [998, 999, 1999]);
        let grid = generate("grid3d,n=3,points=7");
        assert_eq!(grid.nnz(), 27 + 2 * 3 * 18);
        assert_eq!(row(&grid, 13), [4, 10, 12, 13, 14, 16, 22]);
        assert_eq!(generate("grid3d,n=3").nnz(), 108);
        let cube = generate("grid3d,n=4,points=27");
        assert_eq!(cube.nnz(), (2 * 2 + 2 * 3usize).pow(3));
        assert_eq!(row(&cube, 3), [2, 3, 6, 7, 18, 19, 22, 23]);
        assert_eq!(row(&cube, 21), {
            let points = (0..3).flat_map(|z| (0..3).map(move |y| 16 * z + 4 * y));
            points.flat_map(|start| start..start + 3).collect::<Vec<u32>>()
        });
    }

    #[test]
    fn values_are_ones_or_random_by_a_seed() {
        let values = |spec| generate(spec).values;
        assert_eq!(values("grid2d,n=9"), vec![1.0; 288]);
        let random = values("grid2d,n=9,random=3");
        assert_eq!(random, values("grid2d,n=9,random=3"));
        assert_ne!(random, values("grid2d,n=9,random=4"));
        assert!(random.iter().all(|value| (-1.0..1.0).contains(value)));
    }

    #[test]
    fn dense_and_wheel() {
        let dense = generate("dense,cols=3,rows=2");
        assert_eq!((dense.rows, dense.cols, row(&dense, 1)), (2, 3, &[0, 1, 2][..]));
        assert_eq!(generate("dense,cols=4096").rows, 4096);
        let wheel = generate("wheel,spokes=3");
        assert_eq!((wheel.rows, wheel.nnz()), (4, 6));
        assert_eq!(
            (row(&wheel, 0), row(&wheel, 1), row(&wheel, 3)),
            (&[1, 2, 3][..], &[2][..], &[1][..])
        );
        assert_eq!(row(&generate("wheel,spokes=1"), 1), [1]);
    }

    #[test]
    fn hubs_are_as_many_as_asked_for() {
        for (hubs, nnz) in [(0, 10), (1, 19), (3, 37)] {
            assert_eq!(generate(&format!("hubs,n=10,hubs={hubs}")).nnz(), nnz);
        }
        let hubs = generate("hubs,n=1000");
        assert_eq!((hubs.nnz(), hubs.row(0).len(), hubs.row(333).len()), (3997, 1, 1000));
        assert_eq!(generate("rmat,scale=4,edges=9").rows, 16);
    }

    #[test]
    fn refusals_name_the_word() {
        for (spec, problem) in [
            ("ring", "no generator is called 'ring'"),
            ("grid2d", "needs n= of at least 1"),
            ("grid2d,n=0", "needs n= of at least 1"),
            ("grid2d,n=x", "'x' is not a whole number"),
            ("grid2d,n", "'n' is not key=value"),
            ("grid2d,n=2,points=9", "points=9 is neither 4 nor 5"),
            ("wheel,spokes=2,n=3", "takes no 'n', or not twice"),
            (
                "grid3d,n=1000",
                "1000000000 rows, 7000000000 nonzeros exceed the limit of 2147483647",
            ),
        ] {
            let message = Generator::parse(spec).unwrap_err().to_string();
            assert_eq!(message, format!("gen:{spec}: {problem}; known are {FORMS}"));
        }
        let huge = format!("grid3d,n={}", usize::MAX);
        assert!(Generator::parse(&huge).is_err());
    }
}

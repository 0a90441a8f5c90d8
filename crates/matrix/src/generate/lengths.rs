//! The distribution of the row lengths.

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;

use super::error::ParameterError;

/// A distribution of row lengths.
#[derive(Clone, Debug, PartialEq)]
pub enum Law {
    /// `nnz` entries are distributed evenly: lengths differ by at most 1.
    Even { nnz: usize },
    /// The rows are divided into `hubs` equal parts. The last row of each part has `length` entries, all other
    /// rows have `others`.
    Hubs { hubs: usize, length: usize, others: usize },
    /// `nnz` entries are distributed evenly in multiples of `of`.
    Blocks { nnz: usize, of: usize },
    /// The fraction `share` of the rows is empty, in `clusters` groups or, if that is 0, scattered. The other
    /// rows have even lengths.
    Empty { nnz: usize, share: f64, clusters: usize },
    /// Lengths that decrease with the rank of a row. The ranks are assigned to the rows at random.
    Ranked(Ranked),
}

/// Lengths that decrease with the rank of the row, from exactly `longest` for the first to `shortest`.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    pub fall: Fall,
    pub longest: usize,
    pub shortest: usize,
    /// The exponent; if absent, it is chosen to give `nnz` entries.
    pub exponent: Option<f64>,
    pub nnz: Option<usize>,
    /// The number of rows that follow the law, if not all. The other rows share the rest of `nnz` evenly.
    pub heavy: Option<usize>,
}

/// The law by which lengths decrease.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fall {
    /// Zipf's law: the r-th row has about `longest` / r^`exponent` entries.
    Power,
    /// The r-th of R rows has about `shortest` + (`longest` - `shortest`) · (1 - r/R)^`exponent` entries.
    Slope,
}

impl Law {
    /// Computes the length of each row.
    ///
    /// # Errors
    /// Returns an error if the parameters contradict each other or a row is longer than `cols`.
    pub fn lengths(&self, rows: usize, cols: usize, seed: u64) -> Result<Vec<u32>, ParameterError> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let lengths = match *self {
            Self::Even { nnz } => even(nnz, rows),
            Self::Blocks { nnz, of } => {
                even(nnz / of, rows).into_iter().map(|blocks| blocks * of as u32).collect()
            }
            Self::Hubs { hubs, length, others } => (0..rows)
                .map(|row| if part(row, rows, hubs) > 0 { length } else { others } as u32)
                .collect(),
            Self::Empty { nnz, share, clusters } => empty(nnz, rows, share, clusters, &mut random)?,
            Self::Ranked(ref ranked) => {
                let mut lengths = ranked.by_rank(rows)?;
                lengths.shuffle(&mut random);
                lengths
            }
        };
        match lengths.iter().max() {
            Some(&longest) if longest as usize > cols => Err(ParameterError(format!(
                "a row of {longest} entries does not fit into {cols} columns"
            ))),
            _ => Ok(lengths),
        }
    }
}

/// Returns the size of part `at` when `whole` is divided into `parts` parts as evenly as possible.
fn part(at: usize, parts: usize, whole: usize) -> usize {
    let until =
        |parts_before: usize| (parts_before as u128 * whole as u128 / parts as u128) as usize;
    until(at + 1) - until(at)
}

fn even(nnz: usize, rows: usize) -> Vec<u32> {
    (0..rows).map(|row| part(row, rows, nnz) as u32).collect()
}

fn empty(
    nnz: usize,
    rows: usize,
    share: f64,
    clusters: usize,
    random: &mut Xoshiro256PlusPlus,
) -> Result<Vec<u32>, ParameterError> {
    let empty = (share * rows as f64).round() as usize;
    if !(0.0..=1.0).contains(&share) || (empty == rows && nnz > 0) {
        return Err(ParameterError(format!(
            "empty={share}: it must be from 0 to 1 and leave rows for {nnz} entries"
        )));
    }
    if clusters > rows {
        return Err(ParameterError(format!("clusters={clusters} exceeds {rows} rows")));
    }
    let filled = even(nnz, (rows - empty).max(1));
    let mut filled = filled.into_iter().take(rows - empty);
    if clusters == 0 {
        let mut lengths: Vec<u32> = filled.collect();
        lengths.resize(rows, 0);
        lengths.shuffle(random);
        return Ok(lengths);
    }
    let mut lengths = Vec::with_capacity(rows);
    for cluster in 0..clusters {
        let empty = part(cluster, clusters, empty);
        lengths.resize(lengths.len() + empty, 0);
        let full = part(cluster, clusters, rows).saturating_sub(empty);
        lengths.extend(filled.by_ref().take(full));
    }
    lengths.extend(filled);
    Ok(lengths)
}

impl Ranked {
    /// Returns the lengths in the order of the ranks, the longest first.
    fn by_rank(&self, rows: usize) -> Result<Vec<u32>, ParameterError> {
        let Self { longest, shortest, .. } = *self;
        let heavy = self.heavy.unwrap_or(rows).min(rows);
        if shortest > longest {
            return Err(ParameterError(format!("shortest={shortest} exceeds longest={longest}")));
        }
        let exponent = match (self.exponent, self.nnz) {
            (Some(exponent), _) if exponent > 0.0 => exponent,
            (Some(exponent), _) => {
                return Err(ParameterError(format!("exponent={exponent} is not positive")));
            }
            (None, Some(nnz)) => self.exponent_for(nnz, heavy)?,
            (None, None) => return Err(ParameterError("nnz= or exponent= is missing".into())),
        };
        let mut lengths = self.follow(exponent, heavy);
        lengths.resize(rows, 0);
        if let Some(nnz) = self.nnz {
            self.share_rest(nnz, heavy, &mut lengths)?;
        }
        Ok(lengths)
    }

    /// Increases the lengths to `nnz` entries in total. The missing entries are added to the rows outside the
    /// law. If there are none, they are the rest that no exponent can produce and go to the shortest rows.
    fn share_rest(
        &self,
        nnz: usize,
        heavy: usize,
        lengths: &mut [u32],
    ) -> Result<(), ParameterError> {
        let rows = lengths.len();
        let law: usize = lengths.iter().map(|&length| length as usize).sum();
        let mut rest = nnz as i64 - law as i64;
        let sharing = &mut lengths[if heavy < rows { heavy } else { 0 }..];
        for at in (0..sharing.len()).rev() {
            let share = (rest.max(0) as usize).div_ceil(at + 1);
            let share = share.min(self.longest - sharing[at] as usize);
            sharing[at] += share as u32;
            rest -= share as i64;
        }
        match rest {
            0 => Ok(()),
            _ => Err(ParameterError(format!(
                "nnz={nnz} cannot be reached by {rows} rows with these lengths"
            ))),
        }
    }

    /// Returns how many of the `heavy` rows have at least `length` entries.
    fn at_least(&self, length: usize, exponent: f64, heavy: usize) -> usize {
        let Self { longest, shortest, .. } = *self;
        // The function of libm returns the same result on every machine.
        let root = |of: f64| libm::pow(of, 1.0 / exponent);
        let rank = match self.fall {
            Fall::Power => root(longest as f64 / length as f64),
            Fall::Slope => {
                let height = (length - shortest) as f64 / (longest - shortest) as f64;
                heavy as f64 * (1.0 - root(height))
            }
        };
        // The conversion saturates for large values.
        (rank as usize).clamp(1, heavy)
    }

    fn follow(&self, exponent: f64, heavy: usize) -> Vec<u32> {
        let mut lengths = Vec::with_capacity(heavy);
        for length in (self.shortest + 1..=self.longest).rev() {
            let ranks = self.at_least(length, exponent, heavy);
            lengths.resize(ranks, length as u32);
        }
        lengths.resize(heavy, self.shortest as u32);
        lengths
    }

    fn total(&self, exponent: f64, heavy: usize) -> usize {
        let longer = (self.shortest + 1..=self.longest)
            .map(|length| self.at_least(length, exponent, heavy))
            .sum::<usize>();
        heavy * self.shortest + longer
    }

    /// Finds by bisection the smallest exponent that gives at most `nnz` entries.
    fn exponent_for(&self, nnz: usize, heavy: usize) -> Result<f64, ParameterError> {
        const HALVINGS: usize = 50;
        let (mut low, mut high): (f64, f64) = (1.0 / 1024.0, 65536.0);
        if nnz > heavy * self.longest || self.total(high, heavy) > nnz {
            let Self { longest, shortest, .. } = self;
            return Err(ParameterError(format!(
                "nnz={nnz} is impossible for {heavy} rows of {shortest} to {longest} entries"
            )));
        }
        for _ in 0..HALVINGS {
            let middle = (low * high).sqrt();
            let over = self.total(middle, heavy) > nnz;
            *(if over { &mut low } else { &mut high }) = middle;
        }
        Ok(high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(law: Law, rows: usize) -> Vec<u32> {
        law.lengths(rows, 1 << 20, 1).unwrap()
    }

    fn power(longest: usize, shortest: usize) -> Ranked {
        let fall = Fall::Power;
        Ranked { fall, longest, shortest, exponent: None, nnz: None, heavy: None }
    }

    #[test]
    fn even_lengths_and_hubs() {
        assert_eq!(lengths(Law::Even { nnz: 8 }, 3), [2, 3, 3]);
        assert_eq!(lengths(Law::Even { nnz: 0 }, 2), [0, 0]);
        let hubs = Law::Hubs { hubs: 2, length: 9, others: 1 };
        assert_eq!(lengths(hubs, 5), [1, 1, 9, 1, 9]);
    }

    #[test]
    fn the_number_of_empty_rows_is_exact_scattered_or_clustered() {
        let of = |clusters| lengths(Law::Empty { nnz: 1000, share: 0.6, clusters }, 100);
        for clusters in [0, 1, 3, 100] {
            let lengths = of(clusters);
            assert_eq!((lengths.len(), lengths.iter().sum::<u32>()), (100, 1000), "{clusters}");
            assert_eq!(lengths.iter().filter(|&&length| length == 0).count(), 60, "{clusters}");
        }
        let runs = |clusters| of(clusters).chunk_by(|a, b| (*a == 0) == (*b == 0)).count();
        assert_eq!((runs(1), runs(3)), (2, 6));
        assert!(runs(0) > 20);
        let law = |share, clusters| Law::Empty { nnz: 3, share, clusters }.lengths(4, 9, 1);
        assert_eq!(
            law(1.0, 0),
            Err(ParameterError(
                "empty=1: it must be from 0 to 1 and leave rows for 3 entries".into()
            ))
        );
        assert_eq!(
            law(-0.1, 0),
            Err(ParameterError(
                "empty=-0.1: it must be from 0 to 1 and leave rows for 3 entries".into()
            ))
        );
        assert_eq!(law(0.5, 9), Err(ParameterError("clusters=9 exceeds 4 rows".into())));
    }

    #[test]
    fn power_law_by_exponent() {
        let law = Ranked { exponent: Some(1.0), ..power(12, 2) };
        assert_eq!(law.by_rank(7).unwrap(), [12, 6, 4, 3, 2, 2, 2]);
        let mixed = lengths(Law::Ranked(law), 7);
        assert_ne!(mixed, [12, 6, 4, 3, 2, 2, 2]);
        assert_eq!(mixed.iter().sum::<u32>(), 31);
    }

    #[test]
    fn power_law_by_entries_gives_exactly_nnz_and_the_longest_row() {
        for (rows, nnz, longest, shortest) in [
            (1000, 2100, 10, 1),
            (1000, 9_990, 10, 1),
            (1000, 10_000, 10, 1),
            (1000, 1000, 10, 0),
            (50_000, 155_000, 4700, 1),
            (3, 12, 4, 4),
            (1, 7, 7, 0),
            (8, 0, 0, 0),
        ] {
            for fall in [Fall::Power, Fall::Slope] {
                let law = Ranked { fall, nnz: Some(nnz), ..power(longest, shortest) };
                let lengths = law.by_rank(rows).unwrap();
                assert_eq!(lengths.iter().map(|&l| l as usize).sum::<usize>(), nnz, "{law:?}");
                assert_eq!(*lengths.iter().max().unwrap() as usize, longest, "{law:?}");
                assert!(*lengths.iter().min().unwrap() as usize >= shortest, "{law:?}");
            }
        }
    }

    #[test]
    fn a_slope_is_linear_or_convex() {
        let slope =
            |exponent| Ranked { fall: Fall::Slope, exponent: Some(exponent), ..power(8, 4) };
        assert_eq!(slope(1.0).by_rank(8).unwrap(), [8, 7, 6, 6, 5, 5, 4, 4]);
        assert_eq!(slope(3.0).by_rank(8).unwrap(), [8, 5, 4, 4, 4, 4, 4, 4]);
    }

    #[test]
    fn rows_outside_the_law_share_the_rest() {
        let law = Ranked { exponent: Some(1.0), nnz: Some(50), heavy: Some(3), ..power(12, 1) };
        assert_eq!(law.by_rank(10).unwrap(), [12, 6, 4, 4, 4, 4, 4, 4, 4, 4]);
    }

    #[test]
    fn impossible_parameters_are_refused() {
        let error = |law: Ranked, rows| law.by_rank(rows).unwrap_err().0;
        assert_eq!(error(power(4, 1), 9), "nnz= or exponent= is missing");
        assert_eq!(error(power(4, 5), 9), "shortest=5 exceeds longest=4");
        let too_many = "nnz=41 is impossible for 10 rows of 1 to 4 entries";
        assert_eq!(error(Ranked { nnz: Some(41), ..power(4, 1) }, 10), too_many);
        let too_few = "nnz=12 is impossible for 10 rows of 1 to 4 entries";
        assert_eq!(error(Ranked { nnz: Some(12), ..power(4, 1) }, 10), too_few);
        let negative = Ranked { exponent: Some(-1.0), ..power(4, 1) };
        assert_eq!(error(negative, 9), "exponent=-1 is not positive");
        let law = Ranked { exponent: Some(1.0), nnz: Some(99), heavy: Some(3), ..power(12, 1) };
        assert_eq!(error(law, 9), "nnz=99 cannot be reached by 9 rows with these lengths");
        let wide = Law::Even { nnz: 10 }.lengths(2, 4, 1);
        assert_eq!(
            wide,
            Err(ParameterError("a row of 5 entries does not fit into 4 columns".into()))
        );
    }
}

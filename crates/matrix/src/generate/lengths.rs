use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;
use serde::Deserialize;

/// A pattern whose row lengths decrease with the rank of the row, from exactly `longest` for the first to `shortest`.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Ranks {
    /// It is given as the name of the generator.
    pub fall: Fall,
    pub rows: usize,
    pub cols: Option<usize>,
    pub longest: usize,
    pub shortest: usize,
    pub nnz: Option<usize>,
    /// The exponent; if absent, it is chosen to give `nnz` entries.
    pub exponent: Option<f64>,
    /// The number of rows that follow the law, if not all. The other rows share the rest of `nnz` evenly.
    pub heavy: Option<usize>,
    pub band: Option<usize>,
    pub run: usize,
    pub seed: u64,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Fall {
    /// Zipf's law: the r-th row has about `longest` / r^`exponent` entries.
    PowerLaw,
    /// The r-th of R rows has about `shortest` + (`longest` - `shortest`) · (1 - r/R)^`exponent` entries.
    Sloped,
}

/// Returns the size of part `at` when `whole` is divided into `parts` parts as evenly as possible.
fn part(at: usize, parts: usize, whole: usize) -> usize {
    let until = |end: usize| (end as u128 * whole as u128 / parts as u128) as usize;
    until(at + 1) - until(at)
}

/// Distributes `nnz` entries evenly: lengths differ by at most 1.
pub fn even(nnz: usize, rows: usize) -> Vec<u32> {
    (0..rows).map(|row| part(row, rows, nnz) as u32).collect()
}

/// Divides the rows into `hubs` equal parts. The last row of each part has `length` entries, all other rows have
/// `others`.
pub fn hubs(hubs: usize, length: usize, others: usize, rows: usize) -> Vec<u32> {
    let of_row = |row| if part(row, rows, hubs) > 0 { length } else { others } as u32;
    (0..rows).map(of_row).collect()
}

/// The fraction `share` of the rows is empty, in `clusters` groups or, if that is 0, scattered. The other rows have
/// even lengths.
pub fn empty_rows(
    nnz: usize,
    rows: usize,
    share: f64,
    clusters: usize,
    random: &mut Xoshiro256PlusPlus,
) -> Result<Vec<u32>, String> {
    let empty = (share * rows as f64).round() as usize;
    if !(0.0..=1.0).contains(&share) || (empty == rows && nnz > 0) {
        let rule = "it must be from 0 to 1 and leave rows";
        return Err(format!("empty={share}: {rule} for {nnz} entries"));
    }
    if clusters > rows {
        return Err(format!("clusters={clusters} exceeds {rows} rows"));
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

impl Ranks {
    /// Returns the lengths in the order of the ranks, the longest first.
    pub fn lengths(&self) -> Result<Vec<u32>, String> {
        let Self { rows, longest, shortest, .. } = *self;
        if shortest > longest {
            return Err(format!("shortest={shortest} exceeds longest={longest}"));
        }
        let exponent = match (self.exponent, self.nnz) {
            (Some(exponent), _) if exponent > 0.0 => exponent,
            (Some(exponent), _) => return Err(format!("exponent={exponent} is not positive")),
            (None, Some(nnz)) => self.exponent_for(nnz)?,
            (None, None) => return Err("nnz= or exponent= is missing".into()),
        };
        let mut lengths = Vec::with_capacity(rows);
        for length in (shortest + 1..=longest).rev() {
            lengths.resize(self.at_least(length, exponent), length as u32);
        }
        lengths.resize(self.heavy_rows(), shortest as u32);
        lengths.resize(rows, 0);
        if let Some(nnz) = self.nnz {
            self.share_rest(nnz, &mut lengths)?;
        }
        Ok(lengths)
    }

    /// Returns the number of rows that follow the law.
    fn heavy_rows(&self) -> usize {
        self.heavy.unwrap_or(self.rows).min(self.rows)
    }

    /// Increases the lengths to `nnz` entries in total. The missing entries are added to the rows outside the
    /// law. If there are none, they are the rest that no exponent can produce and go to the shortest rows.
    fn share_rest(&self, nnz: usize, lengths: &mut [u32]) -> Result<(), String> {
        let (rows, heavy) = (self.rows, self.heavy_rows());
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
            _ => Err(format!("nnz={nnz} cannot be reached by {rows} rows with these lengths")),
        }
    }

    /// Returns how many of the rows that follow the law have at least `length` entries.
    fn at_least(&self, length: usize, exponent: f64) -> usize {
        let Self { longest, shortest, .. } = *self;
        let heavy = self.heavy_rows();
        // The function of libm returns the same result on every machine.
        let root = |of: f64| libm::pow(of, 1.0 / exponent);
        let rank = match self.fall {
            Fall::PowerLaw => root(longest as f64 / length as f64),
            Fall::Sloped => {
                let height = (length - shortest) as f64 / (longest - shortest) as f64;
                heavy as f64 * (1.0 - root(height))
            }
        };
        // The conversion saturates for large values.
        (rank as usize).clamp(1, heavy)
    }

    fn total(&self, exponent: f64) -> usize {
        let longer = (self.shortest + 1..=self.longest).map(|at| self.at_least(at, exponent));
        self.heavy_rows() * self.shortest + longer.sum::<usize>()
    }

    /// Finds by bisection the smallest exponent that gives at most `nnz` entries.
    fn exponent_for(&self, nnz: usize) -> Result<f64, String> {
        const HALVINGS: usize = 50;
        let (mut low, mut high): (f64, f64) = (1.0 / 1024.0, 65536.0);
        let (Self { longest, shortest, .. }, heavy) = (self, self.heavy_rows());
        if nnz > heavy * longest || self.total(high) > nnz {
            let rows = format!("{heavy} rows of {shortest} to {longest} entries");
            return Err(format!("nnz={nnz} is impossible for {rows}"));
        }
        for _ in 0..HALVINGS {
            let middle = (low * high).sqrt();
            let over = self.total(middle) > nnz;
            *(if over { &mut low } else { &mut high }) = middle;
        }
        Ok(high)
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    fn ranks(rows: usize, longest: usize, shortest: usize) -> Ranks {
        let (fall, cols, nnz, exponent, heavy, band) = (Fall::PowerLaw, None, None, None, None, None);
        Ranks { fall, rows, cols, longest, shortest, nnz, exponent, heavy, band, run: 1, seed: 1 }
    }

    #[test]
    fn even_lengths_and_hubs() {
        assert_eq!(even(8, 3), [2, 3, 3]);
        assert_eq!(even(0, 2), [0, 0]);
        assert_eq!(hubs(2, 9, 1, 5), [1, 1, 9, 1, 9]);
    }

    #[test]
    fn the_number_of_empty_rows_is_exact_scattered_or_clustered() {
        let of = |nnz, rows, share, clusters| {
            empty_rows(nnz, rows, share, clusters, &mut Xoshiro256PlusPlus::seed_from_u64(1))
        };
        for (clusters, runs) in [(0, 21..101), (1, 2..3), (3, 6..7), (100, 21..101)] {
            let lengths = of(1000, 100, 0.6, clusters).unwrap();
            assert_eq!((lengths.len(), lengths.iter().sum::<u32>()), (100, 1000), "{clusters}");
            assert_eq!(lengths.iter().filter(|&&length| length == 0).count(), 60, "{clusters}");
            let found = lengths.chunk_by(|a, b| (*a == 0) == (*b == 0)).count();
            assert!(runs.contains(&found), "{clusters}: {found}");
        }
        for (share, clusters, expected) in [
            (1.0, 0, "empty=1: it must be from 0 to 1 and leave rows for 3 entries"),
            (-0.1, 0, "empty=-0.1: it must be from 0 to 1 and leave rows for 3 entries"),
            (0.5, 9, "clusters=9 exceeds 4 rows"),
        ] {
            assert_eq!(of(3, 4, share, clusters), Err(expected.into()));
        }
    }

    #[test]
    fn lengths_follow_a_law_by_exponent() {
        let of = |ranks, exponent, fall| Ranks { fall, exponent: Some(exponent), ..ranks }.lengths().unwrap();
        assert_eq!(of(ranks(7, 12, 2), 1.0, Fall::PowerLaw), [12, 6, 4, 3, 2, 2, 2]);
        assert_eq!(of(ranks(8, 8, 4), 1.0, Fall::Sloped), [8, 7, 6, 6, 5, 5, 4, 4]);
        assert_eq!(of(ranks(8, 8, 4), 3.0, Fall::Sloped), [8, 5, 4, 4, 4, 4, 4, 4]);
        // The rest is shared.
        let few = Ranks { nnz: Some(50), heavy: Some(3), ..ranks(10, 12, 1) };
        assert_eq!(of(few, 1.0, Fall::PowerLaw), [12, 6, 4, 4, 4, 4, 4, 4, 4, 4]);
    }

    #[test]
    fn lengths_by_entries_give_exactly_nnz_and_the_longest_row() {
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
            for fall in [Fall::PowerLaw, Fall::Sloped] {
                let ranks = Ranks { fall, nnz: Some(nnz), ..ranks(rows, longest, shortest) };
                let lengths = ranks.lengths().unwrap();
                assert_eq!(lengths.iter().map(|&l| l as usize).sum::<usize>(), nnz, "{ranks:?}");
                assert_eq!(*lengths.iter().max().unwrap() as usize, longest, "{ranks:?}");
                assert!(*lengths.iter().min().unwrap() as usize >= shortest, "{ranks:?}");
            }
        }
    }

    #[test]
    fn impossible_parameters_are_refused() {
        let few = Ranks { exponent: Some(1.0), nnz: Some(99), heavy: Some(3), ..ranks(9, 12, 1) };
        for (ranks, expected) in [
            (ranks(9, 4, 1), "nnz= or exponent= is missing"),
            (ranks(9, 4, 5), "shortest=5 exceeds longest=4"),
            (Ranks { nnz: Some(41), ..ranks(10, 4, 1) }, "nnz=41 is impossible for 10 rows of 1 to 4 entries"),
            (Ranks { nnz: Some(12), ..ranks(10, 4, 1) }, "nnz=12 is impossible for 10 rows of 1 to 4 entries"),
            (Ranks { exponent: Some(-1.0), ..ranks(9, 4, 1) }, "exponent=-1 is not positive"),
            (few, "nnz=99 cannot be reached by 9 rows with these lengths"),
        ] {
            assert_eq!(ranks.lengths(), Err(expected.into()));
        }
    }
}

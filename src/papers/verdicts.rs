//! The verdicts on the claims of an experiment, as a table for readers and as the file `claims.csv`.

use std::path::Path;

use super::definition::Experiment;
use super::judge::{JudgedClaim, judge};
use crate::record::read::RecordedRow;
use crate::record::table::{Table, significant};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdicts(Vec<JudgedClaim>);

impl Verdicts {
    /// Judges the claims of an experiment by its rows. `quick`: whether the rows are from a quick run, which is
    /// too short to judge by.
    pub fn of(experiment: &Experiment, lines: &[RecordedRow], quick: bool) -> Self {
        let row = |claim| JudgedClaim {
            id: experiment.id.clone(),
            ..judge(claim, &experiment.gpus, lines, quick)
        };
        Self(experiment.claims.iter().map(row).collect())
    }

    pub fn read(path: &Path) -> csv::Result<Self> {
        Ok(Self(csv::Reader::from_path(path)?.into_deserialize().collect::<Result<_, _>>()?))
    }

    pub fn id(&self) -> Option<&str> {
        self.0.first().map(|row| &row.id[..])
    }

    pub fn write(&self, path: &Path) -> csv::Result<()> {
        let mut writer = csv::Writer::from_path(path)?;
        self.0.iter().try_for_each(|row| writer.serialize(row))?;
        Ok(writer.flush()?)
    }

    pub fn table(&self) -> Table {
        let here = |row: &JudgedClaim| row.measured.map_or_else(|| "–".to_owned(), significant);
        let range =
            |row: &JudgedClaim| row.range.map_or_else(|| "–".to_owned(), |range| range.to_string());
        let table = Table::of(&self.0)
            .column("claim", |row| &row.claim[..])
            .column("paper", |row| &row.paper[..])
            .column("range", range)
            .column("here", here)
            .column("matrices", |row| row.matrices)
            .column("verdict", JudgedClaim::in_words);
        table.build()
    }

    pub fn judged(&self) -> (Vec<&JudgedClaim>, Vec<&JudgedClaim>) {
        self.0.iter().partition(|row| row.is_judged())
    }

    /// Replaces claims without a verdict by the same claims with a verdict in `others`, which must be of the same
    /// experiment.
    pub fn completed_by(self, others: &Self) -> Self {
        let better = |row: JudgedClaim| {
            let same = |other: &&JudgedClaim| other.claim == row.claim && other.is_judged();
            let other = others.0.iter().find(same).filter(|_| !row.is_judged());
            other.cloned().unwrap_or(row)
        };
        Self(self.0.into_iter().map(better).collect())
    }
}

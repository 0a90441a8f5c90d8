//! The verdicts on the claims of an experiment, as a table for readers and as the file `claims.csv`.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::definition::Experiment;
use super::judge::{ClaimVerdict, Judgement, judge};
use crate::report::lines::RecordedRow;
use crate::report::table::{Cell, Table, significant};

/// The verdicts on the claims of an experiment, in the order of the claims.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdicts(Vec<JudgedClaim>);

/// A claim and its verdict: a line of `claims.csv`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JudgedClaim {
    /// The ID of the experiment.
    pub id: String,
    /// The claim, in our words.
    pub claim: String,
    /// The number or words that the source prints.
    pub paper: String,
    /// The number that was measured here.
    pub measured: Option<f64>,
    /// The number of matrices that the number is computed from.
    pub matrices: usize,
    /// The verdict.
    pub verdict: ClaimVerdict,
    /// The reason why the claim cannot be judged.
    pub why: Option<String>,
    /// The model that the number comes from, with its error; `None` where it was measured.
    #[serde(default)]
    pub modelled: Option<String>,
}

impl JudgedClaim {
    /// Returns the verdict as text, with the reason why there is none and the model that it is based on.
    pub fn in_words(&self) -> String {
        let why = self.why.as_ref().map(|why| format!(": {why}"));
        let modelled = self.modelled.as_ref().map(|model| format!(" ({model})"));
        let texts = [why, modelled].map(Option::unwrap_or_default);
        format!("{}{}", self.verdict.name(), texts.concat())
    }
}

impl Verdicts {
    /// Judges the claims of an experiment by its rows. `quick`: whether the rows are from a quick run, which is
    /// too short to judge by.
    pub fn of(experiment: &Experiment, lines: &[RecordedRow], quick: bool) -> Self {
        let row = |claim: &super::claim::Claim| {
            let Judgement { measured, matrices, verdict, why, modelled } =
                judge(claim, &experiment.gpus, lines, quick);
            let (id, claim, paper) =
                (experiment.id.clone(), claim.text.clone(), claim.paper.clone());
            JudgedClaim { id, claim, paper, measured, matrices, verdict, why, modelled }
        };
        Self(experiment.claims.iter().map(row).collect())
    }

    /// Reads a `claims.csv` file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is invalid.
    pub fn read(path: &Path) -> csv::Result<Self> {
        Ok(Self(csv::Reader::from_path(path)?.into_deserialize().collect::<Result<_, _>>()?))
    }

    /// Writes a `claims.csv` file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn write(&self, path: &Path) -> csv::Result<()> {
        let mut writer = csv::Writer::from_path(path)?;
        self.0.iter().try_for_each(|row| writer.serialize(row))?;
        Ok(writer.flush()?)
    }

    /// Returns the claims as a table for readers.
    pub fn table(&self) -> Table {
        let columns = ["claim", "paper", "here", "matrices", "verdict"];
        let row = |row: &JudgedClaim| {
            let verdict = row.in_words();
            let here = row.measured.map_or_else(|| "–".to_owned(), significant);
            let [claim, paper, here] =
                [&row.claim, &row.paper, &here].map(|t| Cell::text(t.as_str()));
            vec![claim, paper, here, Cell::Count(row.matrices as u64), Cell::text(verdict)]
        };
        let rows = self.0.iter().map(row).collect();
        Table { columns: columns.map(String::from).to_vec(), rows }
    }

    /// Returns the claims that were judged, and the others.
    pub fn judged(&self) -> (Vec<&JudgedClaim>, Vec<&JudgedClaim>) {
        self.0.iter().partition(|row| row.verdict != ClaimVerdict::CannotBeJudged)
    }

    /// Replaces claims without a verdict by the same claims with a verdict in `others`, which must be of the same
    /// experiment.
    pub fn completed_by(self, others: &Self) -> Self {
        let judged = |row: &JudgedClaim| row.verdict != ClaimVerdict::CannotBeJudged;
        let better = |row: JudgedClaim| {
            let same = |other: &&JudgedClaim| other.claim == row.claim && judged(other);
            let other = others.0.iter().find(same).filter(|_| !judged(&row));
            other.cloned().unwrap_or(row)
        };
        Self(self.0.into_iter().map(better).collect())
    }
}

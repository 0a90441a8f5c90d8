//! The claims of an experiment beside what was measured: a table for eyes and a file for others.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::definition::Experiment;
use super::judge::{ClaimVerdict, Judgement, judge};
use crate::report::lines::RecordedRow;
use crate::report::table::{Cell, Table, significant};

/// What became of the claims of an experiment, in its order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdicts(Vec<JudgedClaim>);

/// A claim and what became of it, as in `claims.csv`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JudgedClaim {
    /// The experiment's.
    pub id: String,
    /// In our words.
    pub claim: String,
    /// What the source prints.
    pub paper: String,
    /// Our number.
    pub measured: Option<f64>,
    /// Matrices that it stands on.
    pub matrices: usize,
    /// In words.
    pub verdict: ClaimVerdict,
    /// Why it cannot be judged.
    pub why: Option<String>,
    /// The model that our number comes from and its error; nothing where it was measured.
    #[serde(default)]
    pub modelled: Option<String>,
}

impl JudgedClaim {
    /// The verdict, why there is none, and the model that it rests on.
    pub fn in_words(&self) -> String {
        let why = self.why.as_ref().map(|why| format!(": {why}"));
        let modelled = self.modelled.as_ref().map(|model| format!(" ({model})"));
        let texts = [why, modelled].map(Option::unwrap_or_default);
        format!("{}{}", self.verdict.name(), texts.concat())
    }
}

impl Verdicts {
    /// Of the claims of an experiment against its rows; `quick` says that they were measured for a look
    /// only.
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

    /// Those of a `claims.csv`.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(path: &Path) -> csv::Result<Self> {
        Ok(Self(csv::Reader::from_path(path)?.into_deserialize().collect::<Result<_, _>>()?))
    }

    /// As `claims.csv`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, path: &Path) -> csv::Result<()> {
        let mut writer = csv::Writer::from_path(path)?;
        self.0.iter().try_for_each(|row| writer.serialize(row))?;
        Ok(writer.flush()?)
    }

    /// For eyes.
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

    /// Those that were judged, and the others.
    pub fn judged(&self) -> (Vec<&JudgedClaim>, Vec<&JudgedClaim>) {
        self.0.iter().partition(|row| row.verdict != ClaimVerdict::CannotBeJudged)
    }

    /// With the verdicts of others, of the same experiment, on claims that these could not judge.
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

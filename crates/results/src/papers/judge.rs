//! Compares claims with rows. The verdicts become a table for readers and the file `claims.csv`.

mod modelled;
mod quantity;
mod uncertainty;

use std::fs::File;
use std::io::Write;
use std::path::Path;

use anyhow::Result;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use self::modelled::Model;
use self::quantity::measure;
use self::uncertainty::Uncertainty;
use super::changes;
use super::claim::{Claim, Range};
use super::definition::Experiment;
use crate::files::cells::{of_csv, to_csv};
use crate::files::output::failed;
use crate::files::read::RecordedRow;
use crate::report::matched::matrices;
use crate::report::means::reading;
use crate::report::select::Select;
use crate::row::Status;
use crate::row::baseline::is_of_gpu;
use crate::table::Table;
use spmv_matrix::cache;
use spmv_matrix::device::Device;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimVerdict {
    Holds,
    DoesNotHold,
    /// The interval of the number contains a limit of its range.
    NotDistinguishable,
    /// There is no number here, or it is not sufficient to judge the claim.
    CannotBeJudged,
}

impl ClaimVerdict {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::DoesNotHold => "does not hold",
            Self::NotDistinguishable => "not distinguishable",
            Self::CannotBeJudged => "cannot be judged here",
        }
    }
}

/// A claim and its verdict: a line of `claims.csv`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JudgedClaim {
    /// The ID of the experiment; empty after [`judge`], which does not know it.
    pub id: String,
    pub claim: String,
    pub paper: String,
    /// The range in which the number must lie; `None` also in files that were written without this column.
    #[serde(default)]
    pub range: Option<Range>,
    pub measured: Option<f64>,
    /// The ends of the 95 % interval of the number; `None` where it depends on no measured times.
    #[serde(default)]
    pub low: Option<f64>,
    #[serde(default)]
    pub high: Option<f64>,
    pub matrices: usize,
    pub verdict: ClaimVerdict,
    pub why: Option<String>,
    /// The model that the number comes from, with its error; `None` where it was measured.
    #[serde(default)]
    pub modelled: Option<String>,
}

impl JudgedClaim {
    pub fn is_judged(&self) -> bool {
        self.verdict != ClaimVerdict::CannotBeJudged
    }

    pub fn in_words(&self) -> String {
        let why = self.why.iter().map(|why| format!(": {why}"));
        let modelled = self.modelled.iter().map(|model| format!(" ({model})"));
        self.verdict.name().to_owned() + &why.chain(modelled).collect::<String>()
    }
}

/// Judges a claim by rows of its GPU's model, or that of the first of `gpus`. A `quick` run is too short to judge by.
pub fn judge(claim: &Claim, gpus: &[String], lines: &[RecordedRow], quick: bool) -> JudgedClaim {
    let lines: Vec<_> = lines.iter().filter(|line| claim.conditions.passes(line)).collect();
    let lines = of_one_model(&lines, claim.gpu.as_ref().or(gpus.first()));
    let (number, used) = measure(&claim.measured, &lines, 1.0);
    let operands = claim.measured.operands();
    let is_compared = |line: &&&RecordedRow| line.is_ok() && operands.iter().any(|select| select.meets(line));
    let compared: Vec<&RecordedRow> = lines.iter().filter(is_compared).copied().collect();
    let model = Model::of(&compared);
    let counts = matrices(used.iter().copied());
    let holds = number.zip(claim.holds).map(|(number, range)| range.contains(number));
    let why = match number {
        None => Some(absence(claim, &lines)),
        Some(_) => (claim.unjudged.clone())
            .or_else(|| Some(too_little(claim, counts, quick)? + outcome(holds)))
            .or_else(|| outdated(&operands, &compared))
            .or_else(|| {
                let number_if = |slower| measure(&claim.measured, &lines, slower).0;
                model.as_ref()?.objection(claim, number_if)
            }),
    };
    let uncertainty = Uncertainty::of(claim, &compared).filter(|_| number.is_some());
    let is_sure = uncertainty.as_ref().is_none_or(|uncertainty| uncertainty.is_sure);
    let interval = uncertainty.map(|uncertainty| uncertainty.interval);
    JudgedClaim {
        id: String::new(),
        claim: claim.text.clone(),
        paper: claim.paper.clone(),
        range: claim.holds,
        measured: number,
        low: interval.map(|ends| ends.0),
        high: interval.map(|ends| ends.1),
        matrices: counts[0],
        verdict: match holds.filter(|_| why.is_none()) {
            None => ClaimVerdict::CannotBeJudged,
            Some(_) if !is_sure => ClaimVerdict::NotDistinguishable,
            Some(true) => ClaimVerdict::Holds,
            Some(false) => ClaimVerdict::DoesNotHold,
        },
        why,
        modelled: model.as_ref().map(Model::remark),
    }
}

/// Returns why so many matrices and surrogates, or a `quick` run, are not sufficient to judge a claim.
fn too_little(claim: &Claim, [matrices, surrogates]: [usize; 2], quick: bool) -> Option<String> {
    if matrices < claim.least {
        Some(format!("{matrices} matrices only"))
    } else if surrogates > 0 && !claim.any_matrix {
        Some(format!("{surrogates} of them surrogates"))
    } else {
        quick.then(|| "a quick run".into())
    }
}

/// Returns what the verdict would be, in words.
fn outcome(holds: Option<bool>) -> &'static str {
    match holds {
        Some(true) => "; it would hold",
        Some(false) => "; it would not hold",
        None => "",
    }
}

/// Returns why the rows of an operand are not of the method as it is now.
fn outdated(operands: &[&Select], compared: &[&RecordedRow]) -> Option<String> {
    operands.iter().find_map(|select| {
        let own: Vec<_> = compared.iter().copied().filter(|line| select.meets(line)).collect();
        changes::objection(&own)
    })
}

fn of_one_model<'a>(lines: &[&'a RecordedRow], gpu: Option<&String>) -> Vec<&'a RecordedRow> {
    let model = |line: &RecordedRow| line.row.device.and_then(Device::model_name);
    let gpu = gpu.filter(|gpu| lines.iter().any(|line| model(line) == Some(gpu.as_str())));
    let is_own = |line: &&&RecordedRow| gpu.is_none_or(|gpu| model(line).is_none_or(|name| name == gpu));
    lines.iter().filter(is_own).copied().collect()
}

/// Explains why there is no number: the reason in a row that has none, or that there are no rows.
fn absence(claim: &Claim, lines: &[&RecordedRow]) -> String {
    for select in claim.measured.operands() {
        let own: Vec<_> = lines.iter().filter(|line| select.meets(line)).collect();
        if own.iter().any(|line| line.is_ok()) {
            continue;
        }
        let ended = own.iter().find(|line| line.row.status != Some(Status::Ok));
        return match ended.and_then(|line| line.row.reason.text()) {
            Some(reason) => format!("{select}: {reason}"),
            None if is_of_gpu(select.method()) => format!("{select} runs on a GPU"),
            None => format!("no row of {}", select.narrowed(&claim.conditions)),
        };
    }
    "no matrix has all of the rows".into()
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdicts(Vec<JudgedClaim>);

impl Verdicts {
    /// `quick`: whether the rows are from a quick run, which is too short to judge by.
    pub fn of(experiment: &Experiment, lines: &[RecordedRow], quick: bool) -> Self {
        let row = |claim| JudgedClaim { id: experiment.id.clone(), ..judge(claim, &experiment.gpus, lines, quick) };
        Self(experiment.claims.par_iter().map(row).collect())
    }

    pub fn read(path: &Path) -> csv::Result<Self> {
        of_csv(File::open(path)?).map(Self)
    }

    pub fn id(&self) -> Option<&str> {
        self.0.first().map(|row| &row.id[..])
    }

    pub fn write(&self, path: &Path) -> Result<()> {
        let text = to_csv(&self.0, true)?;
        cache::replace(path, |file| file.write_all(&text)).map_err(failed(path))
    }

    pub fn table(&self) -> Table {
        let here = |row: &JudgedClaim| {
            let number = row.measured.map(|number| reading(number, row.low.zip(row.high)));
            number.unwrap_or("–".into())
        };
        let range = |row: &JudgedClaim| row.range.map_or("–".into(), |range| range.to_string());
        Table::of(&self.0)
            .column("claim", |row| &row.claim[..])
            .column("paper", |row| &row.paper[..])
            .column("range", range)
            .column("here", here)
            .column("matrices", |row| row.matrices)
            .column("verdict", JudgedClaim::in_words)
            .build()
    }

    pub fn claims(&self) -> &[JudgedClaim] {
        &self.0
    }

    pub fn judged(&self) -> Self {
        Self(self.0.iter().filter(|row| row.is_judged()).cloned().collect())
    }

    /// Replaces claims without a verdict by those with one in `others`, which must be of the same experiment.
    pub fn completed_by(self, others: &Self) -> Self {
        let better = |row: JudgedClaim| {
            let same = |other: &&JudgedClaim| other.claim == row.claim && other.is_judged();
            let other = others.0.iter().find(same).filter(|_| !row.is_judged());
            other.cloned().unwrap_or(row)
        };
        Self(self.0.into_iter().map(better).collect())
    }
}

#[cfg(test)]
mod tests;

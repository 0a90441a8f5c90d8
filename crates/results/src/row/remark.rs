//! Remarks on a result, as values. Their text is for readers, and nothing parses it.

use std::mem::discriminant;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

use super::column::{ColumnType, Kind, Value};

/// A remark, with the text that a reader sees.
#[derive(Clone, Debug, Error, PartialEq, Serialize, Deserialize)]
pub enum Remark {
    /// What a method says, why there is no result, or the remarks that a file contains as text.
    #[error("{0}")]
    Text(String),
    /// The method chose this one, which computes its product.
    #[error("picked {0}")]
    Picked(String),
    /// A method that chose takes no longer than any other of the run.
    #[error("the fastest of the run")]
    FastestOfRun,
    /// A method that chose takes so many times the time of the fastest one of the run.
    #[error("{times:.2} times the time of the fastest, {method}")]
    SlowerThan { method: String, times: f64 },
    /// The memory is not reported.
    #[error("its memory is what the process grew by in the setup")]
    MemoryOfProcess,
    /// The largest error is so many times what random roundings yield.
    #[error("less accurate than its precision explains: {times:.0} times what random roundings yield")]
    LessAccurate { times: f64 },
    /// The setup contains this time of products before the first sample.
    #[error(
        "setup includes {ms:.3} ms that products before the first sample took longer than \
         later ones"
    )]
    LateSetup { ms: f64 },
    /// The setup contains this time of products after the first sample.
    #[error("setup includes {ms:.3} ms that a few products took longer than all others")]
    LaterSetup { ms: f64 },
    /// The setup took this long in one process, and so long in that which needed most.
    #[error("its setup took {least:.3} ms in one process and {most:.3} ms in another")]
    SetupsDiffer { least: f64, most: f64 },
    /// The process used so many CPUs in samples of a method that states more threads.
    #[error("it used {used:.1} CPUs with {threads} threads")]
    FewerCpus { used: f64, threads: usize },
    /// Too few samples were undisturbed: in those that count, a thread waited for a CPU for up to this share of their
    /// time, in percent.
    #[error(
        "other programs disturbed too many samples: in those that count, threads waited for up to \
         {percent:.0} % of the time"
    )]
    Disturbed { percent: f64 },
    /// The counter of energy and the samples of the power differ, in watts.
    #[error(
        "its energy is uncertain: {counted:.0} W by the counter, {sampled:.0} W by samples of the \
         power"
    )]
    UncertainEnergy { counted: f64, sampled: f64 },
    /// An interrupt ended the rounds.
    #[error("interrupted {}", within(*rounds, *of))]
    Interrupted { rounds: usize, of: usize },
    /// Memory was too small for all methods at once.
    #[error("measured in part {number} of {of}: memory is too small for all methods at once")]
    Part { number: usize, of: usize },
    #[error("its threads were not bound to CPUs")]
    ThreadsNotBound,
    /// A signal stopped the process for a while, in which a sample may have run.
    #[error("a signal stopped its process while it was measured")]
    Stopped,
    /// A column that processes should agree on, with their values.
    #[error("{column} differs between processes: {values}")]
    Differs { column: String, values: String },
}

/// Returns when an interrupt ended the rounds.
fn within(rounds: usize, of: usize) -> String {
    match rounds {
        0 => format!("in round 1 of {of}"),
        _ => format!("after {rounds} of {of} rounds"),
    }
}

impl Remark {
    /// Whether it is on what one process has prepared.
    pub fn is_of_setup(&self) -> bool {
        matches!(self, Self::Picked(_) | Self::LateSetup { .. } | Self::LaterSetup { .. } | Self::MemoryOfProcess)
    }
}

/// The remarks of a row. In files they are one text, in messages between processes values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Remarks {
    all: Vec<Remark>,
    text: String,
}

impl Remarks {
    /// Returns the text of all remarks; `None` if there are none.
    pub fn text(&self) -> Option<&str> {
        (!self.text.is_empty()).then_some(&self.text)
    }

    pub fn all(&self) -> &[Remark] {
        &self.all
    }

    pub fn push(&mut self, remark: Remark) {
        if !self.text.is_empty() {
            self.text += "; ";
        }
        self.text += &remark.to_string();
        self.all.push(remark);
    }
}

impl Extend<Remark> for Remarks {
    fn extend<I: IntoIterator<Item = Remark>>(&mut self, all: I) {
        all.into_iter().for_each(|remark| self.push(remark));
    }
}

impl FromIterator<Remark> for Remarks {
    fn from_iter<I: IntoIterator<Item = Remark>>(all: I) -> Self {
        let mut remarks = Self::default();
        remarks.extend(all);
        remarks
    }
}

impl<T: Into<String>> From<T> for Remarks {
    fn from(text: T) -> Self {
        let text = text.into();
        let known = (!text.is_empty()).then_some(Remark::Text(text));
        known.into_iter().collect()
    }
}

impl Serialize for Remarks {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if to.is_human_readable() { self.text().serialize(to) } else { self.all.serialize(to) }
    }
}

impl<'de> Deserialize<'de> for Remarks {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        if from.is_human_readable() {
            return Ok(Option::<String>::deserialize(from)?.unwrap_or_default().into());
        }
        Ok(Vec::deserialize(from)?.into_iter().collect())
    }
}

impl ColumnType for Remarks {
    const KIND: Kind = Kind::Text;

    fn value(&self) -> Option<Value<'_>> {
        self.text().map(Value::Text)
    }

    /// Returns the remarks of all processes, each kind once, as the first of them has it.
    fn union(all: &[&Self]) -> Self {
        let mut union = Self::default();
        for remark in all.iter().flat_map(|remarks| &remarks.all) {
            let is_text = matches!(remark, Remark::Text(_));
            let is_like = |other: &Remark| discriminant(other) == discriminant(remark);
            let is_known = union.all.iter().any(|it| it == remark || !is_text && is_like(it));
            if !is_known {
                union.push(remark.clone());
            }
        }
        union
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::cells::{of_csv, to_csv};
    use crate::row::{Distinct, Processes, Row};

    #[test]
    fn values_pass_between_processes_and_texts_are_in_files() {
        let remarks = [Remark::Picked("seq".into()), Remark::Disturbed { percent: 9.0 }];
        let hashes = [[1, 2].into(), [3].into()];
        let distinct_results = Some(Distinct::from(hashes));
        let process_ms = Some(Processes(vec![0.1, 1e-300]));
        let reason = remarks.into_iter().collect();
        let row = Row { reason, distinct_results, process_ms, ..Row::default() };
        let mut message = Vec::new();
        ciborium::into_writer(&row, &mut message).unwrap();
        assert_eq!(ciborium::from_reader::<Row, _>(&message[..]).unwrap(), row);
        let csv = to_csv(&[&row], true).unwrap();
        let read = of_csv::<Row>(&csv[..]).unwrap().remove(0);
        let text = "picked seq; other programs disturbed too many samples: in those that count, threads waited for \
                    up to 9 % of the time";
        assert_eq!(read.reason.all(), [Remark::Text(text.into())]);
        assert_eq!((read.distinct_results, read.process_ms), (Some(2.into()), row.process_ms));
    }
}

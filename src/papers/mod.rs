//! The experiments: what each table and figure of the five documents, and a few of our own, measure, show
//! and claim. Definitions are `results/ID/experiment.toml`; nothing here runs a method.

pub mod claim;
pub mod definition;
pub mod judge;
pub mod page;
pub mod store;
pub mod verdicts;

use crate::near::hint;
use definition::{DefinitionError, Experiment};

/// Defines the list from the folders' names.
macro_rules! experiments {
    ($($id:literal),* $(,)?) => {
        &[$(($id, include_str!(concat!("../../results/", $id, "/experiment.toml")))),*]
    };
}

/// Every experiment that is built in, in the order in which they are listed and run: its ID and its
/// definition. First those that measure many methods: the others take over what these have measured.
const EXPERIMENTS: &[(&str, &str)] = experiments![
    "selector",
    "roofline",
    "amortisation",
    "determinism",
    "sc16-table1",
    "sc16-table2",
    "sc16-fig3",
    "sc16-fig4",
    "sc16-fig5",
    "sc16-fig6",
    "sc16-fig9",
    "sc16-fig10",
    "sc16-fig11",
    "hola-fig4",
    "hola-fig5",
    "hola-table2",
    "hola-fig6",
    "hola-fig7",
    "hola-fig8",
    "hola-fig9",
    "hola-fig10",
    "hola-fig11",
    "hola-fig12",
    "hola-table3",
    "hola-fig13",
    "five-gpu-table1",
    "five-gpu-fig1",
    "five-gpu-fig2",
    "five-gpu-fig3",
    "five-gpu-fig4",
    "five-gpu-fig5",
    "five-gpu-fig6",
    "five-gpu-table3",
    "five-gpu-fig7",
    "five-gpu-fig8",
    "five-gpu-fig9",
    "five-gpu-fig10",
    "five-gpu-fig11",
    "five-gpu-fig12",
    "five-gpu-fig13",
    "csrk-table1",
    "csrk-fig5",
    "csrk-fig6",
    "csrk-fig7",
    "csrk-k",
    "csrk-tune",
    "model-validation",
];

/// The published times of the one experiment that has some.
const PUBLISHED: &str = include_str!("../../results/model-validation/published.csv");

/// The experiments that are built in.
pub fn experiments() -> impl Iterator<Item = Experiment> {
    EXPERIMENTS.iter().map(|(id, text)| {
        let experiment = Experiment::parse(id, &format!("{id}/experiment.toml"), text);
        let experiment = experiment.expect("a test reads them all");
        match &experiment.published {
            Some(file) => experiment.clone().knowing(file, PUBLISHED).expect("a test reads it"),
            None => experiment,
        }
    })
}

/// The experiment of that ID, or of that file where it ends with `.toml`.
///
/// # Errors
/// When there is none, or the file is not understood.
pub fn experiment(word: &str) -> Result<Experiment, DefinitionError> {
    if word.ends_with(".toml") {
        return Experiment::read(word.as_ref());
    }
    experiments().find(|experiment| experiment.id == word).ok_or_else(|| DefinitionError::Unknown {
        id: word.to_owned(),
        hint: hint(
            word,
            EXPERIMENTS.iter().map(|(id, _)| *id),
            "`spmv-bench reproduce` lists them",
        ),
    })
}

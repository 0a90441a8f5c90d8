//! The experiments: what each table and figure of the five documents, and some experiments of this project,
//! measure, show and claim. The definitions are in `experiments/ID.toml`. No code here runs a method.

pub mod bibliography;
mod changes;
pub mod claim;
pub mod definition;
pub mod experiment_page;
pub mod judge;
mod shorthand;
pub mod store;

use anyhow::{Context, Result};

use definition::Experiment;
use spmv_matrix::near::hint;

macro_rules! experiments {
    ($($id:literal)*) => {
        &[$(($id, include_str!(concat!("../../experiments/", $id, ".toml")))),*]
    };
}

/// The built-in experiments in the order in which they run. Those whose rows others reuse are first.
const EXPERIMENTS: &[(&str, &str)] = experiments! {
    "selector" "roofline" "amortisation" "determinism" "power" "baselines" "baselines-avx2" "merge-readme" "sc16-empty"
    "sc16-table1" "sc16-table2" "sc16-fig3" "sc16-fig4" "sc16-fig5" "sc16-fig6" "sc16-fig9" "sc16-fig10" "sc16-fig11"
    "hola-fig4" "hola-fig5" "hola-table2" "hola-fig6" "hola-fig7" "hola-fig8" "hola-fig9" "hola-fig10" "hola-fig11"
    "hola-fig12" "hola-table3" "hola-fig13"
    "five-gpu-table1" "five-gpu-fig1" "five-gpu-fig2" "five-gpu-fig3" "five-gpu-fig4" "five-gpu-fig5" "five-gpu-fig6"
    "five-gpu-table3" "five-gpu-fig7" "five-gpu-fig8" "five-gpu-fig9" "five-gpu-fig10" "five-gpu-fig11"
    "five-gpu-fig12" "five-gpu-fig13"
    "csrk-table1" "csrk-fig5" "csrk-fig6" "csrk-fig7" "csrk-k" "csrk-tune"
    "gpu-methods" "gpu-shapes" "gpu-transposed" "gpu-cold" "gpu-graphs" "gpu-l2" "gpu-kernels"
    "model-validation"
};

/// The published times, which only one experiment uses.
const PUBLISHED: &str = include_str!("../../experiments/published.csv");

pub fn experiments() -> impl Iterator<Item = Experiment> {
    let parsed = |(id, text): &(&str, &str)| {
        let experiment = Experiment::parse(id, &format!("{id}.toml"), text)?;
        match experiment.published.clone() {
            Some(file) => experiment.with_published(&file, PUBLISHED),
            None => Ok(experiment),
        }
    };
    EXPERIMENTS.iter().map(move |of| parsed(of).expect("a test parses all definitions"))
}

/// Returns the built-in experiment with that ID, or reads a definition if the word ends with `.toml`.
pub fn experiment(word: &str) -> Result<Experiment> {
    if word.ends_with(".toml") {
        return Experiment::read(word.as_ref());
    }
    experiments().find(|experiment| experiment.id == word).with_context(|| {
        let ids = EXPERIMENTS.iter().map(|(id, _)| *id);
        let hint = hint(word, ids, "`spmv-bench reproduce` lists them");
        format!("there is no experiment '{word}'{hint}; to run your own experiment, give the path of its .toml file")
    })
}

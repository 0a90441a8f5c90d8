//! The errors of specifications.

use super::spec;

/// The reason why a specification is invalid. Only the beginning of a long specification is shown.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("gen:{spec:.200}: {:.300}{}", .problem.0, form(spec))]
pub struct SpecError {
    spec: String,
    problem: ParameterError,
}

/// The reason why the parameters of a generator are invalid or contradict each other.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct ParameterError(pub String);

impl ParameterError {
    /// Returns the error of the specification with these parameters.
    pub fn of(self, spec: &str) -> SpecError {
        SpecError { spec: spec.into(), problem: self }
    }
}

/// Returns the end of an error message, which shows the form of the generator; empty if its name is unknown.
pub fn form(spec: &str) -> String {
    let form = spec::form(spec.split(',').next().unwrap_or_default());
    form.map_or(String::new(), |form| format!("; the form is {form}[,random=SEED]"))
}

//! Faults to plant in the text of kernels, by family.

mod blocks;
mod convert;
mod csr5;
mod formats;
mod pieces;
mod rows;

/// A change of the kernels of a method that the model must detect.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// The method without `gpu-`, with parameters.
    pub choice: &'static str,
    pub from: &'static str,
    pub to: &'static str,
    /// Words of the error that every order of threads must cause. Without words, a wrong result or an error for some
    /// order is enough.
    pub error: &'static str,
}

/// Returns the fault that removes a text.
const fn fault(choice: &'static str, from: &'static str) -> Fault {
    Fault { choice, from, to: "", error: "" }
}

impl Fault {
    /// Puts another text in its place.
    const fn to(self, to: &'static str) -> Self {
        Self { to, ..self }
    }

    /// Requires that the fault is found by an error with these words.
    const fn by(self, error: &'static str) -> Self {
        Self { error, ..self }
    }
}

pub const FAULTS: [&[Fault]; 6] =
    [convert::FAULTS, rows::FAULTS, pieces::FAULTS, formats::FAULTS, csr5::FAULTS, blocks::FAULTS];

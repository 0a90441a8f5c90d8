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
    /// The text that changes. If only a part of it does, that part is marked: `«old→new»`, or `«old»` if it is removed.
    text: &'static str,
    /// What replaces a text without marks.
    to: &'static str,
    /// Words of the error that every order of threads must cause. Without words, a wrong result or an error for some
    /// order is enough.
    pub error: &'static str,
}

/// Returns the fault that removes a text, or changes it between its marks.
const fn fault(choice: &'static str, text: &'static str) -> Fault {
    Fault { choice, text, to: "", error: "" }
}

impl Fault {
    /// Puts another text in the place of the whole one.
    const fn to(self, to: &'static str) -> Self {
        Self { to, ..self }
    }

    /// Requires that the fault is found by an error with these words.
    const fn by(self, error: &'static str) -> Self {
        Self { error, ..self }
    }

    /// Returns the text without the fault and with it.
    pub fn texts(&self) -> [String; 2] {
        let Some((before, rest)) = self.text.split_once('«') else {
            return [self.text, self.to].map(String::from);
        };
        let (change, after) = rest.split_once('»').expect("the end of the change");
        let (from, to) = change.split_once('→').unwrap_or((change, ""));
        [from, to].map(|part| format!("{before}{part}{after}"))
    }
}

pub const FAULTS: [&[Fault]; 6] =
    [convert::FAULTS, rows::FAULTS, pieces::FAULTS, formats::FAULTS, csr5::FAULTS, blocks::FAULTS];

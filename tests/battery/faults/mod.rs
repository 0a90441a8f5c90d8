//! Faults to plant in the text of kernels that no rule makes, or whose message matters.

mod table;

pub use table::FAULTS;

/// A change of the kernels of a method that the model must detect.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// The method without `gpu-`, with parameters.
    pub choice: &'static str,
    /// The text that is removed. If only a part of it changes, that part is marked: `«old→new»`, or `«old»` if it is
    /// removed.
    text: &'static str,
    /// Words of the error that every order of threads must cause. Without words, a wrong result or an error for some
    /// order is enough.
    pub error: &'static str,
}

const fn fault(choice: &'static str, text: &'static str) -> Fault {
    Fault { choice, text, error: "" }
}

impl Fault {
    /// Requires that the fault is found by an error with these words.
    const fn by(self, error: &'static str) -> Self {
        Self { error, ..self }
    }

    /// Returns the text without the fault and with it.
    pub fn texts(&self) -> [String; 2] {
        let Some((before, rest)) = self.text.split_once('«') else {
            return [self.text, ""].map(String::from);
        };
        let (change, after) = rest.split_once('»').expect("the end of the change");
        let (from, to) = change.split_once('→').unwrap_or((change, ""));
        [from, to].map(|part| format!("{before}{part}{after}"))
    }
}

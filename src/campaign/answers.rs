//! What child processes have said of the GPUs.

use std::collections::BTreeMap;

use anyhow::Error;
use serde::{Deserialize, Serialize};

use spmv_methods::device::facts::Facts;
use spmv_methods::method::Unavailable;

/// The facts of each GPU that was asked for, or why it cannot be used. `None` is the first GPU.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Answers(pub BTreeMap<Option<usize>, Result<Facts, Unavailable>>);

impl Answers {
    /// Forgets all GPUs because of an error of the process that measures. Returns whether there were any.
    pub fn give_up(&mut self, error: &Error) -> bool {
        let mut any = false;
        for answer in self.0.values_mut().filter(|answer| answer.is_ok()) {
            *answer = Err(Unavailable(format!("{error} after the GPU had been opened")));
            any = true;
        }
        any
    }
}

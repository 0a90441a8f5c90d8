//! What views are made of: the rows of a report or an experiment, and the records of their runs.

use serde_json::Value;

use crate::files::read::RecordedRow;
use crate::matrix::stage_row::StageRow;
use crate::report::means::Kinds;

#[derive(Clone, Debug, Default)]
pub struct Recorded<'a> {
    pub lines: Vec<&'a RecordedRow>,
    pub stages: Vec<&'a StageRow>,
    /// The records of the runs that the rows belong to.
    pub runs: Vec<&'a Value>,
    /// Whether matrices whose values repeat and others share a mean.
    pub together: bool,
    /// The number of products over which the times spread the setup, if they do.
    pub planned: Option<u32>,
}

impl Recorded<'_> {
    /// Returns the kinds of the matrices of these rows, which have means of their own unless they are `together`.
    pub fn kinds(&self, lines: &[&RecordedRow]) -> Kinds {
        let kinds = Kinds::of_lines(lines);
        if self.together { kinds.together() } else { kinds }
    }
}

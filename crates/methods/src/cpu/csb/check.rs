//! The invariants of the blocks and of the plan, on which the unchecked accesses of the product rely.
//!
//! | name | invariant |
//! |---|---|
//! | BLOCKS | the blocks cover the matrix; their nonzeros follow each other, each with an index and a value |
//! | PLACES | the row and column of each nonzero are within its block's part of the matrix |
//! | OUTPUTS | no two tasks write the same outputs or the same temporaries |
//! | NONZEROS | each nonzero belongs to exactly one task, and its output is one of the task's outputs |
//! | LINES | no two lines have the same outputs; the temporaries of a line are for its outputs, one piece after the other, and follow those of the line before |

use std::ops::Range;

use anyhow::{Result, ensure};

use super::format::Blocks;
use super::tasks::{BlockLine, Plan, Task, Work};
use spmv_matrix::scalar::Scalar;

impl<T: Scalar> Blocks<T> {
    pub fn check(&self, rows: usize, cols: usize) -> Result<()> {
        let cover = [rows.div_ceil(self.beta()), cols.div_ceil(self.beta())];
        ensure!([self.rows, self.cols] == cover, "BLOCKS: the matrix needs {cover:?} blocks");
        let Self { starts, indices, values, .. } = self;
        let ends = (starts.first(), starts.last().map(|&end| end as usize));
        let right = starts.len() == self.rows * self.cols + 1 && starts.is_sorted();
        ensure!(
            right && ends == (Some(&0), Some(values.len())),
            "BLOCKS: starts {starts:?} do not match the arrays"
        );
        ensure!(
            indices.len() == values.len(),
            "BLOCKS: {} indices, but not as many values",
            indices.len()
        );
        for block in 0..self.rows * self.cols {
            let place = [block / self.cols, block % self.cols].map(|at| at * self.beta());
            let room = [(rows - place[0]).min(self.beta()), (cols - place[1]).min(self.beta())];
            let nonzeros = starts[block] as usize..starts[block + 1] as usize;
            for &index in &indices[nonzeros] {
                let [row, col] = row_and_col(index);
                ensure!(
                    row < room[0] && col < room[1],
                    "PLACES: row {row}, column {col} is outside block {block}"
                );
            }
        }
        Ok(())
    }
}

fn row_and_col(index: u32) -> [usize; 2] {
    [(index >> 16) as usize, (index & 0xffff) as usize]
}

/// Marks a range, which must be in bounds and not marked yet.
fn mark(marks: &mut [bool], range: Range<usize>, what: &str) -> Result<()> {
    let there = range.end <= marks.len();
    ensure!(
        there && !marks[range.clone()].contains(&true),
        "{what}: {range:?} is out of bounds or assigned twice"
    );
    marks[range].fill(true);
    Ok(())
}

impl Plan {
    pub fn check<T: Scalar>(
        &self,
        blocks: &Blocks<T>,
        transpose: bool,
        outputs: usize,
    ) -> Result<()> {
        let mut written = [vec![false; outputs], vec![false; self.temporaries]];
        let mut multiplied = vec![false; blocks.values.len()];
        for task in &self.tasks {
            let Task { outputs, temporary, .. } = task;
            match *temporary {
                None => mark(&mut written[0], outputs.clone(), "OUTPUTS")?,
                Some(start) => mark(&mut written[1], start..start + outputs.len(), "OUTPUTS")?,
            }
            for nonzeros in task.nonzeros(blocks, transpose) {
                mark(&mut multiplied, nonzeros.clone(), "NONZEROS")?;
                let line = outputs.start >> blocks.log_beta;
                if let Work::Runs { block, .. } = task.work {
                    let whole = blocks.nonzeros(transpose, line, block);
                    let inside = nonzeros.start >= whole.start && nonzeros.end <= whole.end;
                    ensure!(inside, "NONZEROS: {nonzeros:?} is not in block {block}, {whole:?}");
                }
                let first = line << blocks.log_beta;
                for &index in &blocks.indices[nonzeros] {
                    let output = first + row_and_col(index)[usize::from(transpose)];
                    ensure!(
                        outputs.contains(&output),
                        "NONZEROS: output {output} is not in {outputs:?}"
                    );
                }
            }
        }
        ensure!(!multiplied.contains(&false), "NONZEROS: some nonzeros have no task");
        ensure!(!written.iter().flatten().any(|mark| !mark), "OUTPUTS: some outputs have no task");
        self.check_lines()
    }

    fn check_lines(&self) -> Result<()> {
        // The ends of the outputs and temporaries of the lines before.
        let (mut output, mut temporary) = (0, 0);
        for (number, BlockLine { outputs, temporaries }) in self.lines.iter().enumerate() {
            let [each, all] = [outputs.len(), temporaries.len()];
            let right = each > 0 && all > 0 && all.is_multiple_of(each);
            ensure!(
                right && outputs.start >= output && temporaries.start == temporary,
                "LINES: line {number} has temporaries {temporaries:?} for outputs {outputs:?}"
            );
            (output, temporary) = (outputs.end, temporaries.end);
        }
        ensure!(
            temporary == self.temporaries,
            "LINES: {temporary} of {} temporaries belong to a line",
            self.temporaries
        );
        for Task { outputs, temporary, .. } in &self.tasks {
            let Some(start) = *temporary else { continue };
            let line = self.lines.partition_point(|line| line.temporaries.end <= start);
            let own = self.lines.get(line).is_some_and(|line| {
                let first = (start - line.temporaries.start) % line.outputs.len();
                line.outputs.start + first == outputs.start
                    && first + outputs.len() <= line.outputs.len()
            });
            ensure!(own, "LINES: temporaries from {start} are not for outputs {outputs:?}");
        }
        Ok(())
    }
}

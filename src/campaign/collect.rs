//! The rows of one matrix while it is measured: which cells are still open, and the groups that are complete.

use serde::{Deserialize, Serialize};

use super::Work;
use crate::bench::event::Event;
use crate::bench::outcome::Outcome;
use spmv_matrix::source::Source;
use spmv_matrix::stats::Shape;
use spmv_methods::device::Stage;
use spmv_results::matrix::Group;
use spmv_results::row::joined::joined;
use spmv_results::row::{MatrixFacts, Row, RowKey};
use spmv_results::run::RunRecord;

/// What a process measures on one matrix.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MatrixTask {
    pub source: Source,
    /// The numbers of rows, columns and nonzeros of the matrix when it was read before.
    pub sizes: Option<[usize; 3]>,
    pub cells: Vec<RowKey>,
}

impl MatrixTask {
    /// Returns an error message if the matrix has another size than before.
    pub fn differs_from(&self, now: [usize; 3]) -> Option<String> {
        let then = self.sizes.filter(|then| *then != now)?;
        let shown = |[rows, cols, nnz]: [usize; 3]| format!("{rows} x {cols} with {nnz} nonzeros");
        let (then, now) = (shown(then), shown(now));
        Some(format!(
            "the matrix is now {now}, but its rows in the file belong to {then}; remove these rows to measure \
             it again"
        ))
    }
}

/// The rows of a matrix that a process measures, or the processes that replace it.
pub struct Collector<'r> {
    /// The record of the process, which lists its cells.
    record: &'r RunRecord,
    facts: MatrixFacts,
    /// The cells that have a row, with their times.
    done: Vec<(RowKey, Option<f64>)>,
    /// The rows that processes before have measured, which become one with those of this process.
    earlier: &'r [Row],
    /// The rows of cells that ended their process, or another one before. They are kept until their group is complete.
    ended: Vec<(Row, Vec<Stage>)>,
    /// The other rows of the current group. If the process ends, they are measured again with the rest of the group.
    pending: Vec<(Row, Vec<Stage>)>,
}

impl<'r> Collector<'r> {
    /// Begins a matrix that has the rows `existing` already. Other processes have measured `earlier`.
    pub fn new(record: &'r RunRecord, existing: &[Row], earlier: &'r [Row]) -> Self {
        let done = existing.iter().filter_map(timed).collect();
        let facts = MatrixFacts::default();
        let bad = earlier.iter().filter(|row| !row.is_ok());
        let ended = bad.map(|row| (row.clone(), Vec::new())).collect();
        Self { record, facts, done, earlier, ended, pending: Vec::new() }
    }

    /// Returns the cells that neither have a row nor ended their process.
    pub fn open(&self) -> Vec<RowKey> {
        let has_ended = |cell: &RowKey| self.ended.iter().any(|(row, _)| row.has_key(cell));
        let open = self.record.cells.iter().filter(|cell| !self.is_done(cell) && !has_ended(cell));
        open.cloned().collect()
    }

    pub fn is_complete(&self) -> bool {
        self.record.cells.iter().all(|cell| self.is_done(cell))
    }

    fn is_done(&self, cell: &RowKey) -> bool {
        self.done.iter().any(|(done, _)| done == cell)
    }

    /// Returns the task of measuring the open cells.
    pub fn task(&self, work: &Work) -> MatrixTask {
        let read = self.facts.shape.as_ref().map(Shape::sizes);
        let sizes = read.or_else(|| work.existing.iter().find_map(Row::sizes));
        MatrixTask { source: work.source.clone(), sizes, cells: self.open() }
    }

    /// Keeps the rows that an event reports, and adds them to the group that ends.
    pub fn take(&mut self, event: &mut Event) {
        match event {
            Event::Ready(_) | Event::Step(_) | Event::End(_) => (),
            Event::Matrix(report) => self.facts = report.facts.clone(),
            Event::Row(row, stages) => {
                // Only a device that is lost changes the result of a method that has one.
                self.pending.retain(|(other, _)| other.cell() != row.cell());
                self.pending.push(((**row).clone(), stages.clone()));
            }
            Event::Group(group) => {
                self.complete(group);
                self.done.extend(group.rows.iter().filter_map(timed));
            }
            Event::Partial(group) => self.complete(group),
        }
    }

    /// Forgets the rows of a group that its process did not complete.
    pub fn forget_pending(&mut self) {
        self.pending.clear();
    }

    /// Records how cells ended their process. Returns the groups in which nothing is left to measure.
    pub fn end(&mut self, cells: &[RowKey], end: &Outcome) -> Vec<Group> {
        for cell in cells {
            let row = end.in_row(Row::of_matrix(&self.facts, &self.record.run_id).with_key(cell));
            let transpose = Some(self.record.settings.transpose);
            self.ended.push((Row { transpose, ..row }, Vec::new()));
        }
        self.settle()
    }

    /// Returns the groups in which nothing is left to measure.
    pub fn settle(&mut self) -> Vec<Group> {
        let (open, mut groups) = (self.open(), Vec::new());
        let is_last = |cell: &RowKey| !open.iter().any(|open| open.is_of_group(cell));
        while let Some(cell) = self.ended.iter().filter_map(|(row, _)| row.cell()).find(is_last) {
            let threads = self.record.cells.iter().filter_map(|cell| cell.threads).max();
            let mut group = Group::new(&cell, threads.unwrap_or(1), &self.facts);
            self.complete(&mut group);
            self.done.extend(group.rows.iter().filter_map(timed));
            groups.push(group);
        }
        groups
    }

    /// Moves the rows of a group into it, in the order of the cells, and sets what follows from all of them.
    fn complete(&mut self, group: &mut Group) {
        let cells = &self.record.cells;
        let is_here = |cell: &RowKey| group.has_cell(cell);
        let ended = self.ended.extract_if(.., |(row, _)| row.cell().as_ref().is_some_and(is_here));
        let mut rows: Vec<_> = ended.chain(self.pending.drain(..)).collect();
        rows.sort_by_key(|(row, _)| cells.iter().position(|cell| row.has_key(cell)));
        (group.rows, group.stages) = rows.into_iter().unzip();
        if !self.earlier.is_empty() {
            self.join(&mut group.rows);
        }
        let before =
            self.done.iter().filter(|(cell, _)| cells.contains(cell) && group.has_cell(cell));
        let before: Vec<_> =
            before.filter_map(|(cell, ms)| Some((cell.method.clone(), (*ms)?))).collect();
        group.complete(&before);
    }
}

impl Collector<'_> {
    /// Makes each row that is correct one with those of the processes before.
    fn join(&self, rows: &mut [Row]) {
        let of_row = |row: &Row| -> Vec<Row> {
            let before = self.earlier.iter().filter(|it| it.cell() == row.cell()).cloned();
            before.chain([row.clone()]).collect()
        };
        let own: Vec<_> = rows.iter().map(of_row).collect();
        let all: Vec<Vec<&Row>> = own.iter().map(|rows| rows.iter().collect()).collect();
        for (row, all) in rows.iter_mut().zip(&all).filter(|(row, _)| row.is_ok()) {
            *row = joined(all);
        }
    }
}

fn timed(row: &Row) -> Option<(RowKey, Option<f64>)> {
    Some((row.cell()?, row.typical_ms()))
}

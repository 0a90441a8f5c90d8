//! The rows of one matrix while it is measured: which cells are still open, and the groups that are complete.

use std::cell::RefCell;

use super::work::{MatrixTask, Part, Work};
use crate::bench::event::Event;
use crate::bench::outcome::Outcome;
use spmv_matrix::stats::Shape;
use spmv_methods::device::Stage;
use spmv_results::matrix::Group;
use spmv_results::row::{MatrixFacts, Row, RowKey, open_cells};
use spmv_results::run::RunRecord;

/// The rows of a matrix that a process measures, or the processes that replace it.
pub struct Collector<'r> {
    record: &'r RunRecord,
    facts: MatrixFacts,
    /// The cells that have no row yet.
    cells: Vec<RowKey>,
    /// The rows of cells that ended their process, or another one before. They are kept until their group is complete.
    ended: Vec<(Row, Vec<Stage>)>,
    /// The other rows of the current group. If the process ends, they are measured again with the rest of the group.
    pending: Vec<(Row, Vec<Stage>)>,
}

impl<'r> Collector<'r> {
    /// Begins a matrix that has the rows `existing` already. Cells that processes before have not measured correctly
    /// keep these `bad` rows.
    pub fn new(record: &'r RunRecord, existing: &[Row], bad: &[Row]) -> Self {
        let facts = MatrixFacts::default();
        let cells = open_cells(existing, &record.cells);
        let ended = bad.iter().map(|row| (row.clone(), Vec::new())).collect();
        Self { record, facts, cells, ended, pending: Vec::new() }
    }

    /// Returns the collector for these cells alone.
    pub fn only(mut self, cells: &[RowKey]) -> Self {
        self.cells.retain(|cell| cells.contains(cell));
        self.ended.retain(|(row, _)| row.cell().is_some_and(|cell| cells.contains(&cell)));
        self
    }

    /// Returns the cells that neither have a row nor ended their process.
    pub fn open(&self) -> Vec<RowKey> {
        let has_ended = |cell: &&RowKey| self.ended.iter().any(|(row, _)| row.has_key(cell));
        self.cells.iter().filter(|cell| !has_ended(cell)).cloned().collect()
    }

    pub fn is_complete(&self) -> bool {
        self.cells.is_empty()
    }

    /// Returns whether the cell of a row has none yet.
    pub fn awaits(&self, row: &Row) -> bool {
        let is_pending = self.pending.iter().any(|(other, _)| other.cell() == row.cell());
        !is_pending && self.open().iter().any(|cell| row.has_key(cell))
    }

    /// Returns whether rows of all open cells of a group have arrived.
    pub fn has_rows_of(&self, group: &Group) -> bool {
        let has_row = |cell: &RowKey| self.pending.iter().any(|(row, _)| row.has_key(cell));
        let mut open = self.open().into_iter().filter(|cell| group.has_cell(cell)).peekable();
        open.peek().is_some() && open.all(|cell| has_row(&cell))
    }

    /// Returns the task of measuring this part.
    pub fn task(&self, work: &Work, part: Part) -> MatrixTask {
        let read = self.facts.shape.as_ref().map(Shape::sizes);
        let sizes = read.or_else(|| work.existing.iter().find_map(Row::sizes));
        MatrixTask { source: work.source.clone(), sizes, part }
    }

    /// Keeps the rows that an event reports, and adds them to the group that ends.
    pub fn take(&mut self, event: &mut Event) {
        match event {
            Event::Ready(_) | Event::Step(_) | Event::Samples { .. } | Event::End(_) => (),
            Event::Matrix(report) => self.facts = report.facts.clone(),
            Event::Row(row, stages) => {
                // Only a device that is lost changes the result of a method that has one.
                self.pending.retain(|(other, _)| other.cell() != row.cell());
                self.pending.push(((**row).clone(), stages.clone()));
            }
            Event::Group(group) => {
                self.complete(group);
                self.end_cells(group);
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
            self.end_cells(&group);
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
    }

    fn end_cells(&mut self, group: &Group) {
        self.cells.retain(|cell| !group.rows.iter().any(|row| row.has_key(cell)));
    }
}

/// Sets the columns of a group that follow from all its rows, and from those that the matrix had `existing` before.
pub fn conclude(group: &mut Group, cells: &[RowKey], existing: &[Row]) {
    let time = |row: &Row| {
        let cell = row.cell().filter(|cell| cells.contains(cell) && group.has_cell(cell))?;
        Some((cell.method, row.typical_ms()?))
    };
    let before: Vec<_> = existing.iter().filter_map(time).collect();
    group.complete(&before);
}

/// Returns a function for the events of a session in this process, on a matrix that has the rows `existing`. It passes
/// them on, and groups with their rows.
pub fn completing<'c>(
    collector: Collector<'c>,
    existing: &'c [Row],
    emit: &'c mut dyn FnMut(Event),
) -> impl Fn(Event) + 'c {
    let both = RefCell::new((collector, emit));
    move |mut event| {
        let (collector, emit) = &mut *both.borrow_mut();
        collector.take(&mut event);
        if let Event::Group(group) | Event::Partial(group) = &mut event {
            conclude(group, &collector.record.cells, existing);
        }
        emit(event);
    }
}

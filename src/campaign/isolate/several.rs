//! Several processes measure a matrix one after the other, because times differ more between processes, which have
//! other pages of memory, than within one. Their rows become one.
//!
//! After those that measure all methods, further processes measure only the methods that the closing sentence names,
//! until it is certain which of them is faster.

use std::time::Instant;

use anyhow::Result;

use super::supervisor::Supervisor;
use super::watch::Finish;
use crate::bench::event::{Event, Step};
use crate::campaign::collect::conclude;
use crate::campaign::work::{Part, Work};
use spmv_methods::method::Device;
use spmv_results::matrix::Group;
use spmv_results::matrix::winner::{named, stated};
use spmv_results::row::joined::joined;
use spmv_results::row::{Row, RowKey};
use spmv_results::statistics::estimate::is_enough;

/// How long the further processes may take, as a share of the time of those before.
const MOST_FURTHER: f64 = 0.8;
/// The rounds of a further process.
const ROUNDS: usize = 1;

/// The groups of a matrix that the processes have measured.
struct Several<'w> {
    work: &'w Work,
    /// The cells of the run.
    cells: Vec<RowKey>,
    planned: Option<u32>,
    /// Those of the process that measured most, whose facts count.
    groups: Vec<Group>,
    /// The rows of all processes, in the order in which they ran.
    rows: Vec<Row>,
    /// The number of processes that have begun.
    number: usize,
    /// The methods that the first process has let alternate, so that all do so with the same ones.
    duelists: Vec<RowKey>,
}

/// Measures a matrix with these processes, and with further ones in the place of the last.
pub(super) fn measure(processes: &mut [Supervisor], work: &Work, emit: &mut dyn FnMut(Event)) -> Result<Finish> {
    let (last, others) = processes.split_last_mut().expect("there is a process");
    let further = if others.is_empty() { 0 } else { last.record.settings.further_processes };
    let begun = Instant::now();
    let mut several = Several::new(last, work);
    for process in others {
        let finish = several.run(process, None, &mut |event| {
            if !matches!(event, Event::Row(..)) {
                emit(event);
            }
        })?;
        if finish != Finish::Done {
            return Ok(finish);
        }
    }
    let mut finish = several.run(last, None, emit)?;
    let limit = begun.elapsed().mul_f64(1.0 + MOST_FURTHER);
    for number in 0..further {
        let open = several.open();
        if finish != Finish::Done || open.is_empty() || begun.elapsed() > limit {
            break;
        }
        let rounds = [last.record.settings.rounds + ROUNDS * number, ROUNDS];
        last.replace();
        finish = several.run(last, Some((&open, rounds)), &mut |event| {
            if matches!(event, Event::Step(_) | Event::Samples { .. }) {
                emit(event);
            }
        })?;
    }
    several.joined().into_iter().for_each(|group| emit(Event::Group(Box::new(group))));
    Ok(finish)
}

impl<'w> Several<'w> {
    fn new(process: &Supervisor, work: &'w Work) -> Self {
        let record = &process.record;
        Self {
            work,
            cells: record.cells.clone(),
            planned: record.settings.planned,
            groups: Vec::new(),
            rows: Vec::new(),
            number: 0,
            duelists: Vec::new(),
        }
    }

    /// Lets a process measure all cells, or as a further one these cells in these rounds, and keeps its groups. Passes
    /// on its other events.
    fn run(
        &mut self,
        process: &mut Supervisor,
        further: Option<(&[RowKey], [usize; 2])>,
        emit: &mut dyn FnMut(Event),
    ) -> Result<Finish> {
        let bad: Vec<_> = self.rows.iter().filter(|row| !row.is_ok()).cloned().collect();
        let is_read = self.number > 0;
        let (cells, duelists, share) = match further {
            None => (self.cells.clone(), self.duelists.clone(), process.process.share),
            Some((cells, rounds)) => (cells.to_vec(), cells.to_vec(), Some(rounds)),
        };
        let part = Part { cells, has_duel: true, duelists, share };
        self.number += 1;
        let mut groups = Vec::new();
        let finish = process.run(self.work, part, &bad, is_read, &mut |event| match event {
            Event::Group(group) => groups.push(*group),
            Event::Partial(mut group) => {
                self.join(&mut group);
                emit(Event::Partial(group));
            }
            Event::Samples { cell, samples, .. } => {
                emit(Event::Samples { cell, process: self.number, samples });
            }
            event => {
                if let Event::Step(Step::Duel(cells)) = &event
                    && self.number == 1
                {
                    self.duelists.extend(cells.iter().cloned());
                }
                emit(event);
            }
        })?;
        self.keep_rows(&groups);
        if further.is_none() {
            self.groups = groups;
        }
        Ok(finish)
    }

    /// Keeps the rows of a process, except those of cells that were bad before.
    fn keep_rows(&mut self, groups: &[Group]) {
        for row in groups.iter().flat_map(|group| &group.rows) {
            let is_known = |it: &Row| !it.is_ok() && it.cell() == row.cell();
            if !self.rows.iter().any(is_known) {
                self.rows.push(row.clone());
            }
        }
    }

    fn joined(&self) -> Vec<Group> {
        let mut groups = self.groups.clone();
        groups.iter_mut().for_each(|group| self.join(group));
        groups
    }

    /// Makes each row of a group one with those of all processes. One that is bad stays so.
    fn join(&self, group: &mut Group) {
        for row in &mut group.rows {
            let same: Vec<_> = self.rows.iter().filter(|it| it.cell() == row.cell()).collect();
            if let Some(bad) = same.iter().find(|it| !it.is_ok()) {
                *row = (*bad).clone();
            } else if !same.is_empty() {
                *row = joined(&same);
            }
        }
        conclude(group, &self.cells, &self.work.existing);
    }

    /// Returns the methods that a further process measures: those that the closing sentence of a group names that is
    /// not certain yet. All processes have measured them, because the times of rows are pairs by their place. If some
    /// were in the duel of each process, those are preferred: the times of the others are less certain.
    fn open(&self) -> Vec<RowKey> {
        let is_open = |group: &&Group| {
            let stated = stated(&group.rows, self.planned, &self.duelists);
            group.device == Device::Cpu && stated.is_some_and(|ratio| !is_enough(&ratio))
        };
        let named = |group: &Group| -> Vec<RowKey> {
            let places = named(&group.rows, self.planned, &self.duelists).into_iter();
            places.filter_map(|place| group.rows[place].cell()).collect()
        };
        let mut open: Vec<_> = self.joined().iter().filter(is_open).flat_map(named).collect();
        let times = |cell: &RowKey| self.rows.iter().filter(|row| row.has_key(cell)).count();
        open.retain(|cell| times(cell) == self.number);
        let all = open.clone();
        open.retain(|cell| all.iter().filter(|other| other.is_of_group(cell)).count() > 1);
        open
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spmv_matrix::source::Source;
    use spmv_results::row::{Processes, Status};

    fn row(method: &str, ms: f64) -> Row {
        let row = Row {
            method_name: Some(method.into()),
            precision: Some(Default::default()),
            device: Some(Device::Cpu),
            status: Some(Status::Ok),
            setup_ms: Some(9.0),
            ..Row::default()
        };
        Row { process_ms: Some(Processes::of(ms)), ..row.with_median(ms, (ms, ms)) }
    }

    /// Returns what several processes have measured of a, b and c; what took 5 ms failed.
    fn several<'w>(work: &'w Work, times: &[[f64; 3]]) -> Several<'w> {
        let named = |(method, &ms): (&str, &f64)| {
            let row = row(method, ms);
            if ms == 5.0 { Row { status: Some(Status::Failed), ..row } } else { row }
        };
        let rows = |times: &[f64; 3]| ["a", "b", "c"].into_iter().zip(times).map(named).collect();
        let all: Vec<Vec<Row>> = times.iter().map(rows).collect();
        let last = Group { device: Device::Cpu, ..Group::of(all.last().unwrap().clone()) };
        Several {
            work,
            cells: vec![],
            planned: None,
            groups: vec![last],
            rows: all.concat(),
            number: times.len(),
            duelists: vec![],
        }
    }

    /// Only while it is open whether a or b is faster, both are measured again.
    #[test]
    fn the_rows_of_processes_become_one_and_name_what_is_open() {
        let source = Source::parse("gen:dense,rows=2,cols=2".as_ref()).unwrap();
        let work = Work::new(source, 0);
        let equal = [[1.0, 1.1, 2.0], [1.1, 1.0, 2.1], [1.0, 1.0, 2.0]].repeat(2);
        let differ: Vec<_> = equal.iter().map(|[_, b, c]| [0.5 * b, *b, *c]).collect();
        let fails: Vec<_> = equal.iter().map(|&[a, b, _]| [a, if b == 1.1 { 5.0 } else { b }, b]).collect();
        for (times, open, ok) in [
            (equal, &["a", "b"][..], [true, true, true]),
            (differ, &[], [true, true, true]),
            (fails, &["a", "c"], [true, false, true]),
        ] {
            let several = several(&work, &times);
            let names: Vec<_> = several.open().into_iter().map(|cell| cell.method).collect();
            assert_eq!(names, open);
            let joined = several.joined().remove(0).rows;
            assert_eq!(joined.iter().map(Row::is_ok).collect::<Vec<_>>(), ok);
            assert_eq!(joined[0].process_ms.as_ref().map(|all| all.0.len()), Some(6));
        }
    }

    /// Of a and b, which are open, a further process has measured only a: the times of later ones would not be pairs.
    #[test]
    fn a_method_that_a_process_left_out_is_not_taken_up_again() {
        let source = Source::parse("gen:dense,rows=2,cols=2".as_ref()).unwrap();
        let work = Work::new(source, 0);
        let times = [1.0, 1.1, 0.9, 1.0, 1.1].map(|ms| [ms, 1.0, 9.0]);
        for (further, open) in [(&["a", "b"][..], 2), (&["a"], 0)] {
            let mut several = several(&work, &times);
            several.rows.extend(further.iter().map(|name| row(name, 1.0)));
            several.number += 1;
            assert_eq!(several.open().len(), open, "{further:?}");
        }
    }
}

//! The backend for many processes: x, y and the matrix are distributed among all ranks, which take the same decisions
//! because every value that a decision depends on is the same on all of them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use rand::rngs::Xoshiro256PlusPlus;
use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::load::Distributed;
use super::partition::{Partition, restored};
use super::product::{Product, Sent, Steps};
use super::ranks::Ranks;
use crate::bench::alteration::{Alteration, changes_of_rows, choose};
use crate::bench::backend::{Machine, Parts, Timer, Vectors};
use crate::bench::calls::Calls;
use crate::bench::contract::{Bench, Cell};
use crate::bench::event::Stopped;
use crate::bench::execute::measure;
use crate::bench::inputs::{Inputs, uniform};
use crate::bench::peak::Sweeps;
use spmv_matrix::Csr;
use spmv_matrix::memory::Available;
use spmv_matrix::memory::extent::Extent;
use spmv_matrix::stats::Shape;
use spmv_matrix::system;
use spmv_matrix::verify::{Reference, RowSum, Verdict};
use spmv_methods::device::facts::Energy;
use spmv_methods::method::{Choice, Device, Failed, Prepared, Request, Unprepared};
use spmv_results::matrix::Group;
use spmv_results::metrics::Peak;

struct Distribution<'a, T> {
    bench: &'a Bench<'a>,
    ranks: &'a Ranks,
    matrix: &'a Distributed,
    share: &'a Csr<T>,
    /// The elements of x that this rank owns.
    x: Vec<T>,
    /// The rows of y that this rank stores.
    y: Vec<T>,
    steps: Rc<Steps<'a>>,
    sweeps: Sweeps,
}

/// Measures mpi-merge with the parameters of each of `cells` on all ranks together, until [`Bench::interrupted`] is
/// set on any of them. All ranks must call it and get the same rows. `share` is this rank's share of the matrix.
pub fn measure_on_ranks<T: Sent>(
    bench: &Bench,
    ranks: &Ranks,
    matrix: &Distributed,
    share: &Csr<T>,
    cells: &[Cell],
    group: &mut Group,
) -> Result<(), Stopped> {
    let mut inputs = inputs(bench, ranks, matrix, share);
    let owned = matrix.owned(ranks.rank());
    let side = Distribution {
        bench,
        ranks,
        matrix,
        share,
        x: inputs.x[owned].to_vec(),
        y: vec![T::nan(); matrix.partition.stored(ranks.rank()).len()],
        steps: Rc::new(Steps::new(bench.clock)),
        sweeps: Sweeps::new(bench.team, system::cache_bytes() as usize / ranks.count()),
    };
    measure(bench, extent::<T>(bench, matrix), &mut inputs, side, cells, group)
}

/// Returns the complete x, this rank's part of y0, and its reference. The number of ranks changes no value.
fn inputs<T: Sent>(bench: &Bench, ranks: &Ranks, matrix: &Distributed, share: &Csr<T>) -> Inputs<T> {
    let all = Inputs::without_reference(bench.settings, matrix.shape.rows, matrix.shape.cols);
    let y0 = all.y0.get(matrix.partition.stored(ranks.rank())).unwrap_or_default().to_vec();
    let sums = sums(ranks, matrix, share, &all.x);
    let reference = Reference::of_sums(&sums, all.alpha, all.beta, &y0);
    Inputs { y0, reference, ..all }
}

/// Returns the sums of the rows that this rank stores, for the complete x.
fn sums<T: Sent>(ranks: &Ranks, matrix: &Distributed, share: &Csr<T>, x: &[T]) -> Vec<RowSum> {
    let needed: Vec<T> = matrix.columns.iter().map(|&column| x[column as usize]).collect();
    let mut sums: Vec<_> = (0..share.rows()).map(|row| RowSum::of(share, row, &needed)).collect();
    let tail = sums.pop().expect("a share ends with its tail");
    for tail in exchange_tails(ranks, &matrix.partition, tail) {
        sums[0] = sums[0].plus(tail);
    }
    sums
}

/// Sends the sums of this rank's tail to the rank that stores the row, and returns those of the tails that belong to
/// the first row stored here.
fn exchange_tails(ranks: &Ranks, partition: &Partition, tail: RowSum) -> Vec<RowSum> {
    let parts = tail.to_parts().map(|part| ranks.gather(part));
    let of = |sender: usize| RowSum::from_parts([0, 1, 2, 3, 4, 5].map(|part| parts[part][sender]));
    partition.senders(ranks.rank()).into_iter().map(of).collect()
}

/// Returns the extent of the whole matrix, which may have more entries than the indices of one process can address.
fn extent<'a, T>(bench: &Bench, matrix: &Distributed) -> Extent<'a> {
    let Shape { rows, cols, nnz, row_length } = &matrix.shape;
    Extent {
        rows: *rows as u64,
        cols: *cols as u64,
        nnz: *nnz as u64,
        longest: row_length.max.into(),
        value: size_of::<T>() as u64,
        threads: bench.team.len() as u64,
        transpose: bench.settings.transpose,
        given: &[],
        groups: &[],
    }
}

impl<T: Sent> Distribution<'_, T> {
    fn longest(&self, time: Duration) -> Duration {
        Duration::from_nanos(self.agree(time.as_nanos() as u64))
    }

    fn note(&self, product: &Product<T>) -> String {
        let (partition, rank) = (&self.matrix.partition, self.ranks.rank());
        let range = |value: usize| {
            let [least, most] = self.ranks.max([-(value as f64), value as f64]);
            format!("{} to {most}", -least)
        };
        let nonzeros = range(partition.nonzeros(rank).len());
        let rows = range(partition.stored(rank).len());
        let received = range(product.gather.received(rank));
        format!("by rank {nonzeros} nonzeros, {rows} rows, {received} values of x received")
    }
}

impl<T: Sent> Vectors<T> for Distribution<'_, T> {
    /// All ranks must call it with equal x and with `random` in the same state.
    fn alter(&self, inputs: &Inputs<T>, random: &mut Xoshiro256PlusPlus) -> Alteration<T> {
        let Self { ranks, matrix, share, .. } = *self;
        let first: usize = ranks.gather(share.nnz())[..ranks.rank()].iter().sum();
        // Only the rank that has an entry knows its column.
        let index_of = |entry: usize| {
            let own = entry.checked_sub(first).and_then(|at| share.column_indices().get(at));
            let column = own.map_or(0, |&number| matrix.columns[number as usize]);
            ranks.max([u64::from(column)])[0] as usize
        };
        let elements = choose(matrix.shape.nnz, index_of, &inputs.x, random);
        let number = |column: usize| matrix.columns.binary_search(&(column as u32)).ok();
        let own = elements.iter().filter_map(|(&column, &values)| Some((number(column)?, values)));
        let mut changes: BTreeMap<_, _> = changes_of_rows(share, &own.collect()).collect();
        let tail = changes.remove(&(share.rows() - 1)).unwrap_or_default();
        for tail in exchange_tails(ranks, &matrix.partition, tail) {
            let first = changes.entry(0).or_default();
            *first = first.plus(tail);
        }
        Alteration::of(inputs, &elements, changes.into_par_iter())
    }

    /// All ranks must call it with `random` in the same state.
    fn renew(&self, inputs: &Inputs<T>, random: &mut Xoshiro256PlusPlus) -> (Vec<T>, Reference) {
        let x = uniform(inputs.x.len(), random);
        let sums = sums(self.ranks, self.matrix, self.share, &x);
        (x, Reference::of_sums(&sums, inputs.alpha, inputs.beta, &inputs.y0))
    }

    fn set_x(&mut self, x: &[T], changed: Option<&[usize]>) -> Result<(), Failed> {
        let owned = self.matrix.owned(self.ranks.rank());
        match changed {
            None => self.x.copy_from_slice(&x[owned]),
            Some(changed) => {
                for index in changed.iter().filter(|index| owned.contains(index)) {
                    self.x[index - owned.start] = x[*index];
                }
            }
        }
        Ok(())
    }

    fn write_y(&mut self, write: &mut dyn FnMut(&mut [T])) -> Result<(), Failed> {
        write(&mut self.y);
        Ok(())
    }

    fn y(&mut self) -> Result<&[T], Failed> {
        Ok(&self.y)
    }

    /// Every rank compares the rows that it stores; the verdict is that over the rows of all ranks.
    fn judge(&mut self, reference: &Reference) -> Result<(Verdict, u64), Failed> {
        let ranks = self.ranks;
        let hashes = ranks.gather(xxh3_64(bytemuck::cast_slice(&self.y)));
        let first = self.matrix.partition.stored(ranks.rank()).start;
        let Verdict { error_ratio, likely_ratio, worst } = reference.judge(&self.y);
        let has_rows = ranks.gather(u8::from(worst.is_some()));
        let (row, got, expected) = worst.unwrap_or_default();
        let ratios = ranks.gather(error_ratio);
        let rows = ranks.gather(first + row);
        let (got, expected) = (ranks.gather(got), ranks.gather(expected));
        let judged = (0..ranks.count()).filter(|&rank| has_rows[rank] == 1);
        let worst = judged.max_by(|&a, &b| ratios[a].total_cmp(&ratios[b]).then(b.cmp(&a)));
        let verdict = Verdict {
            error_ratio: worst.map_or(0.0, |rank| ratios[rank]),
            likely_ratio: ranks.max([likely_ratio])[0],
            worst: worst.map(|rank| (rows[rank], got[rank], expected[rank])),
        };
        Ok((verdict, xxh3_64(bytemuck::cast_slice(&hashes))))
    }
}

impl<'a, T: Sent> Timer<'a, T> for Distribution<'a, T> {
    type Vector = [T];

    /// Does nothing: MPI is in use since the matrix was read.
    fn rehearse(&mut self, _: &Choice, _: &Request) -> Result<(), Unprepared> {
        Ok(())
    }

    /// The setup includes the division of the merge path and the numbering of columns, which were done when the matrix
    /// was read. If all of x is gathered, the product needs the numbers before that. It then has a copy of the share,
    /// which is not counted, because a run of this product alone would not number the columns.
    fn prepare(
        &mut self,
        _: &Choice,
        request: &Request<'a>,
        _room: u64,
    ) -> Result<(Prepared<'a, T>, Duration), Unprepared> {
        let Self { bench: Bench { clock, .. }, ranks, matrix, share, .. } = *self;
        let copy = || restored(share, &matrix.columns, matrix.shape.cols);
        let (csr, needed, numbering) = match request.word("gather") {
            Some("all") => (Cow::Owned(copy()), None, Duration::ZERO),
            _ => (Cow::Borrowed(share), Some(&matrix.columns[..]), matrix.numbering),
        };
        ranks.barrier();
        let start = clock.now();
        let mut product = Product::new(ranks, matrix, csr, needed, request.isa, self.steps.clone())?;
        let setup = matrix.cut + numbering + self.longest(clock.now() - start);
        let bytes = ranks.sum(&[product.gather.bytes() as u64])[0];
        let note = self.note(&product);
        let prepared = Prepared::of_part([self.y.len(), self.x.len()], 0, move |alpha, x, beta, y| {
            product.multiply(alpha, x, beta, y);
            Ok(())
        });
        Ok((prepared.with_note(note).with_library(&ranks.library(), Some(bytes)), setup))
    }

    /// Does nothing: caches are always hot.
    fn evict_caches(&mut self, _: &Prepared<'a, T>, _: bool) -> Result<(), Failed> {
        Ok(())
    }

    /// Runs products after a barrier, with hot caches. The time is that of the slowest rank.
    fn time(&mut self, prepared: &mut Prepared<'a, T>, calls: Calls) -> Result<Duration, Failed> {
        let clock = self.bench.clock;
        let (alpha, beta) = self.bench.settings.factors();
        self.ranks.barrier();
        let start = clock.now();
        prepared.repeat(calls.products(), alpha, &self.x, beta, &mut self.y)?;
        Ok(self.longest(clock.now() - start))
    }

    fn parts(&mut self, prepared: &mut Prepared<'a, T>) -> Result<Parts, Failed> {
        let (alpha, beta) = self.bench.settings.factors();
        let Self { x, y, .. } = self;
        self.steps.parts(self.ranks, || prepared.multiply(alpha, x, beta, y))
    }
}

impl<T: Sent> Machine for Distribution<'_, T> {
    const DEVICE: Device = Device::Cpu;

    fn agree(&self, value: u64) -> u64 {
        self.ranks.max([value])[0]
    }

    /// Does not limit the memory, because it was checked for all methods when the matrix was loaded.
    fn available(&self, _: &Extent, _: u64) -> Result<Available, Failed> {
        Ok(Available { bytes: u64::MAX, by: "unknown" })
    }

    /// Does nothing: the peak stays unknown.
    fn measure_peak(&mut self) -> Result<(), Failed> {
        Ok(())
    }

    fn peak(&self) -> Peak {
        Peak::default()
    }

    /// Returns the sum of the bandwidths at which all ranks read their equal parts of `bytes`.
    fn cache_gbs(&mut self, bytes: u64) -> Result<f64, Failed> {
        let Bench { team, clock, .. } = *self.bench;
        let bytes = bytes as usize / self.ranks.count();
        Ok(self.ranks.gather(self.sweeps.measure_part(bytes, team, clock)).iter().sum())
    }

    /// Returns nothing: counters of energy are those of machines, and not of ranks.
    fn energy(&self) -> Option<Energy> {
        None
    }

    fn is_lost(&self) -> bool {
        false
    }
}

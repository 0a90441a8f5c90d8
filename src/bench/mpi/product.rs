//! The product over all ranks: gather x, multiply, exchange the sums of tails. These steps are also timed separately,
//! after the samples.

use std::array;
use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use mpi::Rank;
use mpi::traits::{Communicator, Destination, Equivalence, Source};

use super::gather::Gather;
use super::load::Distributed;
use super::ranks::Ranks;
use crate::bench::backend::{Parts, STAGE_PRODUCTS};
use crate::bench::clock::Clock;
use spmv_matrix::Csr;
use spmv_matrix::scalar::Scalar;
use spmv_methods::cpu::merge::{Carry, Coordinate, consume, fix_up};
use spmv_methods::cpu::row_kernels::prefetching_pays;
use spmv_methods::cpu::rows::Operands;
use spmv_methods::device::Stage;
use spmv_methods::method::Failed;
use spmv_methods::simd::{Isa, Lanes};

/// A value type for computation and for MPI messages.
pub trait Sent: Scalar + Lanes + Equivalence {}
impl<T: Scalar + Lanes + Equivalence> Sent for T {}

pub struct Product<'a, T: Clone> {
    ranks: &'a Ranks,
    /// The rank's share; its columns are numbered like the gathered x.
    csr: Cow<'a, Csr<T>>,
    isa: Isa,
    prefetch: bool,
    pub gather: Gather<T>,
    /// The rank that closes the row of this rank's tail, and those whose tails belong to the first row stored here.
    tail_to: Option<Rank>,
    tails_from: Vec<Rank>,
    steps: Rc<Steps<'a>>,
}

impl<'a, T: Sent> Product<'a, T> {
    /// Prepares the product for this rank's share of the matrix. All ranks must call it. Each rank gathers the columns
    /// `needed`, or all of x if there is no such list. It is an error, on all ranks, if MPI cannot count the values.
    pub fn new(
        ranks: &'a Ranks,
        matrix: &Distributed,
        csr: Cow<'a, Csr<T>>,
        needed: Option<&[u32]>,
        isa: Isa,
        steps: Rc<Steps<'a>>,
    ) -> Result<Self, Failed> {
        let (partition, rank) = (&matrix.partition, ranks.rank());
        let gather = match needed {
            None => Gather::all(&matrix.cuts)?,
            Some(needed) => Gather::need(ranks, &matrix.cuts, needed)?,
        };
        let tail_to = partition.receiver(rank).map(|to| to as Rank);
        let tails_from = partition.senders(rank).into_iter().map(|from| from as Rank).collect();
        let prefetch = prefetching_pays(&csr);
        Ok(Self { ranks, csr, isa, prefetch, gather, tail_to, tails_from, steps })
    }

    /// Computes y ← αAx + βy; `x` and `y` are the parts that this rank owns.
    pub fn multiply(&mut self, alpha: T, x: &[T], beta: T, y: &mut [T]) {
        self.gather.run(self.ranks, x);
        self.steps.end();
        let path = Coordinate { row: 0, nonzero: 0 }..Coordinate { row: y.len(), nonzero: self.csr.nnz() };
        let operands = Operands { alpha, x: &self.gather.x, beta };
        let tail = consume(self.isa, &self.csr, path, operands, y, self.prefetch);
        self.steps.end();
        self.exchange_tails(tail, alpha, y);
        self.steps.end();
    }

    /// Sends this rank's sum of the tail to the rank that closes the row, and adds the sums of others. Sums are only
    /// sent to higher ranks, so there is no deadlock.
    fn exchange_tails(&self, tail: T, alpha: T, y: &mut [T]) {
        let world = &self.ranks.world;
        if let Some(to) = self.tail_to {
            world.process_at_rank(to).send(&tail);
        }
        let carries = self.tails_from.iter().map(|&from| {
            let mut sum = T::zero();
            world.process_at_rank(from).receive_into(&mut sum);
            Carry { row: 0, sum }
        });
        fix_up(&carries.collect::<Vec<_>>(), alpha, y);
    }
}

/// The names of the steps in the order in which they run.
const NAMES: [&str; 3] = ["x gathered", "compute", "tails handed on"];

/// The times at which the steps of a product end.
pub struct Steps<'a> {
    clock: &'a dyn Clock,
    /// The beginning of the product and the ends of its steps; `None` while products are not timed by steps.
    readings: RefCell<Option<Vec<Duration>>>,
}

impl<'a> Steps<'a> {
    /// Creates the times of products that are not timed by steps.
    pub fn new(clock: &'a dyn Clock) -> Self {
        Self { clock, readings: RefCell::new(None) }
    }

    pub fn end(&self) {
        if let Some(readings) = &mut *self.readings.borrow_mut() {
            readings.push(self.clock.now());
        }
    }

    /// Times the steps of products, each after a barrier and as on the slowest rank. All ranks must call it.
    pub fn parts(&self, ranks: &Ranks, mut product: impl FnMut() -> Result<(), Failed>) -> Result<Parts, Failed> {
        let (mut longest, mut own) = ([0.0; 3], 0.0);
        for _ in 0..STAGE_PRODUCTS {
            ranks.barrier();
            let times = self.of(&mut product)?;
            own += times[1];
            let most = ranks.max(times);
            longest.iter_mut().zip(most).for_each(|(sum, most)| *sum += most);
        }
        let [least, most] = ranks.max([-own, own]);
        let note = note(ranks.count(), longest, [-least, most]);
        let stage = |(name, ms): (&str, _)| Stage { name: name.into(), ms, ..Stage::default() };
        let stages = NAMES.into_iter().zip(longest).map(stage).collect();
        Ok(Parts { stages, note: Some(note), ..Parts::default() })
    }

    /// Returns the times of the steps of one product in milliseconds, divided by the number of products.
    fn of(&self, product: &mut impl FnMut() -> Result<(), Failed>) -> Result<[f64; 3], Failed> {
        self.readings.replace(Some(vec![self.clock.now()]));
        product()?;
        let readings = self.readings.take().unwrap_or_default();
        let ms = |step: usize| 1e3 * (readings[step + 1] - readings[step]).as_secs_f64();
        Ok(array::from_fn(|step| ms(step) / STAGE_PRODUCTS as f64))
    }
}

/// Describes the times of communication and computation; `least` and `most` are the computing times of single ranks.
fn note(ranks: usize, [gathered, compute, exchanged]: [f64; 3], [least, most]: [f64; 2]) -> String {
    let communication = gathered + exchanged;
    let name = if ranks == 1 { "rank" } else { "ranks" };
    format!(
        "{ranks} {name}: communication {communication:.5} ms, compute {compute:.5} ms \
         ({least:.5} to {most:.5} by rank)"
    )
}

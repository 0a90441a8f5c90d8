//! The product over all ranks: gather x, multiply, exchange the sums of tails.

use std::borrow::Cow;
use std::rc::Rc;

use mpi::Rank;
use mpi::traits::{Communicator, Destination, Equivalence, Source};

use super::gather::Gather;
use super::load::Distributed;
use super::parts::Steps;
use super::ranks::Ranks;
use spmv_matrix::Csr;
use spmv_matrix::scalar::Scalar;
use spmv_methods::cpu::merge::{Carry, Coordinate, consume, fix_up};
use spmv_methods::cpu::row_kernels::prefetching_pays;
use spmv_methods::cpu::rows::Operands;
use spmv_methods::method::Failed;
use spmv_methods::simd::{Isa, Lanes};

/// A value type for computation and for MPI messages.
pub trait Sent: Scalar + Lanes + Equivalence {}
impl<T: Scalar + Lanes + Equivalence> Sent for T {}

/// One rank's part of the product.
pub struct Product<'a, T: Clone> {
    ranks: &'a Ranks,
    /// The rank's share; its columns are numbered like the gathered x.
    csr: Cow<'a, Csr<T>>,
    isa: Isa,
    prefetch: bool,
    gather: Gather<T>,
    tails: Tails,
    steps: Rc<Steps<'a>>,
}

/// The ranks to which this rank sends the sum of its tail and from which it receives sums.
struct Tails {
    to: Option<Rank>,
    from: Vec<Rank>,
}

impl<'a, T: Sent> Product<'a, T> {
    /// Prepares the product for this rank's share of the matrix. All ranks must call it. Each rank gathers the columns
    /// `needed`, or all of x if there is no such list.
    ///
    /// # Errors
    /// Returns an error if there are more values than MPI can count, on all ranks.
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
        let tails = Tails {
            to: partition.receiver(rank).map(|to| to as Rank),
            from: partition.senders(rank).into_iter().map(|from| from as Rank).collect(),
        };
        let prefetch = prefetching_pays(&csr);
        Ok(Self { ranks, csr, isa, prefetch, gather, tails, steps })
    }

    /// Computes y ← αAx + βy; `x` and `y` are the parts that this rank owns.
    pub fn multiply(&mut self, alpha: T, x: &[T], beta: T, y: &mut [T]) {
        self.gather.run(self.ranks, x);
        self.steps.end();
        let tail = self.compute(alpha, beta, y);
        self.steps.end();
        self.exchange_tails(tail, alpha, y);
        self.steps.end();
    }

    /// Multiplies, without communication. Returns the sum of the tail.
    fn compute(&self, alpha: T, beta: T, y: &mut [T]) -> T {
        let path =
            Coordinate { row: 0, nonzero: 0 }..Coordinate { row: y.len(), nonzero: self.csr.nnz() };
        let operands = Operands { alpha, x: &self.gather.x, beta };
        consume(self.isa, &self.csr, path, operands, y, self.prefetch)
    }

    /// Sends this rank's sum of the tail to the rank that closes the row, and adds the sums of others. Sums are only
    /// sent to higher ranks, so there is no deadlock.
    fn exchange_tails(&self, tail: T, alpha: T, y: &mut [T]) {
        let world = &self.ranks.world;
        if let Some(to) = self.tails.to {
            world.process_at_rank(to).send(&tail);
        }
        let carries = self.tails.from.iter().map(|&from| {
            let mut sum = T::zero();
            world.process_at_rank(from).receive_into(&mut sum);
            Carry { row: 0, sum }
        });
        fix_up(&carries.collect::<Vec<_>>(), alpha, y);
    }

    /// Returns the number of values of x that this rank receives for each product.
    pub fn received(&self) -> usize {
        self.gather.received(self.ranks.rank())
    }

    /// Returns the size of the buffers in bytes.
    pub fn bytes(&self) -> usize {
        self.gather.bytes()
    }
}

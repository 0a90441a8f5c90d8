//! The product over all ranks: gather x, multiply, exchange the sums of tails.

use mpi::Rank;
use mpi::traits::{Communicator, Destination, Equivalence, Source};

use super::columns::{needed, owned_cuts, renumber, restore};
use super::error::MpiError;
use super::gather::Gather;
use super::partition::Partition;
use super::ranks::Ranks;
use crate::matrix::Csr;
use crate::methods::cpu::merge::{Carry, Coordinate, consume, fix_up};
use crate::methods::cpu::rows::{Operands, Prefetch, prefetch_for};
use crate::scalar::Scalar;
use crate::simd::{Isa, Lanes};

/// A value type for computation and for MPI messages.
pub trait Sent: Scalar + Lanes + Equivalence {}
impl<T: Scalar + Lanes + Equivalence> Sent for T {}

/// One rank's part of the product.
pub struct Product<'a, T> {
    ranks: &'a Ranks,
    /// The rank's share; its columns are numbered like the gathered x.
    csr: &'a mut Csr<T>,
    isa: Isa,
    prefetch: Prefetch,
    gather: Gather<T>,
    /// The columns that the rank needs, if only these are gathered.
    needed: Option<Vec<u32>>,
    cols: usize,
    tails: Tails,
}

/// The ranks to which this rank sends the sum of its tail and from which it receives sums.
struct Tails {
    to: Option<Rank>,
    from: Vec<Rank>,
}

impl<'a, T: Sent> Product<'a, T> {
    /// Prepares the product for this rank's share of the matrix. All ranks must call it. If `all`, every rank gathers
    /// the whole x; otherwise only the elements that it needs, and the columns of the share are renumbered.
    ///
    /// # Errors
    /// Returns an error if there are more values than MPI can count.
    pub fn new(
        ranks: &'a Ranks,
        partition: &Partition,
        csr: &'a mut Csr<T>,
        all: bool,
        isa: Isa,
    ) -> Result<Self, MpiError> {
        let (rank, cols) = (ranks.rank(), csr.cols);
        let cuts = owned_cuts(partition, cols);
        let needed = (!all).then(|| needed(csr));
        let gather = match &needed {
            None => Gather::all(&cuts)?,
            Some(needed) => Gather::need(ranks, &cuts, needed)?,
        };
        if let Some(needed) = &needed {
            renumber(csr, needed);
        }
        let tails = Tails {
            to: partition.receiver(rank).map(|to| to as Rank),
            from: partition.senders(rank).into_iter().map(|from| from as Rank).collect(),
        };
        let prefetch = prefetch_for(csr);
        Ok(Self { ranks, csr, isa, prefetch, gather, needed, cols, tails })
    }

    /// Computes y ← αAx + βy; `x` and `y` are the parts that this rank owns.
    pub fn multiply(&mut self, alpha: T, x: &[T], beta: T, y: &mut [T]) {
        self.gather_x(x);
        let tail = self.compute(alpha, beta, y);
        self.exchange_tails(tail, alpha, y);
    }

    /// Gathers x, the first part of a product (communication).
    pub fn gather_x(&mut self, x: &[T]) {
        self.gather.run(self.ranks, x);
    }

    /// Multiplies, the second part of a product (no communication). Returns the sum of the tail.
    pub fn compute(&self, alpha: T, beta: T, y: &mut [T]) -> T {
        let path =
            Coordinate { row: 0, nonzero: 0 }..Coordinate { row: y.len(), nonzero: self.csr.nnz() };
        let operands = Operands { alpha, x: &self.gather.x, beta };
        consume(self.isa, self.csr, path, operands, y, self.prefetch)
    }

    /// Exchanges the sums of tails, the last part of a product (communication): sends this rank's sum to the rank that
    /// closes the row, and adds the sums of others. Sums are only sent to higher ranks, so there is no deadlock.
    pub fn exchange_tails(&self, tail: T, alpha: T, y: &mut [T]) {
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

    /// Returns the bytes in addition to the share and to the owned parts of x and y.
    pub fn bytes(&self) -> usize {
        self.gather.bytes() + self.needed.as_ref().map_or(0, |needed| size_of_val(&needed[..]))
    }
}

impl<T> Drop for Product<'_, T> {
    /// Restores the column indices of the share.
    fn drop(&mut self) {
        if let Some(needed) = &self.needed {
            restore(self.csr, needed, self.cols);
        }
    }
}

//! The product over all ranks: gather x, multiply, hand the tails on.

use mpi::Rank;
use mpi::traits::{Communicator, Destination, Equivalence, Source};

use super::columns::{needed, owned_cuts, renumber, restore};
use super::gather::Gather;
use super::partition::Partition;
use super::ranks::Ranks;
use crate::matrix::Csr;
use crate::methods::cpu::merge::{Carry, Coordinate, consume, fix_up};
use crate::methods::cpu::rows::{Operands, Prefetch, prefetch_for};
use crate::scalar::Scalar;
use crate::simd::{Isa, Lanes};

/// A value that is computed with and sent.
pub trait Sent: Scalar + Lanes + Equivalence {}
impl<T: Scalar + Lanes + Equivalence> Sent for T {}

/// One rank's side of the product.
pub struct Product<'a, T> {
    ranks: &'a Ranks,
    /// With columns as x is gathered.
    csr: &'a mut Csr<T>,
    isa: Isa,
    prefetch: Prefetch,
    gather: Gather<T>,
    /// If x is gathered by need.
    needed: Option<Vec<u32>>,
    cols: usize,
    tails: Tails,
}

/// Where the tails go that this rank has to do with.
struct Tails {
    to: Option<Rank>,
    from: Vec<Rank>,
}

impl<'a, T: Sent> Product<'a, T> {
    /// The plan of a product, given this rank's share of the matrix; all ranks must call it. x is gathered
    /// as a whole if `all`, else by need, for which the share's columns are renumbered.
    ///
    /// # Errors
    /// More values than MPI counts.
    pub fn new(
        ranks: &'a Ranks,
        partition: &Partition,
        csr: &'a mut Csr<T>,
        all: bool,
        isa: Isa,
    ) -> Result<Self, String> {
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

    /// y ← αAx + βy, of the parts of x and y that this rank owns.
    pub fn multiply(&mut self, alpha: T, x: &[T], beta: T, y: &mut [T]) {
        self.gather_x(x);
        let tail = self.compute(alpha, beta, y);
        self.hand_on(tail, alpha, y);
    }

    /// The first part of a product: communication.
    pub fn gather_x(&mut self, x: &[T]) {
        self.gather.run(self.ranks, x);
    }

    /// The second: without communication. Returns the sum of the tail.
    pub fn compute(&self, alpha: T, beta: T, y: &mut [T]) -> T {
        let path =
            Coordinate { row: 0, nonzero: 0 }..Coordinate { row: y.len(), nonzero: self.csr.nnz() };
        let operands = Operands { alpha, x: &self.gather.x, beta };
        consume(self.isa, self.csr, path, operands, y, self.prefetch)
    }

    /// The last: the tail goes to the rank that closes its row, and those of others come. Tails only go to
    /// higher ranks, so no two wait for each other.
    pub fn hand_on(&self, tail: T, alpha: T, y: &mut [T]) {
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

    /// Values of x that come from other ranks for each product.
    pub fn received(&self) -> usize {
        self.gather.received(self.ranks.rank())
    }

    /// Bytes kept beyond the share and the parts of x and y that are owned.
    pub fn bytes(&self) -> usize {
        self.gather.bytes() + self.needed.as_ref().map_or(0, |needed| size_of_val(&needed[..]))
    }
}

impl<T> Drop for Product<'_, T> {
    /// Leaves the share with the matrix' columns.
    fn drop(&mut self) {
        if let Some(needed) = &self.needed {
            restore(self.csr, needed, self.cols);
        }
    }
}

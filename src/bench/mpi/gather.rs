//! Gathers the elements of x that each rank needs from their owners.

use mpi::Count;
use mpi::datatype::{Partition as Parts, PartitionMut as PartsMut};
use mpi::traits::{CommunicatorCollectives, Equivalence};

use super::columns::counts_by_part;
use super::ranks::Ranks;
use spmv_matrix::scalar::Scalar;
use spmv_methods::method::Failed;

/// One side of an exchange: the number of values for or from each rank, and their offsets in the buffer.
struct Side {
    counts: Vec<Count>,
    places: Vec<Count>,
}

impl Side {
    fn new(counts: Vec<Count>) -> Result<Self, Failed> {
        let mut end: Count = 0;
        let mut places = Vec::with_capacity(counts.len());
        for &count in &counts {
            places.push(end);
            end = end.checked_add(count).ok_or_else(|| {
                Failed("MPI cannot exchange more than 2^31 values of x at once".into())
            })?;
        }
        Ok(Self { counts, places })
    }

    fn len(&self) -> usize {
        self.counts.iter().map(|&count| count as usize).sum()
    }
}

/// The plan by which x is gathered for every product, with its buffers.
pub struct Gather<T> {
    /// The elements of x that this rank needs, in the order of its share's columns.
    pub x: Vec<T>,
    plan: Plan<T>,
}

enum Plan<T> {
    /// Every rank receives all of x.
    All(Side),
    /// Every rank receives only the elements that it needs.
    Need {
        /// The indices of the rank's own elements to send, rank by rank.
        asked: Vec<u32>,
        outgoing: Vec<T>,
        to: Side,
        from: Side,
    },
}

impl<T: Scalar + Equivalence> Gather<T> {
    pub fn all(cuts: &[usize]) -> Result<Self, Failed> {
        let counts = cuts.windows(2).map(|cut| (cut[1] - cut[0]) as Count).collect();
        let plan = Plan::All(Side::new(counts)?);
        Ok(Self { x: vec![T::zero(); cuts[cuts.len() - 1]], plan })
    }

    /// Creates a plan that gathers the `needed` columns, and sends each rank the list of those that it owns. All ranks
    /// must call it.
    pub fn need(ranks: &Ranks, cuts: &[usize], needed: &[u32]) -> Result<Self, Failed> {
        let from = counts_by_part(needed, cuts);
        let mut to = vec![0; from.len()];
        ranks.world.all_to_all_into(&from[..], &mut to[..]);
        let (from, to) = (Side::new(from), Side::new(to));
        let sides = from.and_then(|from| Ok((from, to?)));
        let (from, to) = ranks.agree(sides).map_err(|error| Failed(error.to_string()))?;
        let mut asked = vec![0u32; to.len()];
        exchange(ranks, (needed, &from), (&mut asked, &to));
        let first = cuts[ranks.rank()] as u32;
        asked.iter_mut().for_each(|column| *column -= first);
        let (x, outgoing) = (vec![T::zero(); needed.len()], vec![T::zero(); asked.len()]);
        Ok(Self { x, plan: Plan::Need { asked, outgoing, to, from } })
    }

    /// Gathers the needed elements of x. `owned` is the part of x that this rank owns.
    pub fn run(&mut self, ranks: &Ranks, owned: &[T]) {
        match &mut self.plan {
            Plan::All(from) => {
                let mut x = PartsMut::new(&mut self.x[..], &from.counts[..], &from.places[..]);
                ranks.world.all_gather_varcount_into(owned, &mut x);
            }
            Plan::Need { asked, outgoing, to, from } => {
                for (value, &index) in outgoing.iter_mut().zip(&*asked) {
                    *value = owned[index as usize];
                }
                exchange(ranks, (outgoing, to), (&mut self.x, from));
            }
        }
    }

    pub fn received(&self, rank: usize) -> usize {
        let (Plan::All(from) | Plan::Need { from, .. }) = &self.plan;
        self.x.len() - from.counts[rank] as usize
    }

    pub fn bytes(&self) -> usize {
        size_of_val(&self.x[..])
            + match &self.plan {
                Plan::All(_) => 0,
                Plan::Need { asked, outgoing, .. } => {
                    size_of_val(&asked[..]) + size_of_val(&outgoing[..])
                }
            }
    }
}

fn exchange<V: Equivalence>(
    ranks: &Ranks,
    (values, to): (&[V], &Side),
    (room, from): (&mut [V], &Side),
) {
    let outgoing = Parts::new(values, &to.counts[..], &to.places[..]);
    let mut incoming = PartsMut::new(room, &from.counts[..], &from.places[..]);
    ranks.world.all_to_all_varcount_into(&outgoing, &mut incoming);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_laid_out_one_after_another() {
        let side = Side::new(vec![2, 0, 1, 1]).unwrap();
        assert_eq!((&side.places[..], side.len()), (&[0, 2, 2, 3][..], 4));
        assert!(Side::new(vec![Count::MAX, 1]).is_err());
    }
}

//! Gathers the elements of x that each rank needs from their owners.

use mpi::Count;
use mpi::datatype::{Partition as Parts, PartitionMut as PartsMut};
use mpi::traits::{CommunicatorCollectives, Equivalence};

use super::partition::counts_by_part;
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
            end = end
                .checked_add(count)
                .ok_or_else(|| Failed("MPI cannot exchange more than 2^31 values of x at once".into()))?;
        }
        Ok(Self { counts, places })
    }

    fn len(&self) -> usize {
        self.counts.iter().map(|&count| count as usize).sum()
    }
}

pub struct Gather<T> {
    /// The elements of x that this rank needs, in the order of its share's columns.
    pub x: Vec<T>,
    from: Side,
    /// What this rank sends if every rank receives only the elements that it needs; `None` if each receives all of x.
    outgoing: Option<Outgoing<T>>,
}

struct Outgoing<T> {
    /// The indices of the rank's own elements to send, rank by rank.
    indices: Vec<u32>,
    values: Vec<T>,
    to: Side,
}

impl<T: Scalar + Equivalence> Gather<T> {
    pub fn all(cuts: &[usize]) -> Result<Self, Failed> {
        let counts = cuts.windows(2).map(|cut| (cut[1] - cut[0]) as Count).collect();
        let x = vec![T::zero(); cuts[cuts.len() - 1]];
        Ok(Self { x, from: Side::new(counts)?, outgoing: None })
    }

    /// Creates a plan that gathers the `needed` columns, which their owners are told. All ranks must call it.
    pub fn need(ranks: &Ranks, cuts: &[usize], needed: &[u32]) -> Result<Self, Failed> {
        let from = counts_by_part(needed, cuts);
        let mut to = vec![0; from.len()];
        ranks.world.all_to_all_into(&from[..], &mut to[..]);
        let (from, to) = (Side::new(from), Side::new(to));
        let sides = from.and_then(|from| Ok((from, to?)));
        let (from, to) = ranks.agree(sides).map_err(|error| Failed(error.to_string()))?;
        let mut indices = vec![0u32; to.len()];
        exchange(ranks, (needed, &from), (&mut indices, &to));
        let first = cuts[ranks.rank()] as u32;
        indices.iter_mut().for_each(|column| *column -= first);
        let (x, values) = (vec![T::zero(); needed.len()], vec![T::zero(); indices.len()]);
        Ok(Self { x, from, outgoing: Some(Outgoing { indices, values, to }) })
    }

    /// Gathers the needed elements of x. `owned` is the part of x that this rank owns.
    pub fn run(&mut self, ranks: &Ranks, owned: &[T]) {
        let Self { x, from, outgoing } = self;
        match outgoing {
            None => {
                let mut x = PartsMut::new(&mut x[..], &from.counts[..], &from.places[..]);
                ranks.world.all_gather_varcount_into(owned, &mut x);
            }
            Some(Outgoing { indices, values, to }) => {
                for (value, &index) in values.iter_mut().zip(&*indices) {
                    *value = owned[index as usize];
                }
                exchange(ranks, (values, to), (x, from));
            }
        }
    }

    /// Returns the number of values that this rank receives for each product.
    pub fn received(&self, rank: usize) -> usize {
        self.x.len() - self.from.counts[rank] as usize
    }

    pub fn bytes(&self) -> usize {
        let of = |out: &Outgoing<T>| size_of_val(&out.indices[..]) + size_of_val(&out.values[..]);
        size_of_val(&self.x[..]) + self.outgoing.as_ref().map_or(0, of)
    }
}

fn exchange<V: Equivalence>(ranks: &Ranks, (values, to): (&[V], &Side), (buffer, from): (&mut [V], &Side)) {
    let outgoing = Parts::new(values, &to.counts[..], &to.places[..]);
    let mut incoming = PartsMut::new(buffer, &from.counts[..], &from.places[..]);
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

//! The processes that run a command together: the ranks of MPI, or this process alone.

#[cfg(feature = "mpi")]
use std::rc::Rc;

use anyhow::Result;

#[cfg(feature = "mpi")]
use crate::bench::mpi::Ranks;

#[derive(Clone, Default)]
pub struct Together {
    /// `None`: this process is alone.
    #[cfg(feature = "mpi")]
    pub ranks: Option<Rc<Ranks>>,
}

impl Together {
    /// Returns the number of processes; `None` if this one is alone.
    pub fn count(&self) -> Option<usize> {
        #[cfg(feature = "mpi")]
        return self.ranks.as_ref().map(|ranks| ranks.count());
        #[cfg(not(feature = "mpi"))]
        None
    }

    /// Returns this process's value if every process succeeded, or else the error of the first one that did not. All
    /// of them must call it: one that ended alone would let the others wait for ever.
    pub fn agree<V>(&self, result: Result<V>) -> Result<V> {
        #[cfg(feature = "mpi")]
        if let Some(ranks) = &self.ranks {
            return ranks.agree(result);
        }
        result
    }
}

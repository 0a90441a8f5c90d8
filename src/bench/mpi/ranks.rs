//! The MPI processes that compute a product together, and their collective operations.

use std::panic;

use anyhow::{Result, anyhow};
use mpi::collective::SystemOperation;
use mpi::environment::Universe;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Equivalence, Root};
use mpi::{Count, Rank, Threading};

/// The environment variables in which launchers pass the rank and the number of processes.
const LAUNCHERS: [[&str; 2]; 2] = [["OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"], ["PMI_RANK", "PMI_SIZE"]];

/// Returns the rank of this process and the number of processes, from the launcher's environment variables, without
/// initialising MPI; (0, 1) without a launcher.
pub fn launched() -> (usize, usize) {
    let number = |name| std::env::var(name).ok()?.parse().ok();
    let found = LAUNCHERS.iter().find_map(|[rank, size]| Some((number(rank)?, number(size)?)));
    found.unwrap_or((0, 1))
}

/// The communicator of all processes. All processes must call its methods together, except `start`, `rank`, `count`
/// and `library`.
pub struct Ranks {
    /// Dropped before the universe, whose drop finalises MPI.
    pub(super) world: SimpleCommunicator,
    _universe: Universe,
}

impl Ranks {
    /// Initialises MPI. From now on a panic aborts all processes, because they would wait for this one forever.
    pub fn start() -> Result<Self> {
        let (universe, _) =
            mpi::initialize_with_threading(Threading::Funneled).ok_or_else(|| anyhow!("MPI was initialised before"))?;
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            report(panic);
            SimpleCommunicator::world().abort(1);
        }));
        Ok(Self { world: universe.world(), _universe: universe })
    }

    pub fn rank(&self) -> usize {
        self.world.rank() as usize
    }

    pub fn count(&self) -> usize {
        self.world.size() as usize
    }

    /// Returns the rank of this process among the processes of its machine, and their number.
    pub fn on_machine(&self) -> (usize, usize) {
        let machine = self.world.split_shared(self.world.rank());
        (machine.rank() as usize, machine.size() as usize)
    }

    /// Returns the name and version of the MPI library, such as `Open MPI v4.1.4`.
    pub fn library(&self) -> String {
        let version = mpi::environment::library_version().unwrap_or_default();
        version.split(',').next().unwrap_or_default().trim().into()
    }

    pub fn barrier(&self) {
        self.world.barrier();
    }

    pub fn gather<V: Equivalence + Copy>(&self, value: V) -> Vec<V> {
        let mut all = vec![value; self.count()];
        self.world.all_gather_into(&value, &mut all[..]);
        all
    }

    /// Returns the element-wise maximum over all processes.
    pub fn max<V: Equivalence + Copy, const N: usize>(&self, values: [V; N]) -> [V; N] {
        let mut max = values;
        self.world.all_reduce_into(&values[..], &mut max[..], SystemOperation::max());
        max
    }

    /// Returns the element-wise sum over all processes.
    pub fn sum(&self, values: &[u64]) -> Vec<u64> {
        let mut sum = vec![0; values.len()];
        self.world.all_reduce_into(values, &mut sum[..], SystemOperation::sum());
        sum
    }

    /// Returns this process's value if every process succeeded.
    pub fn agree<V, E: Into<anyhow::Error>>(&self, result: Result<V, E>) -> Result<V> {
        let failed = self.gather(u8::from(result.is_err()));
        let Some(first) = failed.iter().position(|&failed| failed == 1) else {
            return result.map_err(Into::into);
        };
        let mut text = match result {
            Err(error) if first == self.rank() => format!("{:#}", error.into()).into_bytes(),
            _ => Vec::new(),
        };
        let root = self.world.process_at_rank(first as Rank);
        let mut size = text.len() as Count;
        root.broadcast_into(&mut size);
        text.resize(size as usize, 0);
        root.broadcast_into(&mut text[..]);
        Err(anyhow!("{}", String::from_utf8_lossy(&text)))
    }
}

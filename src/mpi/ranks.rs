//! The processes that share a product, and the few ways in which they agree.

use std::thread;

use anyhow::{Result, anyhow};
use mpi::collective::SystemOperation;
use mpi::environment::Universe;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Equivalence, Root};
use mpi::{Count, Rank, Threading};

/// Variables in which launchers tell a process its number, and how many they started.
const LAUNCHERS: [[&str; 2]; 2] =
    [["OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"], ["PMI_RANK", "PMI_SIZE"]];

/// The number of this process and how many were started together, as far as their launcher tells; nothing
/// of MPI is begun.
pub fn launched() -> (usize, usize) {
    let number = |name| std::env::var(name).ok()?.parse().ok();
    let told = LAUNCHERS.iter().find_map(|[rank, size]| Some((number(rank)?, number(size)?)));
    told.unwrap_or((0, 1))
}

/// All processes, seen from one of them. Every method but the first is called by all at the same time.
pub struct Ranks {
    /// Dropped last but for the universe, which ends MPI.
    pub(super) world: SimpleCommunicator,
    _universe: Universe,
}

impl Ranks {
    /// Begins MPI.
    ///
    /// # Errors
    /// When it has begun before.
    pub fn start() -> Result<Self> {
        let (universe, _) = mpi::initialize_with_threading(Threading::Funneled)
            .ok_or_else(|| anyhow!("MPI was begun before"))?;
        Ok(Self { world: universe.world(), _universe: universe })
    }

    /// The number of this process.
    pub fn rank(&self) -> usize {
        self.world.rank() as usize
    }

    /// How many processes there are.
    pub fn count(&self) -> usize {
        self.world.size() as usize
    }

    /// The number of this process among those of its machine.
    pub fn rank_on_machine(&self) -> usize {
        self.world.split_shared(self.world.rank()).rank() as usize
    }

    /// The version of the library, such as `Open MPI v4.1.4`.
    pub fn library(&self) -> String {
        let version = mpi::environment::library_version().unwrap_or_default();
        version.split(',').next().unwrap_or_default().trim().into()
    }

    /// Waits for all.
    pub fn meet(&self) {
        self.world.barrier();
    }

    /// What each process has.
    pub fn gather<V: Equivalence + Copy>(&self, value: V) -> Vec<V> {
        let mut all = vec![value; self.count()];
        self.world.all_gather_into(&value, &mut all[..]);
        all
    }

    /// The largest that any process has, place by place.
    pub fn most<const N: usize>(&self, values: [f64; N]) -> [f64; N] {
        let mut most = values;
        self.world.all_reduce_into(&values[..], &mut most[..], SystemOperation::max());
        most
    }

    /// The sum over all processes, place by place.
    pub fn sum(&self, values: &[u64]) -> Vec<u64> {
        let mut sum = vec![0; values.len()];
        self.world.all_reduce_into(values, &mut sum[..], SystemOperation::sum());
        sum
    }

    /// What this process made, if every process succeeded.
    ///
    /// # Errors
    /// That of the first process that failed, the same for all.
    pub fn agree<V, E: Into<anyhow::Error>>(&self, result: Result<V, E>) -> Result<V> {
        let failed = self.gather(u8::from(result.is_err()));
        let Some(first) = failed.iter().position(|&failed| failed == 1) else {
            return result.map_err(Into::into);
        };
        let message = match result {
            Err(error) if first == self.rank() => format!("{:#}", error.into()),
            _ => String::new(),
        };
        Err(anyhow!(self.tell(first, message)))
    }

    /// The text of process `from`.
    fn tell(&self, from: usize, text: String) -> String {
        let root = self.world.process_at_rank(from as Rank);
        let mut bytes = text.into_bytes();
        let mut size = bytes.len() as Count;
        root.broadcast_into(&mut size);
        bytes.resize(size as usize, 0);
        root.broadcast_into(&mut bytes[..]);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Drop for Ranks {
    /// A process that fails must not leave the others waiting for it.
    fn drop(&mut self) {
        if thread::panicking() {
            self.world.abort(1);
        }
    }
}

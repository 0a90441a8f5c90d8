//! The two backends on which products run, host and GPU: where the vectors are stored, how time is measured and how
//! caches are emptied.

mod gpu;
mod host;

use std::time::Duration;

use ptx_machine::model::Cure;

use super::metrics::compulsory_bytes;
use super::peak::Peak;
use crate::device::Stage;
use crate::device::facts::Clocks;
use crate::matrix::Csr;
use crate::memory::Available;
use crate::memory::extent::Extent;
use crate::method::{Choice, Device, Failed, Prepared, Request, Unprepared, Values};
use crate::scalar::Scalar;
pub use gpu::{OnGpu, free};
pub use host::Host;

/// The pause before a method's turn during which idle threads (of a library or of the team) stop spinning and fall
/// asleep.
pub const SETTLE: Duration = Duration::from_millis(2);
/// Repetitions of the bandwidth measurement in each round.
const PEAK_REPETITIONS: usize = 3;

/// The parts of a product on a device.
pub struct Parts {
    /// The parts in the order in which they run, with the time of each.
    pub stages: Vec<Stage>,
    /// The number of kernels, fills, copies, graphs and library calls that a product enqueues; `None` on the host.
    pub launches: Option<u64>,
}

/// The factors α and β.
pub type Factors<T> = (T, T);

/// A device on which methods are prepared and products run and are timed, with x and y in its memory.
pub trait Backend<'a, T> {
    /// The type of x and y.
    type Vector: Values + ?Sized;
    /// The kind of device.
    const DEVICE: Device;

    /// Returns whether times are modelled. Then one product yields the time of all, and nothing else is timed.
    fn is_modelled(&self) -> bool {
        false
    }
    /// Returns whether a modelled product finds data in the caches that the previous product has left there.
    fn stays_in_cache(&self) -> bool {
        false
    }
    /// Models all later products as if this performance problem of their kernels were removed.
    fn cure(&mut self, problem: Cure) {
        let _ = problem;
    }
    /// Prepares a method for a small matrix and multiplies once, so that one-time initialisation of the process
    /// (opening libraries, starting their threads, loading kernels) is not part of any measured time.
    fn rehearse(&mut self, choice: &Choice, request: &Request) -> Result<(), Unprepared>;
    /// Prepares a method. Returns it with the setup time, which excludes the compilation of its kernels.
    fn prepare(
        &mut self,
        choice: &Choice,
        request: &Request<'a>,
    ) -> Result<(Prepared<'a, T, Self::Vector>, Duration), Unprepared>;
    /// Returns the memory available for further methods on this matrix; methods that are prepared already take `kept`
    /// bytes.
    fn room(&self, matrix: &Extent, kept: u64) -> Result<Available, Failed>;
    /// Replaces x by `x`, which differs from the previous x only in the elements `changed`.
    fn set_x(&mut self, x: &[T], changed: &[usize]) -> Result<(), Failed>;
    /// Passes the elements of y to `edit` on the host, and stores the result as the y that the next product receives.
    fn edit_y(&mut self, edit: &mut dyn FnMut(&mut [T])) -> Result<(), Failed>;
    /// Returns y after all products that were enqueued.
    fn y(&mut self) -> Result<&[T], Failed>;
    /// Runs a batch of products and returns its time. Nothing but the products is between the two clock readings (host)
    /// or events (GPU).
    fn time(
        &mut self,
        prepared: &mut Prepared<'a, T, Self::Vector>,
        factors: Factors<T>,
        products: usize,
    ) -> Result<Duration, Failed>;
    /// Runs a single product and returns the time until all work that it has started on the device has ended.
    fn time_alone(
        &mut self,
        prepared: &mut Prepared<'a, T, Self::Vector>,
        factors: Factors<T>,
    ) -> Result<Duration, Failed>;
    /// Waits until the device is idle, whatever started the work on it. Does nothing on the host.
    fn wait(&mut self) -> Result<(), Failed>;
    /// Runs products for at least `time`, so that a device reaches its clocks under load, and reads the clocks while
    /// they run. Returns `None` where clocks cannot be read, as on the host.
    fn load(
        &mut self,
        prepared: &mut Prepared<'a, T, Self::Vector>,
        factors: Factors<T>,
        time: Duration,
    ) -> Result<Option<Clocks>, Failed>;
    /// Returns the parts of a product, with times averaged over `products` products.
    fn parts(
        &mut self,
        prepared: &mut Prepared<'a, T, Self::Vector>,
        factors: Factors<T>,
        products: usize,
    ) -> Result<Parts, Failed>;
    /// Empties the caches before a sample if `--cache cold` is set.
    fn evict_caches(&mut self, prepared: &Prepared<'a, T, Self::Vector>) -> Result<(), Failed>;
    /// Measures the bandwidth at the matrix's footprint once more.
    fn measure_peak(&mut self) -> Result<(), Failed>;
    /// Measures the bandwidth over `bytes`, at most the size of the last-level cache, in GB/s.
    fn cache_gbs(&mut self, bytes: u64) -> Result<f64, Failed>;
    /// Returns the highest bandwidth measured so far.
    fn peak(&self) -> Peak;
    /// Returns whether the device accepts no more work from this process.
    fn is_lost(&self) -> bool;
}

/// Returns the bytes that a product must move, see [`compulsory_bytes`].
fn footprint<T: Scalar>(csr: &Csr<T>) -> usize {
    compulsory_bytes(csr.rows, csr.cols, csr.nnz(), T::PRECISION) as usize
}

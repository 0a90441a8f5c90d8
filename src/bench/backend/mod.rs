//! The two sides that a product may run on: where its vectors lie, how its time is taken and how the
//! caches before it are emptied.

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

/// How long other threads (a library's, or the team's own) get to fall asleep before a method's turn.
pub const SETTLE: Duration = Duration::from_millis(2);
/// How often each round looks at the bandwidth.
const PEAK_LOOKS: usize = 3;

/// What a product consists of on a device.
pub struct Parts {
    /// Its parts in their order, with the time of each.
    pub stages: Vec<Stage>,
    /// Kernels, fills, copies, graphs and library calls that it enqueues; `None` on the host.
    pub launches: Option<u64>,
}

/// α and β.
pub type Factors<T> = (T, T);

/// Host or GPU, with x and y there.
pub trait Backend<'a, T> {
    /// The type of x and y.
    type Vector: Values + ?Sized;
    /// Which of the two it is.
    const DEVICE: Device;

    /// Whether its times are modelled: then one product tells all, and nothing else is timed.
    fn is_modelled(&self) -> bool {
        false
    }
    /// Whether a modelled product finds in the caches what the product before it left there.
    fn stays_in_cache(&self) -> bool {
        false
    }
    /// Products are modelled as if a problem of their kernels were cured, from now on.
    fn cure(&mut self, problem: Cure) {
        let _ = problem;
    }
    /// Prepares a method for a small matrix and multiplies once, so that what happens only once in a
    /// process is over before anything is timed.
    fn rehearse(&mut self, choice: &Choice, request: &Request) -> Result<(), Unprepared>;
    /// Prepares a method of this side; the time, without what compiling its kernels took.
    fn prepare(
        &mut self,
        choice: &Choice,
        request: &Request<'a>,
    ) -> Result<(Prepared<'a, T, Self::Vector>, Duration), Unprepared>;
    /// Memory for methods of this matrix, where those that are ready take `kept` bytes.
    fn room(&self, matrix: &Extent, kept: u64) -> Result<Available, Failed>;
    /// Takes `x`, which differs from the x before in the elements `changed` only.
    fn set_x(&mut self, x: &[T], changed: &[usize]) -> Result<(), Failed>;
    /// Lets `edit` change the elements of y on the host, and gives the products what it leaves.
    fn edit_y(&mut self, edit: &mut dyn FnMut(&mut [T])) -> Result<(), Failed>;
    /// What y holds, after all products.
    fn y(&mut self) -> Result<&[T], Failed>;
    /// The time of a batch of products.
    fn time(
        &mut self,
        prepared: &mut Prepared<'a, T, Self::Vector>,
        factors: Factors<T>,
        products: usize,
    ) -> Result<Duration, Failed>;
    /// The time of a single product, until nothing that it has begun still runs.
    fn time_alone(
        &mut self,
        prepared: &mut Prepared<'a, T, Self::Vector>,
        factors: Factors<T>,
    ) -> Result<Duration, Failed>;
    /// Waits for all that runs, whoever began it.
    fn wait(&mut self) -> Result<(), Failed>;
    /// Runs products for at least `time`, so that a device reaches the clocks at which it works, and reads
    /// the clocks while they run. `None` where nobody tells, as on the host.
    fn load(
        &mut self,
        prepared: &mut Prepared<'a, T, Self::Vector>,
        factors: Factors<T>,
        time: Duration,
    ) -> Result<Option<Clocks>, Failed>;
    /// The product's parts, with times that are the mean of `products`.
    fn parts(
        &mut self,
        prepared: &mut Prepared<'a, T, Self::Vector>,
        factors: Factors<T>,
        products: usize,
    ) -> Result<Parts, Failed>;
    /// With `--cache cold`, empties the caches before a sample.
    fn evict_caches(&mut self, prepared: &Prepared<'a, T, Self::Vector>) -> Result<(), Failed>;
    /// Measures the ceiling.
    fn look_at_peak(&mut self) -> Result<(), Failed>;
    /// The bandwidth in GB/s of `bytes`, or of as many as the last-level cache holds.
    fn cache_gbs(&mut self, bytes: u64) -> Result<f64, Failed>;
    /// The ceiling so far.
    fn peak(&self) -> Peak;
    /// Whether the device does nothing more for this process.
    fn is_lost(&self) -> bool;
}

/// Bytes that a product must move.
fn footprint<T: Scalar>(csr: &Csr<T>) -> usize {
    compulsory_bytes(csr.rows, csr.cols, csr.nnz(), T::PRECISION) as usize
}

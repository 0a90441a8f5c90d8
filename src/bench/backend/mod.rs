//! The backends on which products run, host and GPU (and with MPI many hosts): where the vectors are stored, how time
//! is measured and how caches are emptied.

mod gpu;
mod host;

use std::time::Duration;

use ptx_machine::model::Cure;
use rand::rngs::Xoshiro256PlusPlus;
use xxhash_rust::xxh3::xxh3_64;

use super::alteration::Alteration;
use super::inputs::Inputs;
pub use gpu::{OnGpu, free};
pub use host::Host;
use spmv_matrix::Csr;
use spmv_matrix::memory::Available;
use spmv_matrix::memory::extent::Extent;
use spmv_matrix::scalar::Scalar;
use spmv_matrix::spoil::few_spoilt;
use spmv_matrix::verify::{Reference, Verdict};
use spmv_methods::device::Stage;
use spmv_methods::device::facts::{Clocks, Energy};
use spmv_methods::method::{Choice, Device, Failed, Prepared, Request, Unprepared, Values};
use spmv_results::metrics::Peak;
use spmv_results::metrics::compulsory_bytes;

/// The pause before a method's turn, in which idle threads of a library or of the team fall asleep.
pub const SETTLE: Duration = Duration::from_millis(2);
/// The number of products over which the times of stages are averaged.
pub const STAGE_PRODUCTS: usize = 20;
/// Repetitions of the bandwidth measurement in each round.
const PEAK_REPETITIONS: usize = 3;

#[derive(Default)]
pub struct Parts {
    /// The parts in the order in which they run, with the time of each.
    pub stages: Vec<Stage>,
    /// The number of kernels, fills, copies, graphs and library calls that a product enqueues; `None` on the host.
    pub launches: Option<u64>,
    pub note: Option<String>,
}

/// A device on which methods are prepared and products run and are timed, with x and y in its memory.
pub trait Backend<'a, T: Scalar> {
    /// The type of x and y.
    type Vector: Values + ?Sized;
    const DEVICE: Device;

    /// Returns the largest `value` of all processes that measure together, so that all of them take the same decisions.
    fn agree(&self, value: u64) -> u64 {
        value
    }
    /// Returns whether times are modelled. Then one product yields the time of all, and nothing else is timed.
    fn is_modelled(&self) -> bool {
        false
    }
    /// Returns the number of products after which the caches of a modelled GPU have the contents that they keep: 0 if
    /// nothing stays there, 1 if everything fits with ease, more if lines replace each other.
    fn warming_products(&self) -> usize {
        0
    }
    /// Models all later products as if this performance problem of their kernels were removed.
    fn cure(&mut self, _: Cure) {}
    /// Prepares a method for a small matrix and multiplies once, so that one-time initialisation of the process
    /// (opening libraries, starting their threads, loading kernels) is not part of any measured time.
    fn rehearse(&mut self, choice: &Choice, request: &Request) -> Result<(), Unprepared>;
    /// Lets the system provide so many bytes of memory that the next setup may take. The host of a virtual machine may
    /// need much longer for a page than the system, and not for each: one setup would be ten times as long as another.
    fn supply(&mut self, _bytes: u64) {}
    /// Prepares a method. Returns it with the setup time, which excludes the compilation of its kernels.
    fn prepare(
        &mut self,
        choice: &Choice,
        request: &Request<'a>,
    ) -> Result<(Prepared<'a, T, Self::Vector>, Duration), Unprepared>;
    /// Returns the memory available for further methods; those that are prepared already take `kept` bytes.
    fn available(&self, matrix: &Extent, kept: u64) -> Result<Available, Failed>;
    /// Chooses other values for a few elements of x.
    fn alter(&self, inputs: &Inputs<T>, random: &mut Xoshiro256PlusPlus) -> Alteration<T>;
    /// Returns a new x and the reference of its product.
    fn renew(&self, inputs: &Inputs<T>, random: &mut Xoshiro256PlusPlus) -> (Vec<T>, Reference);
    /// Replaces x by `x`, which differs from the previous x only in the elements `changed`, or, without them,
    /// everywhere.
    fn set_x(&mut self, x: &[T], changed: Option<&[usize]>) -> Result<(), Failed>;
    /// Stores `x` where the device has place for it without a change of the x that products multiply.
    fn stage_x(&mut self, _x: &[T]) -> Result<(), Failed> {
        Ok(())
    }
    /// Lets products multiply the x that was staged, which is `x`, at once. On the host, the next call restores the one
    /// before.
    fn exchange_x(&mut self, x: &[T]) -> Result<(), Failed> {
        self.set_x(x, None)
    }
    /// Lets `write` overwrite elements of y on the host. The next product receives this y.
    fn write_y(&mut self, write: &mut dyn FnMut(&mut [T])) -> Result<(), Failed>;
    /// Overwrites a few elements of y, those of [`few_spoilt`].
    fn spoil_few(&mut self, seed: u64) -> Result<(), Failed> {
        self.write_y(&mut |y| few_spoilt(y.len(), seed).for_each(|(index, value)| y[index] = value))
    }
    /// Returns y after all products that were enqueued.
    fn y(&mut self) -> Result<&[T], Failed>;
    /// Checks that the products so far have written neither to x, which should be `x`, nor outside y, nor, if
    /// `is_of_others` (code of a plug-in or a library ran), to the matrix. After an error the device is lost, because
    /// what else was written is not known.
    fn check_memory(&mut self, _is_of_others: bool, _x: &[T]) -> Result<(), Failed> {
        Ok(())
    }
    /// Checks that code of a plug-in (`is_foreign`) has left the threads of the team as they were.
    fn check_threads(&mut self, _is_foreign: bool) -> Result<(), Failed> {
        Ok(())
    }
    /// Compares y with the reference. Returns the verdict and a hash of y.
    fn judge(&mut self, reference: &Reference) -> Result<(Verdict, u64), Failed> {
        let y = self.y()?;
        Ok(rayon::join(|| reference.judge(y), || xxh3_64(bytemuck::cast_slice(y))))
    }
    /// Runs a batch of products, with nothing else between the clock readings or events, and returns its time.
    fn time(
        &mut self,
        prepared: &mut Prepared<'a, T, Self::Vector>,
        products: usize,
    ) -> Result<Duration, Failed>;
    /// As [`time`](Self::time), with a call for each product. If these are `chained`, x of a product is y of the one
    /// before, in chains of [`CHAIN`](spmv_results::settings::CHAIN) products of which the first multiplies the usual
    /// x.
    fn time_calls(
        &mut self,
        _prepared: &mut Prepared<'a, T, Self::Vector>,
        _products: usize,
        _chained: bool,
    ) -> Result<Duration, Failed> {
        Err(Failed("there are no chains of products on this device".into()))
    }
    /// Returns the host's time to enqueue a product of the batch that was timed last; `None` on the host.
    fn host_launch(&self) -> Option<Duration> {
        None
    }
    /// Returns the maximum number of products in a batch, if they are like that of the batch that was timed last.
    fn most_products(&self) -> usize {
        usize::MAX
    }
    /// Runs a single product and returns the time until all work that it has started on the device has ended.
    fn time_alone(
        &mut self,
        prepared: &mut Prepared<'a, T, Self::Vector>,
    ) -> Result<Duration, Failed> {
        self.time(prepared, 1)
    }
    /// Runs a single product with cold caches and returns its time.
    fn time_cold(
        &mut self,
        prepared: &mut Prepared<'a, T, Self::Vector>,
    ) -> Result<Duration, Failed>;
    /// Returns the time that an empty kernel takes when it runs alone, measured as by [`time_alone`](Self::time_alone):
    /// longer if other programs use the device. The host has no kernels.
    fn time_empty(&mut self) -> Result<Duration, Failed> {
        Ok(Duration::ZERO)
    }
    /// Waits until the device is idle, whatever started the work on it. Does nothing on the host.
    fn wait(&mut self) -> Result<(), Failed> {
        Ok(())
    }
    /// Runs products for at least `time`, so that a device reaches its clocks under load, and reads the clocks while
    /// they run. Returns `None` where clocks cannot be read, as on the host.
    fn load(
        &mut self,
        _: &mut Prepared<'a, T, Self::Vector>,
        _: Duration,
    ) -> Result<Option<Clocks>, Failed> {
        Ok(None)
    }
    /// Returns the energy that the device has used so far; `None` if it has no counter that can be read.
    fn energy(&self) -> Option<Energy> {
        None
    }
    /// Whether the counter can have counted so many joules in this time.
    fn can_use(&self, joules: f64, _: Duration) -> bool {
        joules >= 0.0
    }
    fn parts(&mut self, _: &mut Prepared<'a, T, Self::Vector>) -> Result<Parts, Failed> {
        Ok(Parts::default())
    }
    /// Empties the caches before a sample if `--cache cold` is set. A product that `is_parallel` finds its threads
    /// awake.
    fn evict_caches(
        &mut self,
        prepared: &Prepared<'a, T, Self::Vector>,
        is_parallel: bool,
    ) -> Result<(), Failed>;
    /// Removes what earlier turns have left in the caches of a GPU, so that all turns begin alike.
    fn forget(&mut self) -> Result<(), Failed> {
        Ok(())
    }
    /// Measures the bandwidth at the matrix's footprint once more.
    fn measure_peak(&mut self) -> Result<(), Failed>;
    /// Measures the bandwidth over `bytes`, at most the size of the last-level cache, in GB/s.
    fn cache_gbs(&mut self, bytes: u64) -> Result<f64, Failed>;
    /// Returns the minimum time of a kernel launch, in milliseconds; `None` on the host.
    fn launch_ms(&self) -> Option<f64> {
        None
    }
    fn peak(&self) -> Peak;
    /// Returns whether the device accepts no more work from this process.
    fn is_lost(&self) -> bool {
        false
    }
}

/// Returns the bytes that a product must move, see [`compulsory_bytes`].
fn footprint<T: Scalar>(csr: &Csr<T>) -> usize {
    compulsory_bytes(csr.rows(), csr.cols(), csr.nnz(), T::PRECISION) as usize
}

/// The number of rows of the small matrix on which each method runs first: enough for MKL 2025.3 to be initialised
/// (measured with 2 threads: the setup of `mkl-ie` on 90,000 rows then took 0.01 ms instead of 2 ms).
const ROWS: usize = 64;

/// Returns the small matrix of [`Backend::rehearse`], with five diagonals and a full first row.
pub fn rehearsal_matrix<T: Scalar>() -> Csr<T> {
    let near = |row: usize| row.saturating_sub(2)..(row + 3).min(ROWS);
    let cols = |row: usize| if row == 0 { 0..ROWS } else { near(row) };
    let entries = (0..ROWS).flat_map(|row| cols(row).map(move |col| (row, col, 1.0)));
    let csr = Csr::<f64>::from_triplets(ROWS, ROWS, &entries.collect::<Vec<_>>());
    csr.to_precision::<T>().expect("ones are ones in every precision").into_owned()
}

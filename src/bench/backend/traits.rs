//! What the measuring loop needs of a device on which products run: its vectors, its timer, and the machine itself.

use std::time::Duration;

use ptx_machine::model::Cure;
use rand::rngs::Xoshiro256PlusPlus;
use xxhash_rust::xxh3::xxh3_64;

use crate::bench::alteration::Alteration;
use crate::bench::calls::Calls;
use crate::bench::inputs::Inputs;
use spmv_matrix::memory::Available;
use spmv_matrix::memory::extent::Extent;
use spmv_matrix::scalar::Scalar;
use spmv_matrix::spoil::few_spoilt;
use spmv_matrix::verify::{Reference, Verdict};
use spmv_methods::device::Stage;
use spmv_methods::device::facts::{Clocks, Energy};
use spmv_methods::method::{Choice, Device, Failed, Prepared, Request, Unprepared, Values};
use spmv_results::metrics::Peak;

/// The pause before a method's turn, in which idle threads of a library or of the team fall asleep.
pub const SETTLE: Duration = Duration::from_millis(2);
/// The number of products over which the times of stages are averaged.
pub const STAGE_PRODUCTS: usize = 20;
/// Repetitions of the bandwidth measurement in each round.
pub const PEAK_REPETITIONS: usize = 3;

/// The parts of a product in the order in which they run, and what enqueues them.
#[derive(Default)]
pub struct Parts {
    /// The parts with their times; empty on the host.
    pub stages: Vec<Stage>,
    /// The number of kernels, fills, copies, graphs and library calls that a product enqueues; `None` on the host.
    pub launches: Option<u64>,
    /// The time that these launches take at least, in milliseconds.
    pub launch_floor_ms: Option<f64>,
    pub note: Option<String>,
}

/// x and y in the memory of a device.
pub trait Vectors<T: Scalar> {
    /// Chooses other values for a few elements of x.
    fn alter(&self, inputs: &Inputs<T>, random: &mut Xoshiro256PlusPlus) -> Alteration<T>;
    /// Returns a new x and the reference of its product.
    fn renew(&self, inputs: &Inputs<T>, random: &mut Xoshiro256PlusPlus) -> (Vec<T>, Reference);
    /// Replaces x by `x`, which differs from the previous x only in the elements `changed`, or, without them,
    /// everywhere.
    fn set_x(&mut self, x: &[T], changed: Option<&[usize]>) -> Result<(), Failed>;
    /// Stores `x` where the device has place for it without a change of the x that products multiply: on the host.
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
    /// Compares y with the reference. Returns the verdict and a hash of y.
    fn judge(&mut self, reference: &Reference) -> Result<(Verdict, u64), Failed> {
        let y = self.y()?;
        Ok(rayon::join(|| reference.judge(y), || xxh3_64(bytemuck::cast_slice(y))))
    }
    /// Checks that the products so far have written neither to x, which should be `x`, nor outside y, nor, if
    /// `is_of_others` (code of a plug-in or a library ran), to the matrix. After an error the device is lost, because
    /// what else was written is not known. Only the memory of the host can be checked.
    fn check_memory(&mut self, _is_of_others: bool, _x: &[T]) -> Result<(), Failed> {
        Ok(())
    }
}

/// Prepares methods, and times their products.
pub trait Timer<'a, T: Scalar> {
    /// The type of x and y.
    type Vector: Values + ?Sized;
    /// Prepares a method for a small matrix and multiplies once, so that one-time initialisation of the process
    /// (opening libraries, starting their threads, loading kernels) is not part of any measured time.
    fn rehearse(&mut self, choice: &Choice, request: &Request) -> Result<(), Unprepared>;
    /// Prepares a method, which may take `room` bytes of memory. Returns it with the setup time, which excludes the
    /// compilation of its kernels.
    fn prepare(
        &mut self,
        choice: &Choice,
        request: &Request<'a>,
        room: u64,
    ) -> Result<(Prepared<'a, T, Self::Vector>, Duration), Unprepared>;
    /// Empties the caches before a sample if `--cache cold` is set. A product that `is_parallel` finds its threads
    /// awake.
    fn evict_caches(&mut self, prepared: &Prepared<'a, T, Self::Vector>, is_parallel: bool) -> Result<(), Failed>;
    /// Runs products in this way, with nothing else between the clock readings or events, and returns their time.
    fn time(&mut self, prepared: &mut Prepared<'a, T, Self::Vector>, calls: Calls) -> Result<Duration, Failed>;
    /// Returns the parts of a product.
    fn parts(&mut self, prepared: &mut Prepared<'a, T, Self::Vector>) -> Result<Parts, Failed>;
    /// Runs products for at least `time`, so that a device reaches its clocks under load, and reads the clocks while
    /// they run. Returns `None` where clocks cannot be read, as on the host.
    fn load(&mut self, _: &mut Prepared<'a, T, Self::Vector>, _: Duration) -> Result<Option<Clocks>, Failed> {
        Ok(None)
    }
    /// Returns the host's time to enqueue a product of the batch that was timed last; `None` on the host.
    fn host_launch(&self) -> Option<Duration> {
        None
    }
    /// Returns the maximum number of products in a batch, if they are like that of the batch that was timed last. The
    /// host has none.
    fn most_products(&self) -> usize {
        usize::MAX
    }
}

/// The device, whatever the products.
pub trait Machine {
    const DEVICE: Device;

    /// Returns the largest `value` of all processes that measure together, so that all of them take the same decisions.
    /// Other processes than those of MPI measure alone.
    fn agree(&self, value: u64) -> u64 {
        value
    }
    /// If times are modelled, returns the number of products after which the caches have the contents that they keep:
    /// 0 if nothing stays there, 1 if everything fits with ease, more if lines replace each other. One product then
    /// yields the time of all, and nothing else is timed.
    fn warming_products(&self) -> Option<usize> {
        None
    }
    /// Models all later products as if this performance problem of their kernels were removed.
    fn cure(&mut self, _: Cure) {}
    /// Returns the memory available for further methods; those that are prepared already take `kept` bytes.
    fn available(&self, matrix: &Extent, kept: u64) -> Result<Available, Failed>;
    /// Measures the bandwidth at the matrix's footprint once more.
    fn measure_peak(&mut self) -> Result<(), Failed>;
    fn peak(&self) -> Peak;
    /// Measures the bandwidth over `bytes`, at most the size of the last-level cache, in GB/s.
    fn cache_gbs(&mut self, bytes: u64) -> Result<f64, Failed>;
    /// Returns the energy that the device has used so far; `None` if it has no counter that can be read.
    fn energy(&self) -> Option<Energy>;
    /// Whether the counter can have counted so many joules in this time.
    fn can_use(&self, joules: f64, _: Duration) -> bool {
        joules >= 0.0
    }
    /// Waits until the device is idle, whatever started the work on it. Does nothing on the host.
    fn wait(&mut self) -> Result<(), Failed> {
        Ok(())
    }
    /// Removes what earlier turns have left in the caches of a GPU, so that all turns begin alike.
    fn forget(&mut self) -> Result<(), Failed> {
        Ok(())
    }
    /// Checks that code of a plug-in (`is_foreign`) has left the threads of the host as they were.
    fn check_threads(&mut self, _is_foreign: bool) -> Result<(), Failed> {
        Ok(())
    }
    /// Returns whether the device accepts no more work from this process.
    fn is_lost(&self) -> bool;
}

/// A device on which methods are prepared and products run and are timed.
pub trait Backend<'a, T: Scalar>: Vectors<T> + Timer<'a, T> + Machine {}

impl<'a, T: Scalar, S: Vectors<T> + Timer<'a, T> + Machine> Backend<'a, T> for S {}

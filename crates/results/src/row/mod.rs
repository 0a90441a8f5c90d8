//! A row of results: one matrix × method × precision. External scripts rely on its columns.

pub mod baseline;
pub mod column;
pub mod contest;
pub mod infinite;
pub mod joined;
pub mod key;
mod made;
mod matrix_facts;
pub mod remark;
pub mod setting;

use serde::{Deserialize, Serialize};

use crate::metrics::compulsory_bytes;
use crate::settings::{CacheState, Values};
use column::Kind::{NumberOrInfinity, Words};
use column::Role::{Efficiency, Linear, Log, Rate, Time, Unused, Word};
use column::{ColumnInfo, ColumnType, SETUP, Value, columns};
pub use key::RowKey;
pub use matrix_facts::{MatrixFacts, matrix_name, matrix_parts};
use spmv_matrix::device::Device;
use spmv_matrix::order::Order;
use spmv_matrix::scalar::Precision;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The method was verified and timed.
    Ok,
    /// The method does not support this matrix or is not available on this machine.
    Skipped,
    /// A result exceeded its error bound, or a check of the times failed.
    Wrong,
    /// The method ended with an error.
    Failed,
    /// The method exceeded its time limit.
    Timeout,
}

impl Status {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Skipped => "skipped",
            Self::Wrong => "wrong",
            Self::Failed => "failed",
            Self::Timeout => "timeout",
        }
    }
}

columns! {
    /// One row; the fields are the columns. The first 13 columns are those of merge-spmv, in its order. New columns are
    /// added at the end, so that older files, which lack them, can be read.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct Row {
        /// The matrix' file as given, or `gen:…` for a generated matrix; bytes of a name that are not valid text appear
        /// as `\xff`.
        file: String = Unused;
        /// The rows of the matrix in memory.
        num_rows: Option<usize> = Log("rows");
        /// The columns of the matrix in memory.
        num_cols: Option<usize> = Log("columns");
        /// The stored entries of the matrix in memory: symmetric files are expanded, duplicates summed, explicit zeros
        /// kept.
        num_nonzeros: Option<usize> = Log("nonzeros");
        /// The mean number of entries per row.
        row_length_mean: Option<f64> = Log("nonzeros per row");
        /// The population standard deviation of the number of entries per row.
        row_length_std_dev: Option<f64> = Log("standard deviation of row lengths");
        /// `row_length_std_dev` / `row_length_mean`.
        row_length_variation: Option<f64> = Log("variation of row lengths");
        /// The third standardised moment of the number of entries per row.
        row_length_skewness: Option<f64> = Linear("skewness of row lengths"), min: None;
        /// The method with the parameters that were given; empty in the row of a matrix without results.
        method_name: Option<String> = Unused;
        /// The time of everything that is done once per matrix, in milliseconds.
        setup_ms: Option<f64> = Log("setup (ms)"), not_modelled: Some(SETUP);
        /// The time of one product in milliseconds: the total time of all timed products over their number.
        avg_spmv_ms: Option<f64> = Time("mean time per product (ms)");
        /// 2·nnz / `avg_spmv_ms`, in 10⁹ per second.
        gflops: Option<f64> = Rate("GFLOP/s");
        /// The bytes that merge-spmv counts / `avg_spmv_ms`, in 10⁹ per second: nnz·(2V + I) + rows·(I + V) bytes, with
        /// V bytes per value and I = 4 bytes per index; x is counted once per nonzero.
        #[serde(rename = "effective_GBs")]
        effective_gbs: Option<f64> = Rate("effective GB/s");
        /// The precision of values and vectors: `f64` or `f32`.
        precision: Option<Precision> = Word;
        /// Where the method ran: `cpu`, `gpu` or `model:NAME` for a modelled GPU, whose times are not measured.
        device: Option<Device> = Word;
        /// The threads that computed; empty on a GPU.
        threads: Option<usize> = Linear("threads");
        /// Whether the product is y = αAᵀx + βy.
        transpose: Option<bool> = Word;
        /// `ok` (verified and timed), `skipped` (not possible for this matrix or machine), `wrong` (outside the error
        /// bound), `failed` (an error, or the process ended), `timeout` (longer than `--timeout`).
        status: Option<Status> = Word;
        /// Why the status is not `ok`; in an `ok` row: remarks of the method, what it chose or could not do, whether
        /// its times stayed noisy, and whether its threads were not bound to CPUs.
        reason: Option<String> = Unused;
        /// The smallest of the samples, in milliseconds; a sample is the mean of a batch of products.
        min_ms: Option<f64> = Time("minimum time per product (ms)");
        /// The median of the samples, in milliseconds.
        median_ms: Option<f64> = Time("median time per product (ms)");
        /// The largest of the samples, in milliseconds.
        max_ms: Option<f64> = Time("maximum time per product (ms)");
        /// The standard deviation of the samples, in milliseconds.
        std_dev_ms: Option<f64> = Unused;
        /// The lower end of the 95 % confidence interval of the median, in milliseconds. With several processes,
        /// Student's t over the logarithms of their medians. With one, the interval is from the k-th smallest to the
        /// k-th largest sample (order statistics): it assumes no distribution and lies within the samples. Empty for
        /// fewer than six samples of one process. In files without the column `values`: the interval of the mean,
        /// Student's t.
        ci95_low_ms: Option<f64> = Unused, min: None;
        /// The upper end of that interval, in milliseconds.
        ci95_high_ms: Option<f64> = Unused;
        /// The number of samples, which are timed batches.
        samples: Option<usize> = Unused;
        /// The number of timed products.
        iterations: Option<usize> = Unused;
        /// The bytes of each array of CSR, x and y once / `avg_spmv_ms`, in 10⁹ per second:
        /// nnz·(V + I) + (rows + 1)·I + (rows + cols)·V bytes, with V and I as in `effective_GBs`.
        #[serde(rename = "compulsory_GBs")]
        compulsory_gbs: Option<f64> = Rate("compulsory GB/s");
        /// `compulsory_GBs` in percent of the measured peak: the bytes are those of CSR, whatever the method stores.
        percent_of_peak: Option<f64> = Rate("% of peak bandwidth, as CSR");
        /// The bytes that the method keeps beyond CSR, x and y. If a library does not report it: what the process grew
        /// by in the setup, then `reason` says so; empty if that is unknown, too.
        extra_bytes: Option<u64> = Log("bytes beyond CSR");
        /// The number of products after which the setup has paid off against `csr-rows`, on a GPU against
        /// `gpu-csr-vector`; `inf` (in JSON a text) if it never does; empty if one of the two has no time, and for
        /// these two methods themselves. Files that were written before `inf` was introduced have an empty cell in its
        /// place.
        #[serde(with = "crate::row::infinite")]
        break_even: Option<f64> = Log("products until the setup has paid off"),
            kind: NumberOrInfinity, not_modelled: Some(SETUP);
        /// The largest error of a row over its bound without the factor 2.
        error_ratio: Option<f64> = Log("error / bound");
        /// The number of entries of the longest row.
        max_row_length: Option<u32> = Log("longest row");
        /// The number of rows without entries.
        empty_rows: Option<usize> = Linear("empty rows");
        /// The squared standard deviation of the row lengths.
        variance: Option<f64> = Log("variance of row lengths");
        /// The share of entries whose mirrored position is an entry too; only for square matrices.
        pattern_symmetry: Option<f64> = Linear("pattern symmetry"), max: Some(1);
        /// The collection's description of the problem, if the file contains it; for a generated matrix the generator,
        /// and the matrix for which it is a surrogate.
        kind: Option<String> = Word;
        /// `hot` if products run back to back, `cold` if the caches are evicted before each sample.
        cache: Option<CacheState> = Word;
        /// The order of rows and columns: `natural`, `rcm`, `band-k`, `band-3`, `band-volta` or `band-ampere`;
        /// `file:PATH` or `inverse-file:PATH` if another program computed it.
        order: Option<Order> = Word;
        /// The version of the library that computed.
        library_version: Option<String> = Unused;
        /// The name of the run, which the facts of the run contain too.
        run_id: String = Unused;
        /// The time of ordering and permuting in milliseconds, which is part of no method's time; empty for `natural`,
        /// and for an order that was read from a file, whose cost is unknown.
        order_ms: Option<f64> = Log("time of ordering (ms)"), not_modelled: Some(SETUP);
        /// On a GPU, for the kernel that takes most of the product: the resident threads of a multiprocessor as a share
        /// of the maximum (from the driver, by registers, shared memory and block); empty for libraries.
        occupancy: Option<f64> = Efficiency("occupancy"), max: Some(1);
        /// The number of bitwise different y among the verified products with the seeded x, after the first product
        /// and in each round: 1 if a method repeats its result.
        distinct_results: Option<usize> = Linear("bitwise different results"),
            not_modelled: Some("repeatability: its atomic operations have the same order every time");
        /// On a GPU, the number of kernels, fills, copies, graphs and library calls of a product; a library call counts
        /// as one, whatever it launches.
        launches: Option<u64> = Linear("launches of a product");
        /// `launches` times the smallest time of an empty kernel on that GPU, in milliseconds: a product that takes
        /// only a little longer is limited by its launches.
        launch_floor_ms: Option<f64> = Unused;
        /// The number of bitwise different values of the matrix, up to 65,536; empty if there are more, because
        /// counting them would take as much memory as the matrix.
        distinct_values: Option<usize> = Log("distinct values");
        /// `stored`, or what replaced the values with `--values`: `random` or `ones`.
        values: Option<Values> = Unused;
        /// The bytes that a product must read and write: the matrix as the method stores it, x and y, each once; empty
        /// if a library does not report what it stores.
        required_bytes: Option<u64> = Log("bytes of a product");
        /// `required_bytes` / `avg_spmv_ms` in percent of the measured peak.
        required_percent_of_peak: Option<f64> = Rate("% of peak bandwidth");
        /// Resident warps in percent of the maximum, modelled for a modelled GPU. For several kernels, this and the two
        /// following columns are the mean, weighted with their times; for real GPUs `scripts/gpu-profile` fills them
        /// in.
        achieved_occupancy: Option<f64> = Efficiency("achieved occupancy (%)");
        /// Active lanes in percent of all lanes, counted for a modelled GPU.
        warp_execution_efficiency: Option<f64> = Efficiency("warp execution efficiency (%)"), max: Some(100);
        /// Requested bytes in percent of the bytes of the loaded sectors, counted for a modelled GPU.
        global_load_efficiency: Option<f64> = Efficiency("global load efficiency (%)");
        /// The bytes that a modelled product reads from memory and writes to it.
        memory_bytes: Option<u64> = Log("bytes read from memory and written to it");
        /// What limits the longest kernel of a modelled product: `memory`, `L2`, `L1`, `issue`, `atomics`, `latency`,
        /// or `imbalance` between multiprocessors.
        bound_by: Option<String> = Word,
            kind: Words(&["memory", "L2", "L1", "issue", "atomics", "latency", "imbalance"]);
        /// The number of instructions that the warps of a product execute, counted for a modelled GPU.
        warp_instructions: Option<u64> = Log("instructions of warps");
        /// The number of sectors of 32 bytes of global memory that the loads and stores of a product access, whether
        /// caches contain them or not, counted for a modelled GPU.
        global_sectors: Option<u64> = Log("accessed sectors");
        /// The registers per thread of the longest kernel of a modelled product, as the compiler reports them.
        registers: Option<u32> = Linear("registers per thread");
        /// On a GPU, the host's time to enqueue a product in milliseconds, the median over the samples: products that
        /// follow each other take at least this long, whatever the GPU needs.
        host_launch_ms: Option<f64> = Unused;
        /// The largest distance of an entry from the diagonal, in this order; only for square matrices.
        bandwidth: Option<usize> = Log("bandwidth of the matrix");
        /// The sum over all rows of the distance from the first entry to the diagonal, 0 if it is not below the
        /// diagonal, in this order; only for square matrices.
        profile: Option<u64> = Log("profile of the matrix");
        /// The energy of a product in joules: the mean power while samples were taken, times `avg_spmv_ms`. On the CPU
        /// that of all packages and of their memory, on a GPU that of the board, with what they need when idle and what
        /// other programs use. Empty where the counters cannot be read, or if samples took less than 20 ms of a round
        /// on the CPU and 2 s on a GPU, or too small a part of it.
        joules_per_product: Option<f64> = Log("energy of a product (J)"), not_modelled: Some("energy");
        /// With `--protocol power`: the median time of products that all multiply the same x, in milliseconds. They
        /// take turns with the chains of products, whose times are in the other columns.
        independent_ms: Option<f64> = Time("time of an independent product (ms)");
    }
}

impl Row {
    /// Returns the key of the row within its matrix; `None` for the row of a matrix without methods.
    pub fn cell(&self) -> Option<RowKey> {
        Some(RowKey {
            precision: self.precision?,
            device: self.device?,
            method: self.method_name.clone()?,
            threads: self.threads,
            cache: self.cache,
            order: self.order,
        })
    }

    pub fn has_key(&self, cell: &RowKey) -> bool {
        self.cell().as_ref() == Some(cell)
    }

    /// Returns the numbers of rows, columns and nonzeros of the matrix, if it was read.
    pub fn sizes(&self) -> Option<[usize; 3]> {
        Some([self.num_rows?, self.num_cols?, self.num_nonzeros?])
    }

    /// Returns whether the matrix has at most 256 different values, so that one byte can represent each; `None` in
    /// files without that number.
    pub fn values_repeat(&self) -> Option<bool> {
        self.values.map(|_| self.distinct_values.is_some_and(|values| values <= 256))
    }

    pub fn is_ok(&self) -> bool {
        self.status == Some(Status::Ok)
    }

    pub fn is_bad(&self) -> bool {
        matches!(self.status, Some(Status::Wrong | Status::Failed | Status::Timeout))
    }

    /// Returns whether the matrix has at most one row or column; merge-spmv skips such matrices.
    pub fn is_trivial(&self) -> bool {
        self.num_rows.is_some_and(|rows| rows <= 1) || self.num_cols.is_some_and(|cols| cols <= 1)
    }

    /// Returns the bytes of each array of CSR, x and y once.
    pub fn compulsory_bytes(&self) -> Option<u64> {
        let [rows, cols, nonzeros] = self.sizes()?;
        Some(compulsory_bytes(rows, cols, nonzeros, self.precision?))
    }

    /// Returns the bytes of x and y.
    pub fn vector_bytes(&self) -> Option<u64> {
        Some((self.num_rows? + self.num_cols?) as u64 * self.precision?.bytes())
    }

    /// Whether the method keeps nothing for its products, which read CSR as it is.
    pub fn prepares_nothing(&self) -> bool {
        self.required_bytes.is_some() && self.required_bytes == self.compulsory_bytes()
    }

    /// Returns the time of a product for comparisons, in milliseconds: the median over the samples, which is robust
    /// against interruptions by other programs, or the mean in files without a median.
    pub fn typical_ms(&self) -> Option<f64> {
        self.median_ms.or(self.avg_spmv_ms)
    }

    /// Converts a rate of this row, which was computed from the mean time, to the rate for
    /// [`typical_ms`](Self::typical_ms).
    pub fn typical(&self, rate: f64) -> Option<f64> {
        Some(rate * self.avg_spmv_ms? / self.typical_ms()?)
    }

    /// Returns the time of what is done once per matrix: the setup, and the ordering if there is one, in milliseconds.
    /// `None` if that of the ordering is unknown.
    pub fn once_ms(&self) -> Option<f64> {
        let is_unknown = self.order.is_some_and(|order| order.path().is_some());
        Some(self.setup_ms.filter(|_| !is_unknown)? + self.order_ms.unwrap_or(0.0))
    }

    /// Returns the time of this many products and of what is done once, in milliseconds.
    pub fn total_ms(&self, products: u32) -> Option<f64> {
        Some(self.once_ms()? + f64::from(products) * self.typical_ms()?)
    }

    /// Returns the row with times that include what is done once, spread over this number of products, in place of a
    /// setup. A row without the time of its setup has no times.
    pub fn with_setup(self, products: u32) -> Self {
        let share = self.once_ms().map(|once| once / f64::from(products));
        let add = |ms: Option<f64>| Some(ms? + share?);
        let slower = add(self.avg_spmv_ms).zip(self.avg_spmv_ms).map(|(with, alone)| alone / with);
        let rate = |rate: Option<f64>| Some(rate? * slower?);
        Self {
            setup_ms: share.map(|_| 0.0),
            order_ms: None,
            avg_spmv_ms: add(self.avg_spmv_ms),
            min_ms: add(self.min_ms),
            median_ms: add(self.median_ms),
            max_ms: add(self.max_ms),
            ci95_low_ms: add(self.ci95_low_ms),
            ci95_high_ms: add(self.ci95_high_ms),
            percent_of_peak: rate(self.percent_of_peak),
            required_percent_of_peak: rate(self.required_percent_of_peak),
            gflops: rate(self.gflops),
            effective_gbs: rate(self.effective_gbs),
            compulsory_gbs: rate(self.compulsory_gbs),
            joules_per_product: None,
            independent_ms: None,
            ..self
        }
    }

    /// Returns the method, with its parameters, that this one chose, if it is one that chooses: its note says so.
    pub fn picked(&self) -> Option<&str> {
        let notes = self.reason.as_deref()?.split("; ");
        let picked = notes.filter_map(|note| note.strip_prefix("picked ")).next()?;
        picked.split(": ").next()
    }

    pub fn typical_gflops(&self) -> Option<f64> {
        self.typical(self.gflops?)
    }

    /// Returns the 95 % confidence interval of the median, in milliseconds.
    pub fn interval_ms(&self) -> Option<(f64, f64)> {
        let (low, high) = (self.ci95_low_ms?, self.ci95_high_ms?);
        (low.is_finite() && high.is_finite() && low <= high).then_some((low, high))
    }

    /// Returns half the width of the 95 % confidence interval, in percent of the median.
    pub fn uncertainty(&self) -> Option<f64> {
        let (low, high) = self.interval_ms()?;
        Some(50.0 * (high - low) / self.typical_ms()?)
    }
}

//! The table of the columns.

use serde::{Deserialize, Serialize};

use super::column::Kind::{NumberOrInfinity, Words};
use super::column::Role::{Efficiency, Linear, Log, Rate, Time, Unused, Word};
use super::column::{ColumnInfo, ColumnType, Join, SETUP, Spread, Value, columns};
use super::remark::Remarks;
use super::rules::{Joining, spread};
use super::several::{Distinct, Processes};
use super::status::Status;
use crate::settings::{CacheState, Values};
use spmv_matrix::device::Device;
use spmv_matrix::order::Order;
use spmv_matrix::scalar::Precision;

columns! {
    /// One row; the fields are the columns. The first 13 columns are those of merge-spmv, in its order. New columns are
    /// added at the end, so that older files, which lack them, can be read.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct Row {
        /// The matrix' file as given, or `gen:…` for a generated matrix; bytes of a name that are not valid text appear
        /// as `\xff`.
        file: String = Unused, Same, Keep;
        /// The rows of the matrix in memory.
        num_rows: Option<usize> = Log("rows"), Same, Keep;
        /// The columns of the matrix in memory.
        num_cols: Option<usize> = Log("columns"), Same, Keep;
        /// The stored entries of the matrix in memory: symmetric files are expanded, duplicates summed, explicit zeros
        /// kept.
        num_nonzeros: Option<usize> = Log("nonzeros"), Same, Keep;
        /// The mean number of entries per row.
        row_length_mean: Option<f64> = Log("nonzeros per row"), Same, Keep;
        /// The population standard deviation of the number of entries per row.
        row_length_std_dev: Option<f64> = Log("standard deviation of row lengths"), Same, Keep;
        /// `row_length_std_dev` / `row_length_mean`.
        row_length_variation: Option<f64> = Log("variation of row lengths"), Same, Keep;
        /// The third standardised moment of the number of entries per row.
        row_length_skewness: Option<f64> = Linear("skewness of row lengths"), Same, Keep, min: None;
        /// The method with the parameters that were given; empty in the row of a matrix without results.
        method_name: Option<String> = Unused, Same, Keep;
        /// The time of everything that is done once per matrix, in milliseconds.
        setup_ms: Option<f64> = Log("setup (ms)"), Typical, Clear, not_modelled: Some(SETUP);
        /// The time of one product in milliseconds: the total time of all timed products over their number.
        avg_spmv_ms: Option<f64> = Time("mean time per product (ms)"), Mean, Add;
        /// 2·nnz / `avg_spmv_ms`, in 10⁹ per second.
        gflops: Option<f64> = Rate("GFLOP/s"), Typical, Scale;
        /// The bytes that merge-spmv counts / `avg_spmv_ms`, in 10⁹ per second: nnz·(2V + I) + rows·(I + V) bytes, with
        /// V bytes per value and I = 4 bytes per index; x is counted once per nonzero.
        #[serde(rename = "effective_GBs")]
        effective_gbs: Option<f64> = Rate("effective GB/s"), Typical, Scale;
        /// The precision of values and vectors: `f64` or `f32`.
        precision: Option<Precision> = Word, Same, Keep;
        /// Where the method ran: `cpu`, `gpu` or `model:NAME` for a modelled GPU, whose times are not measured.
        device: Option<Device> = Word, Same, Keep;
        /// The threads that computed; empty on a GPU.
        threads: Option<usize> = Linear("threads"), Same, Keep;
        /// Whether the product is y = αAᵀx + βy.
        transpose: Option<bool> = Word, Same, Keep;
        /// `ok` (verified and timed), `skipped` (not possible for this matrix or machine), `wrong` (outside the error
        /// bound), `failed` (an error, or the process ended), `timeout` (longer than `--timeout`).
        status: Option<Status> = Word, Same, Keep;
        /// Why the status is not `ok`; in an `ok` row: remarks of the method, what it chose or could not do, whether
        /// its times stayed noisy, and whether its threads were not bound to CPUs.
        reason: Remarks = Unused, Union, Keep;
        /// The smallest of the samples, in milliseconds; a sample is the mean of a batch of products.
        min_ms: Option<f64> = Time("minimum time per product (ms)"), Least, Add;
        /// The median of the samples, in milliseconds.
        median_ms: Option<f64> = Time("median time per product (ms)"), GeometricMean, Add;
        /// The largest of the samples, in milliseconds.
        max_ms: Option<f64> = Time("maximum time per product (ms)"), Largest, Add;
        /// The standard deviation of the samples, in milliseconds.
        std_dev_ms: Option<f64> = Unused, Largest, Keep;
        /// The lower end of the 95 % confidence interval of the median, in milliseconds. With several processes,
        /// Student's t over the logarithms of their medians. With one, the interval is from the k-th smallest to the
        /// k-th largest sample (order statistics): it assumes no distribution and lies within the samples. Empty for
        /// fewer than six samples of one process. In files without the column `values`: the interval of the mean,
        /// Student's t.
        ci95_low_ms: Option<f64> = Unused, Typical, Add, min: None;
        /// The upper end of that interval, in milliseconds.
        ci95_high_ms: Option<f64> = Unused, Typical, Add;
        /// The number of samples, which are timed batches.
        samples: Option<usize> = Unused, Sum, Keep;
        /// The number of timed products.
        iterations: Option<usize> = Unused, Sum, Keep;
        /// The bytes of each array of CSR, x and y once / `avg_spmv_ms`, in 10⁹ per second:
        /// nnz·(V + I) + (rows + 1)·I + (rows + cols)·V bytes, with V and I as in `effective_GBs`.
        #[serde(rename = "compulsory_GBs")]
        compulsory_gbs: Option<f64> = Rate("compulsory GB/s"), Typical, Scale;
        /// `compulsory_GBs` in percent of the measured peak: the bytes are those of CSR, whatever the method stores.
        percent_of_peak: Option<f64> = Rate("% of peak bandwidth, as CSR"), Typical, Scale;
        /// The bytes that the method keeps beyond CSR, x and y. If a library does not report it: what the process grew
        /// by in the setup, then `reason` says so; empty if that is unknown, too.
        extra_bytes: Option<u64> = Log("bytes beyond CSR"), Typical, Keep;
        /// The number of products after which the setup has paid off against `csr-rows`, on a GPU against
        /// `gpu-csr-vector`; `inf` (in JSON a text) if it never does; empty if one of the two has no time, and for
        /// these two methods themselves. Files that were written before `inf` was introduced have an empty cell in its
        /// place.
        #[serde(with = "crate::row::infinite")]
        break_even: Option<f64> = Log("products until the setup has paid off"), Typical, Keep,
            kind: NumberOrInfinity, not_modelled: Some(SETUP);
        /// The largest error of a row over its bound without the factor 2.
        error_ratio: Option<f64> = Log("error / bound"), Largest, Keep;
        /// The number of entries of the longest row.
        max_row_length: Option<u32> = Log("longest row"), Same, Keep;
        /// The number of rows without entries.
        empty_rows: Option<usize> = Linear("empty rows"), Same, Keep;
        /// The squared standard deviation of the row lengths.
        variance: Option<f64> = Log("variance of row lengths"), Same, Keep;
        /// The share of entries whose mirrored position is an entry too; only for square matrices.
        pattern_symmetry: Option<f64> = Linear("pattern symmetry"), Same, Keep, max: Some(1);
        /// The collection's description of the problem, if the file contains it; for a generated matrix the generator,
        /// and the matrix for which it is a surrogate.
        kind: Option<String> = Word, Same, Keep;
        /// `hot` if products run back to back, `cold` if the caches are evicted before each sample.
        cache: Option<CacheState> = Word, Same, Keep;
        /// The order of rows and columns: `natural`, `rcm`, `band-k`, `band-3`, `band-volta` or `band-ampere`;
        /// `file:PATH` or `inverse-file:PATH` if another program computed it.
        order: Option<Order> = Word, Same, Keep;
        /// The version of the library that computed.
        library_version: Option<String> = Unused, Same, Keep;
        /// The name of the run, which the facts of the run contain too.
        run_id: String = Unused, Typical, Keep;
        /// The time of ordering and permuting in milliseconds, which is part of no method's time; empty for `natural`,
        /// and for an order that was read from a file, whose cost is unknown.
        order_ms: Option<f64> = Log("time of ordering (ms)"), Typical, Clear, not_modelled: Some(SETUP);
        /// On a GPU, for the kernel that takes most of the product: the resident threads of a multiprocessor as a share
        /// of the maximum (from the driver, by registers, shared memory and block); empty for libraries.
        occupancy: Option<f64> = Efficiency("occupancy"), Same, Keep, max: Some(1);
        /// The number of bitwise different y among the verified products with the seeded x, after the first product
        /// and in each round: 1 if a method repeats its result.
        distinct_results: Option<Distinct> = Linear("bitwise different results"), Union, Keep,
            not_modelled: Some("repeatability: its atomic operations have the same order every time");
        /// On a GPU, the number of kernels, fills, copies, graphs and library calls of a product; a library call counts
        /// as one, whatever it launches.
        launches: Option<u64> = Linear("launches of a product"), Same, Keep;
        /// `launches` times the smallest time of an empty kernel on that GPU, in milliseconds: a product that takes
        /// only a little longer is limited by its launches.
        launch_floor_ms: Option<f64> = Unused, Least, Keep;
        /// The number of bitwise different values of the matrix, up to 65,536; empty if there are more, because
        /// counting them would take as much memory as the matrix.
        distinct_values: Option<usize> = Log("distinct values"), Same, Keep;
        /// `stored`, or what replaced the values with `--values`: `random` or `ones`.
        values: Option<Values> = Unused, Same, Keep;
        /// The bytes that a product must read and write: the matrix as the method stores it, x and y, each once; empty
        /// if a library does not report what it stores.
        required_bytes: Option<u64> = Log("bytes of a product"), Typical, Keep;
        /// `required_bytes` / `avg_spmv_ms` in percent of the measured peak.
        required_percent_of_peak: Option<f64> = Rate("% of peak bandwidth"), Typical, Scale;
        /// Resident warps in percent of the maximum, modelled for a modelled GPU. For several kernels, this and the two
        /// following columns are the mean, weighted with their times; for real GPUs `scripts/gpu-profile` fills them
        /// in.
        achieved_occupancy: Option<f64> = Efficiency("achieved occupancy (%)"), Same, Keep;
        /// Active lanes in percent of all lanes, counted for a modelled GPU.
        warp_execution_efficiency: Option<f64> = Efficiency("warp execution efficiency (%)"), Same, Keep, max: Some(100);
        /// Requested bytes in percent of the bytes of the loaded sectors, counted for a modelled GPU.
        global_load_efficiency: Option<f64> = Efficiency("global load efficiency (%)"), Same, Keep;
        /// The bytes that a modelled product reads from memory and writes to it.
        memory_bytes: Option<u64> = Log("bytes read from memory and written to it"), Same, Keep;
        /// What limits the longest kernel of a modelled product: `memory`, `L2`, `L1`, `issue`, `atomics`, `latency`,
        /// or `imbalance` between multiprocessors.
        bound_by: Option<String> = Word, Same, Keep,
            kind: Words(&["memory", "L2", "L1", "issue", "atomics", "latency", "imbalance"]);
        /// The number of instructions that the warps of a product execute, counted for a modelled GPU.
        warp_instructions: Option<u64> = Log("instructions of warps"), Same, Keep;
        /// The number of sectors of 32 bytes of global memory that the loads and stores of a product access, whether
        /// caches contain them or not, counted for a modelled GPU.
        global_sectors: Option<u64> = Log("accessed sectors"), Same, Keep;
        /// The registers per thread of the longest kernel of a modelled product, as the compiler reports them.
        registers: Option<u32> = Linear("registers per thread"), Same, Keep;
        /// On a GPU, the host's time to enqueue a product in milliseconds, the median over the samples: products that
        /// follow each other take at least this long, whatever the GPU needs.
        host_launch_ms: Option<f64> = Unused, Median, Keep;
        /// The largest distance of an entry from the diagonal, in this order; only for square matrices.
        bandwidth: Option<usize> = Log("bandwidth of the matrix"), Same, Keep;
        /// The sum over all rows of the distance from the first entry to the diagonal, 0 if it is not below the
        /// diagonal, in this order; only for square matrices.
        profile: Option<u64> = Log("profile of the matrix"), Same, Keep;
        /// The energy of a product in joules: the mean power while samples were taken, times `avg_spmv_ms`. On the CPU
        /// that of all packages and of their memory, on a GPU that of the board, with what they need when idle and what
        /// other programs use. Empty where the counters cannot be read, or if samples took less than 20 ms of a round
        /// on the CPU and 2 s on a GPU, or too small a part of it.
        joules_per_product: Option<f64> = Log("energy of a product (J)"), Median, Clear, not_modelled: Some("energy");
        /// With `--protocol power`: the median time of products that all multiply the same x, in milliseconds. They
        /// take turns with the chains of products, whose times are in the other columns.
        independent_ms: Option<f64> = Time("time of an independent product (ms)"), GeometricMean, Clear;
        /// The method, with its parameters, that a method that chooses one of several has chosen.
        picked: Option<String> = Unused, Same, Keep;
        /// The largest error of a row over what random roundings yield.
        likely_ratio: Option<f64> = Log("error / likely error"), Largest, Keep;
        /// The medians of the processes in the order in which they ran, in milliseconds, separated by blanks.
        process_ms: Option<Processes> = Unused, Union, Clear;
        /// The setups of the processes in the same order, in milliseconds, separated by blanks.
        process_setup_ms: Option<Processes> = Unused, Union, Clear;
        /// The share of the samples that were disturbed: another program used a CPU for which a thread waited for more
        /// than 1 % of the sample's time. They are taken again, and do not count.
        disturbed: Option<f64> = Linear("disturbed samples"), Mean, Keep, max: Some(1);
    }
}

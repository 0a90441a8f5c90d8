//! The device file of a measured GPU, with the keys and order of the files in `devices`, and the source of each value.

use super::device_file::MATRIX_ADDITIONS;
use crate::device::facts::Facts;
use crate::device::gauge::Measured;

/// The first compute capability for which the kernels can be compiled, because they use atomic additions of doubles.
const FIRST_COMPILED: (u32, u32) = (6, 0);

/// Returns the capacity of the second-level cache for data of one multiprocessor in KiB.
pub fn l2_kib_per_copy(facts: &Facts) -> usize {
    (facts.l2_bytes / facts.l2_copies() / 1024) as usize
}

pub fn text(facts: &Facts, measured: &Measured, day: &str) -> String {
    let Facts { name, compute_capability: (major, minor), multiprocessors, .. } = facts;
    // What neither the driver reports nor `measure` can measure is from NVIDIA's programming guides and white papers.
    let issued_per_cycle = if facts.compute_capability == (6, 0) { 2.0 } else { 4.0 };
    let l1_has_shared = facts.compute_capability >= (7, 0);
    let fetched_sectors = if l1_has_shared { 2 } else { 1 };
    // A100 and H100: the tensor cores have twice the double-precision rate of the other units.
    let has_fast_matrices = matches!(facts.compute_capability, (8, 0) | (9, 0));
    let l2_copies = facts.l2_copies();
    let quoted = toml::Value::String(name.clone());
    let (l2_kib, per_copy) = (facts.l2_bytes >> 10, l2_kib_per_copy(facts));
    let memory_mib = facts.memory_bytes >> 20;
    let Facts { memory_bus_bits, memory_clock_mhz, driver, .. } = facts;
    let &Measured { clock_mhz, l1_kib, l1_caches_loads, l1_latency, l2_latency, .. } = measured;
    let &Measured { memory_latency, l2_gbs, memory_gbs, atomic_cycles, .. } = measured;
    let &Measured { launch_us, graph_launch_us, .. } = measured;
    let compiled_for = match facts.compute_capability {
        older if older < FIRST_COMPILED => {
            "# The oldest architecture for which the kernels can be compiled.\ncompiled_for = \"6.0\"\n"
        }
        _ => "",
    };
    let double_cycles = measured.double_cycles * issued_per_cycle;
    let matrix_cycles = match has_fast_matrices {
        true => format!(
            "# The cycles for which a product of 8 x 4 and 4 x 8 doubles occupies a scheduler: the tensor cores have \
             twice\n# the rate of other instructions, published for the architecture.\nmatrix_cycles = {:.1}\n",
            MATRIX_ADDITIONS / 2.0 * double_cycles
        ),
        false => String::new(),
    };
    format!(
        "# {name}, measured by `spmv-bench gpu-file` on {day} ({driver}). Values without a note are
# reported by the driver.
name = {quoted}
compute_capability = \"{major}.{minor}\"
{compiled_for}multiprocessors = {multiprocessors}
# In MHz; the clock during the measurements.
clock_mhz = {clock_mhz:.0}

# The number of warp instructions that a multiprocessor issues per cycle: published for the architecture. The cycles for
# which a double-precision instruction occupies a scheduler: measured.
issued_per_cycle = {issued_per_cycle}
double_cycles = {double_cycles:.1}
{matrix_cycles}
# The L1 cache of a multiprocessor: the largest ring of addresses that it can hold, measured in steps of 8 KiB. Whether
# shared memory is a part of it: published for the architecture. Whether ordinary loads use it: measured.
l1_kib = {l1_kib}
l1_has_shared = {l1_has_shared}
l1_caches_loads = {l1_caches_loads}

# The L2 cache, and the capacity for data of one multiprocessor. The number of copies of the same data in the cache is
# {l2_copies}: published for the architecture.
l2_kib = {l2_kib}
l2_kib_per_copy = {per_copy}

# The latency of a load in cycles if the data are in the L1 cache, in the L2 cache, or in memory: measured.
l1_latency = {l1_latency:.1}
l2_latency = {l2_latency:.1}
memory_latency = {memory_latency:.1}

# The bandwidth of the L2 cache in GB/s (10^9 bytes per second): measured by reading half of l2_kib_per_copy.
l2_gbs = {l2_gbs:.0}

# The bandwidth of memory in GB/s: measured with a copy of 32 times l2_kib_per_copy.
memory_gbs = {memory_gbs:.0}
# The width and the clock of the memory bus, whose theoretical bandwidth has two transfers per clock, and the size.
memory_bus_bits = {memory_bus_bits}
memory_clock_mhz = {memory_clock_mhz}
memory_mib = {memory_mib}
# The smallest number of 32-byte sectors that memory transfers at once: published for the architecture.
fetched_sectors = {fetched_sectors}

# The cycles between two atomic operations on one word in the L2 cache: measured.
atomic_cycles = {atomic_cycles:.2}
# The microseconds from the end of a kernel to the start of the next, including the time of an empty kernel, and the
# same for kernels of a graph: measured.
launch_us = {launch_us:.2}
graph_launch_us = {graph_launch_us:.2}
"
    )
}

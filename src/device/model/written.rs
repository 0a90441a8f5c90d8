//! The file of a device that was measured: every number with its source, in the order of the others of `devices`.

use crate::device::facts::Facts;
use crate::device::gauge::Measured;

/// The first compute capability that has all that the kernels use: atomic addition of doubles.
const FIRST_COMPILED: (u32, u32) = (6, 0);

/// What neither a driver tells nor [`measure`](crate::device::gauge::measure) can see: published of an architecture.
struct Architecture {
    /// Warp instructions that a multiprocessor issues in a cycle.
    issued_per_cycle: f64,
    /// Whether shared memory is taken from the first-level cache.
    l1_has_shared: bool,
    /// Copies of what is read that the second-level cache keeps.
    l2_copies: u64,
    /// Sectors of 32 bytes that memory delivers at least.
    fetched_sectors: u32,
}

impl Architecture {
    /// Of a compute capability, after NVIDIA's programming guides and white papers.
    fn of(compute_capability: (u32, u32)) -> Self {
        let is_unified = compute_capability >= (7, 0);
        Self {
            issued_per_cycle: if compute_capability == (6, 0) { 2.0 } else { 4.0 },
            l1_has_shared: is_unified,
            l2_copies: if matches!(compute_capability, (8, 0) | (9, 0)) { 2 } else { 1 },
            fetched_sectors: if is_unified { 2 } else { 1 },
        }
    }
}

/// KiB of the second-level cache that hold data which a multiprocessor uses.
pub fn l2_kib_per_copy(facts: &Facts) -> usize {
    (facts.l2_bytes / Architecture::of(facts.compute_capability).l2_copies / 1024) as usize
}

/// The text of the file; `day` is when it was measured.
pub fn text(facts: &Facts, measured: &Measured, day: &str) -> String {
    let Facts { name, compute_capability: (major, minor), multiprocessors, .. } = facts;
    let Architecture { issued_per_cycle, l1_has_shared, l2_copies, fetched_sectors } =
        Architecture::of(facts.compute_capability);
    let quoted = toml::Value::String(name.clone());
    let (l2_kib, per_copy) = (facts.l2_bytes >> 10, l2_kib_per_copy(facts));
    let memory_mib = facts.memory_bytes >> 20;
    let Facts { memory_bus_bits, memory_clock_mhz, driver, .. } = facts;
    let &Measured { clock_mhz, l1_kib, l1_caches_loads, l1_latency, l2_latency, .. } = measured;
    let &Measured { memory_latency, l2_gbs, memory_gbs, atomic_cycles, .. } = measured;
    let &Measured { launch_us, graph_launch_us, .. } = measured;
    let compiled_for = match facts.compute_capability {
        older if older < FIRST_COMPILED => {
            "# The first that the kernels are compiled for.\ncompiled_for = \"6.0\"\n"
        }
        _ => "",
    };
    let double_cycles = measured.double_cycles * issued_per_cycle;
    format!(
        "# {name}, by `spmv-bench gpu-file` on {day} ({driver}). What is not annotated is what the driver says.
name = {quoted}
compute_capability = \"{major}.{minor}\"
{compiled_for}multiprocessors = {multiprocessors}
# In MHz; while the rest was measured.
clock_mhz = {clock_mhz:.0}

# Warp instructions that a multiprocessor issues in a cycle: published of the architecture. The cycles for which one
# of double precision occupies a scheduler: measured.
issued_per_cycle = {issued_per_cycle}
double_cycles = {double_cycles:.1}

# The first-level cache of a multiprocessor: the largest ring of loads that it holds, measured in steps of 8 KiB; whether
# shared memory is taken from it: published of the architecture; whether ordinary loads go through it: measured.
l1_kib = {l1_kib}
l1_has_shared = {l1_has_shared}
l1_caches_loads = {l1_caches_loads}

# The second-level cache, and how much of it holds data that a multiprocessor uses; the architecture keeps {l2_copies} of
# each (published).
l2_kib = {l2_kib}
l2_kib_per_copy = {per_copy}

# Cycles from a load to its use when the data are in the first-level cache, the second-level cache, in memory: measured.
l1_latency = {l1_latency:.1}
l2_latency = {l2_latency:.1}
memory_latency = {memory_latency:.1}

# GB/s (10^9) that the second-level cache delivers: measured, reading half of a copy.
l2_gbs = {l2_gbs:.0}

# GB/s that memory delivers: measured, of a copy of 32 times as much as the second-level cache holds.
memory_gbs = {memory_gbs:.0}
# Its bus and clock, which give the bandwidth on paper at two transfers per clock; its size.
memory_bus_bits = {memory_bus_bits}
memory_clock_mhz = {memory_clock_mhz}
memory_mib = {memory_mib}
# Sectors of 32 bytes that memory delivers at least: published of the architecture.
fetched_sectors = {fetched_sectors}

# Cycles between two atomic operations on one word of the second-level cache: measured.
atomic_cycles = {atomic_cycles:.2}
# Microseconds from the end of a kernel to the beginning of the next, the time of an empty one included; the second for
# kernels of a graph: measured.
launch_us = {launch_us:.2}
graph_launch_us = {graph_launch_us:.2}
"
    )
}

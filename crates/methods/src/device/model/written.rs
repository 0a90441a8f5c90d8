//! The device file of a measured GPU, with the keys and order of the files in `devices`, and the source of each value.

use super::device_file::MATRIX_ADDITIONS;
use crate::device::gauge::Measured;
use spmv_matrix::device::facts::Facts;

/// The file, in which each value stands as its key in braces.
const TEMPLATE: &str = include_str!("written.txt");

/// The first compute capability for which the kernels can be compiled, because they use atomic additions of doubles.
const FIRST_COMPILED: (u32, u32) = (6, 0);

/// Returns the capacity of the second-level cache for data of one multiprocessor in KiB.
pub fn l2_kib_per_copy(facts: &Facts) -> usize {
    (facts.l2_bytes / facts.l2_copies() / 1024) as usize
}

pub fn text(facts: &Facts, measured: &Measured, day: &str) -> String {
    let of_all = [("day", day.to_owned())].into_iter();
    let values = of_all.chain(reported(facts)).chain(published(facts, measured)).chain(gauged(measured));
    values.fold(TEMPLATE.to_owned(), |text, (key, value)| text.replace(&format!("{{{key}}}"), &value))
}

/// A key and its value.
type Value = (&'static str, String);

/// What the driver reports.
fn reported(facts: &Facts) -> [Value; 10] {
    let (major, minor) = facts.compute_capability;
    [
        ("name", facts.name.clone()),
        ("quoted", toml::Value::String(facts.name.clone()).to_string()),
        ("driver", facts.driver.clone()),
        ("major", major.to_string()),
        ("minor", minor.to_string()),
        ("multiprocessors", facts.multiprocessors.to_string()),
        ("l2_kib", (facts.l2_bytes >> 10).to_string()),
        ("memory_bus_bits", facts.memory_bus_bits.to_string()),
        ("memory_clock_mhz", facts.memory_clock_mhz.to_string()),
        ("memory_mib", (facts.memory_bytes >> 20).to_string()),
    ]
}

/// What neither the driver reports nor `measure` can measure is from NVIDIA's programming guides and white papers.
fn published(facts: &Facts, measured: &Measured) -> [Value; 8] {
    let issued_per_cycle = if facts.compute_capability == (6, 0) { 2.0 } else { 4.0 };
    let double_cycles = measured.double_cycles * issued_per_cycle;
    let l1_has_shared = facts.compute_capability >= (7, 0);
    [
        ("compiled_for", compiled_for(facts)),
        ("issued_per_cycle", issued_per_cycle.to_string()),
        ("double_cycles", format!("{double_cycles:.1}")),
        ("matrix_cycles", matrix_cycles(facts, double_cycles)),
        ("l1_has_shared", l1_has_shared.to_string()),
        ("fetched_sectors", if l1_has_shared { "2".into() } else { "1".into() }),
        ("l2_copies", facts.l2_copies().to_string()),
        ("per_copy", l2_kib_per_copy(facts).to_string()),
    ]
}

fn compiled_for(facts: &Facts) -> String {
    if facts.compute_capability >= FIRST_COMPILED {
        return String::new();
    }
    "# The oldest architecture for which the kernels can be compiled.\ncompiled_for = \"6.0\"\n".into()
}

fn matrix_cycles(facts: &Facts, double_cycles: f64) -> String {
    // A100 and H100: the tensor cores have twice the double-precision rate of the other units.
    if !matches!(facts.compute_capability, (8, 0) | (9, 0)) {
        return String::new();
    }
    format!(
        "# The cycles for which a product of 8 x 4 and 4 x 8 doubles occupies a scheduler: the tensor cores have \
         twice\n# the rate of other instructions, published for the architecture.\nmatrix_cycles = {:.1}\n",
        MATRIX_ADDITIONS / 2.0 * double_cycles
    )
}

fn gauged(measured: &Measured) -> [Value; 11] {
    [
        ("clock_mhz", format!("{:.0}", measured.clock_mhz)),
        ("l1_kib", measured.l1_kib.to_string()),
        ("l1_caches_loads", measured.l1_caches_loads.to_string()),
        ("l1_latency", format!("{:.1}", measured.l1_latency)),
        ("l2_latency", format!("{:.1}", measured.l2_latency)),
        ("memory_latency", format!("{:.1}", measured.memory_latency)),
        ("l2_gbs", format!("{:.0}", measured.l2_gbs)),
        ("memory_gbs", format!("{:.0}", measured.memory_gbs)),
        ("atomic_cycles", format!("{:.2}", measured.atomic_cycles)),
        ("launch_us", format!("{:.2}", measured.launch_us)),
        ("graph_launch_us", format!("{:.2}", measured.graph_launch_us)),
    ]
}

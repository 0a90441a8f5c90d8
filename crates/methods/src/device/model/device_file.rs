//! Device files (`crates/ptx-machine/devices/*.toml`): the parameters of a modelled GPU, each with its source in a
//! comment.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::Path;

use ptx_machine::model::Gpu;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::occupancy::Limits;
use crate::device::{Unavailable, sources};
use spmv_matrix::device::facts::Facts;
use spmv_matrix::limited::read_text;
use spmv_matrix::near::hint;

/// The maximum size of a file in bytes.
const MOST_BYTES: u64 = 1 << 20;

const KNOWN: [(&str, &str); 9] = [
    ("k40m", include_str!("../../../devices/k40m.toml")),
    ("gtx1080", include_str!("../../../devices/gtx1080.toml")),
    ("titan-x-maxwell", include_str!("../../../devices/titan-x-maxwell.toml")),
    ("titan-x-pascal", include_str!("../../../devices/titan-x-pascal.toml")),
    ("p100", include_str!("../../../devices/p100.toml")),
    ("v100", include_str!("../../../devices/v100.toml")),
    ("a100", include_str!("../../../devices/a100.toml")),
    ("h100", include_str!("../../../devices/h100.toml")),
    ("h200", include_str!("../../../devices/h200.toml")),
];

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceFile {
    name: String,
    #[serde(deserialize_with = "version")]
    compute_capability: (u32, u32),
    /// The architecture that kernels are compiled for if no compiler supports that of the GPU.
    #[serde(default, deserialize_with = "version")]
    compiled_for: Option<(u32, u32)>,
    multiprocessors: u32,
    clock_mhz: f64,
    issued_per_cycle: f64,
    double_cycles: f64,
    /// If it is missing, matrices are multiplied at the rate of other double-precision instructions.
    matrix_cycles: Option<f64>,
    l1_kib: usize,
    l1_has_shared: bool,
    l1_caches_loads: bool,
    l2_kib: usize,
    l2_kib_per_copy: usize,
    l1_latency: f64,
    l2_latency: f64,
    memory_latency: f64,
    l2_gbs: f64,
    memory_gbs: f64,
    memory_bus_bits: u32,
    memory_clock_mhz: u32,
    memory_mib: u64,
    fetched_sectors: u32,
    atomic_cycles: f64,
    launch_us: f64,
    graph_launch_us: f64,
    /// The median difference between modelled and published times of this GPU; `None` if they have not been compared.
    pub validated_percent: Option<f64>,
    /// The same of each method that has been compared.
    #[serde(default)]
    pub validated_methods: BTreeMap<String, f64>,
}

/// The instructions of 32 multiplications and additions that a product of 8 × 4 and 4 × 8 elements corresponds to.
pub const MATRIX_ADDITIONS: f64 = 8.0;

fn check(key: &str, value: f64, range: RangeInclusive<f64>) -> Result<(), String> {
    let (least, most) = (*range.start(), *range.end());
    if range.contains(&value) {
        Ok(())
    } else {
        Err(format!("{key} = {value}: it must be from {least} to {most}"))
    }
}

impl DeviceFile {
    pub fn names() -> impl Iterator<Item = &'static str> {
        KNOWN.into_iter().map(|(name, _)| name)
    }

    /// Loads the built-in file with a name, or the file at a path that ends in `.toml`.
    pub fn find(name: &str) -> Result<Self, Unavailable> {
        if name.ends_with(".toml") {
            let text = read_text(Path::new(name), MOST_BYTES);
            let text = text.map_err(|error| Unavailable(format!("{name}: {error}")))?;
            return Self::parse(name, &text);
        }
        let known = KNOWN.into_iter().find(|(known, _)| *known == name);
        let (_, text) = known.ok_or_else(|| {
            let all = Self::names().collect::<Vec<_>>().join(", ");
            let all = format!("the models are {all}, and files whose names end in .toml");
            Unavailable(format!("there is no model '{name}'{}", hint(name, Self::names(), &all)))
        })?;
        Self::parse(&format!("crates/ptx-machine/devices/{name}.toml"), text)
    }

    fn parse(path: &str, text: &str) -> Result<Self, Unavailable> {
        let file: Self = toml::from_str(text).map_err(|error| Unavailable(format!("{path}: {error}")))?;
        file.check().map_err(|wrong| Unavailable(format!("{path}: {wrong}")))?;
        Ok(file)
    }

    /// Returns the first value outside its range. The ranges are far wider than those of any GPU, but with values in
    /// them the model computes finite times within the time of the simulation.
    fn check(&self) -> Result<(), String> {
        let matrix_cycles = self.matrix_cycles.unwrap_or(1.0);
        let validated = self.validated_percent.unwrap_or(0.0);
        let (cycles, rate, cache) = (0.0..=1e6, 0.1..=1e6, 1.0..=1e6);
        for (key, value, range) in [
            ("multiprocessors", f64::from(self.multiprocessors), 1.0..=1e4),
            ("clock_mhz", self.clock_mhz, 1.0..=1e6),
            ("issued_per_cycle", self.issued_per_cycle, 1e-3..=1e3),
            ("double_cycles", self.double_cycles, 1e-3..=1e6),
            ("matrix_cycles", matrix_cycles, 1e-3..=1e6),
            ("l1_kib", self.l1_kib as f64, 0.0..=1e6),
            ("l2_kib", self.l2_kib as f64, cache.clone()),
            ("l2_kib_per_copy", self.l2_kib_per_copy as f64, cache),
            ("l1_latency", self.l1_latency, cycles.clone()),
            ("l2_latency", self.l2_latency, cycles.clone()),
            ("memory_latency", self.memory_latency, cycles.clone()),
            ("l2_gbs", self.l2_gbs, rate.clone()),
            ("memory_gbs", self.memory_gbs, rate),
            ("memory_bus_bits", f64::from(self.memory_bus_bits), 1.0..=1e6),
            ("memory_clock_mhz", f64::from(self.memory_clock_mhz), 1.0..=1e6),
            ("memory_mib", self.memory_mib as f64, 1.0..=1e9),
            ("fetched_sectors", f64::from(self.fetched_sectors), 1.0..=1e3),
            ("atomic_cycles", self.atomic_cycles, cycles.clone()),
            ("launch_us", self.launch_us, cycles.clone()),
            ("graph_launch_us", self.graph_launch_us, cycles),
            ("validated_percent", validated, 0.0..=1e9),
        ] {
            check(key, value, range)?;
        }
        let mut of_methods = self.validated_methods.iter();
        of_methods.try_for_each(|(method, &percent)| check(method, percent, 0.0..=1e9))
    }

    pub fn architecture(&self) -> (u32, u32) {
        self.compiled_for.unwrap_or(self.compute_capability)
    }

    pub fn facts(&self) -> Facts {
        let limits = self.limits();
        Facts {
            name: format!("model of {}", self.name),
            compute_capability: self.compute_capability,
            multiprocessors: self.multiprocessors,
            warp_size: 32,
            max_threads_per_block: 1024,
            max_threads_per_multiprocessor: limits.threads,
            shared_bytes_per_block: 48 << 10,
            shared_bytes_per_multiprocessor: limits.shared,
            l2_bytes: self.l2_kib as u64 * 1024,
            memory_bytes: self.memory_mib << 20,
            clock_mhz: self.clock_mhz as u32,
            memory_clock_mhz: self.memory_clock_mhz,
            memory_bus_bits: self.memory_bus_bits,
            driver: "none: its time is modelled".into(),
            nvrtc: sources::origin(),
            cusparse: "none: the model cannot execute machine code".into(),
        }
    }

    pub fn limits(&self) -> Limits {
        Limits::of(self.compute_capability)
    }

    pub fn gpu(&self) -> Gpu {
        // GB/s divided by MHz gives thousands of bytes per cycle.
        let per_cycle = |gbs: f64| 1e3 * gbs / self.clock_mhz;
        Gpu {
            multiprocessors: self.multiprocessors as usize,
            clock_mhz: self.clock_mhz,
            issued_per_cycle: self.issued_per_cycle,
            double_cycles: self.double_cycles,
            matrix_cycles: self.matrix_cycles.unwrap_or(MATRIX_ADDITIONS * self.double_cycles),
            l1_bytes: self.l1_kib << 10,
            l1_has_shared: self.l1_has_shared,
            l1_caches_loads: self.l1_caches_loads,
            l2_bytes: self.l2_kib_per_copy << 10,
            l1_latency: self.l1_latency,
            l2_latency: self.l2_latency,
            memory_latency: self.memory_latency,
            l2_bytes_per_cycle: per_cycle(self.l2_gbs),
            memory_bytes_per_cycle: per_cycle(self.memory_gbs),
            fetched_sectors: self.fetched_sectors,
            atomic_cycles: self.atomic_cycles,
            launch_us: self.launch_us,
            graph_launch_us: self.graph_launch_us,
        }
    }
}

fn version<'de, D: Deserializer<'de>, V: From<(u32, u32)>>(from: D) -> Result<V, D::Error> {
    let text = String::deserialize(from)?;
    let parsed = text.split_once('.').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    parsed.map(V::from).ok_or_else(|| D::Error::custom(format!("'{text}' is not like \"9.0\"")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_of_the_built_in_files_are_plausible() {
        for name in DeviceFile::names() {
            let file = DeviceFile::find(name).unwrap();
            let (gpu, facts) = (file.gpu(), file.facts());
            let latencies = [gpu.l1_latency, gpu.l2_latency, gpu.memory_latency];
            assert!(latencies.is_sorted_by(|a, b| a < b), "{name}");
            let nominal = facts.nominal_gbs();
            assert!((0.5..1.0).contains(&(file.memory_gbs / nominal)), "{name}: {nominal}");
            assert!(file.memory_gbs < file.l2_gbs, "{name}");
        }
    }

    #[test]
    fn invalid_files_are_rejected() {
        let text = KNOWN[0].1;
        let refusal =
            |from: &str, to: &str| DeviceFile::parse("k40m.toml", &text.replace(from, to)).unwrap_err().to_string();
        assert!(refusal("l1_kib = 48", "l1_kb = 48").contains("l1_kb"), "an unknown key");
        assert!(refusal("\"3.5\"", "\"3\"").contains("'3' is not like"));
        let numbers = text.lines().filter_map(|line| {
            let (key, value) = line.split_once(" = ")?;
            value.parse::<f64>().is_ok().then_some((line, key))
        });
        let mut count = 0;
        for (line, key) in numbers {
            for wrong in ["nan", "-1", "inf", "4000000000"] {
                let refusal = refusal(line, &format!("{key} = {wrong}"));
                assert!(refusal.starts_with("k40m.toml: ") && refusal.contains(key), "{refusal}");
            }
            count += 1;
        }
        assert_eq!(count, 20);
        assert_eq!(refusal("l2_gbs = 340", "l2_gbs = 0"), "k40m.toml: l2_gbs = 0: it must be from 0.1 to 1000000");
        let Unavailable(unknown) = DeviceFile::find("h20").unwrap_err();
        assert!(unknown.contains("no model 'h20'") && unknown.contains("h200"), "{unknown}");
    }
}

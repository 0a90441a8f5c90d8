//! How far modelled times are from measured ones, as the device files of `ptx-machine` state it.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use spmv_matrix::limited::read_text;

macro_rules! device_files {
    ($($name:literal)*) => {
        [$(($name, include_str!(concat!("../../devices/", $name, ".toml")))),*]
    };
}

/// The device files that have been compared with measured times.
const COMPARED: [(&str, &str); 5] = device_files! { "a100" "h200" "k40m" "p100" "v100" };
/// The maximum size of a device file in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// The median differences between modelled and measured times of a GPU, in percent.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ModelError {
    /// That of all methods that have been compared; `None` if none has.
    pub validated_percent: Option<f64>,
    pub validated_methods: BTreeMap<String, f64>,
}

impl ModelError {
    /// Returns the errors of the model with this name, or of the device file at a path that ends in `.toml`. A model
    /// that has not been compared has none.
    pub fn of(name: &str) -> Self {
        let own = || read_text(Path::new(name), MOST_BYTES).ok();
        let own = name.ends_with(".toml").then(own).flatten();
        let known = COMPARED.iter().find(|(known, _)| *known == name);
        let text = own.or_else(|| Some(known?.1.to_owned())).unwrap_or_default();
        toml::from_str(&text).unwrap_or_default()
    }

    /// Returns those of all GPUs that have been compared.
    pub fn all() -> impl Iterator<Item = Self> {
        COMPARED.iter().map(|(name, _)| Self::of(name))
    }

    /// Returns the largest error of a method, or that of all; `None` if nothing has been compared.
    pub fn largest(&self) -> Option<f64> {
        self.validated_methods.values().copied().chain(self.validated_percent).reduce(f64::max)
    }
}

//! Reads clocks, temperature and use of a GPU from NVIDIA's management library (NVML).

use std::sync::OnceLock;

use nvml_wrapper::bitmasks::device::ThrottleReasons;
use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::{Device, Nvml};

use crate::device::facts::{Activity, Clocks};

/// Returns the library, or `None` if it is missing or does not work, as in some virtual machines.
fn nvml() -> Option<&'static Nvml> {
    static NVML: OnceLock<Option<Nvml>> = OnceLock::new();
    NVML.get_or_init(|| Nvml::init().ok()).as_ref()
}

pub fn driver_version() -> Option<String> {
    nvml()?.sys_driver_version().ok()
}

pub fn device(bus_id: &str) -> Option<Device<'static>> {
    nvml()?.device_by_pci_bus_id(bus_id).ok()
}

pub fn clocks(device: &Device) -> Option<Clocks> {
    let read = || -> Result<Clocks, NvmlError> {
        Ok(Clocks {
            multiprocessor_mhz: device.clock_info(Clock::SM)?,
            memory_mhz: device.clock_info(Clock::Memory)?,
            temperature: device.temperature(TemperatureSensor::Gpu).ok(),
            throttled_by: device.current_throttle_reasons().map(words).unwrap_or_default(),
        })
    };
    read().ok()
}

/// Returns what the device does for others, or `None` if it does not report that. The calling process must have a context,
/// because one of the reported processes is taken to be this one: in a container, its number there may differ.
pub fn activity(device: &Device) -> Option<Activity> {
    let processes = device.running_compute_processes_count().ok();
    Some(Activity {
        utilisation_percent: device.utilization_rates().ok()?.gpu,
        other_processes: processes.map(|all| all.saturating_sub(1) as usize),
    })
}

/// Formats the reasons for clocks below the maximum, for example `sw power cap`. Idleness is not a reason.
fn words(reasons: ThrottleReasons) -> Vec<String> {
    let slower = reasons - ThrottleReasons::GPU_IDLE;
    slower.iter_names().map(|(name, _)| name.to_lowercase().replace('_', " ")).collect()
}

#[cfg(test)]
#[test]
fn idleness_is_not_a_reason() {
    assert!(words(ThrottleReasons::GPU_IDLE | ThrottleReasons::NONE).is_empty());
    let both = ThrottleReasons::GPU_IDLE | ThrottleReasons::SW_POWER_CAP;
    assert_eq!(words(both), ["sw power cap"]);
}

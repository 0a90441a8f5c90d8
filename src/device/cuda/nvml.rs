//! Clocks and temperature, as NVIDIA's management library tells them.

use std::sync::OnceLock;

use nvml_wrapper::bitmasks::device::ThrottleReasons;
use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::{Device, Nvml};

use crate::device::facts::Clocks;

/// The library; `None` where it is absent or refuses, as in some virtual machines.
fn nvml() -> Option<&'static Nvml> {
    static NVML: OnceLock<Option<Nvml>> = OnceLock::new();
    NVML.get_or_init(|| Nvml::init().ok()).as_ref()
}

/// For example `580.65.06`.
pub fn driver_version() -> Option<String> {
    nvml()?.sys_driver_version().ok()
}

/// The device at that place on the bus.
pub fn device(bus_id: &str) -> Option<Device<'static>> {
    nvml()?.device_by_pci_bus_id(bus_id).ok()
}

/// The clocks at this moment; `None` when the device does not tell them.
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

/// The reasons that mean slower clocks than there could be, as words: `sw power cap`.
fn words(reasons: ThrottleReasons) -> Vec<String> {
    let slower = reasons - ThrottleReasons::GPU_IDLE;
    slower.iter_names().map(|(name, _)| name.to_lowercase().replace('_', " ")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idleness_slows_nothing() {
        assert!(words(ThrottleReasons::GPU_IDLE | ThrottleReasons::NONE).is_empty());
        let both = ThrottleReasons::GPU_IDLE | ThrottleReasons::SW_POWER_CAP;
        assert_eq!(words(both), ["sw power cap"]);
        assert_eq!(
            words(ThrottleReasons::APPLICATIONS_CLOCKS_SETTING),
            ["applications clocks setting"]
        );
    }
}

//! What is known of a device: from the driver, and from NVIDIA's management library (NVML).

use std::ffi::{CStr, c_char, c_int};
use std::sync::OnceLock;

use cudarc::driver::sys::CUdevice_attribute::{self, *};
use nvml_wrapper::bitmasks::device::ThrottleReasons;
use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};
use nvml_wrapper::{Device, Nvml};

use super::context::Context;
use super::cusparse;
use super::editions::Target;
use super::precompiled::MachineCode;
use crate::device::{Failed, Unavailable};
use spmv_matrix::device::facts::{Activity, Clocks, Energy, Facts};

/// Returns the device and driver for which libraries must work.
pub fn target(context: &Context) -> Result<Target, Failed> {
    Ok(Target {
        architecture: (
            attribute(context, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            attribute(context, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        ),
        driver: Some(context.cuda_version()?.0),
    })
}

pub fn facts(context: &Context, target: &Target, code: &MachineCode) -> Result<Facts, Failed> {
    let attribute = |which| attribute(context, which);
    Ok(Facts {
        name: text(context, "cuDeviceGetName", context.enter().cuDeviceGetName)?,
        compute_capability: target.architecture,
        multiprocessors: attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        warp_size: attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE)?,
        max_threads_per_block: attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        max_threads_per_multiprocessor: attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?,
        shared_bytes_per_block: attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?,
        shared_bytes_per_multiprocessor: attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)?,
        l2_bytes: attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?.into(),
        memory_bytes: memory(context)?,
        clock_mhz: attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE)? / 1000,
        memory_clock_mhz: attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)? / 1000,
        memory_bus_bits: attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)?,
        driver: driver(context)?,
        nvrtc: code.origin(),
        cusparse: match cusparse::library(target) {
            Ok(library) => library.to_string(),
            Err(Unavailable(reason)) => reason,
        },
    })
}

pub fn attribute(context: &Context, which: CUdevice_attribute) -> Result<u32, Failed> {
    let (mut value, device) = (0, context.device);
    // SAFETY: the device exists.
    context.call(format_args!("cuDeviceGetAttribute of {which:?}"), |cuda| unsafe {
        (cuda.cuDeviceGetAttribute)(&mut value, which, device)
    })?;
    Ok(value.try_into().unwrap_or(0))
}

fn text(
    context: &Context,
    call: &str,
    get: unsafe extern "C" fn(*mut c_char, c_int, c_int) -> u32,
) -> Result<String, Failed> {
    let mut text = [0u8; 256];
    let (to, length, device) = (text.as_mut_ptr().cast(), text.len() as c_int, context.device);
    // SAFETY: the function writes at most as many bytes as the buffer has, the last one 0.
    context.call(call, |_| unsafe { get(to, length, device) })?;
    Ok(CStr::from_bytes_until_nul(&text).unwrap_or_default().to_string_lossy().into_owned())
}

fn memory(context: &Context) -> Result<u64, Failed> {
    let (mut bytes, device) = (0, context.device);
    // SAFETY: the device exists.
    context.call("cuDeviceTotalMem", |cuda| unsafe { (cuda.cuDeviceTotalMem_v2)(&mut bytes, device) })?;
    Ok(bytes as u64)
}

/// Describes the driver, for example `driver 580.65.06, CUDA 13.0`. Without NVML only the CUDA version is known.
fn driver(context: &Context) -> Result<String, Failed> {
    let (major, minor) = context.cuda_version()?;
    let version = nvml().and_then(|nvml| nvml.sys_driver_version().ok());
    let driver = version.map(|version| format!("driver {version}, ")).unwrap_or_default();
    Ok(format!("{driver}CUDA {major}.{minor}"))
}

/// Returns the library, or `None` if it is missing or does not work, as in some virtual machines.
fn nvml() -> Option<&'static Nvml> {
    static NVML: OnceLock<Option<Nvml>> = OnceLock::new();
    NVML.get_or_init(|| Nvml::init().ok()).as_ref()
}

/// Returns the device in NVML, if it can be found there.
pub fn monitor(context: &Context) -> Result<Option<Device<'static>>, Failed> {
    let bus_id = text(context, "cuDeviceGetPCIBusId", context.enter().cuDeviceGetPCIBusId)?;
    Ok(nvml().and_then(|nvml| nvml.device_by_pci_bus_id(bus_id).ok()))
}

pub fn clocks(device: &Device) -> Option<Clocks> {
    Some(Clocks {
        multiprocessor_mhz: device.clock_info(Clock::SM).ok()?,
        memory_mhz: device.clock_info(Clock::Memory).ok()?,
        temperature: device.temperature(TemperatureSensor::Gpu).ok(),
        throttled_by: device.current_throttle_reasons().map(words).unwrap_or_default(),
    })
}

/// Returns what the device does for others, or `None` if it does not report that. The calling process must have a
/// context, because one of the reported processes is taken to be this one: in a container, its number there may differ.
pub fn activity(device: &Device) -> Option<Activity> {
    let processes = device.running_compute_processes_count().ok();
    Some(Activity {
        utilisation_percent: device.utilization_rates().ok()?.gpu,
        other_processes: processes.map(|all| all.saturating_sub(1) as usize),
    })
}

pub fn energy(device: &Device) -> Option<Energy> {
    Some(Energy {
        joules: 1e-3 * device.total_energy_consumption().ok()? as f64,
        watts: device.power_usage().ok().map(|milliwatts| 1e-3 * f64::from(milliwatts)),
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

use std::ffi::{CStr, c_char, c_int};

use cudarc::driver::sys::CUdevice_attribute::{self, *};

use super::context::Context;
use super::editions::Target;
use super::precompiled::MachineCode;
use super::{cusparse, nvml};
use crate::device::facts::Facts;
use crate::device::{Failed, Unavailable};

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
        max_threads_per_multiprocessor: attribute(
            CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
        )?,
        shared_bytes_per_block: attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?,
        shared_bytes_per_multiprocessor: attribute(
            CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
        )?,
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

/// Returns the PCI bus ID of the device, by which NVML finds it too.
pub fn bus_id(context: &Context) -> Result<String, Failed> {
    text(context, "cuDeviceGetPCIBusId", context.enter().cuDeviceGetPCIBusId)
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
    context.call("cuDeviceTotalMem", |cuda| unsafe {
        (cuda.cuDeviceTotalMem_v2)(&mut bytes, device)
    })?;
    Ok(bytes as u64)
}

/// Describes the driver, for example `driver 580.65.06, CUDA 13.0`. Without NVML only the CUDA version is known.
fn driver(context: &Context) -> Result<String, Failed> {
    let (major, minor) = context.cuda_version()?;
    let driver = nvml::driver_version().map(|driver| format!("driver {driver}, "));
    Ok(format!("{}CUDA {major}.{minor}", driver.unwrap_or_default()))
}

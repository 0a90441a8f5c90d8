//! The functions of the CUDA driver.

use std::ffi::{c_char, c_int, c_uchar, c_uint, c_ulonglong, c_void};
use std::fmt;
use std::ptr::null;
use std::sync::OnceLock;

use cudarc::driver::sys::{
    self, CUcontext, CUdevice, CUdevice_attribute, CUdeviceptr, CUevent, CUfunction,
    CUfunction_attribute, CUgraph, CUgraphExec, CUlaunchConfig, CUlimit, CUmodule, CUstream,
    CUstreamAttrID, CUstreamAttrValue, CUstreamCaptureMode,
};
use libloading::os::unix::Library;

use super::libraries::{self, functions};
use crate::device::{Failed, Unavailable};
use crate::library;

pub const NAME: &str = "libcuda.so.1";

functions! {
    Functions {
        cuInit(c_uint);
        cuDriverGetVersion(*mut c_int);
        cuDeviceGetCount(*mut c_int);
        cuDeviceGet(*mut CUdevice, c_int);
        cuDeviceGetName(*mut c_char, c_int, CUdevice);
        cuDeviceGetAttribute(*mut c_int, CUdevice_attribute, CUdevice);
        cuDeviceGetPCIBusId(*mut c_char, c_int, CUdevice);
        cuDeviceTotalMem_v2(*mut usize, CUdevice);
        cuDevicePrimaryCtxRetain(*mut CUcontext, CUdevice);
        cuDevicePrimaryCtxRelease_v2(CUdevice);
        cuCtxSetCurrent(CUcontext);
        cuCtxSynchronize();
        cuCtxSetLimit(CUlimit, usize);
        cuCtxResetPersistingL2Cache();
        cuStreamCreate(*mut CUstream, c_uint);
        cuStreamSynchronize(CUstream);
        cuStreamSetAttribute(CUstream, CUstreamAttrID, *const CUstreamAttrValue);
        cuStreamDestroy_v2(CUstream);
        cuMemGetInfo_v2(*mut usize, *mut usize);
        cuMemAlloc_v2(*mut CUdeviceptr, usize);
        cuMemFree_v2(CUdeviceptr);
        cuMemcpyHtoDAsync_v2(CUdeviceptr, *const c_void, usize, CUstream);
        cuMemcpyDtoHAsync_v2(*mut c_void, CUdeviceptr, usize, CUstream);
        cuMemcpyDtoDAsync_v2(CUdeviceptr, CUdeviceptr, usize, CUstream);
        cuMemsetD8Async(CUdeviceptr, c_uchar, usize, CUstream);
        cuModuleLoadData(*mut CUmodule, *const c_void);
        cuModuleGetFunction(*mut CUfunction, CUmodule, *const c_char);
        cuModuleUnload(CUmodule);
        cuFuncSetAttribute(CUfunction, CUfunction_attribute, c_int);
        cuOccupancyMaxActiveBlocksPerMultiprocessor(*mut c_int, CUfunction, c_int, usize);
        cuLaunchKernelEx(
            *const CUlaunchConfig,
            CUfunction,
            *mut *mut c_void,
            *mut *mut c_void,
        );
        cuEventCreate(*mut CUevent, c_uint);
        cuEventRecord(CUevent, CUstream);
        cuEventSynchronize(CUevent);
        cuEventDestroy_v2(CUevent);
        cuStreamBeginCapture_v2(CUstream, CUstreamCaptureMode);
        cuStreamEndCapture(CUstream, *mut CUgraph);
        cuGraphInstantiateWithFlags(*mut CUgraphExec, CUgraph, c_ulonglong);
        cuGraphDestroy(CUgraph);
        cuGraphLaunch(CUgraphExec, CUstream);
        cuGraphExecDestroy(CUgraphExec);
        cuProfilerStart();
        cuProfilerStop();
    }
    optional {
        cuFuncGetParamInfo(CUfunction, usize, *mut usize, *mut usize);
    }
}

type ErrorText = unsafe extern "C" fn(u32, *mut *const c_char) -> u32;

pub type ElapsedTime = unsafe extern "C" fn(*mut f32, CUevent, CUevent) -> u32;

pub struct Api {
    pub functions: Functions,
    /// The newest form of `cuEventElapsedTime` that the driver has.
    pub elapsed_time: ElapsedTime,
    error_name: ErrorText,
    error_string: ErrorText,
}

/// Opens the driver on the first call and returns it, or the reason why there is none.
pub fn api() -> Result<&'static Api, Unavailable> {
    static API: OnceLock<Result<Api, Unavailable>> = OnceLock::new();
    API.get_or_init(Api::open).as_ref().map_err(Clone::clone)
}

impl Api {
    fn open() -> Result<Self, Unavailable> {
        let library = library::open(None, NAME).map_err(|error| {
            let words = library::words(&error);
            Unavailable(match words.contains(NAME) && words.contains("No such file") {
                true => format!("no CUDA driver: {NAME} was not found on this machine"),
                false => {
                    format!("the CUDA driver cannot be loaded: {words}; install the driver again")
                }
            })
        })?;
        let api = Self::find(&library).map_err(|error| {
            Unavailable(format!(
                "the CUDA driver lacks a required function: {}; install a driver of CUDA 12.0 (version \
                 525) or newer",
                library::words(&error)
            ))
        })?;
        // The functions are used until the process ends.
        std::mem::forget(library);
        // SAFETY: 0 is the only valid flag.
        let status = unsafe { (api.functions.cuInit)(0) };
        api.available("cuInit", status)?;
        Ok(api)
    }

    fn find(library: &Library) -> Result<Self, libloading::Error> {
        let functions = Functions::find(library)?;
        // SAFETY: the signatures are those of the driver's header. A status is a 32-bit enum, and both forms of
        // cuEventElapsedTime have the same arguments.
        unsafe {
            let elapsed_time = library
                .get(b"cuEventElapsedTime_v2")
                .or_else(|_| library.get(b"cuEventElapsedTime"))?;
            Ok(Self {
                functions,
                elapsed_time: *elapsed_time,
                error_name: *library.get(b"cuGetErrorName")?,
                error_string: *library.get(b"cuGetErrorString")?,
            })
        }
    }

    /// Converts a status to a result. An error message starts with `call`, for example `cuMemAlloc of 12 bytes`.
    pub fn check(&self, status: u32, call: impl fmt::Display) -> Result<(), Failed> {
        match status {
            0 => Ok(()),
            _ => Err(Failed(format!("{call}: {}", self.words(status)))),
        }
    }

    /// Converts a status to a result for calls before a device is opened, whose failure means that none is available.
    pub fn available(&self, call: &str, status: u32) -> Result<(), Unavailable> {
        self.check(status, format_args!("the CUDA driver rejected {call}"))
            .map_err(|Failed(reason)| Unavailable(reason))
    }

    fn words(&self, status: u32) -> String {
        let text_of = |function: ErrorText| {
            let mut text = null();
            // SAFETY: the function accepts any status and returns a literal or null.
            unsafe {
                function(status, &mut text);
                libraries::text(text)
            }
        };
        format!("{} ({})", text_of(self.error_name), text_of(self.error_string))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::Functions;

    const OLDEST: (u32, u32) = (12, 0);

    #[test]
    fn the_oldest_driver_has_every_function_that_is_not_optional() {
        let table = include_str!("../../../../../tests/cuda/since.txt");
        let lines = table.lines().filter(|line| !line.starts_with('#'));
        let since: HashMap<&str, (u32, u32)> = lines
            .map(|line| {
                let (name, version) = line.split_once(' ').unwrap();
                let (major, minor) = version.split_once('.').unwrap();
                (name, (major.parse().unwrap(), minor.parse().unwrap()))
            })
            .collect();
        let by_hand = ["cuGetErrorName", "cuGetErrorString", "cuEventElapsedTime"];
        for name in Functions::REQUIRED.iter().chain(&by_hand) {
            assert!(since[name] <= OLDEST, "{name} appeared in CUDA {:?}", since[name]);
        }
        for name in Functions::OPTIONAL {
            assert!(since[name] > OLDEST, "{name} is in every supported driver");
        }
    }
}

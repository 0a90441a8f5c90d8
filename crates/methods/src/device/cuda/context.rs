//! The functions of the CUDA driver, and a device's context with the single stream in which everything runs.

use std::cell::RefCell;
use std::ffi::{c_char, c_int, c_uchar, c_uint, c_ulonglong, c_void};
use std::fmt;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;

use cudarc::driver::sys::{
    self, CUcontext, CUdevice, CUdevice_attribute, CUdeviceptr, CUevent, CUfunction, CUfunction_attribute, CUgraph,
    CUgraphExec, CUlaunchConfig, CUlimit, CUmodule, CUstream, CUstreamAttrID, CUstreamAttrValue, CUstreamCaptureMode,
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
            *const CUlaunchConfig, CUfunction, *mut *mut c_void, *mut *mut c_void,
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

pub struct Api {
    pub functions: Functions,
    /// The newest form of `cuEventElapsedTime` that the driver has.
    pub elapsed_time: unsafe extern "C" fn(*mut f32, CUevent, CUevent) -> u32,
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
        let library = library::open(library::RTLD_GLOBAL, None, NAME).map_err(|error| {
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
            let elapsed_time = library.get(b"cuEventElapsedTime_v2").or_else(|_| library.get(b"cuEventElapsedTime"))?;
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

/// The statuses of failed kernels (illegal address, timeout, failed assertion, …), which any later call may return.
const LAUNCH_ERRORS: std::ops::Range<u32> = 700..800;

pub struct Context {
    pub api: &'static Api,
    pub device: CUdevice,
    context: CUcontext,
    pub stream: CUstream,
    /// The name of the latest enqueued operation, which may be the cause of a later error.
    last: RefCell<String>,
}

impl Context {
    pub fn open(number: Option<usize>) -> Result<Self, Unavailable> {
        let api = api()?;
        let functions = &api.functions;
        let (mut device, mut context, mut stream) = (0, null_mut(), null_mut());
        let number = existing(api, number.unwrap_or(0))?;
        // SAFETY: a device with this number exists.
        api.available("cuDeviceGet", unsafe { (functions.cuDeviceGet)(&mut device, number) })?;
        // SAFETY: the device exists.
        let status = unsafe { (functions.cuDevicePrimaryCtxRetain)(&mut context, device) };
        api.available("cuDevicePrimaryCtxRetain", status)?;
        // From here on, dropping this value releases the context.
        let mut opened = Self { api, device, context, stream, last: RefCell::default() };
        // Flag 0: the stream is ordered with the default stream, which a library might use.
        // SAFETY: the context is alive.
        let status = unsafe { (opened.enter().cuStreamCreate)(&mut stream, 0) };
        api.available("cuStreamCreate", status)?;
        opened.stream = stream;
        Ok(opened)
    }

    /// Makes this context the current one of the calling thread, because libraries and other GPUs may have changed it,
    /// and returns the driver's functions.
    pub fn enter(&self) -> &'static Functions {
        // SAFETY: the context is alive. If this fails, the next call returns an error for an invalid context.
        unsafe { (self.api.functions.cuCtxSetCurrent)(self.context) };
        &self.api.functions
    }

    /// Calls a function of the driver with this context as the current one, and checks the status that it returns.
    pub fn call(&self, call: impl fmt::Display, function: impl FnOnce(&Functions) -> u32) -> Result<(), Failed> {
        self.check(function(self.enter()), call)
    }

    /// Converts a status to a result. An error message starts with `call`, for example `cuMemAlloc of 12 bytes`; that
    /// of a kernel's error also names the latest enqueued operation.
    pub fn check(&self, status: u32, call: impl fmt::Display) -> Result<(), Failed> {
        let last = self.last.borrow();
        if LAUNCH_ERRORS.contains(&status) && !last.is_empty() {
            self.api.check(status, format_args!("{call}, after {last}"))
        } else {
            self.api.check(status, call)
        }
    }

    /// Returns the CUDA version of the driver, for example (12, 4).
    pub fn cuda_version(&self) -> Result<(u32, u32), Failed> {
        let mut version = 0;
        // SAFETY: the pointer is valid for writes.
        self.call("cuDriverGetVersion", |cuda| unsafe { (cuda.cuDriverGetVersion)(&mut version) })?;
        let version = version.unsigned_abs();
        Ok((version / 1000, version % 1000 / 10))
    }

    pub fn enqueued(&self, name: &str) {
        let mut last = self.last.borrow_mut();
        last.clear();
        last.push_str(name);
    }

    /// Waits for the stream. An error message ends with `why`.
    pub fn synchronize(&self, why: &str) -> Result<(), Failed> {
        // SAFETY: the stream is alive.
        self.call(format_args!("cuStreamSynchronize{why}"), |cuda| unsafe { (cuda.cuStreamSynchronize)(self.stream) })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        let functions = self.enter();
        // SAFETY: both belong to this value and are released once. The statuses are ignored: nothing can be done.
        unsafe {
            if !self.stream.is_null() {
                (functions.cuStreamDestroy_v2)(self.stream);
            }
            (functions.cuDevicePrimaryCtxRelease_v2)(self.device);
        }
    }
}

fn existing(api: &Api, number: usize) -> Result<i32, Unavailable> {
    let mut count = 0;
    // SAFETY: the pointer is valid for writes.
    api.available("cuDeviceGetCount", unsafe { (api.functions.cuDeviceGetCount)(&mut count) })?;
    match i32::try_from(number) {
        Ok(number) if number < count => Ok(number),
        _ => Err(Unavailable(match count {
            0 => "this machine has no GPU that CUDA can use".into(),
            1 => "this machine has one GPU, number 0".into(),
            _ => format!("this machine has {count} GPUs, numbered from 0"),
        })),
    }
}

#[cfg(test)]
#[test]
fn the_oldest_driver_has_every_function_that_is_not_optional() {
    const OLDEST: [u32; 2] = [12, 0];
    let table = include_str!("../../../../../tests/cuda/since.txt");
    let since = |name: &str| {
        let mut lines = table.lines().filter_map(|line| line.split_once(' '));
        let (_, version) = lines.find(|(function, _)| *function == name).expect(name);
        let (major, minor) = version.split_once('.').unwrap();
        [major, minor].map(|number| number.parse::<u32>().unwrap())
    };
    let by_hand = ["cuGetErrorName", "cuGetErrorString", "cuEventElapsedTime"];
    for name in Functions::REQUIRED.iter().chain(&by_hand) {
        assert!(since(name) <= OLDEST, "{name} appeared in CUDA {:?}", since(name));
    }
    for name in Functions::OPTIONAL {
        assert!(since(name) > OLDEST, "{name} is in every supported driver");
    }
}

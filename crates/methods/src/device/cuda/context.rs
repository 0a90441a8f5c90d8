//! A device's context with the single stream in which everything runs.

use std::cell::RefCell;
use std::fmt;
use std::ptr::null_mut;

use cudarc::driver::sys::{CUcontext, CUdevice, CUstream};

use super::api::{Api, ElapsedTime, Functions, api};
use crate::device::{Failed, Unavailable};

/// The range of the statuses for failed kernels (illegal address, timeout, failed assertion, …), which any later call
/// may return.
const LAUNCH_ERRORS: std::ops::Range<u32> = 700..800;

pub struct Context {
    api: &'static Api,
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
    pub fn call(
        &self,
        call: impl fmt::Display,
        function: impl FnOnce(&Functions) -> u32,
    ) -> Result<(), Failed> {
        self.check(function(self.enter()), call)
    }

    /// Converts a status to a result. An error message starts with `call`, for example `cuMemAlloc of 12 bytes`; that of
    /// a kernel's error also names the latest enqueued operation.
    pub fn check(&self, status: u32, call: impl fmt::Display) -> Result<(), Failed> {
        let last = self.last.borrow();
        match LAUNCH_ERRORS.contains(&status) && !last.is_empty() {
            true => self.api.check(status, format_args!("{call}, after {last}")),
            false => self.api.check(status, call),
        }
    }

    pub fn elapsed_time(&self) -> ElapsedTime {
        self.api.elapsed_time
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
        let stream = self.stream;
        // SAFETY: the stream is alive.
        self.call(format_args!("cuStreamSynchronize{why}"), |cuda| unsafe {
            (cuda.cuStreamSynchronize)(stream)
        })
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

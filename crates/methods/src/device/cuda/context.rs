//! A device's context with the single stream in which everything runs.

use std::cell::RefCell;
use std::ptr::null_mut;

use cudarc::driver::sys::{CUcontext, CUdevice, CUstream};

use super::api::{Api, ElapsedTime, Functions, api};
use crate::device::{Failed, Unavailable};

/// The range of the statuses for failed kernels (illegal address, timeout, failed assertion, …), which any later call
/// may return.
const LAUNCH_ERRORS: std::ops::Range<u32> = 700..800;

/// A CUDA context and its stream.
pub struct Context {
    api: &'static Api,
    /// The device of the context.
    pub device: CUdevice,
    context: CUcontext,
    /// The stream in which all work is enqueued.
    pub stream: CUstream,
    /// The name of the latest enqueued operation, which may be the cause of a later error.
    last: RefCell<String>,
}

impl Context {
    /// Opens the context of the device with the given number, or of the first.
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

    /// Returns the driver's function for the time between events, with this context as the current one.
    pub fn elapsed_time(&self) -> ElapsedTime {
        self.enter();
        self.api.elapsed_time
    }

    /// Returns the CUDA version of the driver, for example (12, 4).
    pub fn cuda_version(&self) -> Result<(u32, u32), Failed> {
        self.api.cuda_version()
    }

    /// Converts a status to a result. The message of a kernel's error names the latest enqueued operation.
    pub fn check(&self, status: u32, call: impl FnOnce() -> String) -> Result<(), Failed> {
        self.api.check(status, || {
            let (call, last) = (call(), self.last.borrow());
            match LAUNCH_ERRORS.contains(&status) && !last.is_empty() {
                true => format!("{call}, after {last}"),
                false => call,
            }
        })
    }

    /// Records the name of the latest enqueued operation.
    pub fn enqueued(&self, name: &str) {
        let mut last = self.last.borrow_mut();
        last.clear();
        last.push_str(name);
    }

    /// Waits for all streams of the context, including those of libraries.
    pub fn synchronize_all(&self) -> Result<(), Failed> {
        // SAFETY: the context is alive.
        let status = unsafe { (self.enter().cuCtxSynchronize)() };
        self.check(status, || "cuCtxSynchronize".into())
    }

    /// Waits for the stream. An error message ends with `why`.
    pub fn synchronize(&self, why: &str) -> Result<(), Failed> {
        // SAFETY: the stream is alive.
        let status = unsafe { (self.enter().cuStreamSynchronize)(self.stream) };
        self.check(status, || format!("cuStreamSynchronize{why}"))
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

/// Checks that a device with this number exists.
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

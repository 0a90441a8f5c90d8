//! A device's context with the one stream that everything runs in.

use std::cell::RefCell;
use std::ptr::null_mut;

use cudarc::driver::sys::{CUcontext, CUdevice, CUstream};

use super::api::{Api, ElapsedTime, Functions, api};
use crate::method::{Failed, Unavailable};

/// Errors of kernels (illegal address, timeout, failed assertion, …) have numbers from here to 799,
/// and show in whichever call comes next.
const LAUNCH_ERRORS: std::ops::Range<u32> = 700..800;

/// See the file's head.
pub struct Context {
    api: &'static Api,
    /// The device.
    pub device: CUdevice,
    context: CUcontext,
    /// The stream.
    pub stream: CUstream,
    /// What was enqueued last: the suspect of a later error.
    last: RefCell<String>,
}

impl Context {
    /// The context of the device of that number, or the first.
    pub fn open(number: Option<usize>) -> Result<Self, Unavailable> {
        let api = api()?;
        let functions = &api.functions;
        let (mut device, mut context, mut stream) = (0, null_mut(), null_mut());
        let number = existing(api, number.unwrap_or(0))?;
        // SAFETY: there is a device of that number.
        api.available("cuDeviceGet", unsafe { (functions.cuDeviceGet)(&mut device, number) })?;
        // SAFETY: the device exists.
        let status = unsafe { (functions.cuDevicePrimaryCtxRetain)(&mut context, device) };
        api.available("cuDevicePrimaryCtxRetain", status)?;
        // From here on dropping it gives the context back.
        let mut opened = Self { api, device, context, stream, last: RefCell::default() };
        // Ordered with the default stream, in which a library might do something.
        // SAFETY: the context is alive.
        let status = unsafe { (opened.enter().cuStreamCreate)(&mut stream, 0) };
        api.available("cuStreamCreate", status)?;
        opened.stream = stream;
        Ok(opened)
    }

    /// The driver's functions, with this context the calling thread's current one, which libraries
    /// and other GPUs may have changed.
    pub fn enter(&self) -> &'static Functions {
        // SAFETY: the context is alive. Without it every call reports an invalid context.
        unsafe { (self.api.functions.cuCtxSetCurrent)(self.context) };
        &self.api.functions
    }

    /// The driver's function for the time between events, with this context the current one.
    pub fn elapsed_time(&self) -> ElapsedTime {
        self.enter();
        self.api.elapsed_time
    }

    /// The version of CUDA that the driver is of: 12 and 4 for CUDA 12.4.
    pub fn cuda_version(&self) -> Result<(u32, u32), Failed> {
        self.api.cuda_version()
    }

    /// A status as a result; an error of a kernel names the one that was enqueued last.
    pub fn check(&self, status: u32, call: impl FnOnce() -> String) -> Result<(), Failed> {
        self.api.check(status, || {
            let (call, last) = (call(), self.last.borrow());
            match LAUNCH_ERRORS.contains(&status) && !last.is_empty() {
                true => format!("{call}, after {last}"),
                false => call,
            }
        })
    }

    /// Notes what was enqueued.
    pub fn enqueued(&self, name: &str) {
        let mut last = self.last.borrow_mut();
        last.clear();
        last.push_str(name);
    }

    /// Waits for all streams of the context, those of libraries as well.
    pub fn synchronize_all(&self) -> Result<(), Failed> {
        // SAFETY: the context is alive.
        let status = unsafe { (self.enter().cuCtxSynchronize)() };
        self.check(status, || "cuCtxSynchronize".into())
    }

    /// Waits for the stream; `why` completes the message of an error.
    pub fn synchronize(&self, why: &str) -> Result<(), Failed> {
        // SAFETY: the stream is alive.
        let status = unsafe { (self.enter().cuStreamSynchronize)(self.stream) };
        self.check(status, || format!("cuStreamSynchronize{why}"))
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        let functions = self.enter();
        // SAFETY: both are this value's own, given back once. A status here changes nothing any more.
        unsafe {
            if !self.stream.is_null() {
                (functions.cuStreamDestroy_v2)(self.stream);
            }
            (functions.cuDevicePrimaryCtxRelease_v2)(self.device);
        }
    }
}

/// `number`, if there is a device of it.
fn existing(api: &Api, number: usize) -> Result<i32, Unavailable> {
    let mut count = 0;
    // SAFETY: a number to write to.
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

//! Methods of plug-ins, and their products that have been prepared for one matrix.

use std::ffi::{c_int, c_void};
use std::ptr::{null, null_mut};

use super::context::Context;
use super::entry::Entry;
use super::foreign::text;
use super::{abi, not_restored};
use crate::device::buffer::Value;
use crate::device::{Buffer, DeviceCsr, Failed, Unavailable, Unprepared};
use crate::library::float_state;
use crate::method::{Preparation, Prepared, Request, Values};
use spmv_matrix::Csr;
use spmv_matrix::scalar::{Precision, Scalar};

/// The reason why a method of a plug-in has no code in the process of the command.
const ELSEWHERE: &str = "methods of plug-ins run only in child processes, which --no-isolate does not use";

/// Why the functions of a method exist.
const CHECKED: &str = "the description was checked";
/// Why there is a handle.
const ALIVE: &str = "destroy is only called by end and drop";

/// Prepares a method of a plug-in, which is open in this process if there is an `entry`.
pub fn prepare<'a, T: Scalar>(
    entry: Option<&'static Entry>,
    csr: &'a Csr<T>,
    request: &Request<'a>,
) -> Result<Prepared<'a, T>, Unprepared> {
    let entry = entry.ok_or_else(|| Unavailable(ELSEWHERE.into()))?;
    let running = entry.prepare(csr, request)?;
    let info = running.info()?;
    let product = move |alpha, x: &[T], beta, y: &mut [T]| running.multiply(alpha, x, beta, y);
    Ok(described(Prepared::new(csr, 0, product), entry, info, request))
}

/// Does what [`prepare`] does for a method that runs on a GPU.
pub fn prepare_on_gpu<'a, T: Value>(
    entry: Option<&'static Entry>,
    csr: &'a DeviceCsr<'a, T>,
    request: &Request<'a>,
) -> Preparation<'a, T> {
    let entry = entry.ok_or_else(|| Unavailable(ELSEWHERE.into()))?;
    let running = entry.prepare_on_device(csr, request)?;
    let info = running.info()?;
    let product = move |alpha, x: &Buffer<T>, beta, y: &mut Buffer<T>| running.multiply_on_device(alpha, x, beta, y);
    Ok(described(Prepared::on_gpu(csr, product), entry, info, request))
}

/// Adds what the method says of itself to a product.
fn described<'a, T, V: Values + ?Sized>(
    prepared: Prepared<'a, T, V>,
    entry: &Entry,
    info: Info,
    request: &Request,
) -> Prepared<'a, T, V> {
    let library = info.library.unwrap_or_else(|| entry.description.edition());
    let changed = entry.description.opening_changed.as_ref();
    let undone = changed.map(|changed| format!("opening the plug-in has changed {changed}; this was undone"));
    let mut prepared = prepared.transposing(request.transpose);
    prepared.csr_bytes = info.csr_bytes;
    prepared.with_notes(info.note).with_notes(undone).with_library(&library, info.extra_bytes)
}

pub struct Running<'a> {
    entry: &'static Entry,
    /// The handle that `prepare` has stored; `None` after `destroy`.
    handle: Option<*mut c_void>,
    context: Box<Context<'a>>,
    /// The matrix in the form of the interface. It does not move, because the plug-in may keep its address.
    csr: Box<abi::Csr>,
}

pub struct Info {
    /// The bytes of memory in addition to CSR, x and y.
    pub extra_bytes: Option<u64>,
    /// The bytes of the CSR arrays that a product reads.
    pub csr_bytes: Option<u64>,
    pub note: Option<String>,
    /// The library that computes the product.
    pub library: Option<String>,
}

impl Entry {
    /// Prepares a method of the CPU for a matrix, which must outlive the result. A failure is explained by the plug-in.
    pub fn prepare<'a, T: Scalar>(
        &'static self,
        csr: &'a Csr<T>,
        request: &Request<'a>,
    ) -> Result<Running<'a>, Unprepared> {
        let sequential = self.description.has(abi::SEQUENTIAL);
        let threads = if sequential { 1 } else { request.team.len() };
        let arrays = [
            csr.row_offsets().as_ptr().cast(),
            csr.column_indices().as_ptr().cast(),
            csr.values().as_ptr().cast(),
        ];
        self.prepare_arrays(csr, arrays, Context::new(request, threads, None)?)
    }

    /// Prepares a method of the GPU as [`prepare`](Self::prepare) does one of the CPU.
    pub fn prepare_on_device<'a, T: Value>(
        &'static self,
        csr: &'a DeviceCsr<'a, T>,
        request: &Request<'a>,
    ) -> Result<Running<'a>, Unprepared> {
        let DeviceCsr { row_offsets, column_indices, values, .. } = csr;
        let arrays = [row_offsets.address(), column_indices.address(), values.address()];
        let arrays = arrays.map(|address| address as *const c_void);
        self.prepare_arrays(&csr.host, arrays, Context::new(request, 1, Some(&csr.gpu))?)
    }

    /// Prepares the method for a matrix whose `arrays` are where the method runs.
    fn prepare_arrays<'a, T: Scalar>(
        &'static self,
        csr: &Csr<T>,
        [row_offsets, column_indices, values]: [*const c_void; 3],
        context: Box<Context<'a>>,
    ) -> Result<Running<'a>, Unprepared> {
        let precision = match T::PRECISION {
            Precision::F64 => abi::F64,
            Precision::F32 => abi::F32,
        };
        if !self.description.has(precision) {
            let reason = format!("it has no product in {}", T::PRECISION.name());
            return Err(Unavailable(reason).into());
        }
        let csr = Box::new(abi::Csr {
            size: size_of::<abi::Csr>() as u32,
            precision: precision as u32,
            offset_bytes: size_of::<u32>() as u32,
            index_bytes: size_of::<u32>() as u32,
            rows: csr.rows() as i64,
            cols: csr.cols() as i64,
            nnz: csr.nnz() as i64,
            row_offsets,
            column_indices,
            values,
        });
        let mut running = Running { entry: self, handle: None, context, csr };
        let (prepare, mut handle) = (self.raw.prepare.expect(CHECKED), null_mut());
        // SAFETY: the plug-in has the interface's version, and the pointers are valid until `running` is dropped.
        let result = unsafe { prepare(running.context.as_ptr(), &raw const *running.csr, &mut handle) };
        if result == abi::UNSUITABLE {
            let explanation = running.context.explanation();
            let reason = explanation.unwrap_or("it does not take this matrix".into());
            return Err(Unavailable(reason).into());
        }
        running.check("prepare", result)?;
        running.handle = Some(handle);
        running.context.check()?;
        Ok(running)
    }
}

impl Running<'_> {
    /// Checks the result of a function. An error is the explanation of the plug-in.
    fn check(&self, function: &str, result: c_int) -> Result<(), Failed> {
        if result == abi::OK {
            return Ok(());
        }
        let explanation = self.context.explanation();
        Err(Failed(explanation.unwrap_or_else(|| format!("{function} returned {result}"))))
    }

    pub fn multiply<T: Scalar>(&self, alpha: T, x: &[T], beta: T, y: &mut [T]) -> Result<(), Failed> {
        // SAFETY: the caller guarantees the lengths of x and y.
        unsafe { self.call(alpha, x.as_ptr().cast(), beta, y.as_mut_ptr().cast()) }
    }

    /// Enqueues y ← αAx + βy on the GPU.
    pub fn multiply_on_device<T: Value>(
        &self,
        alpha: T,
        x: &Buffer<T>,
        beta: T,
        y: &mut Buffer<T>,
    ) -> Result<(), Failed> {
        let gpu = self.context.gpu.as_ref().expect("it was prepared on a GPU");
        // The context of the GPU may not be the current one of this thread.
        gpu.stream().map_err(|Unavailable(reason)| Failed(reason))?;
        let (from, to) = (x.address() as *const c_void, y.address() as *mut c_void);
        // SAFETY: the caller guarantees the lengths of x and y.
        gpu.library_call(&self.entry.description.name, || unsafe { self.call(alpha, from, beta, to) })
    }

    /// Calls `multiply`. A misuse of the context is an error, too.
    ///
    /// # Safety
    /// x and y must be where the method runs, and have the lengths that the matrix requires.
    unsafe fn call<T: Scalar>(&self, alpha: T, x: *const c_void, beta: T, y: *mut c_void) -> Result<(), Failed> {
        let (multiply, handle) = (self.entry.raw.multiply.expect(CHECKED), self.handle.expect(ALIVE));
        // SAFETY: the handle is that of `prepare`, and the caller guarantees the rest.
        let result = unsafe { multiply(handle, alpha.widen(), x, beta.widen(), y) };
        self.check("multiply", result)?;
        self.context.check()
    }

    /// Returns what the prepared method says of itself.
    pub fn info(&self) -> Result<Info, Failed> {
        let mut info = abi::Info {
            size: size_of::<abi::Info>() as u32,
            reserved: 0,
            extra_bytes: -1,
            csr_bytes: -1,
            note: null(),
            library: null(),
        };
        if let Some(inform) = self.entry.raw.info {
            // SAFETY: the handle is that of `prepare`, and the structure is complete.
            self.check("info", unsafe { inform(self.handle.expect(ALIVE), &mut info) })?;
        }
        // SAFETY: the interface demands that texts end.
        let (note, library) = unsafe { (text(info.note), text(info.library)) };
        let extra_bytes = info.extra_bytes.try_into().ok().or(self.context.allocated_bytes());
        Ok(Info { extra_bytes, csr_bytes: info.csr_bytes.try_into().ok(), note, library })
    }

    /// Calls `destroy`, and returns what it has left undone.
    pub fn end(mut self) -> Result<(), String> {
        self.destroy()
    }

    fn destroy(&mut self) -> Result<(), String> {
        let handle = self.handle.take();
        if let Some(gpu) = &self.context.gpu {
            // Nothing may use the memory any more. An error was reported by the product that caused it.
            let _ = gpu.synchronize();
        }
        if let (Some(handle), Some(destroy)) = (handle, self.entry.raw.destroy) {
            // SAFETY: the handle is that of `prepare`, and this is the only call with it.
            unsafe { destroy(handle) };
        }
        if let Some(changed) = float_state::restore() {
            return Err(format!("its function destroy: {}", not_restored(&changed).0));
        }
        match self.context.allocated_bytes() {
            None | Some(0) => Ok(()),
            Some(left) => Err(format!("its function destroy has not released {left} bytes of ctx->allocate")),
        }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if self.handle.is_some()
            && let Err(reason) = self.destroy()
        {
            eprintln!("{}: {reason}", self.entry.description.name);
        }
    }
}

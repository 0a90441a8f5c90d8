//! A method of a plug-in that has been prepared for one matrix.

use std::ffi::{c_int, c_void};
use std::ptr::{null, null_mut};

use super::context::{Context, Settings};
use super::{Entry, abi, not_restored, text};
use crate::device::buffer::Value;
use crate::device::{Buffer, DeviceCsr, Failed, Unavailable, Unprepared};
use crate::library::float_state;
use spmv_matrix::Csr;
use spmv_matrix::scalar::{Precision, Scalar};

/// Why the functions of a method exist.
const CHECKED: &str = "the description was checked";
/// Why there is a handle.
const ALIVE: &str = "destroy is only called by end and drop";

pub struct Running<'a> {
    entry: &'static Entry,
    /// The handle that `prepare` has stored; `None` after `destroy`.
    handle: Option<*mut c_void>,
    context: Box<Context<'a>>,
    /// The matrix in the form of the interface. It does not move, because the plug-in may keep its address.
    csr: Box<abi::Csr>,
}

#[derive(Debug, Default, PartialEq)]
pub struct Facts {
    /// The bytes of memory in addition to CSR, x and y.
    pub extra_bytes: Option<u64>,
    /// The bytes of the CSR arrays that a product reads.
    pub csr_bytes: Option<u64>,
    pub note: Option<String>,
    /// The library that computes the product.
    pub library: Option<String>,
}

impl Entry {
    /// Prepares a method of the CPU for a matrix, which must outlive the result. A failure has the explanation of the
    /// plug-in.
    pub fn prepare<'a, T: Scalar>(
        &'static self,
        csr: &'a Csr<T>,
        settings: &Settings<'a>,
    ) -> Result<Running<'a>, Unprepared> {
        let sequential = self.description.has(abi::SEQUENTIAL);
        let threads = if sequential { 1 } else { settings.team.len() };
        let arrays = [
            csr.row_offsets().as_ptr().cast(),
            csr.column_indices().as_ptr().cast(),
            csr.values().as_ptr().cast(),
        ];
        self.prepare_arrays(csr, arrays, Context::new(settings, threads, None)?)
    }

    /// Prepares a method of the GPU as [`prepare`](Self::prepare) does one of the CPU.
    pub fn prepare_on_device<'a, T: Value>(
        &'static self,
        csr: &'a DeviceCsr<'a, T>,
        settings: &Settings<'a>,
    ) -> Result<Running<'a>, Unprepared> {
        let DeviceCsr { row_offsets, column_indices, values, .. } = csr;
        let arrays = [row_offsets.address(), column_indices.address(), values.address()];
        let arrays = arrays.map(|address| address as *const c_void);
        self.prepare_arrays(&csr.host, arrays, Context::new(settings, 1, Some(&csr.gpu))?)
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
        match unsafe { prepare(running.context.as_ptr(), &raw const *running.csr, &mut handle) } {
            abi::OK => {
                running.handle = Some(handle);
                running.context.check()?;
                Ok(running)
            }
            abi::UNSUITABLE => {
                let explanation = running.context.explanation();
                Err(Unavailable(explanation.unwrap_or("it does not take this matrix".into()))
                    .into())
            }
            result => Err(running.failure("prepare", result).into()),
        }
    }
}

impl Running<'_> {
    /// Returns the explanation of the plug-in for the failure of a function.
    fn failure(&self, function: &str, result: c_int) -> Failed {
        let explanation = self.context.explanation();
        Failed(explanation.unwrap_or_else(|| format!("{function} returned {result}")))
    }

    pub fn multiply<T: Scalar>(
        &self,
        alpha: T,
        x: &[T],
        beta: T,
        y: &mut [T],
    ) -> Result<(), Failed> {
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
        gpu.library_call(&self.entry.description.name, || unsafe {
            self.call(alpha, from, beta, to)
        })
    }

    /// Calls `multiply`. A misuse of the context is an error, too.
    ///
    /// # Safety
    /// x and y must be where the method runs, and have the lengths that the matrix requires.
    unsafe fn call<T: Scalar>(
        &self,
        alpha: T,
        x: *const c_void,
        beta: T,
        y: *mut c_void,
    ) -> Result<(), Failed> {
        let (multiply, handle) =
            (self.entry.raw.multiply.expect(CHECKED), self.handle.expect(ALIVE));
        // SAFETY: the handle is that of `prepare`, and the caller guarantees the rest.
        match unsafe { multiply(handle, alpha.widen(), x, beta.widen(), y) } {
            abi::OK => self.context.check(),
            result => Err(self.failure("multiply", result)),
        }
    }

    /// Returns what the prepared method says of itself.
    pub fn facts(&self) -> Result<Facts, Failed> {
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
            match unsafe { inform(self.handle.expect(ALIVE), &mut info) } {
                abi::OK => (),
                result => return Err(self.failure("info", result)),
            }
        }
        // SAFETY: the interface demands that texts end.
        let (note, library) = unsafe { (text(info.note), text(info.library)) };
        let extra_bytes = info.extra_bytes.try_into().ok().or(self.context.allocated_bytes());
        Ok(Facts { extra_bytes, csr_bytes: info.csr_bytes.try_into().ok(), note, library })
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
            Some(left) => {
                Err(format!("its function destroy has not released {left} bytes of ctx->allocate"))
            }
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

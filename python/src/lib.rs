//! The compiled part of the Python package `spmv_bench`: reads and measures by the crate of the same name, and calls
//! methods that are written in Python. The rest of the package, with its documentation, is in `python/spmv_bench`.

mod method;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use anyhow::Context;
use bytemuck::cast_slice;
use method::{Current, OwnMethod};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use spmv_bench::{Csr, Measurement};
use spmv_matrix::system::System;
use spmv_methods::vendor::mkl;

/// How often a measurement lets Python handle signals such as Ctrl-C.
const SIGNALS: Duration = Duration::from_millis(100);

/// The shape and the arrays `data`, `indices` and `indptr` of a CSR matrix.
type Arrays<'py> = ((usize, usize), Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<i32>>, Bound<'py, PyArray1<i32>>);

#[pyfunction]
fn read(py: Python<'_>, source: PathBuf) -> PyResult<Arrays<'_>> {
    let csr = py.detach(|| spmv_bench::read(source)).map_err(|error| raised(&error.into()))?;
    let shape = (csr.rows(), csr.cols());
    let (indptr, indices, data) = csr.into_arrays();
    // Indices are less than 2^31, see MAX_INDEX.
    let signed = |indices: Vec<u32>| bytemuck::cast_vec::<u32, i32>(indices).into_pyarray(py);
    Ok((shape, data.into_pyarray(py), signed(indices), signed(indptr)))
}

/// Returns the rows of a result file as JSON.
#[pyfunction]
fn results(py: Python<'_>, file: PathBuf) -> PyResult<String> {
    let rows = py.detach(|| spmv_results::files::read::read(&file)).map_err(|error| raised(&error))?;
    let rows: Vec<_> = rows.into_iter().map(|recorded| recorded.row).collect();
    serde_json::to_string(&rows).map_err(|error| raised(&error.into()))
}

/// Measures methods on the matrix `a`, whose arrays follow. Returns the rows as JSON.
#[pyfunction]
#[pyo3(signature = (a, shape, data, indices, indptr, options, methods, own))]
#[expect(clippy::too_many_arguments, reason = "the arrays of a matrix in Python are separate objects")]
fn measure(
    py: Python<'_>,
    a: Py<PyAny>,
    shape: (usize, usize),
    data: PyReadonlyArray1<f64>,
    indices: PyReadonlyArray1<i32>,
    indptr: PyReadonlyArray1<i32>,
    options: Vec<String>,
    methods: Option<&str>,
    own: Vec<Py<OwnMethod>>,
) -> PyResult<String> {
    let unsigned =
        |array: PyReadonlyArray1<i32>| -> PyResult<Vec<u32>> { Ok(cast_slice::<i32, u32>(array.as_slice()?).to_vec()) };
    let arrays = (unsigned(indptr)?, unsigned(indices)?, data.as_slice()?.to_vec());
    let csr = Csr::new(shape.0, shape.1, arrays.0, arrays.1, arrays.2)
        .context("the arrays are not those of a CSR matrix with less than 2^31 rows, columns and nonzeros")
        .map_err(|error| raised(&error))?;

    let mut measurement = Measurement::with_options(&options).map_err(|error| raised(&error.into()))?;
    if let Some(methods) = methods {
        measurement.run.methods = Measurement::new(methods).run.methods;
    }
    measurement.own = own.iter().map(|method| method.get().method).collect();
    let interrupted = AtomicBool::new(false);
    measurement.interrupted = &interrupted;
    let _current =
        Current::set(a, &csr).ok_or_else(|| PyRuntimeError::new_err("another measurement runs in this process"))?;
    let rows = py.detach(|| wait_for(&interrupted, || spmv_bench::measure(&csr, &measurement)))?;
    let text = rows.and_then(|rows| Ok(serde_json::to_string(&rows)?));
    text.map_err(|error| raised(&error))
}

/// Returns an exception with the reasons of an error. The hints of the command line on its usage are left out.
fn raised(error: &anyhow::Error) -> PyErr {
    let text = format!("{error:#}");
    let end = ["\n\nUsage:", "\n\nFor more"].into_iter().find_map(|hint| text.find(hint));
    PyRuntimeError::new_err(text[..end.unwrap_or(text.len())].to_owned())
}

/// Runs `work` on another thread. Meanwhile Python handles signals; if its handler raises an exception, the work is
/// interrupted, and the exception is the result.
fn wait_for<R: Send>(interrupted: &AtomicBool, work: impl FnOnce() -> R + Send) -> PyResult<R> {
    thread::scope(|scope| {
        let (sender, receiver) = channel();
        let worker = scope.spawn(move || {
            let result = work();
            // The receiver waits only for the end.
            let _ = sender.send(());
            result
        });
        let mut handled = Ok(());
        while let Err(RecvTimeoutError::Timeout) = receiver.recv_timeout(SIGNALS) {
            if let Err(raised) = Python::attach(|py| py.check_signals()) {
                interrupted.store(true, Ordering::Relaxed);
                handled = Err(raised);
            }
        }
        let result = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        handled.map(|()| result)
    })
}

/// Returns the variables of the environment that bind MKL's threads to CPUs.
#[pyfunction]
fn placement() -> Vec<(&'static str, String)> {
    mkl::placement(&System::detect().cpus).into()
}

#[pymodule]
fn _native(module: &Bound<PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(read, module)?)?;
    module.add_function(wrap_pyfunction!(measure, module)?)?;
    module.add_function(wrap_pyfunction!(placement, module)?)?;
    module.add_function(wrap_pyfunction!(results, module)?)?;
    module.add_class::<OwnMethod>()
}

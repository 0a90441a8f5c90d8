//! Methods that are written in Python.
//!
//! `prepare` receives a CSR matrix that Python owns. `multiply` receives x and y as views of the program's own vectors,
//! because a copy of them would be in the time of the product. The views are made once per vector and kept. They are
//! valid as long as the vectors are: a method that keeps one fails.

use std::sync::Mutex;

use bytemuck::cast_slice;
use numpy::ndarray::ArrayView1;
use numpy::{Element, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::prelude::*;
use spmv_matrix::Csr;
use spmv_matrix::scalar::Scalar;
use spmv_methods::device::{Failed, Unavailable, Unprepared};
use spmv_methods::method::{Code, Method, Prepared, Request, Setup, custom, memory_of_custom};

/// The matrix that is measured now: the object of Python, and the address of its values in the program.
static CURRENT: Mutex<Option<(Py<PyAny>, usize)>> = Mutex::new(None);

/// Removes the current matrix when it is dropped.
pub struct Current;

impl Current {
    /// Sets the matrix that is measured. Returns `None` if another one is, since two measurements at the same time
    /// would slow each other down.
    pub fn set(a: Py<PyAny>, csr: &Csr<f64>) -> Option<Self> {
        let mut current = CURRENT.lock().unwrap();
        if current.is_some() {
            return None;
        }
        *current = Some((a, csr.values().as_ptr() as usize));
        Some(Self)
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        *CURRENT.lock().unwrap() = None;
    }
}

/// A method that is written in Python. It is never released, as the program's methods are not.
#[pyclass(frozen)]
pub struct OwnMethod {
    pub method: &'static Method,
}

/// The functions of a method in Python.
#[derive(Clone, Copy)]
struct Functions {
    /// Returns what `multiply` receives in place of A.
    prepare: Option<&'static Py<PyAny>>,
    multiply: &'static Py<PyAny>,
}

#[pymethods]
impl OwnMethod {
    #[new]
    fn new(
        name: String,
        summary: String,
        parallel: bool,
        multiply: Py<PyAny>,
        prepare: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        if name.is_empty() || !name.chars().all(is_plain) {
            let other = "has other characters than letters, digits, - . _";
            return Err(PyValueError::new_err(format!("the name {name:?} of a method {other}")));
        }
        if spmv_methods::named(&name).is_some() {
            let reason = format!("there is another method {name:?}: choose another name");
            return Err(PyValueError::new_err(reason));
        }
        let prepare = prepare.map(|function| &*Box::leak(Box::new(function)));
        let functions = Functions { prepare, multiply: Box::leak(Box::new(multiply)) };
        let method = Method {
            name: name.leak(),
            source: "Python",
            summary: summary.leak(),
            setup: if prepare.is_some() { Setup::Inspection } else { Setup::Nothing },
            memory: memory_of_custom,
            ..Method::new(Code::Custom {
                parallel,
                f64: custom(move |csr, request| functions.prepared(csr, request)),
                f32: custom(move |csr, request| functions.prepared(csr, request)),
            })
        };
        Ok(Self { method: Box::leak(Box::new(method)) })
    }
}

impl Functions {
    fn prepared<'a, T: Scalar + Element>(
        self,
        csr: &'a Csr<T>,
        request: &Request<'a>,
    ) -> Result<Prepared<'a, T>, Unprepared> {
        if (request.alpha, request.beta) != (1.0, 0.0) {
            return Err(Unavailable("a method in Python has neither alpha nor beta".into()).into());
        }
        let (operand, version) = Python::attach(|py| {
            let version = py.version_info();
            let a = matrix(py, csr)?;
            let operand = match self.prepare {
                Some(prepare) => prepare.call1(py, (a,))?,
                None => a,
            };
            Ok((operand, format!("Python {}.{}", version.major, version.minor)))
        })
        .map_err(failed)?;
        let (mut xs, mut ys) = (Views::default(), Views::default());
        let product = move |_, x: &[T], _, y: &mut [T]| {
            Python::attach(|py| {
                let x = xs.of::<T>(py, x.as_ptr(), x.len(), false)?;
                let y = ys.of::<T>(py, y.as_mut_ptr(), y.len(), true)?;
                self.multiply_once(&operand, &x, &y)
            })
            .map_err(failed)
        };
        Ok(Prepared::new(csr, 0, product).with_library(&version, None))
    }

    fn multiply_once(self, operand: &Py<PyAny>, x: &Bound<PyAny>, y: &Bound<PyAny>) -> PyResult<()> {
        let result = self.multiply.bind(x.py()).call1((operand, x, y))?;
        if !result.is_none() {
            return Err(PyValueError::new_err("it must write its result to y, and return nothing"));
        }
        // SAFETY: the pointers are those of live objects.
        let references = [x, y].map(|view| unsafe { ffi::Py_REFCNT(view.as_ptr()) });
        let kept = "it keeps x or y, which are valid only during the call";
        if references == [OWN_REFERENCES; 2] { Ok(()) } else { Err(PyValueError::new_err(kept)) }
    }
}

/// The references to a view while a product runs: that of [`Views`], and that of the caller.
const OWN_REFERENCES: isize = 2;

/// Views of vectors as NumPy arrays, each with the address and the length of its vector.
#[derive(Default)]
struct Views(Vec<(usize, usize, Py<PyAny>)>);

impl Views {
    /// Returns the view of a vector, which must be valid until the method is dropped or the memory is used for another
    /// vector of this length.
    fn of<'py, T: Element>(
        &mut self,
        py: Python<'py>,
        begin: *const T,
        length: usize,
        is_writable: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let known = |(address, count, _): &&(usize, usize, _)| (*address, *count) == (begin as usize, length);
        if let Some((_, _, view)) = self.0.iter().find(known) {
            return Ok(view.bind(py).clone());
        }
        // SAFETY: the memory is that of a vector of the measurement, which lives as long as the prepared method. The
        // method must not keep the view, which is checked after each call. Its base is None, so that nothing else leads
        // there.
        let view = unsafe {
            let vector = ArrayView1::from_shape_ptr(length, begin);
            PyArray1::borrow_from_array(&vector, py.None().into_bound(py)).into_any()
        };
        if !is_writable {
            // A view without a base that owns the memory cannot be made writable again.
            view.call_method1("setflags", (false,))?;
        }
        self.0.push((begin as usize, length, view.clone().unbind()));
        Ok(view)
    }
}

/// Returns the current matrix if `csr` is that matrix, and a copy of `csr` for Python otherwise.
fn matrix<T: Scalar + Element>(py: Python, csr: &Csr<T>) -> PyResult<Py<PyAny>> {
    if let Some((a, address)) = &*CURRENT.lock().unwrap()
        && *address == csr.values().as_ptr() as usize
    {
        return Ok(a.clone_ref(py));
    }
    let indices = |array: &[u32]| PyArray1::from_slice(py, cast_slice::<u32, i32>(array));
    let values = PyArray1::from_slice(py, csr.values());
    let arrays = (values, indices(csr.column_indices()), indices(csr.row_offsets()));
    let sparse = py.import("scipy.sparse")?;
    let a = sparse.call_method1("csr_array", (arrays, (csr.rows(), csr.cols())))?;
    Ok(a.unbind())
}

/// Returns the exception of a method as the reason of its row.
fn failed(raised: PyErr) -> Failed {
    Failed(raised.to_string())
}

"""Measures sparse matrix-vector products beside those of the benchmark spmv-bench.

    import spmv_bench

    a = spmv_bench.read("west0479.mtx")             # a scipy.sparse.csr_array

    @spmv_bench.method
    def scipy(a, x, y):                             # writes y = a @ x
        y[:] = a @ x

    rows = spmv_bench.measure(a, ["merge", "mkl-ie", scipy], max_time=0.5)
    print(pandas.DataFrame(rows)[["method_name", "median_ms", "setup_ms", "status"]])
"""

import json
import os

import numpy
import scipy.sparse

from . import _native

__all__ = ["Method", "measure", "method", "read"]

# MKL reads these variables when it starts. Without them, all its threads would run on one CPU.
for _name, _value in _native.placement():
    os.environ.setdefault(_name, _value)


def read(source):
    """Returns the matrix of a file (Matrix Market or another format that docs/matrices.md lists, compressed or not) or
    of a generator such as "gen:grid2d,n=100,points=5", as a scipy.sparse.csr_array of float64. Both triangles of a
    symmetric file are stored, and duplicates are summed. Raises RuntimeError with the file, the line and the reason."""
    shape, data, indices, indptr = _native.read(source)
    return scipy.sparse.csr_array((data, indices, indptr), shape=shape)


class Method:
    """A method that is written in Python; see `method`."""

    def __init__(self, multiply, prepare=None, name=None, parallel=False):
        self.name = name or multiply.__name__.replace("_", "-")
        summary = (multiply.__doc__ or "a method in Python").strip().splitlines()[0]
        self._native = _native.OwnMethod(self.name, summary, parallel, multiply, prepare)
        self._multiply = multiply

    def __call__(self, a, x, y):
        return self._multiply(a, x, y)


def method(multiply=None, *, prepare=None, name=None, parallel=False):
    """Makes a method of a function multiply(a, x, y), which writes a @ x to y and returns nothing.

    x and y are NumPy arrays, and x cannot be written. They are valid only during the call. With prepare, multiply
    receives prepare(a) in place of a, and the time of prepare is shown as setup. In float32 a copy of the matrix for
    Python is a part of the setup. parallel says whether the function uses several threads, which results show."""
    if multiply is None:
        return lambda function: Method(function, prepare, name, parallel)
    return Method(multiply, prepare, name, parallel)


def measure(a, methods=None, **options):
    """Measures methods on a matrix, and returns a list of dicts: one row per method, with the columns of the program's
    result files.

    a is converted to CSR; if its type is float32, products are in single precision, otherwise in double precision.
    methods is a text such as "merge,mkl-*,csr5:sigma=8", or a list of such texts and of methods in Python; all methods
    by default. options are those of the command line: max_time=0.5, rounds=3, threads=2, device="model:h200",
    cache=["hot", "cold"], transpose=True.

    All methods take turns, and every product is verified. They run in this process, so a method that crashes ends it.
    Ctrl-C ends a measurement after the current sample. Raises RuntimeError if an option is not valid."""
    chosen = [methods] if isinstance(methods, (str, Method)) else methods
    own = [each._native for each in chosen or [] if isinstance(each, Method)]
    names = ",".join(each for each in chosen or [] if not isinstance(each, Method))
    a = _canonical(a)
    options.setdefault("precision", "f32" if a.dtype == numpy.float32 else "f64")
    words = [word for name, value in options.items() for word in _option(name, value)]
    data = a.data.astype(numpy.float64, copy=False)
    arrays = [numpy.ascontiguousarray(array, numpy.int32) for array in (a.indices, a.indptr)]
    rows = _native.measure(a, a.shape, data, *arrays, words, None if chosen is None else names, own)
    return json.loads(rows)


def _canonical(a):
    """Returns a matrix as CSR with sorted indices, without duplicates, in float32 or float64."""
    a = scipy.sparse.csr_array(a)
    if numpy.iscomplexobj(a):
        raise TypeError("complex matrices are not supported: pass a.real or a.imag")
    if max(a.shape + (a.nnz,)) >= 2**31:
        raise ValueError(f"a matrix of shape {a.shape} with {a.nnz} nonzeros is too large: indices have 32 bits")
    if a.dtype != numpy.float32:
        a = a.astype(numpy.float64, copy=False)
    if not a.has_canonical_format:
        a = a.copy()
        a.sum_duplicates()
    return a


def _option(name, value):
    """Returns an argument of Python as an option of the command line."""
    option = "--" + name.replace("_", "-")
    if isinstance(value, bool):
        return [option] if value else []
    values = value if isinstance(value, (list, tuple)) else [value]
    return [f"{option}={','.join(map(str, values))}"]

"""Measures sparse matrix-vector products beside those of the benchmark spmv-bench.

    import spmv_bench

    a = spmv_bench.read("west0479.mtx")             # a scipy.sparse.csr_array

    @spmv_bench.method
    def scipy(a, x, y):                             # writes y = a @ x
        y[:] = a @ x

    rows = spmv_bench.measure(a, ["merge", "mkl-ie", scipy], max_time=0.5)
    print(pandas.DataFrame(rows)[["method_name", "median_ms", "setup_ms", "status"]])

    rows = spmv_bench.results("out.csv")            # of `spmv-bench corpus`
    spmv_bench.report("out.csv", "report")          # index.html, with charts and tables as files
"""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import scipy.sparse
from numpy.typing import NDArray

from . import _native

__all__ = ["Method", "measure", "method", "read", "report", "results"]

# Libraries are searched in the environment of this Python, as for the command.
os.environ.setdefault("VIRTUAL_ENV", sys.prefix)
# MKL reads these variables when it starts. Without them, all its threads would run on one CPU.
for _name, _value in _native.placement():
    os.environ.setdefault(_name, _value)


def read(source: str | os.PathLike[str]) -> scipy.sparse.csr_array:
    """Returns the matrix of a file (Matrix Market or another format that docs/matrices.md lists, compressed or not) or
    of a generator such as "gen:grid2d,n=100,points=5", as a scipy.sparse.csr_array of float64. Both triangles of a
    symmetric file are stored, and duplicates are summed. Raises RuntimeError with the file, the line and the reason."""
    shape, data, indices, indptr = _native.read(source)
    return scipy.sparse.csr_array((data, indices, indptr), shape=shape)


class Method:
    """A method that is written in Python; see `method`."""

    def __init__(
        self,
        multiply: Callable[[Any, NDArray, NDArray], None],
        prepare: Callable[[scipy.sparse.csr_array], Any] | None = None,
        name: str | None = None,
        parallel: bool = False,
    ) -> None:
        self.name = name or multiply.__name__.replace("_", "-")
        summary = (multiply.__doc__ or "a method in Python").strip().splitlines()[0]
        self._native = _native.OwnMethod(self.name, summary, parallel, multiply, prepare)
        self._multiply = multiply

    def __call__(self, a: Any, x: NDArray, y: NDArray) -> None:
        return self._multiply(a, x, y)


def method(
    multiply: Callable[[Any, NDArray, NDArray], None] | None = None,
    *,
    prepare: Callable[[scipy.sparse.csr_array], Any] | None = None,
    name: str | None = None,
    parallel: bool = False,
) -> Any:
    """Makes a method of a function multiply(a, x, y), which writes a @ x to y and returns nothing.

    x and y are NumPy arrays, and x cannot be written. They are valid only during the call. With prepare, multiply
    receives prepare(a) in place of a, and the time of prepare is shown as setup. In float32 a copy of the matrix for
    Python is a part of the setup. parallel says whether the function uses several threads, which results show."""
    if multiply is None:
        return lambda function: Method(function, prepare, name, parallel)
    return Method(multiply, prepare, name, parallel)


def measure(
    a: Any, methods: str | Method | list[str | Method] | None = None, **options: Any
) -> list[dict[str, Any]]:
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
    indices = numpy.ascontiguousarray(a.indices, numpy.int32)
    indptr = numpy.ascontiguousarray(a.indptr, numpy.int32)
    rows = _native.measure(a, a.shape, data, indices, indptr, words, None if chosen is None else names, own)
    return json.loads(rows)


def results(file: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Returns the rows of a result file of the command, in CSV or JSON, compressed or not, as `measure` does. Raises
    RuntimeError with the file, the line and the reason if it is not valid."""
    return json.loads(_native.results(file))


def report(
    files: str | os.PathLike[str] | list[str | os.PathLike[str]], output: str | os.PathLike[str], **options: Any
) -> Path:
    """Writes what `spmv-bench report` shows of result files to a folder or a file, and returns its path. options are
    those of the command: baseline="mkl-ie", force=True. Raises RuntimeError with the reason if that is not possible."""
    files = files if isinstance(files, list) else [files]
    words = [word for name, value in options.items() for word in _option(name, value)]
    command = [_command(), "report", *[os.fspath(file) for file in files], "--output", os.fspath(output), *words]
    ran = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if ran.returncode != 0:
        raise RuntimeError(ran.stderr.strip())
    return Path(output)


def _command() -> str:
    """Returns the path of the command that is installed with this package, or else of the one on the PATH."""
    own = Path(sysconfig.get_path("scripts"), "spmv-bench")
    found = str(own) if own.is_file() else shutil.which("spmv-bench")
    if found is None:
        raise RuntimeError("there is no command spmv-bench: a wheel of this package has it; or install it by Cargo")
    return found


def _canonical(a: Any) -> scipy.sparse.csr_array:
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


def _option(name: str, value: Any) -> list[str]:
    """Returns an argument of Python as an option of the command line."""
    option = "--" + name.replace("_", "-")
    if isinstance(value, bool):
        return [option] if value else []
    values = value if isinstance(value, (list, tuple)) else [value]
    return [f"{option}={','.join(map(str, values))}"]

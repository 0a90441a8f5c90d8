"""Tests of the Python package, which must be installed: python -m unittest discover python/tests."""

import contextlib
import io
import os
import pathlib
import re
import signal
import tempfile
import threading
import unittest

import numpy
import scipy.io
import scipy.sparse

import spmv_bench

GREW = "its memory is what the process grew by in the setup"
QUICK = {"max_time": 0.02, "rounds": 2}


@spmv_bench.method
def by_scipy(a, x, y):
    """SciPy's product."""
    y[:] = a @ x


def random_matrix(dtype=numpy.float64):
    return scipy.sparse.random_array((300, 200), density=0.05, format="csr", dtype=dtype, rng=1)


def row_of(a, method, **options):
    """Returns the only row of a measurement of one method."""
    (row,) = spmv_bench.measure(a, method, **{**QUICK, **options})
    return row


class Results(unittest.TestCase):
    """These need the command, which a wheel has."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)

    def test_the_example_of_the_documents_runs(self):
        documents = pathlib.Path(__file__).resolve().parents[2] / "docs/embedding.md"
        [example] = re.findall(r"```python\n(.*?)```", documents.read_text(), re.DOTALL)
        scipy.io.mmwrite("west0479.mtx", random_matrix())
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(example, {})
        self.assertRegex(printed.getvalue(), r"scipy-csc +ok")
        self.assertIn("<svg", pathlib.Path("report/report.html").read_text())

    def test_what_cannot_be_read_or_shown_has_a_reason(self):
        pathlib.Path("a.csv").write_text("file,status\nx,good\n")
        for function, *arguments in [(spmv_bench.results, "a.csv"), (spmv_bench.report, "a.csv", "report")]:
            with self.assertRaisesRegex(RuntimeError, "a.csv:1: no column method_name"):
                function(*arguments)
        with self.assertRaisesRegex(RuntimeError, "--outputs"):
            spmv_bench.report("a.csv", "report", outputs=3)


class Read(unittest.TestCase):
    def test_a_file_and_a_generator(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "a.mtx"
            path.write_text("%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 3\n2 1 4\n")
            a = spmv_bench.read(path)
        self.assertEqual(a.toarray().tolist(), [[3, 4], [4, 0]])
        self.assertEqual((a.dtype, a.indices.dtype), (numpy.float64, numpy.int32))
        self.assertEqual(spmv_bench.read("gen:grid2d,n=100,points=5").nnz, 49600)

    def test_an_error_names_the_file_and_the_line(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "a.mtx"
            path.write_text("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 3 1\n")
            with self.assertRaisesRegex(RuntimeError, "a.mtx:3: column index 3"):
                spmv_bench.read(path)


class Measure(unittest.TestCase):
    def test_the_methods_of_the_program_and_of_python_have_rows(self):
        for dtype in (numpy.float64, numpy.float32):
            rows = spmv_bench.measure(random_matrix(dtype), ["seq,merge", by_scipy], **QUICK)
            self.assertEqual([row["method_name"] for row in rows], ["seq", "merge", "by-scipy"])
            for row in rows:
                self.assertEqual(row["status"], "ok", row["reason"])
                # Only of a method in Python it is not known what it keeps.
                remarks = [None] if row["method_name"] != "by-scipy" else [None, GREW]
                self.assertIn(row["reason"], remarks, row["method_name"])
                self.assertEqual(row["precision"], "f32" if dtype == numpy.float32 else "f64")
                self.assertGreater(row["median_ms"], 0)

    def test_a_matrix_is_converted(self):
        a = scipy.sparse.coo_array(([1, 2, 3], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
        seen = []
        prepare = lambda a: seen.append(a.toarray().tolist()) or a
        row = row_of(a, spmv_bench.Method(by_scipy, prepare, "seen"))
        self.assertEqual((row["status"], row["num_nonzeros"]), ("ok", 2))
        self.assertIn([[0, 3], [3, 0]], seen)
        self.assertEqual(a.nnz, 3, "the matrix of the caller stays as it is")
        with self.assertRaisesRegex(TypeError, "complex"):
            spmv_bench.measure(a.astype(complex), by_scipy)

    def test_unsorted_and_duplicate_entries_are_put_in_order(self):
        a = scipy.sparse.csr_array(([1.0, 2.0, 3.0], [1, 0, 1], [0, 3, 3]), shape=(2, 2))
        for method in (by_scipy, "seq"):
            row = row_of(a, method)
            self.assertEqual((row["status"], row["num_nonzeros"]), ("ok", 2), row["reason"])
        self.assertEqual(a.indices.tolist(), [1, 0, 1], "the matrix of the caller stays as it is")

    def test_matrices_without_rows_or_columns(self):
        for shape in [(0, 0), (3, 0), (0, 3)]:
            for method in (by_scipy, "seq"):
                row = row_of(scipy.sparse.csr_array(shape), method)
                self.assertEqual(row["status"], "ok", (shape, row["reason"]))

    def test_prepare_is_setup_and_replaces_the_matrix(self):
        @spmv_bench.method(prepare=lambda a: a.tocsc(), name="by-columns")
        def csc(a, x, y):
            assert a.format == "csc"
            y[:] = a @ x

        row = row_of(random_matrix(), csc)
        self.assertEqual((row["method_name"], row["status"]), ("by-columns", "ok"), row["reason"])
        self.assertGreater(row["setup_ms"], 0)

    def test_what_a_method_does_wrong_is_in_its_row(self):
        kept, bases = [], set()

        def raises(a, x, y):
            raise KeyError("no such key")

        def zero(a, x, y):
            y[:] = 0

        def keeps_x(a, x, y):
            kept.append(x[1:])
            y[:] = a @ x

        def keeps_base(a, x, y):
            bases.update([x.base, y.base])
            y[:] = a @ x

        def makes_x_writable(a, x, y):
            x.setflags(write=True)

        def writes_x(a, x, y):
            x[:] = 1

        faults = {
            raises: ("failed", "no such key"),
            zero: ("wrong", "row"),
            keeps_x: ("failed", "keeps x or y"),
            keeps_base: ("ok", ""),
            makes_x_writable: ("failed", "WRITEABLE"),
            writes_x: ("failed", "read-only"),
            (lambda a, x, y: a @ x): ("failed", "must write its result to y"),
        }
        for function, (status, reason) in faults.items():
            row = row_of(random_matrix(), spmv_bench.Method(function, name="fault"))
            self.assertEqual(row["status"], status, row["reason"])
            self.assertIn(reason, row["reason"] or "")
        self.assertEqual(bases, {None}, "nothing leads to the vectors but the views")

    def test_a_method_in_python_has_no_factors(self):
        self.assertEqual(row_of(random_matrix(), by_scipy, alpha=2)["status"], "skipped")

    def test_options_are_those_of_the_command_line(self):
        rows = spmv_bench.measure(random_matrix(), "seq", cache=["hot", "cold"], transpose=False, **QUICK)
        self.assertEqual([row["cache"] for row in rows], ["hot", "cold"])
        for options, reason in [
            ({"round": 3}, "rounds"),
            ({"cache": "warm"}, "hot, cold"),
            ({"output": "a.csv"}, "--output"),
        ]:
            with self.assertRaisesRegex(RuntimeError, reason):
                spmv_bench.measure(random_matrix(), "seq", **options)
        with self.assertRaisesRegex(RuntimeError, "merge"):
            spmv_bench.measure(random_matrix(), "merg")

    def test_names_of_methods(self):
        for name, reason in [("merge", "another name"), ("a b", "characters")]:
            with self.assertRaisesRegex(ValueError, reason):
                spmv_bench.Method(by_scipy, name=name)
        with self.assertRaisesRegex(RuntimeError, "two methods 'by-scipy'"):
            spmv_bench.measure(random_matrix(), [by_scipy, spmv_bench.Method(by_scipy, name="by-scipy")])

    def test_ctrl_c_ends_a_measurement(self):
        # A shell lets what it starts in the background ignore the signal.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        timer = threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            spmv_bench.measure(random_matrix(), by_scipy, max_time=100, min_time=100)

    def test_one_measurement_at_a_time(self):
        refused = []

        def measures(a, x, y):
            y[:] = a @ x
            try:
                spmv_bench.measure(random_matrix(), "seq", **QUICK)
            except RuntimeError as error:
                refused.append(str(error))

        self.assertEqual(row_of(random_matrix(), spmv_bench.Method(measures))["status"], "ok")
        self.assertEqual(set(refused), {"another measurement runs in this process"})

    def test_the_callers_cpus_stay(self):
        before = os.sched_getaffinity(0)
        row_of(random_matrix(), "merge")
        self.assertEqual(os.sched_getaffinity(0), before)


if __name__ == "__main__":
    unittest.main()

"""Tests of what scripts/release has built, which runs this: the archives of the program and the wheels."""

import contextlib
import csv
import functools
import hashlib
import http.server
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import tomllib
import unittest
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RELEASE = ROOT / "target/release-files"
CARGO = tomllib.loads((ROOT / "Cargo.toml").read_text())
VERSION = CARGO["workspace"]["package"]["version"]
NEWEST_GLIBC = (2, 28)
EMULATORS = {"aarch64": ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]}
MATRICES = [
    "gen:grid2d,n=40,points=5", "gen:power-law,rows=3000,nnz=20000,longest=900", "gen:hubs,n=500,hubs=3",
    "gen:empty-rows,rows=4000,nnz=3000,empty=0.8",
]
# A matrix as in the collection, for a mirror on this machine.
MESH = """
[[matrix]]
id = "S/mesh"
rows = 900
cols = 900
nnz = 4380
kind = "2D/3D problem"
numerical-symmetry = 1.0
surrogate = "gen:grid2d,n=30,points=5"
[set.own]
source = "this test"
members = ["S/mesh"]
"""


def glibc_versions(program):
    """Returns the versions of glibc whose symbols a program needs."""
    shown = subprocess.run(["readelf", "--version-info", program], check=True, capture_output=True, text=True).stdout
    return {tuple(map(int, version.split("."))) for version in re.findall(r"GLIBC_([0-9.]+)", shown)}


def architecture(name):
    return re.search(r"x86_64|aarch64", name)[0]


@contextlib.contextmanager
def serving(folder):
    """Serves a folder to this machine, and yields its address."""
    quiet = type("Quiet", (http.server.SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(quiet, directory=folder)) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class Release(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def archives(self):
        found = sorted(RELEASE.glob("*.tar.gz"))
        self.assertTrue(found)
        return found

    def unpacked(self, archive):
        """Returns the folder of an archive, unpacked where nothing of the repository is."""
        with tarfile.open(archive) as tar:
            tar.extractall(self.folder, filter="data")
        return self.folder / archive.name.removesuffix(".tar.gz")

    def command(self, folder):
        """Returns the words that start the program, or skips if nothing on this machine can."""
        kind = architecture(folder.name)
        emulator = [] if kind == platform.machine() else EMULATORS[kind]
        if emulator and not shutil.which(emulator[0]):
            self.skipTest(f"{emulator[0]} is not installed (Debian's qemu-user and libc6-arm64-cross)")
        return [*emulator, folder / "spmv-bench"]

    def own_command(self):
        """Returns the words that start the program for this machine."""
        [archive] = [it for it in self.archives() if architecture(it.name) == platform.machine()]
        return self.command(self.unpacked(archive))

    def run_in(self, command, *words, status=0, **variables):
        """Runs the program with an environment that is empty but for these variables, and returns what it prints."""
        ran = subprocess.run([*command, *words], cwd=self.folder, env=variables, capture_output=True, text=True)
        self.assertEqual(ran.returncode, status, f"{words}:\n{ran.stdout}\n{ran.stderr}")
        return ran.stdout

    def test_sums(self):
        lines = (RELEASE / "SHA256SUMS").read_text().splitlines()
        sums = {name: sum for sum, name in (line.split() for line in lines)}
        files = {path.name: path for path in RELEASE.iterdir() if path.name != "SHA256SUMS"}
        self.assertEqual(sums, {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()})

    def test_contents(self):
        for archive in self.archives():
            folder = self.unpacked(archive)
            target = f"{architecture(archive.name)}-unknown-linux-gnu"
            self.assertEqual(archive.name, f"spmv-bench-{VERSION}-{target}.tar.gz")
            # Where `cargo binstall` looks for the program.
            values = {"version": VERSION, "target": target, "bin": "spmv-bench"}
            binstall = CARGO["package"]["metadata"]["binstall"]
            url, path = [
                re.sub(r"\{ (version|target|bin) \}", lambda found: values[found[1]], binstall[key])
                for key in ("pkg-url", "bin-dir")
            ]
            self.assertEqual(url.split("/")[-2:], [f"v{VERSION}", archive.name])
            self.assertTrue((self.folder / path).is_file())
            for name in (
                "README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE", "spmv_method.h", "threads.h",
                "templates/c/method.c", "templates/rust/spmv_method.rs", "completions/spmv-bench.zsh",
            ):
                self.assertTrue((folder / name).is_file(), f"{name} in {archive.name}")
            self.assertIn(".SH SYNOPSIS", (folder / "man/spmv-bench.1").read_text())
            notices = (folder / "THIRD-PARTY.txt").read_text()
            for part in ("zstd-sys 2", "Meta Platforms", "rayon 1", "Permission is hereby granted"):
                self.assertIn(part, notices)

    def test_symbols(self):
        for archive in self.archives():
            program = self.unpacked(archive) / "spmv-bench"
            self.assertLessEqual(max(glibc_versions(program)), NEWEST_GLIBC, archive.name)
        for wheel in RELEASE.glob("*.whl"):
            with zipfile.ZipFile(wheel) as files:
                for name in files.namelist():
                    if name.endswith((".so", "scripts/spmv-bench")):
                        path = Path(files.extract(name, self.folder))
                        self.assertLessEqual(max(glibc_versions(path)), NEWEST_GLIBC, f"{name} in {wheel.name}")

    def test_the_program_needs_nothing(self):
        command = self.own_command()
        shown = self.run_in(command, "--max-time", "0.05")
        self.assertRegex(shown, r"merge +PASS")
        self.assertRegex(shown, r"is .* times as fast as|is as fast as")
        shown = self.run_in(command, "reproduce", "sc16-fig10", "--surrogates", "--dry-run")
        self.assertIn("sc16-fig10", shown)

    def test_all_methods_are_right_on_each_architecture(self):
        for archive in self.archives():
            with self.subTest(archive.name):
                command = self.command(self.unpacked(archive))
                self.assertEqual(self.run_in(command, "--version"), f"spmv-bench {VERSION}\n")
                # An emulator runs neither children nor the program again.
                words = ["--precision", "f64,f32", "--max-time", "0.01", "--no-isolate", "--pages", "small"]
                self.run_in(command, "corpus", *MATRICES, *words, "--output", "a.csv", "--force")
                with open(self.folder / "a.csv", newline="") as file:
                    rows = list(csv.DictReader(file))
                right = [row["method_name"] for row in rows if row["status"] == "ok"]
                self.assertEqual({row["status"] for row in rows}, {"ok", "skipped"})
                self.assertTrue({"merge", "csr5", "packed", "csb", "sell", "oski-style"} <= set(right))
                self.assertGreater(len(right), 25 * len(MATRICES))
                self.run_in(command, "report", "a.csv", "-o", "report", "--force")
                self.assertIn("<svg", (self.folder / "report/report.html").read_text())

    def test_downloads(self):
        (self.folder / "own.toml").write_text(MESH)
        command = self.own_command()
        self.run_in(command, "generate", "surrogate:own", "--datasets", "own.toml", "--mirror", "served")
        with serving(self.folder / "served") as address:
            words = ["--datasets", "own.toml", "--mirror", address, "--to", "matrices", "--any-archive"]
            self.run_in(command, "fetch", "own", *words)
        shown = self.run_in(command, "corpus", "matrices", "--methods", "seq", "--max-time", "0.01")
        self.assertIn("mesh.mtx,900,900,4380", shown)

    def test_a_method_of_ones_own(self):
        command, path = self.own_command(), {"PATH": os.environ["PATH"]}
        self.run_in(command, "new-method", "c", "mine")
        subprocess.run(["make", "--silent"], cwd=self.folder / "mine", env=path, check=True)
        self.assertIn("mine", self.run_in(command, "check-method", "mine/libmine.so", **path))

    def test_a_modelled_gpu(self):
        command = self.own_command()
        words = ["gen:grid2d,n=30,points=5", "--device", "model:h200", "--methods", "gpu-merge"]
        self.assertRegex(self.run_in(command, *words, VIRTUAL_ENV=str(ROOT / ".venv")), r"gpu-merge +PASS")

    def test_the_wheel_is_a_command_and_a_module_that_find_libraries_beside_them(self):
        [wheel] = [it for it in RELEASE.glob("*.whl") if architecture(it.name) == platform.machine()]
        self.assertIn(f"spmv_bench-{VERSION}-cp311-abi3-manylinux_2_28_", wheel.name)
        python = ROOT / ".venv/bin/python"
        pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "--force-reinstall", "--no-deps", wheel], check=True)
        self.addCleanup(subprocess.run, [*pip, "uninstall", "--yes", "spmv-bench"], check=True)
        for device, method in (("cpu", "mkl-ie"), ("model:h200", "gpu-merge")):
            words = ["gen:grid2d,n=30,points=5", "--device", device, "--methods", method, "--max-time", "0.05"]
            self.assertRegex(self.run_in([ROOT / ".venv/bin/spmv-bench"], *words), rf"{method} +PASS")
        tests = [python, "-m", "unittest", "discover", ROOT / "python/tests"]
        subprocess.run(tests, cwd=self.folder, env={"PATH": os.environ["PATH"]}, check=True)


if __name__ == "__main__":
    unittest.main()

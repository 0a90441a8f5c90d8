"""Tests of the recipes, with the tools that read them. Spack is not in the package index: its file runs with fakes of
the names that it uses, which checks the syntax and the arguments, not the tool. SPMV_BENCH names the program.
`scripts/test` runs this with the Python of .venv/recipes."""

import contextlib
import os
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
import tomllib
import types
import unittest
from pathlib import Path

from spython.main.parse.parsers import SingularityParser

ROOT = Path(__file__).resolve().parents[2]
RECIPES = ROOT / "packaging"
CARGO = tomllib.loads((ROOT / "Cargo.toml").read_text())
RUST = CARGO["workspace"]["package"]["rust-version"]
PROGRAM = Path(os.environ["SPMV_BENCH"]).resolve()


def run(command, folder, status=0):
    """Runs a command with the tools of this Python and the libraries of the tests, and returns what it prints."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    variables = os.environ | {"PATH": path, "SPMV_BENCH": str(PROGRAM), "VIRTUAL_ENV": str(ROOT / ".venv")}
    ran = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True)
    assert ran.returncode == status, f"{command}: status {ran.returncode}\n{ran.stdout}\n{ran.stderr}"
    return ran.stdout


class Recorder:
    """Stands in for the directives of Spack, and records the arguments of their calls by name."""

    def __init__(self, directives):
        self.calls = {}
        self.names = {name: self.directive(name, arguments) for name, arguments in directives.items()}

    def directive(self, name, arguments):
        def record(*values, **options):
            assert not set(options) - set(arguments), f"{name} has no arguments {set(options) - set(arguments)}"
            self.calls.setdefault(name, []).append((values, options))
            return contextlib.nullcontext()

        return record

    def run(self, path, modules):
        """Runs a file; `modules` are the modules that it imports, with their names."""
        for module, names in modules.items():
            parts = module.split(".")
            for end in range(1, len(parts) + 1):
                part = sys.modules.setdefault(".".join(parts[:end]), types.ModuleType(parts[end - 1]))
            vars(part).update(names)
        return runpy.run_path(str(path))


class Recipes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_spack(self):
        depends_on = {"when", "type"}
        recorder = Recorder({
            "license": {"checked_by", "when"}, "version": {"branch", "tag", "commit", "sha256", "url"},
            "variant": {"default", "description", "values", "multi", "when"}, "depends_on": depends_on,
        })
        package = RECIPES / "spack/spack_repo/spmv_bench/packages/spmv_bench/package.py"
        self.assertIn("api: v2.0", (package.parents[2] / "repo.yaml").read_text())
        cargo = {"spack_repo.builtin.build_systems.cargo": {"CargoPackage": object}}
        spack = recorder.run(package, cargo | {"spack.package": recorder.names})["SpmvBench"]
        self.assertEqual(spack.git, f"file://{ROOT}")
        self.assertEqual(recorder.calls["license"], [((CARGO["workspace"]["package"]["license"],), {})])
        needed = [values[0] for values, _ in recorder.calls["depends_on"]]
        self.assertIn(f"rust@{RUST}:", needed)
        variants = [values[0] for values, _ in recorder.calls["variant"]]
        self.assertEqual(variants, ["mpi", "mkl", "cuda"])
        made = spack()
        for wanted, args in (("+mpi", ["--locked", "--features", "mpi"]), ("", ["--locked"])):
            made.spec = types.SimpleNamespace(satisfies=lambda text: text == wanted)
            self.assertEqual(made.build_args, args)
        self.assertIn("mpi", CARGO["features"])

    def test_containers(self):
        # The newest certificates are wanted.
        run(["hadolint", "--ignore=DL3008", RECIPES / "Dockerfile"], self.folder)
        stages = SingularityParser(str(RECIPES / "apptainer.def")).parse()
        self.assertEqual(list(stages), ["build", "libraries", "final"])
        self.assertEqual(stages["build"].fromHeader, f"rust:{RUST}-bookworm")
        self.assertEqual(stages["final"].files, ["packaging/artifact /opt/artifact"])
        self.assertEqual(stages["final"].cmd, 'exec /opt/artifact/run "$@"')
        dockerfile, definition = [(RECIPES / name).read_text() for name in ("Dockerfile", "apptainer.def")]
        for image in ("rust", "python", "debian"):
            [image] = re.findall(rf"FROM ({image}:\S+)", dockerfile)
            self.assertIn(f"\nFrom: {image}\n", definition)
        packages = re.findall(r"'(\S+==\S+)'", dockerfile)
        self.assertEqual(packages, re.findall(r"'(\S+==\S+)'", definition))
        self.assertEqual(len(packages), 5)
        for package in packages:
            self.assertIn(f"'{package}'", (ROOT / "scripts/test").read_text())

    def test_artifact(self):
        artifact = RECIPES / "artifact"
        verdicts = r"minutes: (\d+) claims hold, (\d+) do not, and (\d+) could not be judged here"
        [counts] = re.findall(verdicts, run([artifact / "run"], self.folder))
        claims = len(tomllib.loads((artifact / "minutes.toml").read_text())["claim"])
        self.assertEqual(counts, (str(claims), "0", "0"))
        # The rows are there; a claim that does not hold is an error.
        copy = Path(shutil.copytree(artifact, self.folder / "copy"))
        text = (copy / "minutes.toml").read_text()
        (copy / "minutes.toml").write_text(text.replace('"7.99 to 8.01"', '"8.5 to 9"'))
        [counts] = re.findall(verdicts, run([copy / "run"], self.folder, status=1))
        self.assertEqual(counts, (str(claims - 1), "1", "0"))

    def test_documents(self):
        for document, prefix in (
            ("merge-spmv-sc16", "sc16"), ("merge-spmv-readme", "merge"), ("hola-spmv-ics17", "hola"),
            ("five-gpu-algorithms", "five-gpu"), ("csr-k", "csrk"),
        ):
            shown = run([RECIPES / "artifact/run", "document", document, "--surrogates", "--dry-run"], self.folder)
            ids = {path.stem for path in (ROOT / "experiments").glob(f"{prefix}-*.toml")}
            self.assertEqual(set(re.findall(r"^(\S+): ", shown, re.MULTILINE)), ids)
        run([RECIPES / "artifact/run", "document", "none"], self.folder, status=2)


if __name__ == "__main__":
    unittest.main()

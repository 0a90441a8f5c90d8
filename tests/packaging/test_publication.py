"""Tests of what a release is described and published by: versions, addresses, notes and workflows."""

import re
import subprocess
import sys
import tomllib
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
VERSION = PACKAGE["version"]


class Publication(unittest.TestCase):
    def test_one_version(self):
        for file, pattern in (
            ("CITATION.cff", r"^version: (.*)$"), ("docs/papers.bib", r"^  version = \{(.*)\},$"),
            ("README.md", r"/v([0-9.]+)/"),
        ):
            found = re.findall(pattern, (ROOT / file).read_text(), re.MULTILINE)
            self.assertEqual(found, [VERSION], file)
        packages = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["dependencies"].values()
        ours = [it["version"] for it in packages if isinstance(it, dict) and "path" in it]
        self.assertEqual(ours, [VERSION] * 4)

    def test_one_address(self):
        found = 0
        for file in ("README.md", "pyproject.toml", "docs/stability.md", "docs/usage.md", "SECURITY.md"):
            addresses = re.findall(r"https?://example\.\S+?/spmv-bench", (ROOT / file).read_text())
            found += len(addresses)
            self.assertLessEqual(set(addresses), {PACKAGE["repository"]}, file)
        self.assertGreater(found, 1)

    def test_libraries_of_the_wheel_are_those_of_the_tests(self):
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
        for package in (it for extra in extras.values() for it in extra):
            self.assertIn(f"'{package}'", (ROOT / "scripts/test").read_text())

    def test_notes(self):
        def notes(version):
            return subprocess.run([ROOT / "scripts/release-notes", version], capture_output=True, text=True)

        self.assertIn("### ", notes(VERSION).stdout)
        self.assertNotIn("## [", notes(VERSION).stdout)
        for wrong in ("0.0.1", "0.1.0", ""):
            self.assertEqual(notes(wrong).returncode, 1, wrong)

    def test_workflows(self):
        tools = Path(sys.executable).parent
        files = sorted((ROOT / ".github/workflows").iterdir())
        command = [tools / "actionlint", "-shellcheck", tools / "shellcheck", *files]
        ran = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stdout)
        for name in re.findall(r"scripts/[a-z-]+", "".join(file.read_text() for file in files)):
            self.assertTrue((ROOT / name).is_file(), name)


if __name__ == "__main__":
    unittest.main()

"""Runs the steps of a campaign on the machine with the GPU, or rehearses them on a model."""

import glob
import json
import lzma
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from gpu_campaign import bundle, record

ROOT = Path(__file__).resolve().parent.parent.parent
STEPS = ROOT / "scripts/gpu_campaign/steps.toml"
BUNDLE = ROOT / "target/gpu-campaign"
ARCHIVE = "gpu-campaign.tar.xz"
# The seconds in which a step may write its results after it was told to end, and in which the archive is written.
GRACE = 5
# The seconds from which on it is worth to begin an experiment that would take longer.
FEWEST_SECONDS = 40
# The folders that the archive leaves out: what the bundle contains, and what can be made again.
EXTRACTED = ["programs", "kernels", "matrices", "libraries", "cache"]
BEGUN = time.monotonic()


def stop(reason):
    print(f"gpu-campaign: {reason}", file=sys.stderr)
    sys.exit(2)


def read_steps(path, names=()):
    """Returns the steps, or those with these names, in the order of the file."""
    steps = tomllib.loads(path.read_text(encoding="utf-8"))["step"]
    known = [step["name"] for step in steps]
    for name in names:
        if name not in known:
            stop(f"there is no step {name} in {path}; the steps are {', '.join(known)}")
    return [step for step in steps if not names or step["name"] in names]


class Campaign:
    """The state of a campaign in a folder: the extracted bundle, the results so far, and how steps have ended."""

    def __init__(self, out, device, most_nonzeros):
        self.out, self.device = Path(out).absolute(), device
        self.folder = self.out / "rehearsal" if most_nonzeros else BUNDLE.with_name("gpu-campaign-state")
        self.most_nonzeros = most_nonzeros
        self.running, self.file = None, self.folder / "campaign.json"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.out.mkdir(parents=True, exist_ok=True)
        date = time.strftime("%Y-%m-%d")
        self.state = {"date": date, "device": device, "folder": str(self.folder), "steps": {}}

    def extract(self):
        """Extracts the bundle and the results of an earlier machine, unless that was done already. The files are
        extracted by several threads, because nothing can be measured before."""
        archives = [*BUNDLE.glob("*.tar.xz"), *BUNDLE.with_name("gpu-campaign-cusparse").glob("*.tar.xz")]
        folders = {"programs": "programs", "kernels": "kernels", "cusparse": "libraries"}
        work = [(path, self.folder / folders[path.name.split(".")[0]]) for path in archives]
        matrices = [(path, self.folder / "matrices" / path.stem) for path in BUNDLE.glob("matrices/*.xz")]
        with ThreadPoolExecutor() as pool:
            done = [pool.submit(extract, *pair) for pair in work if not pair[1].exists()]
            done += [pool.submit(decompress, *pair) for pair in matrices if not pair[1].exists()]
            if (self.out / ARCHIVE).exists() and not self.file.exists():
                done.append(pool.submit(extract, self.out / ARCHIVE, self.folder))
            for task in done:
                task.result()
        if self.file.exists():
            self.state = json.loads(self.file.read_text())

    def prepare(self):
        """Sets the environment of the steps, reads every matrix once, and states what machine this is."""
        program = self.folder / "programs/spmv-bench"
        if not program.exists():
            stop(f"no {program.name} in {BUNDLE}: run {sys.argv[0]} --build, and copy the folder")
        libraries = [str(self.folder / "libraries")] if (self.folder / "libraries").exists() else []
        packages = [*sys.path, *glob.glob(f"{ROOT}/.venv/lib/python3*/site-packages")]
        libraries += [lib for folder in packages for lib in glob.glob(f"{folder}/nvidia/*/lib")]
        if libraries:
            os.environ.setdefault("SPMV_BENCH_LIBRARY_PATH", ":".join(libraries))
        os.environ.setdefault("SPMV_BENCH_CACHE", str(self.folder / "cache"))
        if (self.folder / "kernels").exists():
            os.environ["SPMV_BENCH_KERNELS"] = str(self.folder / "kernels")
        # The programs of the CUDA Toolkit may not be in PATH.
        os.environ["PATH"] = ":".join([os.environ["PATH"], *glob.glob("/usr/local/cuda*/bin")])
        os.environ.update(SPMV=str(program), BATTERY=str(program.with_name("battery")), DEVICE=self.device)
        os.environ.update(SCRIPTS=str(ROOT / "scripts"), CHANGED=" ".join(self.changed()), VARIANTS=self.variants())
        words = [program, "system", "--threads", "1", "--format", "json"]
        system = subprocess.run(words, capture_output=True, text=True)
        if system.returncode:
            stop(f"{program} does not run: {system.stderr}")
        facts = json.loads(system.stdout)
        if not facts["gpus"] and not self.most_nonzeros:
            stop(f"no GPU: {facts.get('no_gpu')}")
        (self.folder / "system.json").write_text(system.stdout)
        shutil.copy(STEPS, self.folder)
        if (BUNDLE / "bundle.json").exists():
            shutil.copy(BUNDLE / "bundle.json", self.folder)
        with ThreadPoolExecutor() as pool:
            list(pool.map(self.read_matrix, sorted(self.folder.glob("matrices/*"))))

    def read_matrix(self, path):
        """Reads a matrix, so that the program keeps it in its cache."""
        words = ["--mtx", path, "--methods", "seq", "--threads", "1", "--rounds", "1", "--max-time", "0",
                 "--no-bandwidth"]
        subprocess.run([os.environ["SPMV"], *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)

    def changed(self):
        """Returns the methods whose sources differ from those that the last record on hardware has found correct."""
        path = BUNDLE / "bundle.json"
        now = json.loads(path.read_text())["methods"] if path.exists() else {}
        return [name for name, digest in now.items() if record.verified(ROOT / "results").get(name) != digest]

    def variants(self):
        """Returns this project's GPU methods and, except in a rehearsal, all values of their parameters that change
        kernels."""
        listed = subprocess.run([os.environ["SPMV"], "methods"], capture_output=True, text=True, check=True).stdout
        name, names = "", []
        for line in listed.splitlines():
            word = line.split()[0] if line.strip() else ""
            if line[:1].strip():
                name = word
                names += [name] if name.startswith("gpu-") else []
            elif word.startswith(":") and name.startswith("gpu-") and not self.most_nonzeros:
                parameter = word[1:].split("=")[0]
                names += [] if parameter in ("srs", "ssrs", "coarsening") else [f"{name}:{parameter}=*"]
        return ",".join(names)

    def run(self, steps, within):
        """Runs the steps that have not ended yet and for which there is time. Returns the names of those that are
        left."""
        left = []
        for step in steps:
            if self.state["steps"].get(step["name"], {}).get("ended"):
                continue
            room = within - (time.monotonic() - BEGUN) - 2 * GRACE
            # An experiment that is cut off keeps the matrices that it has measured.
            if room < (min(step["seconds"], FEWEST_SECONDS) if "experiments" in step else step["seconds"]):
                left.append(step["name"])
                continue
            # The model takes longer than a GPU.
            limit = step["limit"] * (20 if self.most_nonzeros else 1)
            self.note(step, **self.step(step, min(limit, room)))
            self.save()
        return left

    def step(self, step, limit):
        """Runs a step with a limit in seconds. Returns its outcome, and whether it has ended for good."""
        begun, name = time.monotonic(), step["name"]
        command, needed = self.command(step)
        if needed and not shutil.which(needed):
            return {"outcome": f"not run: no {needed} on this machine", "ended": True, "took": 0}
        if command is None:
            return {"outcome": "nothing to do: no method has changed since the last record", "ended": True, "took": 0}
        print(f"== {name}, {step['seconds']} s expected", flush=True)
        folder = self.folder / step.get("folder", "")
        folder.mkdir(exist_ok=True)
        log = self.folder / "logs" / f"{name}.log"
        log.parent.mkdir(exist_ok=True)
        with open(log, "a", encoding="utf-8") as out:
            rehearsal = self.most_nonzeros and step.get("rehearsal") or {}
            variables = {**os.environ, **step.get("variables", {}), **rehearsal}
            self.running = subprocess.Popen(
                ["bash", "-c", command], cwd=folder, env=variables, stdout=out, stderr=out,
                stdin=subprocess.DEVNULL, start_new_session=True)
            status = self.wait(limit)
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        print("\n".join(line[:300] for line in lines[-12:]))
        took = round(time.monotonic() - begun)
        # On a shared machine compute-sanitizer may have no access to the kernels.
        if any("Device not supported" in line for line in lines):
            return {"outcome": "not run: compute-sanitizer has no access to this GPU", "ended": True, "took": took}
        outcome = {0: "ok", None: "cut off"}.get(status, f"failed with status {status}")
        return {"outcome": outcome, "ended": status is not None, "took": took}

    def command(self, step):
        """Returns the shell command of a step, None if there is nothing to do, and the program that it needs."""
        under = step.get("under", "")
        needed = step.get("needs", under.split()[0] if under else None)
        if "experiments" in step:
            words = ["reproduce", *step["experiments"], "--device", self.device, "--data", f"{self.folder}/matrices"]
            words += ["--quiet", *step.get("options", [])]
            if most := self.most_nonzeros or step.get("most_nonzeros"):
                words += ["--max-nonzeros", str(most)]
            return shlex.join([os.environ["SPMV"], *words]), needed
        if "$CHANGED" in step["run"] and not os.environ["CHANGED"]:
            return None, needed
        if self.most_nonzeros and under:
            return step["run"], None
        return f"{under} {step['run']}", needed

    def wait(self, limit):
        """Waits for the running step. Returns its exit status, or None if it was ended at its limit."""
        try:
            return self.running.wait(limit)
        except subprocess.TimeoutExpired:
            self.end()
            return None

    def end(self):
        """Ends the running step with all of its processes."""
        for number, grace in [(signal.SIGTERM, GRACE), (signal.SIGKILL, GRACE)]:
            try:
                os.killpg(self.running.pid, number)
                self.running.wait(grace)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                continue

    def note(self, step, **outcome):
        outcome["took"] += self.state["steps"].get(step["name"], {}).get("took", 0)
        self.state["steps"][step["name"]] = outcome
        print(f"   {step['name']}: {outcome['outcome']}, {outcome['took']} s", flush=True)

    def save(self):
        """Writes the archive."""
        bundle.write(self.file, json.dumps(self.state, indent=1).encode())
        part = self.out / f"{ARCHIVE}.part"
        with tarfile.open(part, "w:xz", preset=1) as tar:
            for path in sorted(self.folder.iterdir()):
                if path.name not in EXTRACTED:
                    tar.add(path, path.name)
        part.replace(self.out / ARCHIVE)

    def interrupted(self, *_):
        if self.running and self.running.poll() is None:
            self.end()
        self.save()
        sys.exit(130)


def extract(archive, folder):
    """Extracts an archive into a folder, which appears when it is complete unless it exists."""
    target = folder if folder.exists() else folder.with_name(folder.name + ".part")
    record.extract(archive, target)
    target.rename(folder)


def decompress(compressed, path):
    bundle.write(path, lzma.decompress(compressed.read_bytes()))


def bad_rows(folder):
    """Returns a line for each row that shows an error."""
    paths = sorted(path for path in folder.rglob("*.csv") if path.name in ("rows.csv", "counters.csv"))
    lines = [record.error_of(row, path.parent.parent.name) for path in paths for row in record.rows_of(path)]
    return list(filter(None, lines))


def measure(words, within, device, most_nonzeros=0):
    """Runs steps. `words` are the folder of the archive and the names of the steps. Returns the exit status."""
    out, *names = words or stop("where do the results go? Name a folder OUT")
    steps = read_steps(STEPS, names)
    campaign = Campaign(out, device, most_nonzeros)
    campaign.extract()
    for step in steps if names else []:
        if note := campaign.state["steps"].get(step["name"]):
            note["ended"] = False
    for number in [signal.SIGINT, signal.SIGTERM]:
        signal.signal(number, campaign.interrupted)
    campaign.prepare()
    left = campaign.run(steps, within)
    campaign.save()
    bad = bad_rows(campaign.folder)
    print("\n".join(bad[:10] + ([f"and {len(bad) - 10} more bad rows"] if len(bad) > 10 else [])))
    outcomes = {name: note["outcome"] for name, note in campaign.state["steps"].items()}
    failed = [name for name, outcome in outcomes.items() if outcome.startswith(("failed", "cut off"))]
    if left:
        print(f"== not enough time was left for: {' '.join(left)}; the same command continues")
    print(f"== all results are in {campaign.out / ARCHIVE}; {time.monotonic() - BEGUN:.0f} s")
    return 1 if bad or failed else 3 if left else 0

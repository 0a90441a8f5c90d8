"""Takes the archive of a campaign into the repository: results/ID/… of the experiments that were measured, and
results/gpu-campaign/<date>-<device>/ with a page that says what was run, skipped and wrong, and with all that is not
an experiment: logs, the device file, counters, and the hashes of the methods that the battery has found correct."""

import collections
import csv
import json
import re
import shutil
import subprocess
import tarfile
import tempfile
import tomllib
from pathlib import Path

BAD = ["wrong", "failed", "timeout"]
# How the reasons begin for which a method of this project may be skipped: its format does not suit the matrix, it has
# no such product, or the GPU lacks what it needs.
MAY_SKIP = ("would store ", "block", "it has no ", "has more than ", "needs ")
# What is kept of a log: its end, and before it the findings of the sanitizers.
LOG_LINES = 200
DOCUMENTS = ["cargo", "run", "--release", "--quiet", "--", "reproduce", "--documents"]


def verified(results):
    """Returns the hash of each method that was found correct on hardware, by the newest record that has one."""
    hashes = {}
    for path in sorted(results.glob("gpu-campaign/*/methods.json")):
        hashes.update(json.loads(path.read_text()))
    return hashes


def extract(archive, folder):
    """Extracts an archive. A Python that can refuse paths outside the folder does so."""
    with tarfile.open(archive) as tar:
        tar.extraction_filter = getattr(tarfile, "data_filter", None)
        tar.extractall(folder)


def take_in(root, archive):
    """Writes the results of an archive below `root` and prints the page. Returns the exit status."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        extract(archive, folder)
        campaign = json.loads((folder / "campaign.json").read_text())
        steps = tomllib.loads((folder / "steps.toml").read_text(encoding="utf-8"))["step"]
        shorten_paths(folder, campaign["folder"])
        system = json.loads((folder / "system.json").read_text())
        device = slug(system["gpus"][0]["name"] if system["gpus"] else campaign["device"])
        record = root / "results/gpu-campaign" / f"{campaign['date']}-{device}"
        record.mkdir(parents=True, exist_ok=True)
        counts = {step["name"]: take_rows(folder, step, root) for step in steps}
        take_rest(folder, campaign, record)
        text = page(campaign, system, steps, counts)
    (record / "README.md").write_text(text, encoding="utf-8")
    print(text)
    print(f"written: {record.relative_to(root)}; the documents follow:", " ".join(DOCUMENTS), flush=True)
    return subprocess.run(DOCUMENTS, cwd=root, check=False).returncode


def shorten_paths(folder, measured_in):
    """Takes the folders of the machine with the GPU out of the paths in all files, because they say nothing to a
    reader: that of the campaign, `measured_in`, and that of Python's packages."""
    for path in filter(Path.is_file, folder.rglob("*")):
        text = path.read_text(encoding="utf-8", errors="replace").replace(f"{measured_in}/", "")
        path.write_text(re.sub(r"[^\s\"(]*/site-packages/", "site-packages/", text), encoding="utf-8")


def take_rows(folder, step, root):
    """Copies the results of a step's experiments that have rows, and writes the reports of those that were cut off.
    Returns the rows by status, and the lines about bad ones."""
    counts, bad = collections.Counter(), []
    own = folder / step.get("folder", "")
    names = step.get("experiments", [])
    for source in [path.parent for name in names for path in own.glob(f"results/{name}/*/rows.csv")]:
        # Several steps may measure the same experiment under different conditions.
        experiment = source.parent.name
        target = root / "results" / experiment / "-".join(filter(None, [source.name, step.get("folder")]))
        shutil.copytree(source, target, dirs_exist_ok=True)
        if not (target / "report.html").exists():
            program = root / "target/release/spmv-bench"
            subprocess.run([program, "reproduce", experiment, "--recorded", target, "--quiet"], check=False)
        for row in rows_of(source / "rows.csv"):
            counts[row["status"]] += 1
            bad += filter(None, [error_of(row, experiment)])
    return counts, bad


def error_of(row, experiment):
    """Returns a line about a row that shows an error, otherwise None. It is an error, such as a missing compiler, if a
    method of this project is skipped for a reason that is none of its own."""
    is_own = (row["method_name"] or "").startswith("gpu-")
    if row["status"] in BAD or row["status"] == "skipped" and is_own and not row["reason"].startswith(MAY_SKIP):
        words = [experiment, row["file"], row["method_name"], row["precision"], row["status"], row["reason"]]
        return ", ".join(filter(None, words))
    return None


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def take_rest(folder, campaign, record):
    """Copies what is not an experiment. The hashes of methods are stated only if the battery has passed."""
    for path in [*folder.glob("*.csv"), *folder.glob("*.toml"), folder / "system.json"]:
        shutil.copy(path, record)
    for path in folder.glob("logs/*"):
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        found = [line for line in lines[:-LOG_LINES] if line.startswith("=========")]
        if lines:
            text = "\n".join(found[:LOG_LINES] + lines[-LOG_LINES:])
            (record / path.name).write_text(text + "\n", encoding="utf-8")
    sources, battery = folder / "bundle.json", campaign["steps"].get("battery", {}).get("outcome", "")
    if sources.exists() and battery.startswith(("ok", "nothing")):
        hashes = json.loads(sources.read_text())["methods"]
        (record / "methods.json").write_text(json.dumps(hashes, indent=1) + "\n")


def page(campaign, system, steps, counts):
    """Returns the page of a record as Markdown."""
    gpu = (system["gpus"] or [{"name": campaign["device"]}])[0]
    facts = [gpu.get(name) for name in ("name", "driver", "cusparse", "nvrtc")] + [f"revision {system['revision']}"]
    lines = [f"# GPU campaign of {campaign['date']}: {gpu['name']}", "", "; ".join(filter(None, facts)) + ".", "",
             "| step | what | outcome | s | expected, s | rows: ok | skipped | bad |",
             "|---|---|---|---|---|---|---|---|"]
    for step in steps:
        note = campaign["steps"].get(step["name"], {"outcome": "not run", "took": ""})
        rows, bad = counts[step["name"]]
        cells = [rows["ok"], sum(rows.values()) - rows["ok"] - len(bad), len(bad)] if rows else ["", "", ""]
        cells = [step["name"], step["what"], note["outcome"], note["took"], step["seconds"], *cells]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    bad = [line for _, of_step in counts.values() for line in of_step]
    lines += ["", "Bad rows are wrong, failed, or of a method of this project that was skipped although it has the "
              f"product: {len(bad) or 'none'}.", *(f"- {line}" for line in bad)]
    return "\n".join(lines) + "\n"


def slug(name):
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")

"""Holds the result files of the working directory against the schemas of the repository that is named, and reads
its CSV files with the example in docs/csv.md."""

import csv
import json
import math
import os
import re
import shutil
import sys
from pathlib import Path

import pandas
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

ROOT = Path(sys.argv[1])
SCHEMAS = {path.name.split(".")[0]: json.loads(path.read_text()) for path in (ROOT / "docs/schema").glob("*.json")}
REGISTRY = Registry().with_resources((s["$id"], Resource.from_contents(s)) for s in SCHEMAS.values())
[LINES] = re.findall(r"In pandas.*?```python\n(.*?)```", (ROOT / "docs/csv.md").read_text(), re.DOTALL)


def check(name, value, place):
    for error in Draft202012Validator(SCHEMAS[name], registry=REGISTRY).iter_errors(value):
        sys.exit(f"{place}: {name}{error.json_path[1:]}: {error.message}")


def read(path):
    """Returns the rows of a CSV file, read with the example in docs/csv.md."""
    shutil.copy(path, "as-documented/out.csv")
    os.chdir("as-documented")
    names = {}
    exec(LINES, names)
    os.chdir("..")
    return names["rows"]


def as_json(value):
    return None if value is pandas.NA else value.item() if hasattr(value, "item") else value


for schema in SCHEMAS.values():
    Draft202012Validator.check_schema(schema)
os.mkdir("as-documented")
os.symlink(ROOT / "docs", "as-documented/docs")

for path in Path().glob("*.run.json"):
    check("run", json.loads(path.read_text()), path)
for name in ("gpu.json", "counted.json", "out.json"):
    for line in Path(name).read_text().splitlines():
        check("matrix", json.loads(line), name)
# How soon a setup pays off is up to the machine.
with open("out.csv", newline="") as results, open("never.csv", "w", newline="") as changed:
    rows = list(csv.reader(results))
    rows[1][rows[0].index("break_even")] = "inf"
    csv.writer(changed).writerows(rows)
tables = {name: read(name) for name in ("out.csv", "never.csv", "without.csv")}
for name, table in tables.items():
    for row in table.to_dict("records"):
        check("row", {column: as_json(value) for column, value in row.items()}, name)

types = {name: column["x-pandas"] for name, column in SCHEMAS["row"]["properties"].items()}
for name, table in tables.items():
    assert {column: str(table.dtypes[column]).lower() for column in table} == {
        column: word.lower() for column, word in types.items()
    }, f"{name}: {table.dtypes}"
assert not tables["without.csv"]["gflops"].notna().any()
assert tables["never.csv"]["break_even"][0] == math.inf
assert (tables["out.csv"]["kind"] == "=1+1").sum() == 2, tables["out.csv"]["kind"]
plain = tables["out.csv"][tables["out.csv"]["method_name"] == "csr-rows"]
assert len(plain) == 2 and plain["break_even"].isna().all(), "plain CSR is not set off against itself"

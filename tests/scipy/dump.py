"""Writes what scipy's readers make of each file of a folder: FILE.fast and FILE.python, none if it is refused.

Rows, columns, entries, the end of each row and the columns as 64-bit integers, then the values as doubles. Entries
in one place are summed in the order in which scipy returns them, which tocsr() does not promise.
"""

import sys
from pathlib import Path

import numpy as np
from scipy.io import _fast_matrix_market, _mmio, mminfo

READERS = {"fast": _fast_matrix_market.mmread, "python": lambda path: _mmio.MMFile().read(path)}


def triplets(matrix, symmetry):
    if not isinstance(matrix, np.ndarray):
        return matrix.row, matrix.col, matrix.data
    row, col = (places.ravel() for places in np.indices(matrix.shape))
    # An array of this kind does not store the diagonal.
    stored = row != col if symmetry == "skew-symmetric" else np.ones(row.shape, bool)
    return row[stored], col[stored], matrix.ravel()[stored]


def dump(matrix, symmetry):
    rows, cols = matrix.shape
    row, col, data = triplets(matrix, symmetry)
    data = data.real.astype(np.float64)
    places, first, of_entry = np.unique(
        row.astype(np.int64) * cols + col, return_index=True, return_inverse=True
    )
    sums, further = data[first], np.ones(data.shape, bool)
    further[first] = False
    np.add.at(sums, of_entry[further], data[further])
    row, col = np.divmod(places, max(cols, 1))
    ends = np.searchsorted(row, np.arange(rows), side="right")
    return np.concatenate([[rows, cols, len(places)], ends, col]).astype(np.int64).tobytes() + sums.tobytes()


for path in map(str, Path(sys.argv[1]).glob("*.mtx")):
    for name, read in READERS.items():
        try:
            dumped = dump(read(path), mminfo(path)[5])
        except (ValueError, TypeError, OverflowError, IndexError):
            continue
        Path(f"{path}.{name}").write_bytes(dumped)

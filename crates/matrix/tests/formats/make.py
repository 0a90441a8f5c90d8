"""Makes the files of this folder, each by a tool or library that is usual for its format, and expected.txt, which has a
line per file with the entries that the library wrote. Needs scipy, networkx and networkit, the tools xz, bzip2, zstd,
pzstd and zip, m2gmetis of METIS, and SuiteSparse's librbio. The files of SNAP, KONECT and DLMC (.smtx) follow the
descriptions of those collections, which have no tool that writes them.

    python3 make.py
"""

import bz2
import ctypes
import gzip
import lzma
import os
import shutil
import subprocess
import tempfile
import zipfile

import networkit as nk
import networkx as nx
import numpy as np
import scipy.io
import scipy.sparse as sp

os.chdir(os.path.dirname(os.path.abspath(__file__)))
expected = []


def expect(name, matrix):
    """Notes the entries of a matrix as those of a file."""
    coo = sp.coo_array(matrix)
    order = np.lexsort((coo.col, coo.row))
    entries = " ".join(f"{coo.row[k]},{coo.col[k]},{float(coo.data[k])!r}" for k in order)
    expected.append(f"{name} {coo.shape[0]} {coo.shape[1]} {entries}".rstrip())


def shell(command):
    subprocess.run(command, shell=True, check=True, stdout=subprocess.DEVNULL)


def drawn(rows, cols, seed, density=0.3):
    draw = np.random.default_rng(seed)
    matrix = sp.random_array((rows, cols), density=density, rng=draw, format="csr")
    matrix.data = draw.integers(-999, 999, matrix.nnz) / 8 * 10.0 ** draw.integers(-3, 4, matrix.nnz)
    return matrix


def graph(nodes, seed, density=0.3):
    half = sp.triu(drawn(nodes, nodes, seed, density), 1)
    half.data = np.abs(half.data) + 1
    return sp.csr_array(half + half.T)


def as_networkit(matrix, weighted):
    made = nk.Graph(matrix.shape[0], weighted=weighted)
    coo = sp.coo_array(sp.triu(matrix))
    for row, col, value in zip(coo.row, coo.col, coo.data):
        made.addEdge(int(row), int(col), float(value)) if weighted else made.addEdge(int(row), int(col))
    return made


def ones(matrix):
    matrix = matrix.copy()
    matrix.data = np.ones(matrix.nnz)
    return matrix


def compressed():
    matrix = drawn(8, 9, 1)
    with tempfile.TemporaryDirectory() as folder:
        plain, first, second = (f"{folder}/{name}" for name in ["a.mtx", "first", "second"])
        scipy.io.mmwrite(plain, matrix)
        text = open(plain, "rb").read()
        open(first, "wb").write(text[:100])
        open(second, "wb").write(text[100:])
        open(f"{folder}/readme.html", "w").write("<html>")
        for compress, kind in [("gzip", "gz"), ("bzip2", "bz2"), ("xz", "xz"), ("zstd -q", "zst")]:
            shell(f"{compress} -1 -c {plain} > fast.mtx.{kind}")
            shell(f"{compress} -9 -c {plain} > best.mtx.{kind}")
            shell(f"({compress} -c {first}; {compress} -c {second}) > members.mtx.{kind}")
        shell(f"(gzip -c {plain}; head -c 777 /dev/zero) > padded.mtx.gz")
        open("python.mtx.gz", "wb").write(gzip.compress(text, mtime=0))
        shell(f"tar -C {folder} -cf - --transform 's,^,a/,' a.mtx | bzip2 > tar.tar.bz2")
        open("python.mtx.bz2", "wb").write(bz2.compress(text))
        shell(f"xz --block-size=64 -c {plain} > blocks.mtx.xz")
        open("python.mtx.xz", "wb").write(lzma.compress(text, check=lzma.CHECK_CRC32))
        shell(f"zstd -q --no-check -c {plain} > unchecked.mtx.zst")
        shell(f"pzstd -q -p 2 -c {plain} > skipped.mtx.zst")
        shell(f"cd {folder} && zip -q deflated.zip a.mtx && zip -q -0 stored.zip a.mtx && "
              f"zip -q beside.zip readme.html a.mtx && cat a.mtx | zip -q - - > streamed.zip")
        for name in ["deflated", "stored", "beside", "streamed"]:
            shutil.copy(f"{folder}/{name}.zip", f"{name}.zip")
        with zipfile.ZipFile("python.mtx.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.write(plain, "folder/a.mtx")
    for name in sorted(os.listdir()):
        if name.endswith((".gz", ".bz2", ".xz", ".zst", ".zip")):
            expect(name, matrix)


def scipy_archives():
    kinds = [("csr", float, True), ("csc", np.float32, True), ("coo", np.int64, True), ("csr", bool, False),
             ("csc", np.uint16, False)]
    for number, (form, kind, compressed) in enumerate(kinds):
        matrix = drawn(6 + number, 7, 10 + number)
        matrix = sp.csr_array(abs(matrix) if kind in (bool, np.uint16) else matrix).astype(kind).asformat(form)
        name = f"{form}-{np.dtype(kind).name}.npz"
        sp.save_npz(name, matrix, compressed=compressed)
        expect(name, matrix)


def harwell_boeing():
    for number in range(5):
        matrix = drawn(5 + number, 5 if number < 3 else 5 + number, 20 + number, 0.2 + number / 10)
        name = f"scipy-{number}.hb"
        scipy.io.hb_write(name, sp.csc_matrix(matrix))
        expect(name, matrix)


def rutherford_boeing():
    rbio = ctypes.CDLL("librbio.so.2")
    general, symmetric = drawn(7, 4, 30), graph(6, 31)
    skew = sp.triu(drawn(6, 6, 32), 1)
    skew = sp.csr_array(skew - skew.T)
    integers = drawn(5, 5, 33)
    integers.data = np.round(integers.data) + 1
    for name, matrix, kind in [("general", general, 0), ("symmetric", symmetric, 0), ("skew", skew, 0),
                               ("integers", integers, 3), ("pattern", ones(general), 1)]:
        csc = sp.csc_array(matrix)
        csc.sort_indices()
        letters = ctypes.create_string_buffer(4)
        whole = [np.ascontiguousarray(of, kind) for of, kind in
                 [(csc.indptr, np.int32), (csc.indices, np.int32), (csc.data, np.float64)]]
        values = whole[2].ctypes.data_as(ctypes.c_void_p)
        status = rbio.RBwrite_i(f"{name}.rb".encode(), b"a test", name[:8].encode(), csc.shape[0], csc.shape[1],
                                whole[0].ctypes.data_as(ctypes.c_void_p), whole[1].ctypes.data_as(ctypes.c_void_p),
                                values, None, None, None, kind, letters)
        assert status >= 0, status
        expect(f"{name}.rb", matrix)


def metis():
    plain, isolated = graph(7, 40), graph(9, 41, 0.1)
    whole = graph(6, 42)
    whole.data = np.round(whole.data) + 1
    for name, matrix, weighted in [("plain", plain, False), ("isolated", isolated, False), ("weighted", whole, True)]:
        nk.graphio.METISGraphWriter().write(as_networkit(matrix, weighted), f"{name}.graph")
        expect(f"{name}.graph", matrix if weighted else ones(matrix))
    # Four squares in a row: neighbours share two nodes, and the nodes of a square are neighbours of each other.
    squares = [[1, 2, 7, 6], [2, 3, 8, 7], [3, 4, 9, 8], [4, 5, 10, 9]]
    with tempfile.TemporaryDirectory() as folder:
        text = f"{len(squares)}\n" + "".join(" ".join(map(str, square)) + "\n" for square in squares)
        open(f"{folder}/mesh", "w").write(text)
        shell(f"m2gmetis -gtype=dual -ncommon=2 {folder}/mesh dual.graph")
        shell(f"m2gmetis -gtype=nodal {folder}/mesh nodal.graph")
    shares = np.array([[len(set(a) & set(b)) >= 2 and a != b for b in squares] for a in squares], float)
    together = np.zeros((10, 10))
    for square in squares:
        for a in square:
            for b in square:
                together[a - 1, b - 1] = a != b
    expect("dual.graph", sp.csr_array(shares))
    expect("nodal.graph", sp.csr_array(together))


def edge_lists():
    directed, undirected = drawn(6, 6, 50), graph(7, 51)
    of = lambda matrix, kind: nx.from_scipy_sparse_array(matrix, create_using=kind)
    nx.write_edgelist(of(directed, nx.DiGraph), "networkx.edgelist", data=False)
    expect("networkx.edgelist directed,base=0", ones(directed))
    nx.write_weighted_edgelist(of(directed, nx.DiGraph), "networkx.wel")
    expect("networkx.wel directed,base=0", directed)
    nx.write_edgelist(of(undirected, nx.Graph), "undirected.edges", data=False, delimiter=",")
    expect("undirected.edges undirected,base=0", ones(undirected))
    nk.graphio.EdgeListWriter("\t", 1).write(as_networkit(undirected, False), "networkit.tsv")
    expect("networkit.tsv undirected,base=1", ones(undirected))
    pairs = "".join(f"{row}\t{col}\n" for row, col in nx.from_scipy_sparse_array(undirected).edges)
    open("snap.txt", "w").write(f"# Undirected graph: a.txt\n# Nodes: 7 Edges: 1\n# FromNodeId\tToNodeId\n{pairs}")
    expect("snap.txt", ones(undirected))
    bipartite = drawn(3, 6, 52)
    coo = sp.coo_array(bipartite)
    lines = "".join(f"{row + 1} {col + 1} {value!r} 1300000000\n" for row, col, value in
                    zip(coo.row, coo.col, coo.data.tolist()))
    open("out.konect", "w").write(f"% bip weighted\n% {coo.nnz} 3 6\n{lines}")
    expect("out.konect", bipartite)


def pruned():
    for number in range(5):
        matrix = ones(drawn(4 + number, 6, 60 + number))
        ends = " ".join(map(str, matrix.indptr)), " ".join(map(str, matrix.indices))
        sizes = f"{matrix.shape[0]}, {matrix.shape[1]}, {matrix.nnz}"
        open(f"dlmc-{number}.smtx", "w").write(f"{sizes}\n{ends[0]} \n{ends[1]} \n")
        expect(f"dlmc-{number}.smtx", matrix)


for part in [compressed, scipy_archives, harwell_boeing, rutherford_boeing, metis, edge_lists, pruned]:
    part()
open("expected.txt", "w").write("\n".join(expected) + "\n")

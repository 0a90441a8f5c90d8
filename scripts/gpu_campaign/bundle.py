"""Builds what travels to a GPU machine: target/gpu-campaign, of at most 40 MiB, and the newest cuSPARSE beside it.

Everything is compressed with xz, and the same sources give the same bytes. The folder contains

    programs.tar.xz        spmv-bench and the test battery, stripped
    kernels.tar.xz         every variant of every kernel, compiled for the wanted architectures
    matrices/NAME.mtx.xz   real matrices
    bundle.json            the hash of the sources of each method, and what was left out

target/gpu-campaign-cusparse has the cuSPARSE of scripts/test for CUDA 13, without the machine code of other
architectures. It is a folder of its own because a call may be unable to carry both.
"""

import gzip
import hashlib
import io
import json
import lzma
import os
import re
import shutil
import struct
import subprocess
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

MOST_BYTES = 40 << 20
# Room for bundle.json.
FOR_REST = 64 << 10
FEWEST_MATRICES = 30
X86 = [{"id": lzma.FILTER_X86}, {"id": lzma.FILTER_LZMA2, "preset": 9}]
NEWEST_CUSPARSE = Path(".venv/newest/nvidia/cu13/lib/libcusparse.so.12")


def build(bundle, matrices, architectures):
    """Builds the bundle from the sources and the folders of matrices. Returns the error, or None."""
    programs, kernels = compiled(bundle.parent / "gpu-campaign-build", architectures)
    if not kernels:
        return "no kernel was compiled"
    compressed = compress_matrices(matrices, bundle.with_name("gpu-campaign-compressed"))
    shutil.rmtree(bundle, ignore_errors=True)
    write(bundle / "programs.tar.xz", archive(programs, X86))
    write(bundle / "kernels.tar.xz", archive(kernels))
    kept, left_out = chosen(compressed, MOST_BYTES - size(bundle) - FOR_REST)
    for path in kept:
        write(bundle / "matrices" / path.name, path.read_bytes())
    sources = {"methods": method_hashes(), "left_out": [path.name for path in left_out]}
    write(bundle / "bundle.json", json.dumps(sources, indent=1).encode())
    library = compress_cusparse(bundle.with_name("gpu-campaign-cusparse"), architectures)
    report(bundle, kept, left_out, library)
    if len(kept) < FEWEST_MATRICES and left_out:
        return f"only {len(kept)} matrices fit into {MOST_BYTES >> 20} MiB"
    return None


def compiled(work, architectures):
    """Builds the programs and kernels in the folder `work`. Returns the files of both."""
    subprocess.run(["cargo", "build", "--release"], check=True)
    command = ["cargo", "test", "--release", "--no-run", "--test", "battery", "--message-format=json"]
    messages = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    artifacts = filter(None, (json.loads(line).get("executable") for line in messages.splitlines()))
    battery = [path for path in artifacts if Path(path).name.startswith("battery")]
    shutil.rmtree(work, ignore_errors=True)
    kernels = work / "kernels"
    kernels.mkdir(parents=True)
    programs = {"spmv-bench": "target/release/spmv-bench", "battery": battery[-1]}
    for name, path in programs.items():
        subprocess.run(["strip", "-o", work / name, path], check=True)
    variables = {"SPMV_BENCH_KERNELS": str(kernels.absolute()), "SPMV_BENCH_ARCHITECTURES": architectures}
    command = [work / "battery", "--ignored", "--exact", "compiled::precompile", "--nocapture"]
    subprocess.run(command, check=True, env={**os.environ, **variables})
    return [work / name for name in programs], sorted(kernels.rglob("*"))


def archive(paths, filters=None):
    """Returns a compressed tar file of the files, below their common folder; it contains no times or owners."""
    root = os.path.commonpath([path.parent for path in paths])
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path in filter(Path.is_file, paths):
            entry = tarfile.TarInfo(str(path.relative_to(root)))
            entry.size, entry.mode = path.stat().st_size, 0o755 if os.access(path, os.X_OK) else 0o644
            with open(path, "rb") as file:
                tar.addfile(entry, file)
    return lzma.compress(out.getvalue(), filters=filters or [{"id": lzma.FILTER_LZMA2, "preset": 9}])


def compress_matrices(folders, compressed):
    """Compresses the matrices of the folders into `compressed`, two at a time. What an earlier build has compressed is
    used if the content is the same, because the compression takes minutes. Returns the compressed files."""
    sources = {}
    for path in sorted(path for folder in folders for path in Path(folder).rglob("*.mtx*")):
        name, found, rest = path.name.partition(".mtx")
        if rest in ("", ".gz"):
            sources.setdefault(name + found, path)

    def compress(name):
        source, target = sources[name], compressed / f"{name}.xz"
        text = (gzip.open if source.suffix == ".gz" else open)(source, "rb").read()
        if not target.exists() or lzma.decompress(target.read_bytes()) != text:
            write(target, lzma.compress(text, preset=6))
        return target

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(compress, sources))


def chosen(compressed, available):
    """Splits the matrices into those that fit into `available` bytes and the others. The largest ones are left out,
    because claims are judged by the number of matrices."""
    kept, left_out = sorted(compressed, key=lambda path: (path.stat().st_size, path.name)), []
    while sum(path.stat().st_size for path in kept) > available:
        left_out.append(kept.pop())
    return kept, left_out


def compress_cusparse(folder, architectures):
    """Compresses the newest cuSPARSE into the folder. Returns the compressed file, or None without the library."""
    if not NEWEST_CUSPARSE.exists():
        return None
    target, marker = folder / "cusparse.tar.xz", folder / "of"
    library = NEWEST_CUSPARSE.read_bytes()
    origin = f"{hashlib.sha256(library).hexdigest()} {architectures}"
    if not marker.exists() or marker.read_text() != origin:
        thin = folder.with_name("gpu-campaign-build") / NEWEST_CUSPARSE.name
        kept = {int(word.split(":")[0]) for word in architectures.split(",")}
        write(thin, without_other_architectures(library, kept))
        write(target, archive([thin], X86))
        write(marker, origin.encode())
    return target


def without_other_architectures(library, kept):
    """Returns the library with zeros in place of the code for other architectures, which compress to nothing: the
    driver takes the code that fits its GPU exactly, and does not look at the rest.

    A container of code (magic number, version, size of the header, size of what follows) has entries of a header and
    code: kind (1 is PTX, 2 machine code), version, size of the header, size of the code; the architecture is at 28."""
    library = bytearray(library)
    magic, place = struct.pack("<I", 0xBA55ED50), 0
    while (place := library.find(magic, place)) >= 0:
        header, length = struct.unpack_from("<HQ", library, place + 6)
        entry, place = place + header, place + header + length
        while entry < place:
            kind, _, header, length = struct.unpack_from("<HHIQ", library, entry)
            (architecture,) = struct.unpack_from("<I", library, entry + 28)
            if kind in (1, 2) and architecture not in kept:
                library[entry + header : entry + header + length] = bytes(length)
            entry += header + length
    return bytes(library)


def method_hashes(root=Path(".")):
    """Returns the hash of the sources of each GPU method: of its module, of the modules whose names these contain, and
    of their kernels with the files that these include."""
    modules, shared = {}, (root / "crates/methods/src/gpu/mod.rs").read_text(encoding="utf-8")
    for folder in (root / "crates/methods/src/gpu", root / "crates/methods/src/formats"):
        for path in sorted(folder.rglob("*.rs")):
            module = path.relative_to(folder).with_suffix("").parts[0]
            if module != "mod":
                modules[module] = modules.get(module, "") + path.read_text(encoding="utf-8")
    kernels = {path.name: path.read_text(encoding="utf-8") for path in sorted((root / "cuda").iterdir())}

    def closure(names, texts, pattern):
        reached, todo = set(), set(names)
        while todo:
            reached |= todo
            found = {name for part in todo for name in re.findall(pattern, texts[part])}
            todo = (found & texts.keys()) - reached
        return sorted(reached)

    hashes = {}
    for module, text in modules.items():
        used = closure([module], modules, r"\b([a-z0-9_]+)::")
        code = shared + "".join(modules[name] for name in used)
        included = closure(re.findall(r'cuda/([\w.]+)"', code), kernels, r'#include "([\w.]+)"')
        digest = hashlib.sha256((code + "".join(kernels[name] for name in included)).encode()).hexdigest()[:16]
        hashes.update(dict.fromkeys(re.findall(r'name: "(gpu-[^"]+)"', text), digest))
    return dict(sorted(hashes.items()))


def report(bundle, kept, left_out, library):
    """Prints the sizes of all parts, and what was left out."""
    def line(what, bytes):
        print(f"{bytes / 2**20:7.2f} MiB  {what}")

    for path in sorted(bundle.glob("*.*")):
        line(path.name, path.stat().st_size)
    line(f"{len(kept)} matrices", sum(path.stat().st_size for path in kept))
    line(f"{bundle} in all, of at most {MOST_BYTES >> 20} MiB", size(bundle))
    if library:
        line(f"{library}, to be carried when there is room for it", library.stat().st_size)
    else:
        print(f"no cuSPARSE, because there is no {NEWEST_CUSPARSE}: scripts/test installs it")
    for path in left_out:
        print(f"left out: {path.name}, {path.stat().st_size / 2**20:.2f} MiB, for which there is no room")
    files = sorted(path for path in bundle.rglob("*") if path.is_file())
    content = b"".join(str(path.relative_to(bundle)).encode() + path.read_bytes() for path in files)
    print(f"SHA-256 of all: {hashlib.sha256(content).hexdigest()}")


def size(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def write(path, content):
    """Writes a file, so that an interrupted build leaves no part of one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_bytes(content)
    part.replace(path)

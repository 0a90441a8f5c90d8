"""The Spack package of spmv-bench. `spack repo add packaging/spack/spack_repo/spmv_bench` makes it known."""

from pathlib import Path

from spack_repo.builtin.build_systems.cargo import CargoPackage

from spack.package import *


class SpmvBench(CargoPackage):
    """The reference benchmark for sparse matrix-vector multiplication on CPU and GPU. Every result is compared with a
    reference of higher precision before it gets a time."""

    # There is no release and no public address yet, so that the package is built from the repository that contains this
    # file. The first release replaces this address, and adds a homepage and a version with the SHA-256 of its archive.
    git = f"file://{Path(__file__).resolve().parents[6]}"

    license("MIT OR Apache-2.0")

    version("main", branch="main")

    variant("mpi", default=False, description="The method mpi-merge, one product on many processes")
    variant("mkl", default=False, description="Find Intel MKL at run time, for the mkl-* methods")
    variant("cuda", default=False, description="Find NVRTC and cuSPARSE at run time, for GPUs and their models")

    depends_on("c", type="build")
    depends_on("rust@1.89:", type="build")
    depends_on("mpi", when="+mpi")
    # The bindings of MPI are generated with libclang.
    depends_on("llvm+clang", type="build", when="+mpi")
    # The newest MKL that exports mkl_cspblas_?csrgemv, the baseline of the papers.
    depends_on("intel-oneapi-mkl@2024:2025.3", type="run", when="+mkl")
    # MKL's threads need libiomp5.so.
    depends_on("llvm-openmp", type="run", when="+mkl")
    depends_on("cuda@12:", type="run", when="+cuda")

    @property
    def build_args(self):
        features = ["--features", "mpi"] if self.spec.satisfies("+mpi") else []
        return ["--locked", *features]

    def setup_run_environment(self, env):
        if self.spec.satisfies("+mkl"):
            mkl = self.spec["intel-oneapi-mkl"].package
            env.prepend_path("LD_LIBRARY_PATH", mkl.component_prefix.lib)
            env.prepend_path("LD_LIBRARY_PATH", self.spec["llvm-openmp"].prefix.lib)
        if self.spec.satisfies("+cuda"):
            env.prepend_path("SPMV_BENCH_LIBRARY_PATH", self.spec["cuda"].prefix.lib64)

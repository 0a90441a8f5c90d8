"""The Ramble application of spmv-bench. `ramble repo add packaging/ramble` makes it known. Benchpark uses the same
file: copy its folder into `repo/`. The package is that of packaging/spack."""

from ramble.appkit import *


class SpmvBench(ExecutableApplication):
    """The reference benchmark for sparse matrix-vector multiplication on CPU and GPU. Every result is compared with a
    reference of higher precision before it gets a time."""

    name = "spmv-bench"

    tags("sparse-matrix", "spmv", "memory-bandwidth", "single-node", "cpu", "gpu", "rust")

    with when("package_manager_family=spack"):
        software_spec("spmv-bench", pkg_spec="spmv-bench@main")

    executable(
        "cpu",
        "spmv-bench {matrix} --quiet --device cpu --methods '{methods}' --precision {precision} --threads {n_threads}"
        " --max-time {seconds}",
        use_mpi=False,
    )
    executable(
        "gpu",
        "spmv-bench {matrix} --quiet --device {device} --methods '{methods}' --precision {precision}"
        " --max-time {seconds}",
        use_mpi=False,
    )

    workload("cpu", executables=["cpu"])
    workload("gpu", executables=["gpu"])
    workload_group("all", workloads=["cpu", "gpu"])

    workload_variable(
        "matrix",
        default="gen:grid3d,n=120,points=7",
        description="A Matrix Market file, a matrix of the collection as GROUP/NAME, or a generated matrix",
        workload_group="all",
    )
    workload_variable("precision", default="f64", description="f64, f32 or both", workload_group="all")
    workload_variable("seconds", default="2", description="Timed seconds per method", workload_group="all")
    workload_variable(
        "methods",
        default="seq,csr-rows,merge,csr5,csr2,sell,packed,mkl-ie-opt",
        description="Names of methods or patterns",
        workloads=["cpu"],
    )
    workload_variable(
        "methods",
        default="gpu-*,cusparse-*",
        description="Names of methods or patterns",
        workloads=["gpu"],
    )
    workload_variable(
        "device",
        default="gpu",
        description="gpu, the number of a GPU, or a modelled GPU such as model:h200",
        workloads=["gpu"],
    )

    # Lines such as: matrix="gen:…" method=merge precision=f64 device=cpu threads=8 cache=hot order=natural status=ok
    # median_ms=0.12 min_ms=0.11 ci95_low_ms=0.12 ci95_high_ms=0.13 setup_ms=0.01 gflops=8.1 reason=
    row = r"matrix=.* method=(?P<method>\S+) precision=(?P<precision>\S+) .* status=ok "
    for figure, units in (("gflops", "GFLOP/s"), ("median_ms", "ms"), ("setup_ms", "ms")):
        figure_of_merit(
            "{method} {precision} " + figure,
            fom_regex=rf"{row}.*\b{figure}=(?P<{figure}>\S+)",
            group_name=figure,
            units=units,
        )

    success_criteria("some_row_is_right", mode="string", match=r"matrix=.* status=ok ")
    success_criteria("no_row_is_wrong", mode="string", anti_match=r"matrix=.* status=(wrong|failed|timeout) ")

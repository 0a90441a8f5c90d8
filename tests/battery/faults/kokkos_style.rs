//! Faults in the transposed product by vectors. The plain product uses CSR-Vector's kernel.

use crate::kernels::{
    Fault,
    Found::{By, Somehow},
};

pub const FAULTS: &[Fault] = &[
    (
        "gpu-kokkos-style:vector=4",
        "if (row >= rows) return;",
        "",
        By("naive_transposed: block (8,0,0) thread"),
    ),
    (
        "gpu-kokkos-style:vector=32",
        "row_offsets[row] + threadIdx.x % LANES",
        "row_offsets[row]",
        Somehow,
    ),
    ("gpu-kokkos-style:vector=2", "k += LANES", "k += 2 * LANES", Somehow),
    ("gpu-kokkos-style:vector=1", "k < end", "k + 1 < end", Somehow),
    (
        "gpu-kokkos-style",
        "atomicAdd(&y[column_indices[k]], values[k] * scaled);",
        "y[column_indices[k]] += values[k] * scaled;",
        Somehow,
    ),
];

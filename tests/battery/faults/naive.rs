//! Faults in the kernels of the naive products.

use crate::kernels::{
    Fault,
    Found::{By, Somehow},
};

pub const FAULTS: &[Fault] = &[
    ("gpu-naive-t", "if (row >= rows) return;", "", By("naive_transposed: block (2,0,0) thread")),
    ("gpu-naive-t", "k < end", "k + 1 < end", Somehow),
    (
        "gpu-naive-t",
        "atomicAdd(&y[column_indices[k]], values[k] * scaled);",
        "y[column_indices[k]] += values[k] * scaled;",
        Somehow,
    ),
];

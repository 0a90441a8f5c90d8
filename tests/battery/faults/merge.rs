//! Faults in the kernels of the merge method.

use crate::kernels::{
    Fault,
    Found::{By, Somehow},
};

pub const FAULTS: &[Fault] = &[
    (
        "gpu-merge",
        "rows, nnz, row_offsets);\n    __syncthreads();",
        "rows, nnz, row_offsets);",
        Somehow,
    ),
    (
        "gpu-merge",
        "column_indices[nonzero]];\n    }\n    __syncthreads();",
        "column_indices[nonzero]];\n    }",
        Somehow,
    ),
    ("gpu-merge", "= carry;\n    __syncthreads();", "= carry;", Somehow),
    (
        "gpu-merge",
        "++row;\n        }\n    }\n    __syncthreads();",
        "++row;\n        }\n    }",
        Somehow,
    ),
    ("gpu-merge", "if (thread == 0) row_ends[tile_rows] = ~0u;", "", Somehow),
    (
        "gpu-merge",
        "carry_rows[blockIdx.x] =",
        "carry_rows[blockIdx.x + 1] =",
        By("writes 4 bytes at offset"),
    ),
    (
        "gpu-merge",
        "__shfl_up_sync(ALL_LANES, sum, distance)",
        "__shfl_up_sync(0x7fffffffu, sum, distance)",
        By("which does not contain the calling lane"),
    ),
    (
        "gpu-merge:block=32",
        "atomicAdd(&y[carry.row], alpha * carry.sum)",
        "y[carry.row] += alpha * carry.sum",
        Somehow,
    ),
];

//! Faults in the kernels of the merge method.

use crate::kernels::{
    Fault,
    Found::{By, Somehow},
};

pub const FAULTS: &[Fault] = &[
    ("gpu-merge", "(a, ends);\n        __syncthreads();", "(a, ends);", Somehow),
    ("gpu-merge", "items, ends_rows);\n    __syncthreads();", "items, ends_rows);", Somehow),
    (
        "gpu-merge:block=64",
        "warp_counts[warp] = sum;\n    __syncthreads();",
        "warp_counts[warp] = sum;",
        Somehow,
    ),
    ("gpu-merge:block=64", "ending != 0};\n    __syncthreads();", "ending != 0};", Somehow),
    ("gpu-merge", "tail = sum;\n    __syncthreads();", "tail = sum;", Somehow),
    ("gpu-merge", "        ends_rows[thread] = 0;\n", "", Somehow),
    ("gpu-merge", "atomicOr(&ends_rows[thread], 1u", "ends_rows[thread] |= (1u", Somehow),
    (
        "gpu-merge",
        "thread + BLOCK; !DESCRIBED && row < rows",
        "thread + BLOCK; !DESCRIBED && row <= rows",
        Somehow,
    ),
    (
        "gpu-merge",
        "shared.tails)[tile] = part",
        "shared.tails)[tile + gridDim.x] = part",
        By("writes 8 bytes at offset"),
    ),
    (
        "gpu-merge",
        "__shfl_up_sync(ALL_LANES, sum, distance)",
        "__shfl_up_sync(0x7fffffffu, sum, distance)",
        By("which does not contain the calling lane"),
    ),
    ("gpu-merge:block=32", "__threadfence();\n        is_last", "is_last", Somehow),
    ("gpu-merge:block=32", "last - first;\n        __threadfence();", "last - first;", Somehow),
    ("gpu-merge:block=32", "        __syncwarp();\n", "", Somehow),
    (
        "gpu-merge:block=32",
        "atomicAdd(&shared.arrivals[last], 1) ==",
        "shared.arrivals[last]++ ==",
        Somehow,
    ),
    ("gpu-merge-bits", "    ends_rows[thread] = 0;\n    search_ends", "    search_ends", Somehow),
    (
        "gpu-merge-bits",
        "row_offsets}, ends);\n    __syncthreads();",
        "row_offsets}, ends);",
        Somehow,
    ),
    (
        "gpu-merge-bits",
        "start.nonzero, ends_rows);\n    __syncthreads();\n    const",
        "start.nonzero, ends_rows);\n    const",
        Somehow,
    ),
    ("gpu-merge-bits", "[gridDim.x] = end;", "[gridDim.x] = start;", Somehow),
    ("gpu-merge-bits", "first_row << DESCRIPTOR_BITS | ending", "ending", Somehow),
];

//! Faults in the kernels of CSR-k.

use crate::kernels::{
    Fault,
    Found::{By, Somehow},
};

pub const FAULTS: &[Fault] = &[
    ("gpu-csrk-3.5", "if (row < end)\n", "\n", By("of a buffer of 2064 bytes")),
    ("gpu-csrk-3", "if (row < end)\n", "\n", By("of a buffer of 2064 bytes")),
    ("gpu-csrk-3.5", "lane == 0 && row < end", "lane == 0", By("of a buffer of 4120 bytes")),
    ("gpu-csrk-3", "lane == 0 && row < end", "lane == 0", By("of a buffer of 4120 bytes")),
    ("gpu-csrk-3.5", "lane == 0 && row < end", "lane == 1 && row < end", Somehow),
    (
        "gpu-csrk-3.5",
        "vector_sum<LANES>(ALL_LANES, sum)",
        "vector_sum<LANES>(0xffffu, sum)",
        By("which does not contain the calling lane"),
    ),
    ("gpu-csrk-3.5", "left = end - k", "left = end - k + WIDTH", Somehow),
    ("gpu-csrk-3", "left = end - k", "left = end - k - 1", Somehow),
    ("gpu-csrk-3", "k += AT_ONCE * WIDTH", "k += WIDTH", Somehow),
    // The loop of Listing 4, which some lanes of a warp leave before others.
    (
        "gpu-csrk-3.5:block=4x8x12",
        "for (; first < end;",
        "for (; first + threadIdx.y < end;",
        By("waits for the lanes"),
    ),
    ("gpu-csrk-3.5", "first += blockDim.y", "first += 2 * blockDim.y", Somehow),
    ("gpu-csrk-3", "first += blockDim.y", "first += blockDim.y + 1", Somehow),
    ("gpu-csrk-3", "first + threadIdx.z", "first", Somehow),
    ("gpu-csrk-3:ssrs=48", "k += blockDim.z", "k += 2 * blockDim.z", Somehow),
    ("gpu-csrk-3", "k < end; k += blockDim.z", "k + 1 < end; k += blockDim.z", Somehow),
    (
        "gpu-csrk-3",
        "k < end; k += blockDim.z",
        "k <= end; k += blockDim.z",
        By("reads 4 bytes at offset"),
    ),
    (
        "gpu-csrk-3",
        "end = super_super_rows[blockIdx.x + 1]",
        "end = super_super_rows[blockIdx.x] + 1",
        Somehow,
    ),
    ("gpu-csrk-2", "super_rows[blockIdx.x + 1]", "super_rows[blockIdx.x] + 1", Somehow),
    (
        "gpu-csrk-2",
        "super_rows[blockIdx.x + 1]",
        "super_rows[blockIdx.x + 2]",
        By("reads 4 bytes at offset"),
    ),
    (
        "gpu-csrk-3",
        "if (k < count) permuted_x",
        "permuted_x",
        By("csrk_permute_x: block (2,0,0) thread"),
    ),
    ("gpu-csrk-3", "= x[old[k]]", "= x[k]", Somehow),
    ("gpu-csrk-2", "PERMUTED && stores ? old[row]", "PERMUTED ? old[row]", By("csrk_2: block")),
    ("gpu-csrk-3", "PERMUTED && stores ? old[row] : row", "row", Somehow),
    ("gpu-csrk-3", "if (stores) store(y, place", "if (stores) store(y, row", Somehow),
    ("gpu-csrk-3", "sum, beta);", "sum, 1);", Somehow),
    (
        "gpu-csrk-2",
        "if (PERMUTED) x = after_earlier_kernels(x);",
        "",
        By("of an earlier launch wrote"),
    ),
    (
        "gpu-csrk-3",
        "if (PERMUTED) x = after_earlier_kernels(x);\n    for",
        "for",
        By("of an earlier launch wrote"),
    ),
];

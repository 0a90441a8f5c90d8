//! Faults in BCCOO's segmented sums and in the way tiles pass on their carries.

use crate::kernels::{
    Fault,
    Found::{By, Somehow},
};

pub const FAULTS: &[Fault] = &[
    (
        "gpu-bccoo",
        "atomicExch(counter, 0u);\n    }\n    __syncthreads();",
        "atomicExch(counter, 0u);\n    }",
        Somehow,
    ),
    ("gpu-bccoo", "2 * gridDim.x - 1) atomicExch", "gridDim.x - 1) atomicExch", Somehow),
    ("gpu-bccoo", "Turn{taken - gridDim.x, 2}", "Turn{taken - gridDim.x, 1}", Somehow),
    ("gpu-bccoo", "atomicAdd(counter, 1u)", "(*counter)++", Somehow),
    (
        "gpu-bccoo",
        "warp_carries[warp] = carry;\n    __syncthreads();",
        "warp_carries[warp] = carry;",
        Somehow,
    ),
    ("gpu-bccoo", "if (lane == WARP - 1) warp", "if (lane == 0) warp", Somehow),
    ("gpu-bccoo", "if (next.row != before.row) before = {next.row, {}};", "", Somehow),
    ("gpu-bccoo", "if (before.row == carry.row) add", "add", Somehow),
    (
        "gpu-bccoo",
        "__shfl_up_sync(ALL_LANES, carry.sums.of[r], 1)",
        "__shfl_up_sync(0x7fffffffu, carry.sums.of[r], 1)",
        By("which does not contain the calling lane"),
    ),
    ("gpu-bccoo", "== WARP - 1 || next != key", "== WARP - 1", Somehow),
    ("gpu-bccoo", "reach &= reach << distance", "reach = 0", Somehow),
    (
        "gpu-bccoo",
        "__shfl_up_sync(ALL_LANES, sum, distance)",
        "__shfl_up_sync(0x7fffffffu, sum, distance)",
        By("which does not contain the calling lane"),
    ),
    ("gpu-bccoo", "lane == 0 ? before", "lane == 1 ? before", Somehow),
    ("gpu-bccoo", "while (word >> 33 != turn.number);", "while (false);", Somehow),
    ("gpu-bccoo", "2 * turn.number + a_row_ends", "2 * turn.number + 1", Somehow),
    ("gpu-bccoo", "lane >= behind || await", "await", By("reads 8 bytes")),
    ("gpu-bccoo", "(ends & ((1u << lane) - 1)) == 0", "true", Somehow),
    ("gpu-bccoo:items=4:threads=64", "if (ends) return before;", "return before;", Somehow),
    (
        "gpu-bccoo",
        "before = sums;\n        }\n        __syncthreads();",
        "before = sums;\n        }",
        Somehow,
    ),
    ("gpu-bccoo", "if (first_row == tile_row) add", "add", Somehow),
    ("gpu-bccoo", "if (thread == BLOCK - 1) publish", "if (thread == BLOCK - 2) publish", Somehow),
    ("gpu-bccoo", "if (closed) store_rows", "store_rows", Somehow),
    ("gpu-bccoo", "(start + k) & 1", "k & 1", Somehow),
    (
        "gpu-bccoo:block=2x1",
        "if (row < rows) store",
        "store",
        By("writes 8 bytes at offset 4120 of"),
    ),
    (
        "gpu-bccoo:block=1x2",
        "(at[k] + 1) * BLOCK_COLS <= cols",
        "at[k] * BLOCK_COLS < cols",
        By("reads 16 bytes at offset"),
    ),
    (
        "gpu-bccoo:block=1x2",
        "column < cols ? x[column] : value_t(0)",
        "x[column]",
        By("reads 8 bytes at offset 240008 of"),
    ),
    (
        "gpu-bccoo:carry=kernel",
        "} else if (thread == BLOCK - 1) {",
        "} else if (thread == 0) {",
        Somehow,
    ),
    (
        "gpu-bccoo:carry=kernel",
        "if (tile >= seams) return;",
        "",
        By("bccoo_carries: block (0,0,0) thread"),
    ),
    (
        "gpu-bccoo:carry=kernel",
        "atomicAdd(&y[block_row * BLOCK_ROWS + r], alpha * sum)",
        "y[block_row * BLOCK_ROWS + r] += alpha * sum",
        Somehow,
    ),
];

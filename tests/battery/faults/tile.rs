//! Faults in TileSpMV's units and formats, and in the second pass for the entries apart.

use crate::kernels::{
    Fault,
    Found::{By, Somehow},
};

pub const FAULTS: &[Fault] = &[
    ("gpu-tile:block=256", "if (unit >= units) {", "if (false) {", By("reads 4 bytes")),
    ("gpu-tile", "my_sums[lane] = 0;\n    __syncwarp();", "my_sums[lane] = 0;", Somehow),
    ("gpu-tile", "if (lane < SIDE) my_sums[lane] = 0;", "", Somehow),
    ("gpu-tile", "= x[column];\n    }\n    __syncwarp();", "= x[column];\n    }", Somehow),
    ("gpu-tile:coo=tiles", "my_sums);\n    __syncwarp();", "my_sums);", Somehow),
    ("gpu-tile", "if (lane < count) my_tiles", "my_tiles", Somehow),
    ("gpu-tile", "if (column < cols) my_x", "my_x", By("reads 8 bytes at offset")),
    ("gpu-tile", "unit_rows[unit] & ~SHARED_ROWS", "unit_rows[unit]", Somehow),
    ("gpu-tile", "unit_rows[unit] & SHARED_ROWS", "false", Somehow),
    ("gpu-tile", "if (lane >= height) return;", "", Somehow),
    ("gpu-tile", "if (lane >= height)", "if (lane >= SIDE)", By("of a buffer of 4120 bytes")),
    (
        "gpu-tile",
        "atomicAdd(&y[row], alpha * sum);\n    else",
        "y[row] += alpha * sum;\n    else",
        Somehow,
    ),
    (
        "gpu-tile",
        "__shfl_down_sync(ALL_LANES, sum, SIDE)",
        "__shfl_down_sync(0xffffu, sum, SIDE)",
        By("which does not contain the calling lane"),
    ),
    // Faults in the formats.
    (
        "gpu-tile",
        "tile.row + 1 < SIDE ? tile.indices[tile.row + 1] : tile.size",
        "tile.indices[tile.row + 1]",
        Somehow,
    ),
    (
        "gpu-tile",
        "tile.indices[tile.row] + tile.half; k < end; k += 2",
        "tile.indices[tile.row]; k < end; k += 2",
        Somehow,
    ),
    ("gpu-tile", "place % 2 ? pair & 15 : pair >> 4", "place % 2 ? pair >> 4 : pair & 15", Somehow),
    (
        "gpu-tile",
        "ell_sum(const View &tile) {\n    value_t sum = 0;\n    if (tile.row >= tile.height) return sum;",
        "ell_sum(const View &tile) {\n    value_t sum = 0;",
        Somehow,
    ),
    (
        "gpu-tile",
        "k < tile.size; k += 2) {\n        const unsigned place",
        "k < tile.size; k += 4) {\n        const unsigned place",
        Somehow,
    ),
    (
        "gpu-tile",
        "dense_sum(const View &tile) {\n    value_t sum = 0;\n    if (tile.row >= tile.height) return sum;",
        "dense_sum(const View &tile) {\n    value_t sum = 0;",
        Somehow,
    ),
    ("gpu-tile", "if (column < tile.width)\n", "", Somehow),
    ("gpu-tile", "mine < tile.size;", "true;", Somehow),
    ("gpu-tile", "exists && column < tile.width", "exists", Somehow),
    (
        "gpu-tile",
        "__shfl_sync(ALL_LANES, vector_sum",
        "__shfl_sync(0xffffu, vector_sum",
        By("which does not contain the calling lane"),
    ),
    ("gpu-tile", "exists && tile.indices[mine] == tile.row", "exists", Somehow),
    // Faults in the listed entries in tiles.
    (
        "gpu-tile:coo=tiles",
        "atomicAdd(&sums[at / SIDE], product)",
        "sums[at / SIDE] += product",
        Somehow,
    ),
    ("gpu-tile:coo=tiles", "k < listed; k += WARP", "k < min(listed, WARP); k += WARP", Somehow),
    (
        "gpu-tile:coo=tiles",
        "inside >= tiles[number].listed()",
        "inside > tiles[number].listed()",
        Somehow,
    ),
    ("gpu-tile:coo=tiles:hyb=on", "(places + 1) / 2", "places / 2", Somehow),
    ("gpu-tile:coo=tiles:hyb=on", "tile.values + places + inside", "tile.values + inside", Somehow),
    // Faults in the entries apart, as in COO.
    ("gpu-tile", "step * WARP < left;", "step * WARP + 1 < left;", Somehow),
    ("gpu-tile", "y = after_earlier_kernels(y);", "", By("of an earlier launch wrote")),
    (
        "gpu-tile:block=256",
        "after_earlier_kernels(y);\n        return",
        "return",
        By("ends without having waited"),
    ),
    ("gpu-tile", "{after_earlier_kernels(y), alpha, 1}", "{y, alpha, 1}", By("tile_apart: block")),
];

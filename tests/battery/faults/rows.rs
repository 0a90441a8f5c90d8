//! Faults in the kernels of five-gpu-algorithms.

use crate::kernels::{
    Fault,
    Found::{By, Somehow},
};

pub const FAULTS: &[Fault] = &[
    ("gpu-csr-scalar", "if (row >= rows) return;", "", By("csr_scalar: block (2,0,0) thread")),
    ("gpu-csr-scalar", "row >= rows", "row > rows", By("reads 4 bytes at offset 2064 of")),
    ("gpu-csr-scalar", "k < end", "k + 1 < end", Somehow),
    ("gpu-csr-scalar", "store(y, row, alpha, sum, beta);", "if (sum != 0) y[row] = sum;", Somehow),
    ("gpu-csr-vector", "lane == 0 && row < rows", "lane == 1 && row < rows", Somehow),
    (
        "gpu-csr-vector",
        "lane == 0 && row < rows",
        "lane == 0",
        By("writes 8 bytes at offset 4120 of"),
    ),
    (
        "gpu-csr-vector",
        "row < rows ? row_offsets[row + 1] : 0",
        "row_offsets[row + 1]",
        By("reads 4 bytes at offset 2064 of"),
    ),
    // The barrier in a divergent branch that the listing of five-gpu-algorithms has.
    (
        "gpu-csr-vector",
        "sum = vector_sum<LANES>",
        "if (row < rows) __syncthreads(); sum = vector_sum<LANES>",
        By("waits for thread (96,0,0), which has exited"),
    ),
    (
        "gpu-csr-vector",
        "sum = vector_sum<LANES>(ALL_LANES, sum)",
        "sum = vector_sum<LANES>(0xffffu, sum)",
        By("which does not contain the calling lane"),
    ),
    ("gpu-csr-vector:lanes=2", "left = end - k", "left = end - k - 1", Somehow),
    ("gpu-csr-vector:lanes=2", "j < AT_ONCE; ++j) sum", "j < AHEAD - 1; ++j) sum", Somehow),
    ("gpu-csr-adaptive", "    __syncthreads();\n    while (true)", "    while (true)", Somehow),
    ("gpu-csr-adaptive", "__threadfence();\n        is_last", "is_last", Somehow),
    ("gpu-csr-adaptive", "blocks - 1;\n        __threadfence();", "blocks - 1;", Somehow),
    ("gpu-csr-adaptive", "    __syncthreads();\n    if (!is_last)", "    if (!is_last)", Somehow),
    ("gpu-csr-adaptive", "atomicAdd(&arrivals[first], 1)", "arrivals[first]++", Somehow),
    ("gpu-csr-adaptive", "= sum;\n    __syncthreads();", "= sum;", Somehow),
    (
        "gpu-csr-adaptive",
        "products[place] =",
        "products[place + 1] =",
        By("of the shared array `products`"),
    ),
    ("gpu-pcsr", "rows)];\n    __syncthreads();", "rows)];", Somehow),
    ("gpu-pcsr", "products[k];\n        __syncthreads();", "products[k];", Somehow),
    ("gpu-pcsr", "begin];\n        __syncthreads();", "begin];", Somehow),
    ("gpu-pcsr", "min(row, rows)", "row", By("of a buffer of 2064 bytes")),
    (
        "gpu-light:level=vector:lanes=8",
        "vector_mask<TOGETHER>()",
        "ALL_LANES",
        By("waits for the lanes"),
    ),
    (
        "gpu-light",
        "__shfl_sync(mask, bound, 1, LANES)",
        "__shfl_sync(mask, bound, 0, LANES)",
        Somehow,
    ),
    ("gpu-light", "atomicAdd(counter, FETCHED)", "atomicAdd(counter, 2 * FETCHED)", Somehow),
    ("gpu-light", "atomicExch(counter, 0)", "atomicExch(counter, rows)", Somehow),
    ("gpu-light", "FETCHED + groups", "FETCHED + groups - 1", Somehow),
    ("gpu-light:rows=1:lanes=32", "(rows - 1) / FETCHED", "rows / FETCHED", Somehow),
    ("gpu-light:level=vector:lanes=8", "(BLOCK / TOGETHER)", "(BLOCK / WARP)", Somehow),
    ("gpu-light", "k < ROWS", "k + 1 < ROWS", Somehow),
    ("gpu-light", "first + k * VECTORS", "first + k", Somehow),
    (
        "gpu-pcsr",
        "products = after_earlier_kernels(products);",
        "",
        By("of an earlier launch wrote"),
    ),
    (
        "gpu-pcsr",
        "products = after_earlier_kernels(products);\n    const unsigned last = offsets[ROWS];\n    value_t sum = 0;",
        "const unsigned last = offsets[ROWS];\n    value_t sum = 0 * products[0];\n    products = after_earlier_kernels(products);",
        By("of an earlier launch wrote"),
    ),
];

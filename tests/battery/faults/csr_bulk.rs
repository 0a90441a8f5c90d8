//! Faults in the bulk copies of CSR and in the rows that pieces and blocks share.

use crate::kernels::{
    Fault,
    Found::{By, Somehow},
};

pub const FAULTS: &[Fault] = &[
    ("gpu-csr-bulk", "if (count >= UNIT) wait(", "if (count > PIECE) wait(", Somehow),
    ("gpu-csr-bulk", "piece / BUFFERS % 2", "piece % 2", Somehow),
    ("gpu-csr-bulk", "while (!complete)\n", "\n", Somehow),
    (
        "gpu-csr-bulk",
        "count * (sizeof(value_t) + sizeof(unsigned))",
        "count * sizeof(value_t)",
        Somehow,
    ),
    (
        "gpu-csr-bulk",
        "count * (sizeof(value_t) + sizeof(unsigned))",
        "(count + UNIT) * (sizeof(value_t) + sizeof(unsigned))",
        By("waits forever for an mbarrier whose phase lacks 0 arrivals and 48 bytes"),
    ),
    (
        "gpu-csr-bulk",
        "if (count == 0) return;\n    expect",
        "if (count == 0) return;\n    if (BUFFERS == 0) expect",
        By("waits forever for an mbarrier whose phase lacks 1 arrivals and -"),
    ),
    (
        "gpu-csr-bulk",
        "initialise(&room.barriers[k]);",
        "if (k > 0) initialise(&room.barriers[k]);",
        By("uses an mbarrier that was not initialised"),
    ),
    (
        "gpu-csr-bulk",
        "    asm volatile(\"fence.mbarrier_init.release.cluster;\" ::: \"memory\");\n",
        "",
        By("copies with an mbarrier that no `fence.mbarrier_init`"),
    ),
    (
        "gpu-csr-bulk",
        "min(PIECE, end - start) / UNIT * UNIT",
        "min(PIECE, end - start)",
        By("no multiple of 16 bytes"),
    ),
    ("gpu-csr-bulk", "next_row - row + 1, width", "next_row - row, width", Somehow),
    (
        "gpu-csr-bulk",
        "        room.longs = 0;\n    }\n    __syncthreads();",
        "        room.longs = 0;\n    }",
        Somehow,
    ),
    (
        "gpu-csr-bulk",
        "        __syncthreads();\n        if (thread == 0 && piece + BUFFERS < used)",
        "        if (thread == 0 && piece + BUFFERS < used)",
        Somehow,
    ),
    ("gpu-csr-bulk", "room.products[piece % 2]", "room.products[0]", Somehow),
    ("gpu-csr-bulk", "sum += room.carries[turn];", "", Somehow),
    ("gpu-csr-bulk", "room.carries[turn ^ 1] = sum;", "room.carries[turn] = sum;", Somehow),
    ("gpu-csr-bulk", "LONG_ROWS && __syncthreads_or(has_long)", "LONG_ROWS && has_long", Somehow),
    ("gpu-csr-bulk", "max(from, start) + thread % WARP", "from + thread % WARP", Somehow),
    (
        "gpu-csr-bulk",
        "                __syncthreads();\n                if (thread == 0) room.longs",
        "                if (thread == 0) room.longs",
        Somehow,
    ),
    (
        "gpu-csr-bulk",
        "has_open && k < WARPS; ++k) sum",
        "has_open && k + 1 < WARPS; ++k) sum",
        Somehow,
    ),
    (
        "gpu-csr-bulk",
        "if (from < begin) room.head = sum;",
        "if (from < begin) store(y, row + item, alpha, sum, beta);",
        Somehow,
    ),
    ("gpu-csr-bulk", "            open = 0;\n", "", Somehow),
    (
        "gpu-csr-bulk",
        "thread == 1 && k < WARPS; ++k) part",
        "thread == 1 && k < 1; ++k) part",
        Somehow,
    ),
    ("gpu-csr-bulk", "__threadfence();\n        is_last", "is_last", Somehow),
    ("gpu-csr-bulk", "place == 0 ? 0 : rows", "rows", Somehow),
    ("gpu-csr-bulk", "row_offsets[middle + 1] > start", "row_offsets[middle] >= start", Somehow),
    (
        "gpu-csr-bulk",
        "    if (place > blocks * pieces) return;\n",
        "",
        By("writes 4 bytes at offset"),
    ),
    ("gpu-csr-bulk", "if (FULL || k >= count) return sum;", "return sum;", Somehow),
];

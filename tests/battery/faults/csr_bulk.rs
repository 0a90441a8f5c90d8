//! Faults in the bulk copies of CSR and in the rows that pieces and blocks share.

use crate::kernels::{
    Fault,
    Found::{By, Somehow},
};

pub const FAULTS: &[Fault] = &[
    ("gpu-csr-bulk", "if (count >= UNIT) wait(", "if (count > PIECE) wait(", Somehow),
    ("gpu-csr-bulk", "number / BUFFERS % 2", "number % 2", Somehow),
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
    ("gpu-csr-bulk", "next_row - row + 1, products", "next_row - row, products", Somehow),
    (
        "gpu-csr-bulk",
        "        room.longs = 0;\n    }\n    __syncthreads();",
        "        room.longs = 0;\n    }",
        Somehow,
    ),
    (
        "gpu-csr-bulk",
        "        __syncthreads();\n        if (thread == 0 && number + BUFFERS < used)",
        "        if (thread == 0 && number + BUFFERS < used)",
        Somehow,
    ),
    ("gpu-csr-bulk", "room.products[number % 2]", "room.products[0]", Somehow),
    ("gpu-csr-bulk", "sum += room.carries[piece.turn];", "", Somehow),
    (
        "gpu-csr-bulk",
        "room.carries[piece.turn ^ 1] = sum;",
        "room.carries[piece.turn] = sum;",
        Somehow,
    ),
    ("gpu-csr-bulk", "!__syncthreads_or(has_long)", "!has_long", Somehow),
    ("gpu-csr-bulk", "max(bounds.from, piece.start) + lane", "bounds.from + lane", Somehow),
    (
        "gpu-csr-bulk",
        "    __syncthreads();\n    if (threadIdx.x == 0) room.longs",
        "    if (threadIdx.x == 0) room.longs",
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
        "if (from < output.begin) room.head = sum;",
        "if (from < output.begin) store(output.y, piece.row + item, output.alpha, sum, output.beta);",
        Somehow,
    ),
    ("gpu-csr-bulk", "            open = 0;\n", "", Somehow),
    ("gpu-csr-bulk", "lane == 1 && k < WARPS; ++k) part", "lane == 1 && k < 1; ++k) part", Somehow),
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

//! Faults in packed slices.

use crate::kernels::{
    Fault,
    Found::{By, Somehow},
};

pub const FAULTS: &[Fault] = &[
    ("gpu-packed", "if (index >= count) return;", "", By("packed: block (")),
    (
        "gpu-packed",
        "first + lane < steps ? list[first + lane] : Step{0, 0}",
        "list[first + lane]",
        Somehow,
    ),
    ("gpu-packed", "k + j);\n                const", "k);\n                const", Somehow),
    ("gpu-packed", "lanes & ((1u << lane) - 1)", "lanes & ((2u << lane) - 1)", Somehow),
    (
        "gpu-packed",
        "active[j] ? load_stored(&entries[before]) : stored_t(0)",
        "load_stored(&entries[before])",
        Somehow,
    ),
    ("gpu-packed", "entries += __popc(lanes);", "entries += WARP;", Somehow),
    ("gpu-packed", "bits += __popc(lanes) * width;", "bits += WARP * width;", Somehow),
    ("gpu-packed", "words[starts[j] / 32 + 1]", "words[starts[j] / 32]", Somehow),
    (
        "gpu-packed",
        "column += codes[j] >> WIDTH;",
        "column += (unsigned)codes[j] >> WIDTH;",
        By("reads 8 bytes"),
    ),
    ("gpu-packed", "& mask;", ";", By("reads 8 bytes")),
    ("gpu-packed", "active[j] ? x[column] : value_t(0)", "x[column]", By("reads 8 bytes")),
    ("gpu-packed", "bool has_row = row < rows;", "bool has_row = true;", By("writes")),
    ("gpu-packed", "has_row = distance != NO_LANE;", "", By("writes")),
    ("gpu-packed", "place % 2 * 16", "0", Somehow),
    (
        "gpu-packed",
        "head.code & LISTED ? WARP / 2 >> shift",
        "head.code & LISTED ? WARP / 2",
        Somehow,
    ),
    ("gpu-packed", ": head.code & PART);", ": 0);", Somehow),
    ("gpu-packed", "slice.row + lane;", "slice.row + place;", Somehow),
    ("gpu-packed", "head.code & NO_OFFSETS", "true", Somehow),
    ("gpu-packed", "distance = (1u << shift) / 2;", "distance = (1u << shift) / 4;", Somehow),
    (
        "gpu-packed",
        "__shfl_down_sync(ALL_LANES, sum, distance);",
        "__shfl_down_sync(0xffffu, sum, distance);",
        By("does not contain the calling lane"),
    ),
    ("gpu-packed", "has_row && lane == place << shift", "has_row", Somehow),
    ("gpu-packed", "has_row && lane == place << shift", "lane == place << shift", By("writes")),
    ("gpu-packed", "== count - 1;", "== count;", Somehow),
    (
        "gpu-packed",
        "parts[slice] = part;\n        __threadfence();",
        "parts[slice] = part;",
        Somehow,
    ),
    (
        "gpu-packed",
        "is_last = atomicAdd(&arrivals[first], 1)",
        "is_last = arrivals[first]++",
        Somehow,
    ),
    ("gpu-packed", "k < count; k += WARP", "k < count; k += 2 * WARP", Somehow),
    ("gpu-packed-values", "active ? table[stored]", "active ? table[0]", Somehow),
    (
        "gpu-packed-values",
        "typedef unsigned short stored_t;",
        "typedef unsigned char stored_t;",
        Somehow,
    ),
    ("gpu-packed-values", "#elif CODE_BITS == 8", "#elif CODE_BITS == 16", Somehow),
];

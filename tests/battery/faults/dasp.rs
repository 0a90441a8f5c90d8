//! Faults in the blocks of DASP and in its classes of rows.

use crate::kernels::{
    Fault,
    Found::{By, Somehow},
};

pub const FAULTS: &[Fault] = &[
    ("gpu-dasp", "{%0, %1}, {%2}", "{%1, %0}, {%2}", Somehow),
    ("gpu-dasp", "% 2 ? sums[1] : sums[0]", "% 2 ? sums[0] : sums[1]", Somehow),
    ("gpu-dasp", "WIDTH * row + row / 2", "WIDTH * row + row % 2", Somehow),
    ("gpu-dasp:groups=4", "if (lane / ROWS == s) sum = found", "sum = found", Somehow),
    ("gpu-dasp", "k < ends[0] - starts[0]", "k + DEPTH < ends[0] - starts[0]", Somehow),
    (
        "gpu-dasp",
        "column == NO_ENTRY ? value_t(0) : arrays.x[column]",
        "arrays.x[column]",
        By("reads 8 bytes at"),
    ),
    ("gpu-dasp", "lane % WIDTH == lane / ROWS ? diagonal", "lane < ROWS ? diagonal", Somehow),
    (
        "gpu-dasp",
        "first ? value : value_t(0), first ? factor : value_t(0)",
        "value, factor",
        Somehow,
    ),
    ("gpu-dasp", "sums[2 * k + 1], first", "sums[2 * k], first", Somehow),
    ("gpu-dasp", "place < medium;", "true;", Somehow),
    ("gpu-dasp:groups=1", "lane < STREAMS * ROWS && ", "", Somehow),
    (
        "gpu-dasp:groups=1",
        "double sums[STREAMS][2] = {};",
        "if (!owns) return; double sums[STREAMS][2] = {};",
        By("mma.sync waits for the lanes"),
    ),
    ("gpu-dasp:groups=4", "starts[0].y < starts[STREAMS].y", "starts[0].y < starts[1].y", Somehow),
    ("gpu-dasp:groups=4", "starts[lane / ROWS].y + (piece", "starts[0].y + (piece", Somehow),
    ("gpu-dasp", ".y + (piece >> 16)", ".y", Somehow),
    ("gpu-dasp", "wide + unit * GROUPS", "unit * GROUPS", Somehow),
    ("gpu-dasp", "unit < pairs_of_3 ? 1 : 2", "1", Somehow),
    ("gpu-dasp", "if (row != NO_ENTRY) store", "store", By("writes 8 bytes at")),
    ("gpu-dasp", "first_pair + 2ull * pairs", "first_pair + pairs", Somehow),
    ("gpu-dasp", "place < singles ? values[entry]", "true ? values[entry]", By("reads ")),
    ("gpu-dasp", "if (place >= short_rows) return;", "", By("reads ")),
    ("gpu-dasp", "if (row >= rows) return;", "", By("dasp_long: block (0,0,0) thread")),
    ("gpu-dasp", "k < first_chunks[row + 1]", "k + 1 < first_chunks[row + 1]", Somehow),
    (
        "gpu-dasp",
        "partials = after_earlier_kernels(partials);",
        "",
        By("dasp_long: block (0,0,0) thread"),
    ),
];

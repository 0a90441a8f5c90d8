//! Faults in the kernels that convert CSR to other formats.

use super::{Fault, fault};

pub const FAULTS: &[Fault] = &[
    fault("ell", "- row_offsets[row] > width").to("- row_offsets[row] > width + 1"),
    fault("ell", "distance > 0; distance /= 2)\n        longer")
        .to("distance > 1; distance /= 2)\n        longer"),
    fault("hyb", "if (lane >= distance) up_to += before;").to("up_to += before;"),
    fault("hyb", "before < warp; ++before)").to("before + 1 < warp; ++before)"),
    fault("hyb", "if (lane == WARP - 1) of_warps[warp] = up_to;\n    __syncthreads();")
        .to("if (lane == WARP - 1) of_warps[warp] = up_to;"),
    fault("hyb", "totals[k / SPAN]").to("totals[0]"),
    fault("sell", "next - start > length ||").to("next - start >= length ||"),
    fault("sell", "other < row").to("other <= row"),
    fault("sell", "width = max(width, row_offsets").to("width = min(width, row_offsets"),
    fault("sell", "place < min((k + 1) * chunk, rows)")
        .to("place < (k + 1) * chunk")
        .by("chunk_widths: block"),
    fault("ell", "k < length ? csr_columns[start + k] : NO_ENTRY").to("csr_columns[start + k]"),
    fault("ell", "if (place >= places) return;").by("fill_strips: block"),
    fault("ell", "if (place < rows) {").to("{").by("fill_strips: block"),
    fault("hyb:width=8", "length > width ? length - width : 0").to("length"),
    fault("hyb:width=8", "+ width + (k - rest_offsets[row])").to("+ (k - rest_offsets[row])"),
    fault("dia", "min(row_offsets[row + 1] - start, most)").to("1"),
    fault("dia", "atomicOr(const_cast<unsigned *>(marks) + place / 32, bit)")
        .to("marks[place / 32] |= bit"),
    fault("dia", "transpose ? row - column : column - row").to("column - row"),
    fault("dia", "(transpose ? column : row)] = csr").to("row] = csr"),
    fault("dia", "offsets[middle] < offset").to("offsets[middle] <= offset"),
    fault("dasp", "counts[key] = 0;\n    __syncthreads();").to("counts[key] = 0;"),
    fault("dasp", "keys[threadIdx.x] = key;\n    __syncthreads();").to("keys[threadIdx.x] = key;"),
    fault("dasp", "other < threadIdx.x").to("other <= threadIdx.x"),
    fault("dasp", "rest << 16 | irregular").to("irregular"),
    fault("dasp", "if (k == long_rows) chunks[k] = 0;").by("scan: block"),
    fault("dasp", "blocks[row] + CHUNK").to("CHUNK"),
    fault("dasp", "(unit - uneven()) * PAIRS + slot").to("unit - uneven() + slot"),
    fault("dasp", "second ? first_three : first_two + twos")
        .to("second ? first_two + twos : first_three"),
    fault("dasp", "second ? column - split : column").to("column"),
    fault("dasp", "(place - units * 2 * PLACES)").to("place"),
    fault("dasp", "before * WIDTH + inside % WIDTH").to("inside % WIDTH"),
    fault("dasp", "rest[k / ROWS] + (piece >> 16)").to("rest[k / ROWS]"),
    fault("bcsr", "row_of(nonzero, row_offsets, rows);\n    __syncthreads();")
        .to("row_of(nonzero, row_offsets, rows);"),
    fault("bcsr", "% (THREADS - 1) == 0)")
        .to("% (THREADS / 2 - 1) == 0)")
        .by("count_blocks: block"),
    fault("bcsr", "columns[k - 1] >= column").to("columns[k - 1] > column"),
    fault("bcsr:block=3x3", "k > row_offsets[row] && ").by("mark_blocks: block"),
    fault("bcsr:block=3x3", "above < row; ++above").to("above + 1 < row; ++above"),
    fault("bcsr:block=3x3", "columns[found] < column + SIZE").to("columns[found] <= column + SIZE"),
    fault("bcsr:block=3x3", "min(k * SIZE, rows)").to("k * SIZE").by("block_offsets: block"),
    fault("bcsr:block=3x3", "row < min(first + SIZE, rows)")
        .to("row < first + SIZE")
        .by("block_columns: block"),
    fault("bcsr:block=3x3", "to[place] = min(column, cols - SIZE)").to("to[place] = column"),
    fault("bcsr:block=3x3", "(first + SIZE - 1) / SIZE * SIZE").to("first"),
    fault("bcsr:block=3x3", "row < rows ? row_offsets[row + 1] : 0").to("row_offsets[row + 1]"),
];

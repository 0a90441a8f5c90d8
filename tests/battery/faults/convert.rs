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
    fault("packed", "is_band ? least : ~warp_min(has ? ~distance : NONE)").to("least"),
    fault("packed", "offset = distance - advance;").to("offset = distance;"),
    fault("packed", "next += stride;").to("next += 1;"),
    fault("packed", "end = min(end, start + part);"),
    fault("packed", "start += plan.origin * part;"),
    fault("packed", "row_offsets[min(row, rows)]").to("row_offsets[row]").by("classify: block"),
    fault("packed", "if (first >= rows) return;").by("classify: block"),
    fault("packed", "ballot_sync(ALL_LANES, row < rows && length <= limits.part)")
        .to("ballot_sync(ALL_LANES, row < rows)"),
    fault("packed", "places[key] = 0;\n    __syncwarp();").to("places[key] = 0;"),
    fault("packed", "const unsigned count = add_up(places, keys);\n    __syncwarp();")
        .to("const unsigned count = add_up(places, keys);"),
    fault("packed", "if (lane_number() >= distance) up_to += left;").to("up_to += left;"),
    fault("packed", "before += is_same && other < lane;").to("before += is_same && other <= lane;"),
    fault("packed", "behind == 0) places[key] += before + 1;\n            __syncwarp();")
        .to("behind == 0) places[key] += before + 1;"),
    fault("packed", "order[first + place] = NO_ENTRY;").to("order[first + place] = 0;"),
    fault("packed", "if (row > rows) return;").by("count_parts: block"),
    fault("packed", "(length - 1) / part + 1 : 0;").to("length / part : 0;"),
    fault("packed", "at += slices * each;\n        index -= slices;").to("at += slices * each;"),
    fault("packed", "first_words(head) + (bits + 31) / 32").to("(bits + 31) / 32"),
    fault("packed", "first_words(head) + (bits + 31) / 32").to("first_words(head) + bits / 32"),
    fault("packed", "| (bits == 0 ? NO_OFFSETS : 0)").to("| NO_OFFSETS"),
    fault("packed", "__syncwarp();\n    if (lane_number() > 0) return;\n    heads[slice] = head |")
        .to("if (lane_number() > 0) return;\n    heads[slice] = head |"),
    fault("packed", "if (!is_same(found)) continue;"),
    fault("packed", "atomicCAS(place, NO_ENTRY, k)")
        .to("*place; if (found == NO_ENTRY) *place = k"),
    fault("packed", "__all_sync(ALL_LANES, is_equal) ? first : slice").to("0"),
    fault("packed:run=4", "plans[slice - 1].row + WARP == row").to("true"),
    fault("packed", "if (shift + width > 32) atomicOr").to("if (false) atomicOr"),
    fault("packed", "offset >> (32 - shift));\n        }").to("0);\n        }"),
    fault("packed", "lane_number() == 0 ? rest : 0;").to("rest;"),
    fault("packed", "bits += count * width;\n        __syncwarp();").to("bits += count * width;"),
    fault("packed", "words[WARP + lane_number()] = 0;\n        __syncwarp();")
        .to("words[WARP + lane_number()] = 0;"),
    fault("packed", "offsets.bits > 0) *offsets.to").to("true) *offsets.to"),
    fault("packed", "slice - plan.origin : (length").to("slice : (length"),
    fault("packed", "row == NO_ENTRY ? NO_LANE : row - plan.row").to("row - plan.row"),
    fault("packed", "to + first_words(head), 0}").to("to, 0}"),
    fault("packed", "if (owners[slice] == slice) {").to("if (slice == 0) {"),
    fault("packed", "kept[owners[slice]], entries").to("kept[slice], entries"),
    fault("packed:run=4", "is_wordless(head) ? further").to("is_wordless(head) ? further + 1"),
    fault("packed-values", "if (k < found) atomicMin(place, k);").to("*place = k;"),
    fault("packed-values", "(marks[k / WARP] & ((1u << k % WARP) - 1))").to("(marks[k / WARP])"),
    fault("packed-values", "distinct[number] = values[k];").to("distinct[number] = 0;"),
    fault("packed-values", "atomicOr(&marks[k / WARP], 1u << k % WARP)")
        .to("marks[k / WARP] |= 1u << k % WARP"),
];

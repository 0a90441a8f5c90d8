//! Faults in the kernels of the classical formats, CSR-k and packed slices.

use super::{Fault, fault};

pub const FAULTS: &[Fault] = &[
    fault("ell", "if (row >= rows) return;").by("ell: block (1,0,0) thread"),
    fault("ell", "k + j < width").to("k + j + 1 < width"),
    fault("ell", "k + j < width").to("k + j <= width").by("reads"),
    fault("ell", "columns[j] == NO_ENTRY").to("false").by("which is not in any buffer"),
    fault("ell", "columns[AHEAD - 1] == NO_ENTRY").to("columns[1] != NO_ENTRY"),
    fault("sell", "if (place >= rows) return;").by("sell: block (1,0,0) thread"),
    fault("sell", "order ? order[place] : place").to("place"),
    fault("sell:sigma=1", "order ? order[place] : place").to("order[place]").by("reads 4 bytes at"),
    fault("sell", "chunk_offsets[chunk + 1] - start").to("chunk_offsets[chunk + 1]").by("reads"),
    fault("sell:c=64", "place / CHUNK").to("place / 32").by("reads"),
    fault("sell", "columns[j] == NO_ENTRY").to("false").by("which is not in any buffer"),
    // Warps that have finished a chunk must wait for the other warps of the block.
    fault(
        "dia:block=128",
        "// The chunk before has been read.\n        \
            __syncthreads();",
    ),
    fault("dia", "first + threadIdx.x];\n        __syncthreads();").to("first + threadIdx.x];"),
    fault("dia", "if (threadIdx.x < count) chunk").to("chunk").by("reads 4 bytes at offset"),
    fault("dia", "min(BLOCK, diagonals - first)").to("BLOCK").by("reads 4 bytes at offset"),
    fault("dia", "if (row >= rows) continue;").by("reads 8 bytes at offset"),
    fault("dia", "column < cols").to("true").by("reads 8 bytes at offset"),
    fault("dia", "if (row < rows) store").to("store").by("of a buffer of 2088 bytes"),
    fault("bcsr", "block_row * SIZE < rows").to("true").by("reads 4 bytes at offset"),
    fault("bcsr:block=8x8", "lane < SIZE && row < rows")
        .to("lane < SIZE")
        .by("of a buffer of 2088 bytes"),
    fault("bcsr:block=8x8", "lane < SIZE && row < rows").to("row < rows"),
    fault("bcsr:block=3x3", "lane < USED ?").to("lane <= USED ?").by("reads"),
    fault("bcsr:block=3x3", "USED - 1 - lane").to("USED - lane"),
    fault("bcsr:block=3x3", "place >= AREA").to("place > AREA"),
    fault("bcsr:block=3x3", "if (lane + distance < columns * SIZE) sum").to("sum"),
    fault("coo", "exists ? load_once(&row_indices[step * WARP]) : NO_ROW")
        .to("load_once(&row_indices[step * WARP])")
        .by("reads 4 bytes at"),
    fault("coo", "exists ? load_once(&values[step * WARP]) : value_t(0)")
        .to("load_once(&values[step * WARP])")
        .by("reads 8 bytes at"),
    fault("coo", "after < end ? row_indices[after] : NO_ROW").to("row_indices[after]").by("reads"),
    fault("coo", "lane == 0 ? first_of_next : row").to("row"),
    fault("coo", "batch.products[step] + carry").to("batch.products[step]"),
    fault("coo", "lane != 0 || tails >> (WARP - 1)").to("lane != 0"),
    fault("coo", "lane != 0 || tails >> (WARP - 1)").to("tails >> (WARP - 1)"),
    fault("coo", "tails << 1 | 1").to("tails << 1"),
    fault("coo", "reach &= reach << distance;").to("reach &= reach << 1;"),
    fault("coo", "atomicAdd(&y[row], alpha * sum)").to("y[row] += alpha * sum"),
    fault("coo", "row == first_row || next == NO_ROW").to("next == NO_ROW"),
    fault("coo", "row == first_row || next == NO_ROW").to("row == first_row"),
    fault("coo", "min(start + interval, all)").to("start + interval").by("reads"),
    fault("hyb:width=8", "if (row >= rows) return;").by("hyb_ell: block (2,0,0) thread"),
    fault("hyb:width=8", "atomicAdd(&y[row], alpha * sum)").to("y[row] = alpha * sum"),
    fault("coo", "y = after_earlier_kernels(y);").by("of an earlier launch wrote"),
    fault("hyb:width=8", "{after_earlier_kernels(y), alpha, 1}")
        .to("{y, alpha, 1}")
        .by("hyb_coo: block"),
    fault("csrk-3.5", "if (row < end)\n").to("\n").by("of a buffer of 2064 bytes"),
    fault("csrk-3", "if (row < end)\n").to("\n").by("of a buffer of 2064 bytes"),
    fault("csrk-3.5", "lane == 0 && row < end").to("lane == 0").by("of a buffer of 4120 bytes"),
    fault("csrk-3", "lane == 0 && row < end").to("lane == 0").by("of a buffer of 4120 bytes"),
    fault("csrk-3.5", "lane == 0 && row < end").to("lane == 1 && row < end"),
    fault("csrk-3.5", "left = end - k").to("left = end - k + WIDTH"),
    fault("csrk-3", "left = end - k").to("left = end - k - 1"),
    fault("csrk-3", "k += AT_ONCE * WIDTH").to("k += WIDTH"),
    // The loop of Listing 4, which some lanes of a warp leave before others.
    fault("csrk-3.5:block=4x8x12", "for (; first < end;")
        .to("for (; first + threadIdx.y < end;")
        .by("waits for the lanes"),
    fault("csrk-3.5", "first += blockDim.y").to("first += 2 * blockDim.y"),
    fault("csrk-3", "first += blockDim.y").to("first += blockDim.y + 1"),
    fault("csrk-3", "first + threadIdx.z").to("first"),
    fault("csrk-3:ssrs=48", "k += blockDim.z").to("k += 2 * blockDim.z"),
    fault("csrk-3", "k < end; k += blockDim.z").to("k + 1 < end; k += blockDim.z"),
    fault("csrk-3", "k < end; k += blockDim.z")
        .to("k <= end; k += blockDim.z")
        .by("reads 4 bytes at offset"),
    fault("csrk-3", "end = super_super_rows[blockIdx.x + 1]")
        .to("end = super_super_rows[blockIdx.x] + 1"),
    fault("csrk-2", "super_rows[blockIdx.x + 1]").to("super_rows[blockIdx.x] + 1"),
    fault("csrk-2", "super_rows[blockIdx.x + 1]")
        .to("super_rows[blockIdx.x + 2]")
        .by("reads 4 bytes at offset"),
    fault("csrk-3", "if (k < count) permuted_x")
        .to("permuted_x")
        .by("csrk_permute_x: block (2,0,0) thread"),
    fault("csrk-3", "= x[old[k]]").to("= x[k]"),
    fault("csrk-2", "PERMUTED && stores ? old[row]").to("PERMUTED ? old[row]").by("csrk_2: block"),
    fault("csrk-3", "PERMUTED && stores ? old[row] : row").to("row"),
    fault("csrk-3", "if (stores) store(y, place").to("if (stores) store(y, row"),
    fault("csrk-3", "sum, beta);").to("sum, 1);"),
    fault("csrk-2", "if (PERMUTED) x = after_earlier_kernels(x);").by("of an earlier launch wrote"),
    fault("csrk-3", "if (PERMUTED) x = after_earlier_kernels(x);\n    for")
        .to("for")
        .by("of an earlier launch wrote"),
    fault("packed", "if (index >= count) return;").by("packed: block ("),
    fault("packed", "first + lane < steps.count ? steps.list[first + lane] : Step{0, 0}")
        .to("list[first + lane]"),
    fault("packed", "k + j);\n                const").to("k);\n                const"),
    fault("packed", "lanes & ((1u << lane) - 1)").to("lanes & ((2u << lane) - 1)"),
    fault("packed", "active[j] ? load_stored(&entries[before]) : stored_t(0)")
        .to("load_stored(&entries[before])"),
    fault("packed", "entries += __popc(lanes);").to("entries += WARP;"),
    fault("packed", "bits += __popc(lanes) * width;").to("bits += WARP * width;"),
    fault("packed", "words[starts[j] / 32 + 1]").to("words[starts[j] / 32]"),
    fault("packed", "column += codes[j] >> WIDTH;")
        .to("column += (unsigned)codes[j] >> WIDTH;")
        .by("reads 8 bytes"),
    fault("packed", "& mask;").to(";").by("reads 8 bytes"),
    fault("packed", "active[j] ? x[column] : value_t(0)").to("x[column]").by("reads 8 bytes"),
    fault("packed", "bool has_row = row < rows;").to("bool has_row = true;").by("writes"),
    fault("packed", "has_row = distance != NO_LANE;").by("writes"),
    fault("packed", "place % 2 * 16").to("0"),
    fault("packed", "head & LISTED ? WARP / 2 >> shift").to("head & LISTED ? WARP / 2"),
    fault("packed", ": head & PART);").to(": 0);"),
    fault("packed", "slice.row + lane;").to("slice.row + place;"),
    fault("packed", "if (is_wordless(head))").to("if (!(head & (LISTED | PART)))"),
    fault("packed", "if (lane < steps.count) steps.mine").to("steps.mine"),
    fault("packed:run=4", "left = slice.words + 1").to("left = 1"),
    fault("packed:run=4", "            row += WARP;\n").to(""),
    fault("packed:run=4", "            column += WARP;\n").to(""),
    fault("packed", "row < rows && lane == place").to("lane == place").by("writes"),
    fault("packed", "distance = (1u << shift) / 2;").to("distance = (1u << shift) / 4;"),
    fault("packed", "has_row && lane == place << shift").to("has_row"),
    fault("packed", "has_row && lane == place << shift").to("lane == place << shift").by("writes"),
    fault("packed", "== count - 1;").to("== count;"),
    fault("packed", "parts[slice] = part;\n        __threadfence();").to("parts[slice] = part;"),
    fault("packed", "is_last = atomicAdd(&arrivals[first], 1)").to("is_last = arrivals[first]++"),
    fault("packed", "k < count; k += WARP").to("k < count; k += 2 * WARP"),
    fault("packed-values", "active ? table[stored]").to("active ? table[0]"),
    fault("packed-values", "typedef unsigned short stored_t;")
        .to("typedef unsigned char stored_t;"),
    fault("packed-values", "#elif CODE_BITS == 8").to("#elif CODE_BITS == 16"),
];

//! Faults in the kernels of blocks and tiles.

use super::{Fault, fault};

pub const FAULTS: &[Fault] = &[
    fault("bccoo", "atomicExch(counter, 0u);\n    }«\n    __syncthreads();»"),
    fault("bccoo", "«2 * »gridDim.x - 1) atomicExch"),
    fault("bccoo", "Turn{taken - gridDim.x, «2→1»}"),
    fault("bccoo", "atomicAdd(counter, 1u)").to("(*counter)++"),
    fault("bccoo", "warp_carries[warp] = carry;«\n    __syncthreads();»"),
    fault("bccoo", "if (lane == «WARP - 1→0») warp"),
    fault("bccoo", "if (next.row != before.row) before = {next.row, {}};"),
    fault("bccoo", "«if (before.row == carry.row) »add"),
    fault("bccoo", "== WARP - 1« || next != key»"),
    fault("bccoo", "reach «&= reach << distance→= 0»"),
    fault("bccoo", "lane == «0→1» ? before"),
    fault("bccoo", "while («word >> 33 != turn.number→false»);"),
    fault("bccoo", "2 * turn.number + «a_row_ends→1»"),
    fault("bccoo", "«lane >= behind || »await").by("reads 8 bytes"),
    fault("bccoo", "(ends & ((1u << lane) - 1)) == 0").to("true"),
    fault("bccoo:items=4:threads=64", "«if (ends) »return before;"),
    fault("bccoo", "before = sums;\n        }«\n        __syncthreads();»"),
    fault("bccoo", "«if (first_row == tile_row) »add"),
    fault("bccoo", "if (thread == BLOCK - «1→2») publish"),
    fault("bccoo", "«if (closed) »store_rows"),
    fault("bccoo", "«(start + k)→k» & 1"),
    fault("bccoo:block=2x1", "«if (row < rows) »store").by("writes 8 bytes at offset 4120 of"),
    fault("bccoo:block=1x2", "«(at[k] + 1) * BLOCK_COLS <=→at[k] * BLOCK_COLS <» cols")
        .by("reads 16 bytes at offset"),
    fault("bccoo:block=1x2", "column < cols ? x[column] : value_t(0)")
        .to("x[column]")
        .by("reads 8 bytes at offset 240008 of"),
    fault("bccoo:carry=kernel", "} else if (thread == «BLOCK - 1→0») {"),
    fault("bccoo:carry=kernel", "if (tile >= seams) return;")
        .by("bccoo_carries: block (0,0,0) thread"),
    fault("bccoo:carry=kernel", "atomicAdd(&y[block_row * BLOCK_ROWS + r], alpha * sum)")
        .to("y[block_row * BLOCK_ROWS + r] += alpha * sum"),
    fault("tile:block=256", "if («unit >= units→false») {").by("reads 4 bytes"),
    fault("tile", "my_sums[lane] = 0;«\n    __syncwarp();»"),
    fault("tile", "if (lane < SIDE) my_sums[lane] = 0;"),
    fault("tile", "= x[column];\n    }«\n    __syncwarp();»"),
    fault("tile:coo=tiles", "my_sums);«\n    __syncwarp();»"),
    fault("tile", "«if (lane < count) »my_tiles"),
    fault("tile", "«if (column < cols) »my_x").by("reads 8 bytes at offset"),
    fault("tile", "unit_rows[unit]« & ~SHARED_ROWS»"),
    fault("tile", "unit_rows[unit] & SHARED_ROWS").to("false"),
    fault("tile", "if (lane >= height) return;"),
    fault("tile", "if (lane >= «height→SIDE»)").by("of a buffer of 4120 bytes"),
    fault("tile", "«atomicAdd(&y[row], alpha * sum)→y[row] += alpha * sum»;\n    else"),
    fault("tile", "__shfl_down_sync(«ALL_LANES→0xffffu», sum, SIDE)")
        .by("which does not contain the calling lane"),
    // Faults in the formats.
    fault("tile", "tile.row + 1 < SIDE ? tile.indices[tile.row + 1] : tile.size")
        .to("tile.indices[tile.row + 1]"),
    fault("tile", "tile.indices[tile.row]« + tile.half»; k < end; k += 2"),
    fault("tile", "place % 2 ? pair «& 15 : pair >> 4→>> 4 : pair & 15»"),
    fault(
        "tile",
        "ell_sum(const View &tile) {\n    \
            value_t sum = 0;\n    \
            if (tile.row >= tile.height) return sum;",
    )
    .to("ell_sum(const View &tile) {\n    value_t sum = 0;"),
    fault("tile", "k < tile.size; k += «2→4») {\n        const unsigned place"),
    fault(
        "tile",
        "dense_sum(const View &tile) {\n    \
            value_t sum = 0;\n    \
            if (tile.row >= tile.height) return sum;",
    )
    .to("dense_sum(const View &tile) {\n    value_t sum = 0;"),
    fault("tile", "if (column < tile.width)\n"),
    fault("tile", "mine < tile.size;").to("true;"),
    fault("tile", "exists« && column < tile.width»"),
    fault("tile", "__shfl_sync(«ALL_LANES→0xffffu», vector_sum")
        .by("which does not contain the calling lane"),
    fault("tile", "exists« && tile.indices[mine] == tile.row»"),
    // Faults in the listed entries in tiles.
    fault("tile:coo=tiles", "atomicAdd(&sums[at / SIDE], product)")
        .to("sums[at / SIDE] += product"),
    fault("tile:coo=tiles", "k < «listed→min(listed, WARP)»; k += WARP"),
    fault("tile:coo=tiles", "inside >«=» tiles[number].listed()"),
    fault("tile:coo=tiles:hyb=on", "«(places + 1)→places» / 2"),
    fault("tile:coo=tiles:hyb=on", "tile.values + «places + »inside"),
    // Faults in the entries apart, as in COO.
    fault("tile:coo=apart", "step * WARP «→+ 1 »< left;"),
    fault("tile", "y = after_earlier_kernels(y);").by("of an earlier launch wrote"),
    fault("tile:block=256", "«after_earlier_kernels(y);\n        »return")
        .by("ends without having waited"),
    fault("tile:coo=apart", "{«after_earlier_kernels(y)→y», alpha, 1}").by("tile_apart: block"),
    fault("dasp", "{%«0, %1→1, %0»}, {%2}"),
    fault("dasp", "% 2 ? sums[«1] : sums[0→0] : sums[1»]"),
    fault("dasp", "WIDTH * row + row «/→%» 2"),
    fault("dasp:groups=4", "«if (lane / ROWS == s) »sum = found"),
    fault("dasp", "k «→+ DEPTH »< ends[0] - starts[0]"),
    fault("dasp", "«column == NO_ENTRY ? value_t(0) : »arrays.x[column]").by("reads 8 bytes at"),
    fault("dasp", "lane «% WIDTH == lane /→<» ROWS ? diagonal"),
    fault("dasp", "first ? value : value_t(0), first ? factor : value_t(0)").to("value, factor"),
    fault("dasp", "sums[2 * k« + 1»], first"),
    fault("dasp", "place < medium;").to("true;"),
    fault("dasp:groups=1", "lane < STREAMS * ROWS && "),
    fault("dasp:groups=1", "«→if (!owns) return; »double sums[STREAMS][2] = {};")
        .by("mma.sync waits for the lanes"),
    fault("dasp:groups=4", "rest[0] < rest[«STREAMS→1»]"),
    fault("dasp:groups=4", "rest[«lane / ROWS→0»] + (piece"),
    fault("dasp", "rest[lane / ROWS]« + (piece >> 16)»"),
    fault("dasp", "«wide + »unit * GROUPS"),
    fault("dasp", "«unit < classes.uneven() ? 1 : 2→1», lane"),
    fault("dasp", "«if (row != NO_ENTRY) »store").by("writes 8 bytes at"),
    fault("dasp", "first_pair + «2ull * »pairs"),
    fault("dasp", "«place < singles→true» ? values[entry]").by("reads "),
    fault("dasp", "if (place >= short_rows) return;").by("reads "),
    fault("dasp", "(partials);«\n    if (row >= rows) return;»")
        .by("dasp_long: block (0,0,0) thread"),
    fault("dasp", "k «→+ 1 »< first_chunks[row + 1]"),
    fault("dasp", "partials = after_earlier_kernels(partials);")
        .by("dasp_long: block (0,0,0) thread"),
];

//! Faults in the kernels of CSR in equal pieces.

use super::{Fault, fault};

pub const FAULTS: &[Fault] = &[
    fault("merge", "(a, ends);«\n        __syncthreads();»"),
    fault("merge", "items, ends_rows);«\n    __syncthreads();»"),
    fault("merge:block=64", "warp_counts[warp] = sum;«\n    __syncthreads();»"),
    fault("merge:block=64", "ending != 0};«\n    __syncthreads();»"),
    fault("merge", "tail = sum;«\n    __syncthreads();»"),
    fault("merge", "        ends_rows[thread] = 0;\n"),
    fault("merge", "atomicOr(&ends_rows[thread], 1u").to("ends_rows[thread] |= (1u"),
    fault("merge", "thread + BLOCK; !DESCRIBED && row <«→=» rows"),
    fault("merge", "shared.tails)[tile«→ + gridDim.x»] = part").by("writes 8 bytes at offset"),
    fault("merge", "__shfl_up_sync(«ALL_LANES→0x7fffffffu», sum, distance)")
        .by("which does not contain the calling lane"),
    fault("merge:block=32", "«__threadfence();\n        »is_last"),
    fault("merge:block=32", "last - first;«\n        __threadfence();»"),
    fault("merge:block=32", "        __syncwarp();\n"),
    fault("merge:block=32", "atomicAdd(&shared.arrivals[last], 1) ==")
        .to("shared.arrivals[last]++ =="),
    fault("merge-bits", "    «ends_rows[thread] = 0;\n    »search_ends"),
    fault("merge-bits", "row_offsets}, ends);«\n    __syncthreads();»"),
    fault("merge-bits", "start.nonzero, ends_rows);\n    «__syncthreads();\n    »const"),
    fault("merge-bits", "[gridDim.x] = «end→start»;"),
    fault("merge-bits", "«first_row << DESCRIPTOR_BITS | »ending"),
    fault("csr-bulk", "if (count >«= UNIT→ PIECE») wait("),
    fault("csr-bulk", "number «/ BUFFERS »% 2"),
    fault("csr-bulk", "while (!complete)\n").to("\n"),
    fault("csr-bulk", "count * «(sizeof(value_t) + sizeof(unsigned)→sizeof(value_t»)"),
    fault("csr-bulk", "«count→(count + UNIT)» * (sizeof(value_t) + sizeof(unsigned))")
        .by("waits forever for an mbarrier whose phase lacks 0 arrivals and 48 bytes"),
    fault("csr-bulk", "if (count == 0) return;\n    «→if (BUFFERS == 0) »expect")
        .by("waits forever for an mbarrier whose phase lacks 1 arrivals and -"),
    fault("csr-bulk", "«→if (k > 0) »initialise(&room.barriers[k]);")
        .by("uses an mbarrier that was not initialised"),
    fault(
        "csr-bulk",
        "    asm volatile(\"fence.mbarrier_init.release.cluster;\" ::: \"memory\");\n",
    )
    .by("copies with an mbarrier that no `fence.mbarrier_init`"),
    fault("csr-bulk", "min(PIECE, end - start)« / UNIT * UNIT»").by("no multiple of 16 bytes"),
    fault("csr-bulk", "next_row - row« + 1», products"),
    fault("csr-bulk", "        room.longs = 0;\n    }«\n    __syncthreads();»"),
    fault(
        "csr-bulk",
        "        __syncthreads();\n        \
            if (thread == 0 && number + BUFFERS < used)",
    )
    .to("        if (thread == 0 && number + BUFFERS < used)"),
    fault("csr-bulk", "room.products[«number % 2→0»]"),
    fault("csr-bulk", "sum += room.carries[piece.turn];"),
    fault("csr-bulk", "room.carries[piece.turn« ^ 1»] = sum;"),
    fault("csr-bulk", "!__syncthreads_or(has_long)").to("!has_long"),
    fault("csr-bulk", "«max(bounds.from, piece.start)→bounds.from» + lane"),
    fault("csr-bulk", "    «__syncthreads();\n    »if (threadIdx.x == 0) room.longs"),
    fault("csr-bulk", "has_open && k «→+ 1 »< WARPS; ++k) sum"),
    fault("csr-bulk", "room.head = sum;")
        .to("store(output.y, piece.row + item, output.alpha, sum, output.beta);"),
    fault("csr-bulk", "            open = 0;\n"),
    fault("csr-bulk", "lane == 1 && k < «WARPS→1»; ++k) part"),
    fault("csr-bulk", "«__threadfence();\n        »is_last"),
    fault("csr-bulk", "«place == 0 ? 0 : »rows"),
    fault("csr-bulk", "row_offsets[middle« + 1] >→] >=» start"),
    fault("csr-bulk", "    if (place > blocks * pieces) return;\n").by("writes 4 bytes at offset"),
    fault("csr-bulk", "«if (FULL || k >= count) »return sum;"),
    fault("hola-t", "i <«→=» outputs)").by("writes 8 bytes at offset"),
    fault("hola", "if (i >= rows) return;").by("hola_assign: block"),
    fault("hola", "«(start + PER_BLOCK - 1)→start» / PER_BLOCK"),
    fault("hola", "if (start < end && end == nnz) block_rows[after] = i;"),
    fault("hola", "if (i < outputs) y[i] = beta == 0 ? 0 : beta * y[i];"),
    fault("hola", "return «last_row - row > PER_BLOCK→false»;"),
    fault("hola", "«max(row_offsets[row], first)→row_offsets[row]» - first"),
    fault("hola", "assigned.empty[threadIdx.x] = 0;\n    __syncthreads();"),
    fault("hola", "if («start >= end→false») {"),
    fault("hola", "assigned.empty[(min(start, share.count) - 1) / (WARP * ITEMS)] = 1;").to(";"),
    fault("hola", "if («share.row + row < share.last_row→start < share.count»)"),
    fault("hola", "«(start + ITEMS - 1)→start» / ITEMS"),
    fault("hola", "atomicOr(&assigned.ends[last], 1u << (end - 1) % ITEMS)")
        .to("assigned.ends[last] |= 1u << (end - 1) % ITEMS"),
    fault("hola", "share.count == PER_BLOCK").to("true"),
    fault("hola", "place_of(k) < share.count ? load_once(&array[place_of(k)]) : absent")
        .to("load_once(&array[place_of(k)])")
        .by("reads"),
    fault("hola", "if (place_of(k) >= share.count) products[k] = 0;"),
    fault("hola:transpose=shuffles", "rotate(items, lane % PIECES);"),
    fault("hola:transpose=shuffles", "rotate(moved, (PIECES - place) % PIECES);"),
    fault("hola:transpose=shared", "__syncwarp();"),
    fault("hola:transpose=shared", "k ^ k / WIDE / 8 % 8 * WIDE").to("k / 2"),
    fault("hola:items=8:transpose=shuffles", "rotate(moved, «(PIECES - place) % PIECES→place»);"),
    fault("hola:sort=on", "if (SORT) sort(places, factors);"),
    fault("hola", "«lane == 0 || »above != row"),
    fault("hola", "«if (lane + distance < end) »sum += other;"),
    fault("hola", "return «head && »sum != 0;"),
    fault("hola", "sums[threadIdx.x / WARP] = sum;«\n    __syncthreads();»"),
    fault("hola", "if (threadIdx.x == 0) atomicAdd(&y[share.row], alpha * sum);")
        .to("if (threadIdx.x == 0) y[share.row] += alpha * sum;"),
    fault("hola", "if («rows[k] != rows[k - 1]→false») {"),
    fault("hola", "if («combine(rows[ITEMS - 1], sum)→false»)"),
    fault("hola", "row_offsets[row] <«=» nonzero) rows"),
    fault("hola", "if («row <= last && »row_offsets[row]"),
    fault("hola", "if («assigned.empty[threadIdx.x / WARP]→false») {"),
    fault("hola", "        «output[row] = 0;\n    __syncwarp()»;"),
    fault("hola", "        output[row] = 0;«\n    __syncwarp();»"),
    fault("hola", "assigned.rows[first] + «1→2» + threadIdx.x % WARP"),
    fault(
        "hola",
        "next * ITEMS < share.count ? assigned.rows[next] : share.last_row - share.row;\n    for",
    )
    .to("share.last_row - share.row;\n    for"),
    fault("hola", "row_offsets[share.row + middle + 1] >«→=» share.first + k"),
    fault("hola", "(share.count - 1) / ITEMS && «row <= last→false») output[last] = 0;"),
    fault(
        "hola",
        "    __syncthreads();\n    \
            if (combine(row, sum)) atomicAdd(&output[row], sum);",
    )
    .to("    if (combine(row, sum)) atomicAdd(&output[row], sum);"),
    fault("hola", "atomicAdd(&output[row], sum);«\n    __syncthreads();»"),
    fault("hola", "if (combine(row, sum)) «atomicAdd(&output[row], sum)→output[row] += sum»;"),
    fault("hola", "if (k < before) continue;"),
    fault("hola", "k == «before || k == »last"),
    fault("hola", "k == before« || k == last»"),
    fault("hola", "transpose_staged(products, output);«\n    __syncthreads();»"),
    fault("hola-t", "x[share.row + rows[«k→0»]]"),
    fault("hola-t", "ends >> k & 1« && next < share.count»").by("hola_transposed: block"),
    fault("hola-t", "«ends >> k & 1 && »next"),
    fault("hola-t", "«skips ? look_up(share, row_offsets, assigned, row, next) : »row + 1"),
    fault("hola-t", "if (columns[k] != NONE)"),
    fault("hola-t", "atomicAdd(&y[column], product);").to("y[column] += product;"),
    fault("hola-t", "assigned);«\n            __syncthreads();»"),
    fault("hola-t", "transpose(columns);"),
    fault("hola-t-buffered", "owner == NONE || owner == column").to("true"),
    fault("hola-t-buffered", "*= factor;«\n        if (BUFFERED) __syncthreads();»"),
    fault("hola-t-buffered", "alpha);«\n            if (BUFFERED) __syncthreads();»"),
    fault("hola-t-buffered", "«__syncthreads();\n        »flush(buffer, y);"),
    fault("hola-t-buffered", "atomicAdd(&buffer.sums[place], product);")
        .to("buffer.sums[place] += product;"),
    fault("hola", "block_rows = after_earlier_kernels(block_rows);")
        .by("of an earlier launch wrote"),
    fault(
        "hola-t",
        "        block_rows = after_earlier_kernels(block_rows);\n        \
            row = block_rows[blockIdx.x];",
    )
    .to("        row = block_rows[blockIdx.x];\n        \
            block_rows = after_earlier_kernels(block_rows);")
    .by("of an earlier launch wrote"),
    fault("merge:shape=cub", "row_end(middle) <«→=» diagonal - middle"),
    fault("merge:shape=cub:search=kernel", "«if (tile <= tiles) »tile_starts").by("merge_search"),
    fault("merge:shape=cub", "blockIdx.x + thread, rows, nnz, row_offsets);\n    __syncthreads();")
        .to("blockIdx.x + thread, rows, nnz, row_offsets);"),
    fault("merge:shape=cub", "«if (own < nonzeros) »products").by("merge_tiles"),
    fault("merge:shape=cub", "- start.nonzero;«\n    __syncthreads();»"),
    fault("merge:shape=cub", "«nonzero < nonzeros && »(row"),
    fault("merge:shape=cub", "            «sum = 0;\n            »++row;"),
    fault("merge:shape=cub", "        total = 0;\n    }«\n    __syncthreads();»"),
    fault("merge:shape=cub", "        total = 0;\n"),
    fault("merge:shape=cub", "if (thread == «BLOCK - 1→0») {"),
    fault("merge:shape=cub", "tile < tiles ? carry_rows[tile] : rows")
        .to("carry_rows[tile]")
        .by("merge_fix_up"),
    fault("merge:shape=cub", "& 1« && row < rows») atomicAdd").by("merge_fix_up"),
    fault("merge:shape=cub", "if («tails >> threadIdx.x % WARP & 1 && »row < rows)"),
];

//! Faults in CSR5's kernels: first those of the conversion, then those of the product.

use super::{Fault, fault};

pub const FAULTS: &[Fault] = &[
    fault("csr5", "row_offsets[middle] <«=» nonzero"),
    fault("csr5", "«if (k < count) »to[k]").by("rows_of: block (0,0,0) thread"),
    fault("csr5", "if (row >= rows) return;").by("csr5_flags: block (4,0,0) thread"),
    fault("csr5", "«tile >= tiles || »offset % TILE").by("csr5_flags: block"),
    fault("csr5", "atomicOr(&descriptors[word], 1u << step % FLAGS);")
        .to("descriptors[word] |= 1u << step % FLAGS;"),
    fault("csr5", "if (WORDS == 2) flags |= words[WARP] << FLAGS;"),
    fault("csr5", "«if (tile >= tiles) return;\n    »const unsigned own").by("csr5_offsets: block"),
    fault("csr5", "«if (lane >= distance) »count += before;"),
    fault("csr5", "if (lane «< WARP - 1→> 0») return;"),
    fault("csr5", "«== →!= ~»count) return;"),
    fault("csr5:sigma=4", "empty_starts[tile] = atomicAdd(empty_count, count);")
        .to("empty_starts[tile] = *empty_count; *empty_count += count;"),
    fault("csr5:sigma=4", "tile >= tiles || !(").to("!(").by("csr5_empty_offsets: block"),
    fault("csr5:sigma=4", "tile >= tiles« || !(tile_ptr[tile] & DIRTY)»")
        .by("csr5_empty_offsets: block"),
    fault("csr5", "tile_ptr[tile] & ~DIRTY)« + 1», end"),
    fault("csr5", "__syncthreads();"),
    fault("csr5", "k < TILE«→ - 1»; k += blockDim.x)\n        to[k]"),
    fault("csr5", "if («tile >= arrays.tiles→false») {").by("csr5: block"),
    fault("csr5", "step < begin + STEPS «&& step < SIGMA→- 1»"),
    fault("csr5", "if («row == next_row→true»)"),
    fault("csr5", "«offsets ? offsets[flag] : »flag"),
    fault("csr5", "inner = flags« & (flags - 1)»"),
    fault("csr5", "«(flags & ~inner)→flags» >> step & 1"),
    fault("csr5", "if (flags >> step & 1) sum = 0;"),
    fault("csr5", "«flags != 0 ? first : sum→first», sum}"),
    fault("csr5", "__ballot_sync(«ALL_LANES→0xffffu», descriptor.flags != 0)")
        .by("which does not contain the calling lane"),
    fault("csr5", "reach > 0 ? next : 0").to("next"),
    fault("csr5", "WARP - «1 - »lane;"),
    fault("csr5", "distance <«→=» reach"),
    fault("csr5", "«if (mine) »rows.put"),
    fault("csr5", "flagged >> lane == 1);").to("false);"),
    fault("csr5", "flagged >> lane == 1);").to("true);"),
    fault("csr5", "mine ? ends.first : ends.first + rest").to("ends.first"),
    fault("csr5", "«mine ? ends.first : »ends.first + rest"),
    fault("csr5", "if (lane == «0→1») atomicAdd"),
    fault("csr5", "~(tails << 1« | 1»)"),
    fault("csr5", "«if (reach >> threadIdx.x % WARP & 1) »sum"),
    fault("csr5", "«threadIdx.x % WARP == WARP - 1 || »next != key"),
    fault("csr5", "«last_of_run && »row != NO_ROW"),
    fault("csr5", "last_of_run« && row != NO_ROW»").by("csr5: block"),
    fault("csr5:sigma=4", "row != NO_ROW) atomicAdd(&y[row], alpha * sum);")
        .to("row != NO_ROW) y[row] += alpha * sum;"),
    fault("csr5", "atomicAdd(&y[row« & ~DIRTY»], arrays.alpha * sum)").by("csr5: block"),
    fault("csr5", "if (k < count) {").to("{").by("csr5: block"),
    fault("csr5", "start % piece != 0 &&"),
    fault("csr5", "start / piece == «end→(end - 1)» / piece"),
    fault("csr5", "&& end <= tail"),
    fault("csr5", "if («start < end && »inside"),
    fault("csr5", "if (i < count)").by("start_rows: block"),
    fault("csr5", "«after_earlier_kernels(arrays.y)→arrays.y», sum;")
        .by("of an earlier launch wrote"),
    fault("csr5", "after_earlier_kernels(arrays.y);").to("arrays.y;").by("csr5: block"),
    fault("csr5-cached:columns=1024", "« && places[column] < places[column + 1]») list"),
    fault("csr5-cached:columns=1024", "«column < cols && »places[column]")
        .by("list_frequent: block"),
    fault("csr5-cached:columns=1024", "«if (place < places[column + 1]) »columns[k]"),
    fault("csr5-cached", "CACHED_COLUMN | «place→column»"),
    fault("csr5-cached", "if (k >= count) return;").by("replace_frequent: block"),
    fault("csr5-cached", "= x[«column_list[thread()]→thread()»]"),
    fault("csr5-cached", "if (thread() < frequent)").by("start_frequent: block"),
    fault("csr5-cached", "frequent_x = after_earlier_kernels(frequent_x);")
        .by("of an earlier launch wrote"),
    fault("csr5-cached", "cached_x[k] = frequent_x[k];«\n    __syncthreads();»"),
    fault("csr5-cached", "CACHED« && column & CACHED_COLUMN»"),
];

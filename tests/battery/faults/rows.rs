//! Faults in the kernels of CSR by rows.

use super::{Fault, fault};

pub const FAULTS: &[Fault] = &[
    fault("csr-vector:loads=one", "        __syncwarp();\n"),
    fault("csr-vector:loads=one", "«if (lane < distance) »*mine"),
    fault("csr-vector:loads=one", "distance = LANES / «2→4»"),
    fault("csr-scalar", "if (row >= rows) return;").by("csr_scalar: block (2,0,0) thread"),
    fault("csr-scalar", "row >«=» rows").by("reads 4 bytes at offset 2064 of"),
    fault("csr-scalar", "k «→+ 1 »< end"),
    fault("csr-scalar", "store(y, row, alpha, sum, beta);").to("if (sum != 0) y[row] = sum;"),
    fault("csr-vector", "lane == «0→1» && row < rows"),
    fault("csr-vector", "lane == 0« && row < rows»").by("writes 8 bytes at offset 4120 of"),
    fault("csr-vector", "row < rows ? row_offsets[row + 1] : 0")
        .to("row_offsets[row + 1]")
        .by("reads 4 bytes at offset 2064 of"),
    // The barrier in a divergent branch that the listing of five-gpu-algorithms has.
    fault("csr-vector", "«→if (row < rows) __syncthreads(); »sum = vector_sum<LANES>")
        .by("waits for thread (96,0,0), which has exited"),
    fault("csr-vector", "sum = vector_sum<LANES>(«ALL_LANES→0xffffu», sum)")
        .by("which does not contain the calling lane"),
    fault("csr-vector:lanes=2", "left = end - k«→ - 1»"),
    fault("csr-vector:lanes=2", "j < «AT_ONCE→AHEAD - 1»; ++j) sum"),
    fault("csr-adaptive", "    «__syncthreads();\n    »for (unsigned first"),
    fault("csr-adaptive", "row += BLOCK «/→+» width"),
    fault("csr-adaptive", "«__shfl_sync(ALL_LANES, start, owner)→start» + lane"),
    fault("csr-adaptive", "«if (lane == owner) »sum"),
    fault("csr-adaptive", "«__threadfence();\n        »is_last"),
    fault("csr-adaptive", "blocks - 1;«\n        __threadfence();»"),
    fault("csr-adaptive", "    «__syncthreads();\n    »if (!is_last)"),
    fault("csr-adaptive", "atomicAdd(&arrivals[first], 1)").to("arrivals[first]++"),
    fault("csr-adaptive", "= sum;«\n    __syncthreads();»"),
    fault("csr-adaptive", "products[place«→ + 1»] =").by("of the shared array `products`"),
    fault("pcsr", "rows)];«\n    __syncthreads();»"),
    fault("pcsr", "products[k];«\n        __syncthreads();»"),
    fault("pcsr", "begin];«\n        __syncthreads();»"),
    fault("pcsr", "min(row, rows)").to("row").by("of a buffer of 2064 bytes"),
    fault("light:level=vector:lanes=8", "vector_mask<TOGETHER>()")
        .to("ALL_LANES")
        .by("waits for the lanes"),
    fault("light", "__shfl_sync(mask, bound, «1→0», LANES)"),
    fault("light", "atomicAdd(counter, «→2 * »FETCHED)"),
    fault("light", "atomicExch(counter, «0→rows»)"),
    fault("light", "FETCHED + groups«→ - 1»"),
    fault("light:rows=1:lanes=32", "«(rows - 1)→rows» / FETCHED"),
    fault("light:level=vector:lanes=8", "(BLOCK / «TOGETHER→WARP»)"),
    fault("light", "k «→+ 1 »< ROWS"),
    fault("light", "first + k« * VECTORS»"),
    fault("pcsr", "products = after_earlier_kernels(products);").by("of an earlier launch wrote"),
    fault(
        "pcsr",
        "products = after_earlier_kernels(products);\n    \
            const unsigned last = offsets[ROWS];\n    \
            value_t sum = 0;",
    )
    .to("const unsigned last = offsets[ROWS];\n    \
            value_t sum = 0 * products[0];\n    \
            products = after_earlier_kernels(products);")
    .by("of an earlier launch wrote"),
    fault("naive-t", "if (row >= rows) return;").by("naive_transposed: block (2,0,0) thread"),
    fault("naive-t", "k «→+ 1 »< end"),
    fault("naive-t", "atomicAdd(&y[column_indices[k]], values[k] * scaled);")
        .to("y[column_indices[k]] += values[k] * scaled;"),
    fault("kokkos-style:vector=4", "if (row >= rows) return;")
        .by("naive_transposed: block (8,0,0) thread"),
    fault("kokkos-style:vector=32", "row_offsets[row]« + threadIdx.x % LANES»"),
    fault("kokkos-style:vector=2", "k += «→2 * »LANES"),
    fault("kokkos-style:vector=1", "k «→+ 1 »< end"),
    fault("kokkos-style", "atomicAdd(&y[column_indices[k]], values[k] * scaled);")
        .to("y[column_indices[k]] += values[k] * scaled;"),
    fault("csr-lrb", "pieces[blockIdx.x«→ + 1»]").by("reads 16 bytes at offset"),
    fault("csr-lrb", "vector = threadIdx.x« / WIDTH»"),
    fault("csr-lrb", "place = «piece.first + »vector"),
    fault("csr-lrb", "row = piece.part« + vector»"),
    fault("csr-lrb", "owns ? order[place] : 0").to("order[place]").by("csr_lrb.cu:23"),
    fault("csr-lrb", "owns = place <«→=» piece.end").by("reads 4 bytes at"),
    fault("csr-lrb", "owns = place «→+ 1 »< piece.end"),
    fault("csr-lrb", "owns ? «order[place]→place»"),
    fault("csr-lrb", "lane == 0« && owns»"),
    fault("csr-lrb", "«lane == 0 && »owns"),
    fault("csr-lrb", "vector_sum<WIDTH«→ / 2»>(ALL"),
    fault("csr-lrb", "case 4: return short_rows<«4→8»>"),
    fault("csr-lrb", "case 16: return short_rows<«16→32»>"),
    fault("csr-lrb", "part = «piece.part→0»"),
    fault("csr-lrb", "order[piece.first]").to("piece.first"),
    fault("csr-lrb", "length * «(part + 1)→part + 1» >> shift"),
    fault("csr-lrb", "if (blocks > «1→16»)"),
    fault("csr-lrb", "store_divided(row, blockIdx.x« - part»"),
    fault("csr-lrb", "arrivals[first] = 0;"),
    fault("csr-lrb", "atomicAdd(&arrivals[first], 1)").to("arrivals[first]++"),
    fault("csr-lrb:block=512", "BLOCK / WARP «→- 1 »? warp_sums"),
];

// Merge-based CSR: a search and a tiles kernel, or, if DESCRIBED, a tiles kernel that reads descriptors of the threads.
// A step of the merge path is the end of a row or a nonzero. A thread block owns a tile of BLOCK * ITEMS steps, and
// each of its threads owns ITEMS of them.
//
// A row end precedes the first nonzero of the next row. Row r of a tile, counted from 0, therefore ends at step
// r + (nonzeros of the tile before its end): the rows mark their steps in a bit map, and no thread searches.
#include "merge.cuh"
#include "once.cuh"
#include "shared_rows.cuh"

// The nonzeros of a thread that are loaded at a time.
constexpr unsigned STAGED = ITEMS < 8 ? ITEMS : 8;

// The CSR matrix.
struct Matrix {
    unsigned rows, nnz;
    const unsigned *row_offsets, *column_indices;
    const value_t *values;
};

// Returns the start of a tile. LANES neighbouring lanes call it together; each looks at one of LANES rows that divide
// the rest into LANES + 1 parts.
template <unsigned LANES>
__device__ __forceinline__ Coordinate tile_start(unsigned tile, const Matrix &a) {
    const unsigned lane = threadIdx.x % LANES;
    const wide diagonal = min((wide)tile * TILE, (wide)a.rows + a.nnz);
    unsigned low = diagonal > a.nnz ? diagonal - a.nnz : 0, high = min(diagonal, (wide)a.rows);
    while (low < high) {
        const unsigned part = (high - low) / (LANES + 1) + 1;
        const unsigned last = low + (lane + 1) * part - 1;
        const bool before = last < high && a.row_offsets[last + 1] < diagonal - last;
        low += part * __popc(__ballot_sync(vector_mask<LANES>(), before));
        high = min(high, low + part - 1);
    }
    return {low, (unsigned)(diagonal - low)};
}

// SEARCH_LANES lanes search the start of a tile.
extern "C" __global__ void __launch_bounds__(SEARCH_BLOCK)
    merge_search(unsigned tiles, unsigned rows, unsigned nnz,
                 const unsigned *__restrict__ row_offsets, Coordinate *tile_starts) {
    start_dependents();
    const unsigned tile = (blockIdx.x * blockDim.x + threadIdx.x) / SEARCH_LANES;
    if (tile > tiles) return;
    const Coordinate start = tile_start<SEARCH_LANES>(tile, {rows, nnz, row_offsets});
    if (threadIdx.x % SEARCH_LANES == 0) tile_starts[tile] = start;
}

// Sets `ends` to the start of the block's tile and of the next, each searched by a warp.
__device__ __forceinline__ void search_ends(const Matrix &a, Coordinate *ends) {
    for (unsigned k = threadIdx.x / WARP; k < 2; k += WARPS) {
        const Coordinate end = tile_start<WARP>(blockIdx.x + k, a);
        if (threadIdx.x % WARP == 0) ends[k] = end;
    }
}

// Marks a step that ends a row: bit s of ends_rows[t] for step s of thread t.
__device__ __forceinline__ void mark(unsigned step, unsigned *ends_rows) {
    // step / ITEMS, exact below 65536 / ITEMS
    const unsigned thread = step * ((65535 + ITEMS) / ITEMS) >> 16;
    atomicOr(&ends_rows[thread], 1u << (step - thread * ITEMS));
}

// Writes the products of the tile to items[0], items[1] and so on, and zeros after them, and marks the row ends.
__device__ __forceinline__ void stage(const Matrix &a, const value_t *x, Coordinate start,
                                      Coordinate end, value_t *items, unsigned *ends_rows) {
    const unsigned thread = threadIdx.x;
    const unsigned rows = end.row - start.row, nonzeros = end.nonzero - start.nonzero;
    const unsigned *row_ends = a.row_offsets + start.row + 1;
    const unsigned *column_indices = a.column_indices + start.nonzero;
    const value_t *values = a.values + start.nonzero;
    const unsigned first_end = !DESCRIBED && thread < rows ? row_ends[thread] : 0;
#pragma unroll
    for (unsigned first = 0; first < ITEMS; first += STAGED) {
        unsigned columns[STAGED];
        value_t products[STAGED], factors[STAGED];
#pragma unroll
        for (unsigned j = 0; j < STAGED; ++j) {
            const unsigned k = thread + (first + j) * BLOCK;
            products[j] = factors[j] = 0;
            if (first + j >= ITEMS || k >= nonzeros) continue;
            columns[j] = load_once(&column_indices[k]);
            products[j] = load_once(&values[k]);
        }
        if (!DESCRIBED && first == 0 && thread < rows)
            mark(thread + first_end - start.nonzero, ends_rows);
#pragma unroll
        for (unsigned j = 0; j < STAGED; ++j)
            if (first + j < ITEMS && thread + (first + j) * BLOCK < nonzeros)
                factors[j] = x[columns[j]];
#pragma unroll
        for (unsigned j = 0; j < STAGED; ++j)
            if (first + j < ITEMS) items[thread + (first + j) * BLOCK] = products[j] * factors[j];
    }
    for (unsigned row = thread + BLOCK; !DESCRIBED && row < rows; row += BLOCK)
        mark(row + row_ends[row] - start.nonzero, ends_rows);
}

// Returns the sum over the threads before this one.
__device__ __forceinline__ unsigned sum_before(unsigned count, unsigned *warp_counts) {
    const unsigned warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    unsigned sum = count;
#pragma unroll
    for (unsigned distance = 1; distance < WARP; distance *= 2) {
        const unsigned before = __shfl_up_sync(ALL_LANES, sum, distance);
        if (lane >= distance) sum += before;
    }
    if (lane == WARP - 1) warp_counts[warp] = sum;
    __syncthreads();
    sum -= count;
#pragma unroll
    for (unsigned k = 0; k + 1 < WARPS; ++k)
        if (k < warp) sum += warp_counts[k];
    return sum;
}

// A thread's descriptor: the steps that end rows, and above them the number of rows that end in the block's threads
// before. A tile has fewer than 2^16 steps, and a thread at most 16.
constexpr unsigned DESCRIPTOR_BITS = 16;

// Stores the starts of the tiles and the descriptors of their threads.
extern "C" __global__ void __launch_bounds__(BLOCK)
    merge_describe(unsigned rows, unsigned nnz, const unsigned *__restrict__ row_offsets,
                   Coordinate *tile_starts, unsigned *descriptors) {
    __shared__ unsigned ends_rows[BLOCK], warp_counts[WARPS];
    __shared__ Coordinate ends[2];
    const unsigned thread = threadIdx.x;
    ends_rows[thread] = 0;
    search_ends({rows, nnz, row_offsets}, ends);
    __syncthreads();
    const Coordinate start = ends[0], end = ends[1];
    for (unsigned row = thread; row < end.row - start.row; row += BLOCK)
        mark(row + row_offsets[start.row + row + 1] - start.nonzero, ends_rows);
    __syncthreads();
    const unsigned ending = ends_rows[thread];
    const unsigned first_row = sum_before(__popc(ending), warp_counts);
    descriptors[blockIdx.x * BLOCK + thread] = first_row << DESCRIPTOR_BITS | ending;
    if (thread == 0) tile_starts[blockIdx.x] = start;
    if (thread == 0 && blockIdx.x == gridDim.x - 1) tile_starts[gridDim.x] = end;
}

// Adds the block's parts of shared rows, from lanes 0 and 1 of its first warp.
__device__ __forceinline__ void shared_rows(const Matrix &a, Coordinate start, Coordinate end,
                                            value_t part, const Shared &shared, value_t *y,
                                            value_t alpha, value_t beta) {
    const unsigned lane = threadIdx.x;
    const unsigned row = lane == 0 ? start.row : end.row;
    unsigned first = 0, last = 0;
    if (lane < 2 && row < a.rows && (lane == 1 || start.row < end.row)) {
        last = ((wide)a.row_offsets[row + 1] + row) / TILE;
        first = ((wide)a.row_offsets[row] + row) / TILE;
        if (first > blockIdx.x) first = last;
    }
    add_shared_rows(row, first, last, part, shared, y, alpha, beta);
}

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
    merge_tiles(unsigned rows, unsigned nnz, const unsigned *__restrict__ row_offsets,
                const unsigned *__restrict__ column_indices, const value_t *__restrict__ values,
                const value_t *__restrict__ x, value_t *y, value_t alpha, value_t beta,
                const Coordinate *tile_starts, const unsigned *__restrict__ descriptors,
                value_t *heads, value_t *tails,
                unsigned *arrivals) {
    // The products, and from row_sums on the sums of the rows.
    __shared__ value_t items[TILE];
    __shared__ unsigned ends_rows[BLOCK], warp_counts[WARPS];
    __shared__ Carry carries[WARPS];
    __shared__ Coordinate ends[2];
    __shared__ value_t tail;
    const unsigned thread = threadIdx.x;
    const Matrix a = {rows, nnz, row_offsets, column_indices, values};
    if (!DESCRIBED) {
        ends_rows[thread] = 0;
        if (!tile_starts) search_ends(a, ends);
        __syncthreads();
    }
    if (!DESCRIBED && tile_starts) tile_starts = after_earlier_kernels(tile_starts);
    const unsigned descriptor = DESCRIBED ? descriptors[blockIdx.x * BLOCK + thread] : 0;
    const Coordinate start = tile_starts ? tile_starts[blockIdx.x] : ends[0];
    const Coordinate end = tile_starts ? tile_starts[blockIdx.x + 1] : ends[1];
    const unsigned tile_rows = end.row - start.row;
    stage(a, x, start, end, items, ends_rows);
    __syncthreads();

    const unsigned ending =
        DESCRIBED ? descriptor % (1u << DESCRIPTOR_BITS) : ends_rows[thread];
    const unsigned first_row = DESCRIBED ? descriptor >> DESCRIPTOR_BITS
                                         : sum_before(__popc(ending), warp_counts);
    const value_t *product = items + thread * ITEMS - first_row;
    value_t *row_sums = items + TILE - tile_rows, *row_sum = row_sums + first_row;
    value_t sum = 0;
#pragma unroll
    for (unsigned step = 0; step < ITEMS; ++step) {
        if (ending >> step & 1) {
            *row_sum++ = sum;
            sum = 0;
            --product;
        } else {
            sum += product[step];
        }
    }
    const value_t carry_in = scan_block(ending != 0, sum, carries);
    if (ending != 0) row_sums[first_row] += carry_in;
    if (thread == BLOCK - 1) tail = sum;
    __syncthreads();

    const bool has_head = tile_rows > 0 && row_offsets[start.row] < start.nonzero;
    for (unsigned k = thread + (has_head && thread == 0 ? BLOCK : 0); k < tile_rows; k += BLOCK)
        store(y, start.row + k, alpha, row_sums[k], beta);
    const value_t part = thread == 0 && tile_rows > 0 ? row_sums[0] : tail;
    if (thread < WARP)
        shared_rows(a, start, end, part, {heads, tails, arrivals}, y, alpha, beta);
}

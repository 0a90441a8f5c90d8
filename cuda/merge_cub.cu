// Merge-based CSR as published (CUB): a search kernel, a tiles kernel and a fix-up kernel. A thread block owns a tile
// of BLOCK * ITEMS steps of the merge path, and each of its threads searches for the start of its ITEMS steps.
#include "merge.cuh"

// A tile's row ends, and after them its products. In the end the sums of its rows.
union Item {
    unsigned row_end;
    value_t value;
};

// Returns the point of the merge path of `rows` rows and `nonzeros` nonzeros on a diagonal.
template <class RowEnd>
__device__ __forceinline__ Coordinate search(wide diagonal, unsigned rows, unsigned nonzeros,
                                             RowEnd row_end) {
    diagonal = min(diagonal, (wide)rows + nonzeros);
    unsigned low = diagonal > nonzeros ? diagonal - nonzeros : 0, high = min(diagonal, (wide)rows);
    while (low < high) {
        const unsigned middle = low + (high - low) / 2;
        if (row_end(middle) < diagonal - middle)
            low = middle + 1;
        else
            high = middle;
    }
    return {low, (unsigned)(diagonal - low)};
}

__device__ __forceinline__ Coordinate tile_start(wide tile, unsigned rows, unsigned nnz,
                                                 const unsigned *row_offsets) {
    return search(tile * TILE, rows, nnz, [&](unsigned row) { return row_offsets[row + 1]; });
}

extern "C" __global__ void __launch_bounds__(SEARCH_BLOCK)
    merge_search(unsigned tiles, unsigned rows, unsigned nnz,
                 const unsigned *__restrict__ row_offsets, Coordinate *tile_starts) {
    const unsigned tile = blockIdx.x * blockDim.x + threadIdx.x;
    if (tile <= tiles) tile_starts[tile] = tile_start(tile, rows, nnz, row_offsets);
}

// If there are no `tile_starts`, two threads of the block search for the ends of its tile. Leaves the sum of the row
// that is open at the end of each tile in `carries`.
extern "C" __global__ void __launch_bounds__(BLOCK)
    merge_tiles(unsigned rows, unsigned nnz, const unsigned *__restrict__ row_offsets,
                const unsigned *__restrict__ column_indices, const value_t *__restrict__ values,
                const value_t *__restrict__ x, value_t *y, value_t alpha, value_t beta,
                const Coordinate *__restrict__ tile_starts, unsigned *carry_rows,
                value_t *carries) {
    __shared__ Item items[TILE];
    __shared__ Carry warp_carries[WARPS];
    __shared__ Coordinate ends[2];
    const unsigned thread = threadIdx.x;
    if (thread < 2)
        ends[thread] = tile_starts ? tile_starts[blockIdx.x + thread]
                                   : tile_start(blockIdx.x + thread, rows, nnz, row_offsets);
    __syncthreads();
    const Coordinate start = ends[0], end = ends[1];
    const unsigned tile_rows = end.row - start.row, nonzeros = end.nonzero - start.nonzero;
    Item *products = items + tile_rows;
#pragma unroll
    for (unsigned k = 0; k < ITEMS; ++k) {
        const unsigned own = thread + k * BLOCK, nonzero = start.nonzero + own;
        if (own < nonzeros) products[own].value = values[nonzero] * x[column_indices[nonzero]];
    }
    for (unsigned row = thread; row < tile_rows; row += BLOCK)
        items[row].row_end = row_offsets[start.row + row + 1] - start.nonzero;
    __syncthreads();

    const auto row_end = [&](unsigned row) { return items[row].row_end; };
    const Coordinate first = search(thread * ITEMS, tile_rows, nonzeros, row_end);
    unsigned row = first.row, nonzero = first.nonzero, ending = 0;
    value_t own[ITEMS], sum = 0;
#pragma unroll
    for (unsigned step = 0; step < ITEMS; ++step) {
        own[step] = 0;
        if (nonzero < nonzeros && (row >= tile_rows || nonzero < row_end(row))) {
            sum += own[step] = products[nonzero++].value;
        } else {
            ending |= 1u << step;
            sum = 0;
            ++row;
        }
    }
    value_t total = scan_block(ending != 0, sum, warp_carries);
    row = first.row;
#pragma unroll
    for (unsigned step = 0; step < ITEMS; ++step) {
        total += own[step];
        if (!(ending >> step & 1)) continue;
        // The steps after the end of the path end no row.
        if (row < tile_rows) items[row++].value = total;
        total = 0;
    }
    __syncthreads();
    for (unsigned k = thread; k < tile_rows; k += BLOCK)
        store(y, start.row + k, alpha, items[k].value, beta);
    if (thread == BLOCK - 1) {
        carry_rows[blockIdx.x] = end.row;
        carries[blockIdx.x] = sum;
    }
}

// Adds the carries to y: one thread per tile, whose warp first adds those of the same row.
extern "C" __global__ void __launch_bounds__(SEARCH_BLOCK)
    merge_fix_up(unsigned tiles, unsigned rows, const unsigned *__restrict__ carry_rows,
                 const value_t *__restrict__ carries, value_t *y, value_t alpha) {
    const unsigned tile = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned row = tile < tiles ? carry_rows[tile] : rows;
    const unsigned tails = run_tails(row);
    const value_t sum = run_sums(tails, tile < tiles ? carries[tile] : value_t(0));
    if (tails >> threadIdx.x % WARP & 1 && row < rows) atomicAdd(&y[row], alpha * sum);
}

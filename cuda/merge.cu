// Merge-based CSR: search, tiles and fix-up kernels. A tile is a thread block's share of the merge path:
// BLOCK threads with ITEMS steps each.
#include "common.cuh"

constexpr unsigned TILE = BLOCK * ITEMS;
constexpr unsigned WARPS = BLOCK / WARP;

// A point of the merge path: `row` rows have ended and `nonzero` nonzeros have been consumed.
struct Coordinate {
    unsigned row, nonzero;
};

// The partial sum of a row that has not ended yet.
struct Carry {
    unsigned row;
    value_t sum;
};

// Returns the point where the path crosses a diagonal. The merged lists are the row ends and the numbers from
// first_nonzero on. A row end precedes the first nonzero of the next row.
__device__ Coordinate search(unsigned diagonal, const unsigned *row_ends, unsigned rows,
                             unsigned first_nonzero, unsigned nonzeros) {
    unsigned low = diagonal > nonzeros ? diagonal - nonzeros : 0, high = min(diagonal, rows);
    while (low < high) {
        const unsigned pivot = (low + high) / 2;
        if (row_ends[pivot] < first_nonzero + diagonal - pivot)
            low = pivot + 1;
        else
            high = pivot;
    }
    return {low, diagonal - low};
}

__device__ Coordinate tile_start(unsigned tile, unsigned rows, unsigned nnz,
                                 const unsigned *row_offsets) {
    const unsigned long long diagonal = (unsigned long long)tile * TILE;
    return search(min(diagonal, (unsigned long long)rows + nnz), row_offsets + 1, rows, 0, nnz);
}

extern "C" __global__ void __launch_bounds__(128)
    merge_search(unsigned tiles, unsigned rows, unsigned nnz,
                 const unsigned *__restrict__ row_offsets, Coordinate *tile_starts) {
    const unsigned tile = blockIdx.x * blockDim.x + threadIdx.x;
    if (tile <= tiles) tile_starts[tile] = tile_start(tile, rows, nnz, row_offsets);
}

// Returns `later`, plus the sum of an earlier part of the path if both belong to the same row.
__device__ Carry join(Carry earlier, Carry later) {
    if (earlier.row == later.row) later.sum += earlier.sum;
    return later;
}

// Returns the sum that the threads before this one leave for its first row. `carry` becomes the combined sum
// of all threads up to this one.
__device__ value_t scan_block(Carry &carry, Carry *warp_carries) {
    const unsigned warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    carry.sum = run_sums(run_tails(carry.row), carry.sum);
    if (lane == WARP - 1) warp_carries[warp] = carry;
    __syncthreads();
    Carry before = {~0u, 0};
    for (unsigned k = 0; k < warp; ++k) before = join(before, warp_carries[k]);
    carry = join(before, carry);
    const value_t neighbour = __shfl_up_sync(ALL_LANES, carry.sum, 1);
    return lane == 0 ? before.sum : neighbour;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    merge_tiles(unsigned rows, unsigned nnz, const unsigned *__restrict__ row_offsets,
                const unsigned *__restrict__ column_indices, const value_t *__restrict__ values,
                const value_t *__restrict__ x, value_t *y, value_t alpha, value_t beta,
                const Coordinate *tile_starts, unsigned *carry_rows, value_t *carry_sums) {
    // Row ends, then products; later the sums of the rows.
    __shared__ value_t items[TILE + 2];
    __shared__ Carry warp_carries[WARPS];
    __shared__ Coordinate ends[2];
    const unsigned thread = threadIdx.x;
    if (thread < 2)
        ends[thread] = tile_starts ? tile_starts[blockIdx.x + thread]
                                   : tile_start(blockIdx.x + thread, rows, nnz, row_offsets);
    __syncthreads();
    const Coordinate start = ends[0];
    const unsigned tile_rows = ends[1].row - start.row;
    const unsigned tile_nonzeros = ends[1].nonzero - start.nonzero;

    unsigned *row_ends = reinterpret_cast<unsigned *>(items);
    for (unsigned k = thread; k < tile_rows; k += BLOCK)
        row_ends[k] = row_offsets[start.row + k + 1];
    // The row that is open at the end of the tile ends in a later tile.
    if (thread == 0) row_ends[tile_rows] = ~0u;
    value_t *products = items + (tile_rows * sizeof(unsigned)) / sizeof(value_t) + 1;
    for (unsigned k = thread; k < tile_nonzeros; k += BLOCK) {
        const unsigned nonzero = start.nonzero + k;
        products[k] = values[nonzero] * x[column_indices[nonzero]];
    }
    __syncthreads();

    const unsigned path = tile_rows + tile_nonzeros;
    const unsigned first_step = min(thread * ITEMS, path);
    Coordinate at = search(first_step, row_ends, tile_rows, start.nonzero, tile_nonzeros);
    const unsigned first_row = at.row;
    value_t sums[ITEMS];
    unsigned closed = 0;
    Carry carry = {0, 0};
#pragma unroll
    for (unsigned step = 0; step < ITEMS; ++step) {
        if (first_step + step >= path) continue;
        if (start.nonzero + at.nonzero < row_ends[at.row]) {
            carry.sum += products[at.nonzero++];
        } else {
            sums[step] = carry.sum;
            closed |= 1u << step;
            carry.sum = 0;
            ++at.row;
        }
    }
    carry.row = at.row;
    // The barrier in the scan also ensures that no thread still reads `items`.
    const value_t carry_in = scan_block(carry, warp_carries);

    unsigned row = first_row;
#pragma unroll
    for (unsigned step = 0; step < ITEMS; ++step) {
        if (closed >> step & 1) {
            items[row] = row == first_row ? carry_in + sums[step] : sums[step];
            ++row;
        }
    }
    __syncthreads();
    for (unsigned k = thread; k < tile_rows; k += BLOCK)
        store(y, start.row + k, alpha, items[k], beta);
    if (thread == BLOCK - 1) {
        carry_rows[blockIdx.x] = start.row + carry.row;
        carry_sums[blockIdx.x] = carry.sum;
    }
}

// Adds the carries of tiles to the rows, which end in later tiles: one thread per tile, one atomic addition
// per row and warp.
extern "C" __global__ void __launch_bounds__(128)
    merge_fix_up(unsigned tiles, unsigned rows, const unsigned *__restrict__ carry_rows,
                 const value_t *__restrict__ carry_sums, value_t *y, value_t alpha) {
    const unsigned tile = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % WARP;
    // Threads past the last tile use the row number `rows`, to which nothing is added.
    Carry carry = {rows, 0};
    if (tile < tiles) carry = {carry_rows[tile], carry_sums[tile]};
    const unsigned tails = run_tails(carry.row);
    carry.sum = run_sums(tails, carry.sum);
    if (tails >> lane & 1 && carry.row < rows && carry.sum != 0)
        atomicAdd(&y[carry.row], alpha * carry.sum);
}

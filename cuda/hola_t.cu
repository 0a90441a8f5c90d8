// HOLA's transposed product; hola.cuh describes what blocks and threads own. If BUFFERED, a block first sums
// products of equal columns in shared memory.
constexpr bool SHUFFLE = true;
#include "hola.cuh"

// The number of sums: half the block's nonzeros. A column has one slot, which the first column to use it owns.
constexpr unsigned SUMS = BUFFERED ? PER_BLOCK / 2 : 1;

struct Sums {
    unsigned columns[SUMS];
    value_t sums[SUMS];
};

__device__ __forceinline__ void clear(Sums &buffer) {
    for (unsigned k = threadIdx.x; k < SUMS; k += BLOCK) {
        buffer.columns[k] = NONE;
        buffer.sums[k] = 0;
    }
}

__device__ __forceinline__ void add(Sums &buffer, unsigned column, value_t product, value_t *y) {
    if (BUFFERED) {
        const unsigned place = column % SUMS;
        const unsigned owner = atomicCAS(&buffer.columns[place], NONE, column);
        if (owner == NONE || owner == column) {
            atomicAdd(&buffer.sums[place], product);
            return;
        }
    }
    atomicAdd(&y[column], product);
}

__device__ __forceinline__ void flush(const Sums &buffer, value_t *y) {
    for (unsigned k = threadIdx.x; k < SUMS; k += BLOCK)
        if (buffer.columns[k] != NONE) atomicAdd(&y[buffer.columns[k]], buffer.sums[k]);
}

// Multiplies each of the thread's values by alpha and the x of its row, which is searched for every nonzero.
__device__ __forceinline__ void scale_many_rows(const Share &share, const unsigned *row_offsets,
                                                value_t (&items)[ITEMS], const value_t *x,
                                                value_t alpha) {
    unsigned rows[ITEMS];
    find_every_row(share, row_offsets, rows);
#pragma unroll
    for (unsigned k = 0; k < ITEMS; ++k)
        if (threadIdx.x * ITEMS + k < share.count) items[k] *= alpha * x[share.row + rows[k]];
}

// Multiplies the values in the same way with the assignment: x is loaded once per row of the thread.
__device__ __forceinline__ void scale_few_rows(const Share &share, const unsigned *row_offsets,
                                               const Assignment &assigned, value_t (&items)[ITEMS],
                                               const value_t *x, value_t alpha) {
    const unsigned first = threadIdx.x * ITEMS;
    if (first >= share.count) return;
    const unsigned ends = assigned.ends[threadIdx.x];
    const bool skips = assigned.empty[threadIdx.x / WARP];
    unsigned row = assigned.rows[threadIdx.x];
    value_t factor = alpha * x[share.row + row];
#pragma unroll
    for (unsigned k = 0; k < ITEMS; ++k) {
        items[k] *= factor;
        const unsigned next = first + k + 1;
        if (k + 1 < ITEMS && ends >> k & 1 && next < share.count) {
            row = skips ? look_up(share, row_offsets, assigned, row, next) : row + 1;
            factor = alpha * x[share.row + row];
        }
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    hola_transposed(unsigned nnz, const unsigned *__restrict__ row_offsets,
                    const unsigned *__restrict__ column_indices,
                    const value_t *__restrict__ values, const value_t *__restrict__ x, value_t *y,
                    value_t alpha, const unsigned *__restrict__ block_rows) {
    __shared__ Assignment assigned;
    __shared__ Sums buffer;
    Share share(nnz);
    unsigned columns[ITEMS];
    value_t items[ITEMS];
    load(column_indices, share, NONE, columns);
    load(values, share, value_t(0), items);
    share.find_rows(block_rows);
    if (BUFFERED) clear(buffer);
    if (share.is_one_row()) {
        const value_t factor = alpha * x[share.row];
#pragma unroll
        for (unsigned k = 0; k < ITEMS; ++k) items[k] *= factor;
        if (BUFFERED) __syncthreads();
    } else {
        transpose(columns);
        transpose(items);
        if (share.has_many_rows()) {
            scale_many_rows(share, row_offsets, items, x, alpha);
            if (BUFFERED) __syncthreads();
        } else {
            assign_rows(share, row_offsets, assigned);
            __syncthreads();
            scale_few_rows(share, row_offsets, assigned, items, x, alpha);
        }
    }
    if (SORT) sort(columns, items);
#pragma unroll
    for (unsigned k = 0; k < ITEMS; ++k)
        if (columns[k] != NONE) add(buffer, columns[k], items[k], y);
    if (BUFFERED) {
        __syncthreads();
        flush(buffer, y);
    }
}

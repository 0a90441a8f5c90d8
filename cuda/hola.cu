// HOLA's plain product; hola.cuh describes what blocks and threads own.
#include "hola.cuh"

// Computes the thread's products, each at the position to which its nonzero was loaded.
__device__ __forceinline__ void load_products(unsigned first, unsigned nnz,
                                              const unsigned *column_indices,
                                              const value_t *values, const value_t *x,
                                              value_t (&products)[ITEMS]) {
    unsigned columns[ITEMS], places[ITEMS];
    load(column_indices, first, nnz, NONE, columns);
    load(values, first, nnz, value_t(0), products);
#pragma unroll
    for (unsigned k = 0; k < ITEMS; ++k) places[k] = k;
    if (SORT) sort(columns, products, places);
#pragma unroll
    for (unsigned k = 0; k < ITEMS; ++k)
        products[k] = columns[k] == NONE ? value_t(0) : products[k] * x[columns[k]];
    if (SORT) sort(places, products);
}

// Returns whether the thread must add `sum`, its part of the row that is open after its last nonzero. If a warp
// has few rows, the first thread of each row adds the sums of the others (Algorithm 6).
__device__ __forceinline__ bool combine(unsigned row, value_t &sum) {
    const unsigned lane = threadIdx.x % WARP;
    const unsigned above = __shfl_up_sync(ALL_LANES, row, 1);
    const bool head = lane == 0 || above != row;
    const unsigned heads = __ballot_sync(ALL_LANES, head);
    if (__popc(heads) >= WARP / 2) return sum != 0;
    const unsigned next = __ffs(heads & ~1u << lane);
    const unsigned end = next ? next - 1 : WARP;
    for (unsigned distance = 1; distance < WARP; distance *= 2) {
        const value_t other = __shfl_down_sync(ALL_LANES, sum, distance);
        if (lane + distance < end) sum += other;
    }
    return head && sum != 0;
}

// Returns the sum over the block in its first thread.
__device__ __forceinline__ value_t block_sum(value_t sum) {
    __shared__ value_t sums[WARPS];
    sum = vector_sum<WARP>(ALL_LANES, sum);
    if (threadIdx.x % WARP == 0) sums[threadIdx.x / WARP] = sum;
    __syncthreads();
    if (threadIdx.x >= WARP) return 0;
    return vector_sum<WARP>(ALL_LANES, threadIdx.x < WARPS ? sums[threadIdx.x] : value_t(0));
}

__device__ __forceinline__ void one_row(const Share &share, const value_t (&products)[ITEMS],
                                        value_t *y, value_t alpha) {
    value_t sum = 0;
#pragma unroll
    for (unsigned k = 0; k < ITEMS; ++k) sum += products[k];
    sum = block_sum(sum);
    if (threadIdx.x == 0) atomicAdd(&y[share.row], alpha * sum);
}

// Each thread reads the row of every nonzero, and adds its sum to y when the row changes.
__device__ __forceinline__ void many_rows(const Share &share, const unsigned *row_offsets,
                                          unsigned *rows, const value_t (&products)[ITEMS],
                                          value_t *y, value_t alpha) {
    spread_rows(share, row_offsets, rows);
    __syncthreads();
    const unsigned first = threadIdx.x * ITEMS;
    unsigned row = rows[min(first, share.count - 1)];
    value_t sum = 0;
#pragma unroll
    for (unsigned k = 0; k < ITEMS; ++k) {
        const unsigned here = rows[min(first + k, share.count - 1)];
        if (here != row) {
            atomicAdd(&y[row], alpha * sum);
            sum = 0;
            row = here;
        }
        sum += products[k];
    }
    if (combine(row, sum)) atomicAdd(&y[row], alpha * sum);
}

// Computes the sums of the block's rows in `output`. The thread with a row's last nonzero writes its sum;
// threads before it add to it.
__device__ __forceinline__ void few_rows(const Share &share, const unsigned *row_offsets,
                                         const Assignment &assigned,
                                         const value_t (&products)[ITEMS], value_t *output) {
    const unsigned ends = assigned.ends[threadIdx.x];
    const bool skips = assigned.empty[threadIdx.x / WARP];
    unsigned row = assigned.rows[threadIdx.x];
    value_t sum = 0;
#pragma unroll
    for (unsigned k = 0; k < ITEMS; ++k) {
        sum += products[k];
        if (ends >> k & 1) {
            output[row] = sum;
            sum = 0;
            const unsigned next = threadIdx.x * ITEMS + k + 1;
            row = skips && next < share.count ? look_up(share, row_offsets, row, next) : row + 1;
        }
    }
    __syncthreads();
    if (combine(row, sum)) atomicAdd(&output[row], sum);
    __syncthreads();
}

// Stores the sums of the rows that belong to this block alone and adds the first and the last, which other
// blocks may share. Warps write whole cache lines: `output` starts at a row that is a multiple of the warp size.
__device__ __forceinline__ void write(const Share &share, const value_t *output, value_t *y,
                                      value_t alpha, value_t beta) {
    const unsigned before = share.row % WARP, last = before + share.last_row - share.row;
    for (unsigned k = threadIdx.x; k <= last; k += BLOCK) {
        if (k < before) continue;
        const value_t sum = alpha * output[k];
        value_t *slot = &y[share.row - before + k];
        if (k == before || k == last)
            atomicAdd(slot, sum);
        else
            *slot = beta == 0 ? sum : *slot + sum;
    }
}

// Unless it is null, `altered` counts the warps that empty rows divert to another code path.
extern "C" __global__ void __launch_bounds__(BLOCK)
    hola(unsigned nnz, const unsigned *__restrict__ row_offsets,
         const unsigned *__restrict__ column_indices, const value_t *__restrict__ values,
         const value_t *__restrict__ x, value_t *y, value_t alpha, value_t beta,
         const unsigned *__restrict__ block_rows, unsigned *altered) {
    __shared__ value_t output[PER_BLOCK + WARP];
    __shared__ Assignment assigned;
    const Share share(nnz, block_rows);
    value_t products[ITEMS];
    load_products(share.first, nnz, column_indices, values, x, products);
    if (share.is_one_row()) return one_row(share, products, y, alpha);
    transpose(products);
    if (share.has_many_rows()) {
        if (altered && threadIdx.x == 0) atomicAdd(altered, WARPS);
        unsigned *rows = reinterpret_cast<unsigned *>(output);
        return many_rows(share, row_offsets, rows, products, y, alpha);
    }
    value_t *sums = output + share.row % WARP;
    assign_rows(share, row_offsets, assigned, [&](unsigned row) { sums[row] = 0; });
    __syncthreads();
    if (altered && threadIdx.x < WARPS && assigned.empty[threadIdx.x]) atomicAdd(altered, 1);
    few_rows(share, row_offsets, assigned, products, sums);
    write(share, output, y, alpha, beta);
}

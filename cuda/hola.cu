// HOLA's plain product; hola.cuh describes what blocks and threads own.
#include "hola.cuh"

// Returns the x of the thread's nonzeros in `factors`. If SORT, x is read in the order of the columns.
__device__ __forceinline__ void gather(unsigned (&columns)[ITEMS], const value_t *x,
                                       value_t (&factors)[ITEMS]) {
    unsigned places[ITEMS];
#pragma unroll
    for (unsigned k = 0; k < ITEMS; ++k) places[k] = k;
    if (SORT) sort(columns, places);
#pragma unroll
    for (unsigned k = 0; k < ITEMS; ++k) factors[k] = x[columns[k]];
    if (SORT) sort(places, factors);
}

// Returns where the warp's item `k` is staged: its 16 bytes are at a different place in each group of 128 bytes, which
// avoids bank conflicts when each thread reads consecutive items.
__device__ __forceinline__ unsigned staged(unsigned k) {
    constexpr unsigned WIDE = 16 / sizeof(value_t);
    return k ^ k / WIDE / 8 % 8 * WIDE;
}

// Transposes the warp's items as `transpose` does, but through shared memory, with a tenth of the instructions.
__device__ __forceinline__ void transpose_staged(value_t (&items)[ITEMS], value_t *stage) {
    const unsigned lane = threadIdx.x % WARP;
    stage += threadIdx.x / WARP * (WARP * ITEMS);
#pragma unroll
    for (unsigned k = 0; k < ITEMS; ++k) stage[staged(k * WARP + lane)] = items[k];
    __syncwarp();
    constexpr unsigned WIDE = 16 / sizeof(value_t);
    struct __align__(16) Wide {
        value_t of[WIDE];
    };
#pragma unroll
    for (unsigned k = 0; k < ITEMS; k += WIDE) {
        const Wide wide = *reinterpret_cast<const Wide *>(stage + staged(lane * ITEMS + k));
#pragma unroll
        for (unsigned i = 0; i < WIDE; ++i) items[k + i] = wide.of[i];
    }
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

// Each thread finds the row of every nonzero, and adds its sum to y when the row changes.
__device__ __forceinline__ void many_rows(const Share &share, const unsigned *row_offsets,
                                          const value_t (&products)[ITEMS], value_t *y,
                                          value_t alpha) {
    unsigned rows[ITEMS];
    find_every_row(share, row_offsets, rows);
    y += share.row;
    value_t sum = products[0];
#pragma unroll
    for (unsigned k = 1; k < ITEMS; ++k) {
        if (rows[k] != rows[k - 1]) {
            atomicAdd(&y[rows[k - 1]], alpha * sum);
            sum = 0;
        }
        sum += products[k];
    }
    if (combine(rows[ITEMS - 1], sum)) atomicAdd(&y[rows[ITEMS - 1]], alpha * sum);
}

// Sums the thread's products. Writes the sum at each end of a row to `output`, and returns the row and the sum that are
// open after the last nonzero. `next_row` returns the row after the given one that contains the given nonzero.
template <class NextRow>
__device__ __forceinline__ value_t sum_rows(unsigned ends, unsigned &row,
                                            const value_t (&products)[ITEMS], value_t *output,
                                            NextRow next_row) {
    value_t sum = 0;
#pragma unroll
    for (unsigned k = 0; k < ITEMS; ++k) {
        sum += products[k];
        if (ends >> k & 1) {
            output[row] = sum;
            row = next_row(row, threadIdx.x * ITEMS + k + 1);
            sum = 0;
        }
    }
    return sum;
}

// Clears the sums of the rows that begin after the warp's first nonzero and before the next warp's.
__device__ __forceinline__ void clear_rows(const Share &share, const Assignment &assigned,
                                           value_t *output) {
    const unsigned first = threadIdx.x / WARP * WARP, next = first + WARP;
    const unsigned after =
        next * ITEMS < share.count ? assigned.rows[next] : share.last_row - share.row;
    for (unsigned row = assigned.rows[first] + 1 + threadIdx.x % WARP; row < after; row += WARP)
        output[row] = 0;
    __syncwarp();
}

// Computes the sums of the block's rows in `output`. The thread with a row's last nonzero writes its sum; threads
// before it add to it. A warp with empty rows first clears all of its rows, and then skips the empty ones.
__device__ __forceinline__ void few_rows(const Share &share, const unsigned *row_offsets,
                                         const Assignment &assigned,
                                         const value_t (&products)[ITEMS], value_t *output) {
    const unsigned ends = assigned.ends[threadIdx.x];
    unsigned row = assigned.rows[threadIdx.x];
    value_t sum;
    if (assigned.empty[threadIdx.x / WARP]) {
        clear_rows(share, assigned, output);
        sum = sum_rows(ends, row, products, output, [&](unsigned row, unsigned k) {
            return k < share.count ? look_up(share, row_offsets, assigned, row, k) : row + 1;
        });
    } else {
        sum = sum_rows(ends, row, products, output, [](unsigned row, unsigned) { return row + 1; });
    }
    // The last row may begin after the block's last nonzero.
    const unsigned last = share.last_row - share.row;
    if (threadIdx.x == (share.count - 1) / ITEMS && row <= last) output[last] = 0;
    __syncthreads();
    if (combine(row, sum)) atomicAdd(&output[row], sum);
    __syncthreads();
}

// Stores the rows that belong to this block alone, and adds to the first and the last row, which other blocks may
// share. Warps write whole cache lines: `output` starts at a row that is a multiple of the warp size. The first kernel
// computed y <- beta y.
__device__ __forceinline__ void write(const Share &share, const value_t *output, value_t *y,
                                      value_t alpha, value_t beta) {
    const unsigned before = share.row % WARP, last = before + share.last_row - share.row;
    y += share.row - before;
    for (unsigned k = threadIdx.x; k <= last; k += BLOCK) {
        if (k < before) continue;
        if (k == before || k == last)
            atomicAdd(&y[k], alpha * output[k]);
        else
            y[k] = beta == 0 ? alpha * output[k] : y[k] + alpha * output[k];
    }
}

// Unless it is null, `altered` counts the warps that empty rows divert to another code path.
extern "C" __global__ void __launch_bounds__(BLOCK, 1024 / BLOCK)
    hola(unsigned nnz, const unsigned *__restrict__ row_offsets,
         const unsigned *__restrict__ column_indices, const value_t *__restrict__ values,
         const value_t *__restrict__ x, value_t *y, value_t alpha, value_t beta,
         const unsigned *__restrict__ block_rows, unsigned *altered) {
    // First the warps' stages, then the sums of the rows.
    __shared__ __align__(16) value_t output[PER_BLOCK + WARP];
    __shared__ Assignment assigned;
    Share share(nnz);
    unsigned columns[ITEMS];
    value_t products[ITEMS], factors[ITEMS];
    load(column_indices, share, 0u, columns);
    load(values, share, value_t(0), products);
    share.find_rows(block_rows);
    const bool one = share.is_one_row(), many = share.has_many_rows();
    // The rows are assigned while columns and values are loaded.
    if (!one && !many) assign_rows(share, row_offsets, assigned);
    gather(columns, x, factors);
#pragma unroll
    for (unsigned k = 0; k < ITEMS; ++k) products[k] *= factors[k];
    // Positions after the last nonzero have column 0, whose x may be NaN.
    if (share.count < PER_BLOCK)
#pragma unroll
        for (unsigned k = 0; k < ITEMS; ++k)
            if (place_of(k) >= share.count) products[k] = 0;
    if (one) return one_row(share, products, y, alpha);
    if (SHUFFLE)
        transpose(products);
    else
        transpose_staged(products, output);
    __syncthreads();
    if (many) {
        if (altered && threadIdx.x == 0) atomicAdd(altered, WARPS);
        return many_rows(share, row_offsets, products, y, alpha);
    }
    if (altered && threadIdx.x < WARPS && assigned.empty[threadIdx.x]) atomicAdd(altered, 1);
    few_rows(share, row_offsets, assigned, products, output + share.row % WARP);
    write(share, output, y, alpha, beta);
}

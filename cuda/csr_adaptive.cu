// CSR-Adaptive: one thread block per row block. Several rows use CSR-Stream through shared memory. A single row, or
// a part of PART nonzeros of it, is processed by the whole block (LONG_ROW_WARP = 0) or its first warp (1). A block
// has BLOCK threads; a row block of several rows has at most CAPACITY nonzeros and CAPACITY rows.
#include "long_rows.cuh"

// The number of nonzeros that a thread loads without waiting in between.
constexpr unsigned TOGETHER = CAPACITY / BLOCK < 2 ? 1 : 2;

// The start of a row block: its first row and its first nonzero.
struct alignas(8) Start {
    unsigned row, nonzero;
};

// The largest number of products that a thread adds alone.
constexpr unsigned MOST_ALONE = 64;

// Returns the sum of the products from `start` to `end` in each lane that `shares` its row with its warp, and `sum` in
// the others. All lanes must call it.
__device__ __forceinline__ value_t shared_sum(bool shares, unsigned start, unsigned end,
                                              value_t sum, const value_t *products) {
    const unsigned lane = threadIdx.x % WARP;
    for (unsigned left = __ballot_sync(ALL_LANES, shares); left != 0; left &= left - 1) {
        const unsigned owner = __ffs(left) - 1;
        const unsigned last = __shfl_sync(ALL_LANES, end, owner);
        value_t part = 0;
        for (unsigned k = __shfl_sync(ALL_LANES, start, owner) + lane; k < last; k += WARP)
            part += products[k];
        part = __shfl_sync(ALL_LANES, vector_sum<WARP>(ALL_LANES, part), 0);
        if (lane == owner) sum = part;
    }
    return sum;
}

// Writes the products of all nonzeros of the rows to shared memory. Then one or several threads per row sum them, or a
// warp those of a long row.
__device__ __forceinline__ void stream(const Operands &from, Start start, Start end, value_t *y,
                                       value_t alpha, value_t beta, value_t *products) {
    const unsigned rows = end.row - start.row, nonzeros = end.nonzero - start.nonzero;
    const unsigned *row_offsets = from.row_offsets + start.row;
    const unsigned width = SEVERAL_PER_ROW ? threads_per_row(BLOCK, rows) : 1;
    const unsigned lane = threadIdx.x & (width - 1);
    unsigned row = threadIdx.x / width;
    // The offsets of the first row are loaded with the nonzeros.
    unsigned k = row < rows ? row_offsets[row] : 0, row_end = row < rows ? row_offsets[row + 1] : 0;
#pragma unroll
    for (unsigned first = 0; first < CAPACITY; first += TOGETHER * BLOCK) {
        value_t loaded[TOGETHER];
        load(from, start.nonzero + first + threadIdx.x, end.nonzero, loaded);
#pragma unroll
        for (unsigned j = 0; j < TOGETHER; ++j) {
            const unsigned place = first + threadIdx.x + j * BLOCK;
            if (place < nonzeros) products[place] = loaded[j];
        }
    }
    __syncthreads();
    for (unsigned first = 0; first < rows; first += BLOCK / width) {
        if (first > 0) {
            row += BLOCK / width;
            k = row < rows ? row_offsets[row] : 0;
            row_end = row < rows ? row_offsets[row + 1] : 0;
        }
        const bool shares = SEVERAL_PER_ROW && row_end - k > MOST_ALONE * width;
        value_t sum = 0;
        for (unsigned own = k + lane; !shares && own < row_end; own += width)
            sum += products[own - start.nonzero];
        for (unsigned distance = width / 2; distance > 0; distance /= 2)
            sum += __shfl_down_sync(ALL_LANES, sum, distance);
        if (SEVERAL_PER_ROW)
            sum = shared_sum(shares && lane == 0, k - start.nonzero, row_end - start.nonzero, sum,
                             products);
        if (lane == 0 && row < rows) store(y, start.row + row, alpha, sum, beta);
    }
}

// Returns the sum of one row, or of a part of it, in thread 0.
__device__ __forceinline__ value_t row_sum(const Operands &from, unsigned start, unsigned end,
                                           value_t *warp_sums) {
    if (LONG_ROW_WARP) {
        if (threadIdx.x >= WARP) return 0;
        const value_t sum =
            lane_product<WARP>(start, end, threadIdx.x, from.column_indices, from.values, from.x);
        return vector_sum<WARP>(ALL_LANES, sum);
    }
    return block_product<TOGETHER>(from, start, end, warp_sums);
}

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
    csr_adaptive(const Start *__restrict__ row_blocks, const unsigned *__restrict__ row_offsets,
                 const unsigned *__restrict__ column_indices, const value_t *__restrict__ values,
                 const value_t *__restrict__ x, value_t *y, value_t alpha, value_t beta,
                 value_t *parts, unsigned *arrivals) {
    __shared__ value_t products[CAPACITY];
    const Operands from = {row_offsets, column_indices, values, x};
    const Start start = row_blocks[blockIdx.x], end = row_blocks[blockIdx.x + 1];
    if (end.row - start.row > 1) {
        stream(from, start, end, y, alpha, beta, products);
        return;
    }
    const value_t sum = row_sum(from, start.nonzero, end.nonzero, products);
    if (DIVIDED) {
        const unsigned first = row_offsets[start.row], length = row_offsets[start.row + 1] - first;
        if (length > end.nonzero - start.nonzero) {
            store_divided(start.row, blockIdx.x - (start.nonzero - first) / PART, (length - 1) / PART + 1, sum,
                          parts, arrivals, y, alpha, beta, products);
            return;
        }
    }
    if (threadIdx.x == 0) store(y, start.row, alpha, sum, beta);
}

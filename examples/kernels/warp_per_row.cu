// spmv-bench
// summary = "one warp per row"
// source = "the second step of the tutorial in docs/plugins.md"
//
// [[product]]
// kernel = "warp_per_row"
// threads = 256
// rows_per_block = 8

// The lanes of a warp read neighbouring nonzeros of its row, and add their sums by shuffles.
extern "C" __global__ void warp_per_row(unsigned rows, unsigned cols, unsigned nnz, const unsigned *row_offsets,
                                        const unsigned *column_indices, const VALUE_T *values, const VALUE_T *x,
                                        VALUE_T *y, VALUE_T alpha, VALUE_T beta) {
    const unsigned row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const unsigned end = row_offsets[row + 1];
    VALUE_T sum = 0;
    for (unsigned k = row_offsets[row] + lane; k < end; k += 32) sum += values[k] * x[column_indices[k]];
    for (unsigned distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffffu, sum, distance);
    if (lane == 0) y[row] = beta == 0 ? alpha * sum : alpha * sum + beta * y[row];
}

// spmv-bench
// summary = "one thread per row"
// source = "the first step of the tutorial in docs/plugins.md"
//
// [[product]]
// kernel = "thread_per_row"
// threads = 256
// rows_per_block = 256

// y <- alpha A x + beta y. With beta = 0, y is not read.
extern "C" __global__ void thread_per_row(unsigned rows, unsigned cols, unsigned nnz, const unsigned *row_offsets,
                                          const unsigned *column_indices, const VALUE_T *values, const VALUE_T *x,
                                          VALUE_T *y, VALUE_T alpha, VALUE_T beta) {
    const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    VALUE_T sum = 0;
    for (unsigned k = row_offsets[row]; k < row_offsets[row + 1]; k++) sum += values[k] * x[column_indices[k]];
    y[row] = beta == 0 ? alpha * sum : alpha * sum + beta * y[row];
}

// spmv-bench
// name = "@NAME@"
// summary = "one thread per row"
// source = "your paper"
//
// [[product]]
// kernel = "rows_of"
// threads = 256
// rows_per_block = 256

// y <- alpha A x + beta y. VALUE_T is double or float. With beta = 0, y must not be read.
extern "C" __global__ void rows_of(unsigned rows, unsigned cols, unsigned nnz, const unsigned *row_offsets,
                                   const unsigned *column_indices, const VALUE_T *values, const VALUE_T *x, VALUE_T *y,
                                   VALUE_T alpha, VALUE_T beta) {
    const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    VALUE_T sum = 0;
    for (unsigned k = row_offsets[row]; k < row_offsets[row + 1]; k++) sum += values[k] * x[column_indices[k]];
    y[row] = beta == 0 ? alpha * sum : alpha * sum + beta * y[row];
}

// spmv-bench
// [[parameter]]
// name = "block"
// values = [32, 64, 128]
// default = 64
// meaning = "threads per block"
// [[transposed]]
// kernel = "scale"
// threads = "block"
// columns_per_block = "threads"
// [[transposed]]
// kernel = "scatter"
// threads = "block"
// rows_per_block = "block / 2 * 2"

// A transposed product, with a parameter on which the launch depends.
#define MATRIX unsigned rows, unsigned cols, unsigned nnz, const unsigned *starts, \
    const unsigned *columns, const VALUE_T *values
#define VECTORS const VALUE_T *x, VALUE_T *y, VALUE_T alpha, VALUE_T beta
extern "C" __global__ void __launch_bounds__(BLOCK) scale(MATRIX, VECTORS) {
    const unsigned column = blockIdx.x * BLOCK + threadIdx.x;
    if (column < cols) y[column] = beta == 0 ? VALUE_T(0) : beta * y[column];
}
extern "C" __global__ void __launch_bounds__(BLOCK) scatter(MATRIX, VECTORS) {
    const unsigned row = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= rows) return;
    for (unsigned k = starts[row]; k < starts[row + 1]; k++) atomicAdd(&y[columns[k]], alpha * values[k] * x[row]);
}

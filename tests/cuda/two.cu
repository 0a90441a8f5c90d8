// spmv-bench
// name = "two"
// [[workspace]]
// type = "value_t"
// per_nonzero = 1
// [[workspace]]
// type = "unsigned"
// per_row = 1
// [[setup]]
// kernel = "lengths"
// threads = 64
// resident = true
// [[product]]
// kernel = "products"
// threads = 64
// nonzeros_per_block = 64
// [[product]]
// kernel = "sums"
// threads = 64
// rows_per_block = 64

// A kernel with a setup, workspaces and a grid by nonzeros: the products, and then their sums.
#include "common.cuh"
#define MATRIX unsigned rows, unsigned cols, unsigned nnz, const unsigned *starts, \
    const unsigned *columns, const value_t *values
#define VECTORS const value_t *x, value_t *y, value_t alpha, value_t beta
extern "C" __global__ void lengths(MATRIX, value_t *products, unsigned *lengths) {
    for (unsigned row = blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += gridDim.x * blockDim.x)
        lengths[row] = starts[row + 1] - starts[row];
}
extern "C" __global__ void products(MATRIX, VECTORS, value_t *products, unsigned *lengths) {
    const unsigned k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < nnz) products[k] = values[k] * x[columns[k]];
}
extern "C" __global__ void sums(MATRIX, VECTORS, value_t *products, unsigned *lengths) {
    const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    value_t sum = 0;
    for (unsigned k = 0; k < lengths[row]; k++) sum += products[starts[row] + k];
    store(y, row, alpha, sum, beta);
}

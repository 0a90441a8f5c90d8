// HYB: the first kernel multiplies the ELL part and writes y; the second adds the coordinate part.
#include "coordinates.cuh"
#include "strips.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK)
    hyb_ell(unsigned rows, unsigned pitch, unsigned width,
            const unsigned *__restrict__ column_indices, const value_t *__restrict__ values,
            const value_t *__restrict__ x, value_t *y, value_t alpha, value_t beta) {
    start_dependents();
    ell_row(rows, pitch, width, column_indices, values, x, y, alpha, beta);
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    hyb_coo(unsigned nnz, unsigned interval, const unsigned *__restrict__ row_indices,
            const unsigned *__restrict__ column_indices, const value_t *__restrict__ values,
            const value_t *__restrict__ x, value_t *y, value_t alpha, value_t) {
    const Output<false> output = {after_earlier_kernels(y), alpha, 1};
    add_coordinates(nnz, interval, row_indices, column_indices, values, x, output);
}

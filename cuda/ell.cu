// ELL: one thread per row.
#include "strips.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK)
    ell(unsigned rows, unsigned pitch, unsigned width, const unsigned *__restrict__ column_indices,
        const value_t *__restrict__ values, const value_t *__restrict__ x, value_t *y,
        value_t alpha, value_t beta) {
    ell_row(rows, pitch, width, column_indices, values, x, y, alpha, beta);
}

// COO: one interval of the nonzeros per warp. Rows that no interval owns alone already contain beta y. The launch
// bounds leave enough registers for all loads that are in flight.
#include "coordinates.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 1536 / BLOCK)
    coo(unsigned nnz, unsigned interval, const unsigned *__restrict__ row_indices,
        const unsigned *__restrict__ column_indices, const value_t *__restrict__ values,
        const value_t *__restrict__ x, value_t *y, value_t alpha, value_t beta) {
    y = after_earlier_kernels(y);
    const Output<true> output = {y, alpha, beta};
    add_coordinates(nnz, interval, row_indices, column_indices, values, x, output);
}

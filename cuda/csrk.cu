// CSR-k: thread blocks of lanes of a row (LANES) x rows x super-rows. All lanes of a warp are in the same
// super-row, unless each thread owns a row (LANES = 1). If the matrix is PERMUTED, y is not: `old` contains the
// original index of each row.
#include "common.cuh"

// Multiplies the rows first to end - 1, blockDim.y at a time.
__device__ __forceinline__ void super_row(unsigned first, unsigned end, const unsigned *row_offsets,
                                          const unsigned *column_indices, const value_t *values,
                                          const unsigned *old, const value_t *x, value_t *y,
                                          value_t alpha, value_t beta) {
    const unsigned lane = threadIdx.x;
    // All lanes of a warp make the same number of iterations, because the sum needs all of them.
    for (; first < end; first += blockDim.y) {
        const unsigned row = first + threadIdx.y;
        const bool stores = lane == 0 && row < end;
        const unsigned place = PERMUTED && stores ? old[row] : row;
        value_t sum = 0;
        if (row < end)
            sum = strided_product<LANES>(row_offsets[row] + lane, row_offsets[row + 1],
                                         column_indices, values, x);
        sum = vector_sum<LANES>(ALL_LANES, sum);
        if (stores) store(y, place, alpha, sum, beta);
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    csrk_2(const unsigned *__restrict__ super_rows, const unsigned *__restrict__ row_offsets,
           const unsigned *__restrict__ column_indices, const value_t *__restrict__ values,
           const unsigned *__restrict__ old, const value_t *__restrict__ x, value_t *y,
           value_t alpha, value_t beta) {
    const unsigned first = super_rows[blockIdx.x], end = super_rows[blockIdx.x + 1];
    if (PERMUTED) x = after_earlier_kernels(x);
    super_row(first, end, row_offsets, column_indices, values, old, x, y, alpha, beta);
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    csrk_3(const unsigned *__restrict__ super_super_rows, const unsigned *__restrict__ super_rows,
           const unsigned *__restrict__ row_offsets, const unsigned *__restrict__ column_indices,
           const value_t *__restrict__ values, const unsigned *__restrict__ old,
           const value_t *__restrict__ x, value_t *y, value_t alpha, value_t beta) {
    const unsigned first = super_super_rows[blockIdx.x], end = super_super_rows[blockIdx.x + 1];
    if (PERMUTED) x = after_earlier_kernels(x);
    for (unsigned k = first + threadIdx.z; k < end; k += blockDim.z)
        super_row(super_rows[k], super_rows[k + 1], row_offsets, column_indices, values, old, x, y,
                  alpha, beta);
}

// Permutes x to the order of the rows: `old` contains the original index of each value.
extern "C" __global__ void __launch_bounds__(PERMUTING_BLOCK)
    csrk_permute_x(unsigned count, const unsigned *__restrict__ old, const value_t *__restrict__ x,
                   value_t *permuted_x) {
    start_dependents();
    const unsigned k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < count) permuted_x[k] = x[old[k]];
}

// y <- beta y for some rows, before a kernel that adds to them. If beta = 0, the old y is not read.
#include "common.cuh"

// One thread per listed row.
extern "C" __global__ void __launch_bounds__(256)
    start_rows(unsigned count, const unsigned *__restrict__ list, value_t *y, value_t beta) {
    start_dependents();
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) store(y, list[i], 0, 0, beta);
}

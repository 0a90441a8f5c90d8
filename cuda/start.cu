// y <- beta y with one thread per value, before kernels that add to y.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK)
    start(unsigned n, value_t *y, value_t beta) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] *= beta;
}

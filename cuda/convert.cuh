// What the kernels of conversions share: blocks of THREADS threads, and the row of a nonzero.
#pragma once

#include "common.cuh"
#include "row_of.cuh"

constexpr unsigned THREADS = 256;

__device__ __forceinline__ unsigned thread() { return blockIdx.x * THREADS + threadIdx.x; }

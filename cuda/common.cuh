// Functions that several kernels share. The compilation defines VALUE_T as float or double.
#pragma once

typedef VALUE_T value_t;

constexpr unsigned WARP = 32;
constexpr unsigned ALL_LANES = 0xffffffffu;

// y[row] <- alpha sum + beta y[row]. If beta = 0, the old y is not read.
__device__ __forceinline__ void store(value_t *y, unsigned row, value_t alpha, value_t sum,
                                      value_t beta) {
    y[row] = beta == 0 ? alpha * sum : alpha * sum + beta * y[row];
}

// Returns the mask of the lanes in the calling lane's vector: WIDTH neighbours, a power of two.
template <unsigned WIDTH>
__device__ __forceinline__ unsigned vector_mask() {
    if (WIDTH == WARP) return ALL_LANES;
    return ((1u << WIDTH % WARP) - 1) << (threadIdx.x % WARP / WIDTH * WIDTH);
}

// Returns the sum over the WIDTH lanes of a vector in its first lane. All lanes of `mask` must call it.
template <unsigned WIDTH>
__device__ __forceinline__ value_t vector_sum(unsigned mask, value_t sum) {
    for (unsigned distance = WIDTH / 2; distance > 0; distance /= 2)
        sum += __shfl_down_sync(mask, sum, distance, WIDTH);
    return sum;
}

// Returns a mask whose bit k is set if lane k is the last of a run of equal keys. All lanes must call it.
__device__ __forceinline__ unsigned run_tails(unsigned key) {
    const unsigned next = __shfl_down_sync(ALL_LANES, key, 1);
    return __ballot_sync(ALL_LANES, threadIdx.x % WARP == WARP - 1 || next != key);
}

// Returns the inclusive prefix sum within each run. Bit k of `tails` is set if lane k is the last of a
// run. All lanes must call it.
__device__ __forceinline__ value_t run_sums(unsigned tails, value_t sum) {
    // Bit k: the lane at `distance` before lane k is in the same run.
    unsigned reach = ~(tails << 1 | 1);
    for (unsigned distance = 1; reach != 0; distance *= 2) {
        const value_t before = __shfl_up_sync(ALL_LANES, sum, distance);
        if (reach >> threadIdx.x % WARP & 1) sum += before;
        reach &= reach << distance;
    }
    return sum;
}

// Returns one lane's part of a row's product: the nonzeros at a stride of WIDTH. A whole warp starts at the
// multiple of its width at or below the row's start, so that its loads are aligned.
template <unsigned WIDTH>
__device__ __forceinline__ value_t lane_product(unsigned start, unsigned end, unsigned lane,
                                                const unsigned *column_indices,
                                                const value_t *values, const value_t *x) {
    value_t sum = 0;
    unsigned k = start + lane;
    if (WIDTH == WARP) {
        k = start / WARP * WARP + lane;
        if (k < start) k += WARP;
    }
    for (; k < end; k += WIDTH) sum += values[k] * x[column_indices[k]];
    return sum;
}

// value * x, but 0 if the value is 0: it may be padding, and x may be NaN or infinite.
__device__ __forceinline__ value_t filled_product(value_t value, value_t x) {
    return value * (value == 0 ? value_t(0) : x);
}

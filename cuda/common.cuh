// What several kernels share. VALUE_T is float or double, defined by the compilation.
#pragma once

typedef VALUE_T value_t;

constexpr unsigned WARP = 32;
constexpr unsigned ALL_LANES = 0xffffffffu;

// y[row] <- alpha sum + beta y[row]; with beta = 0 the old y is not read.
__device__ __forceinline__ void store(value_t *y, unsigned row, value_t alpha, value_t sum,
                                      value_t beta) {
    y[row] = beta == 0 ? alpha * sum : alpha * sum + beta * y[row];
}

// The lanes of the calling lane's vector: WIDTH neighbours, a power of two.
template <unsigned WIDTH>
__device__ __forceinline__ unsigned vector_mask() {
    if (WIDTH == WARP) return ALL_LANES;
    return ((1u << WIDTH % WARP) - 1) << (threadIdx.x % WARP / WIDTH * WIDTH);
}

// The sum over the WIDTH lanes of a vector, in its first lane. All lanes of `mask` call it.
template <unsigned WIDTH>
__device__ __forceinline__ value_t vector_sum(unsigned mask, value_t sum) {
    for (unsigned distance = WIDTH / 2; distance > 0; distance /= 2)
        sum += __shfl_down_sync(mask, sum, distance, WIDTH);
    return sum;
}

// Bit k: lane k is the last of a run of equal keys. All lanes call it.
__device__ __forceinline__ unsigned run_tails(unsigned key) {
    const unsigned next = __shfl_down_sync(ALL_LANES, key, 1);
    return __ballot_sync(ALL_LANES, threadIdx.x % WARP == WARP - 1 || next != key);
}

// Sums within runs, from the run's first lane up to each. Bit k of `tails` says that
// lane k is the last of a run.
__device__ __forceinline__ value_t run_sums(unsigned tails, value_t sum) {
    // Bit k: the lane `distance` before lane k is of the same run.
    unsigned reach = ~(tails << 1 | 1);
    for (unsigned distance = 1; reach != 0; distance *= 2) {
        const value_t before = __shfl_up_sync(ALL_LANES, sum, distance);
        if (reach >> threadIdx.x % WARP & 1) sum += before;
        reach &= reach << distance;
    }
    return sum;
}

// The part of a row's product that one lane of a vector of WIDTH takes: every WIDTH-th nonzero. A
// whole warp begins at the multiple of its width below the row's start, so that its loads are aligned.
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

// value * x of a place that may be fill: a zero that is no entry must not meet an x that is not finite.
__device__ __forceinline__ value_t filled_product(value_t value, value_t x) {
    return value * (value == 0 ? value_t(0) : x);
}

// Functions that several kernels share. The compilation defines VALUE_T as float or double.
#pragma once

typedef VALUE_T value_t;

constexpr unsigned WARP = 32;
constexpr unsigned ALL_LANES = 0xffffffffu;
// The column index where there is no entry.
constexpr unsigned NO_ENTRY = 0xffffffffu;
// The number of entries of a row that a thread loads before it uses the first of them.
constexpr unsigned AHEAD = 4;

// Lets the GPU start the dependent kernel (`launch_after`) once all blocks of this one have called this or have ended.
__device__ __forceinline__ void start_dependents() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// Waits until the kernels that a dependent kernel may overlap with have ended. Every thread of the kernel must call it.
// Returns `array`, which such a kernel uses: accesses through the returned pointer cannot be moved before the wait,
// even if the compiler loads the array as read-only data.
template <class T>
__device__ __forceinline__ T *after_earlier_kernels(T *array) {
#if __CUDA_ARCH__ >= 900
    size_t address = __cvta_generic_to_global(array);
    asm volatile("griddepcontrol.wait;" : "+l"(address) : : "memory");
    return static_cast<T *>(__cvta_global_to_generic(address));
#else
    return array;
#endif
}

// Returns the number of threads per row: a power of two, for as many rows as a block of `threads` threads has threads.
__device__ __forceinline__ unsigned threads_per_row(unsigned threads, unsigned rows) {
    return rows > threads / 2 ? 1 : min(WARP, threads >> (32 - __clz(rows - 1)));
}

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

// Returns one lane's part of a row's product: the nonzeros from k on at a stride of WIDTH. AT_ONCE of them are loaded
// together, and all of their columns and values before x, so that a lane waits twice for memory and not twice for each
// nonzero.
template <unsigned WIDTH, unsigned AT_ONCE = AHEAD>
__device__ __forceinline__ value_t strided_product(unsigned k, unsigned end,
                                                   const unsigned *column_indices,
                                                   const value_t *values, const value_t *x) {
    value_t sum = 0;
    for (; k < end; k += AT_ONCE * WIDTH) {
        const unsigned left = end - k;
        const unsigned *column = column_indices + k;
        const value_t *value = values + k;
        unsigned columns[AT_ONCE];
        value_t entries[AT_ONCE], factors[AT_ONCE];
#pragma unroll
        for (unsigned j = 0; j < AT_ONCE; ++j) {
            columns[j] = j * WIDTH < left ? column[j * WIDTH] : 0;
            entries[j] = j * WIDTH < left ? value[j * WIDTH] : value_t(0);
        }
#pragma unroll
        for (unsigned j = 0; j < AT_ONCE; ++j)
            factors[j] = j * WIDTH < left ? x[columns[j]] : value_t(0);
#pragma unroll
        for (unsigned j = 0; j < AT_ONCE; ++j) sum += entries[j] * factors[j];
    }
    return sum;
}

// Returns one lane's part of a row's product, if a vector of WIDTH lanes owns the row. A whole warp starts at the
// multiple of its width at or below the row's start, so that its loads are aligned.
template <unsigned WIDTH, unsigned AT_ONCE = AHEAD>
__device__ __forceinline__ value_t lane_product(unsigned start, unsigned end, unsigned lane,
                                                const unsigned *column_indices,
                                                const value_t *values, const value_t *x) {
    unsigned k = start + lane;
    if (WIDTH == WARP) {
        k = start / WARP * WARP + lane;
        if (k < start) k += WARP;
    }
    return strided_product<WIDTH, AT_ONCE>(k, end, column_indices, values, x);
}

// value * x, but 0 if the value is 0: it may be padding, and x may be NaN or infinite.
__device__ __forceinline__ value_t filled_product(value_t value, value_t x) {
    return value * (value == 0 ? value_t(0) : x);
}

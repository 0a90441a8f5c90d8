// Packed slices: a warp owns a slice, which is 32 rows with a lane each, fewer rows with several lanes each, or a part
// of a long row. The nonzeros of a slice are divided into steps, in each of which a lane has at most one. The arrays
// contain the nonzeros step by step, and only those: a lane finds its own by the lanes before it.
#include "common.cuh"
#include "once.cuh"
#include "packed.cuh"

// Returns a lane's value, or 0 if it has none.
__device__ __forceinline__ value_t value_of(stored_t stored, bool active, const value_t *table) {
#if CODE_BITS == 0
    return stored;
#else
    return active ? table[stored] : value_t(0);
#endif
}

// Loads a stored value. The indices of several steps are in one sector, which therefore stays in the caches.
__device__ __forceinline__ stored_t load_stored(const stored_t *place) {
    return CODE_BITS == 0 ? load_once(place) : *place;
}

// The steps of a slice: the first WARP of them, one in each lane, and the list of all.
struct Steps {
    Step mine;
    const Step *list;
    unsigned count;
};

// Returns one lane's part of the slice's product. `column` is the lane's first. `entries` are those of the slice, and
// then those of the next. If OFFSETS is false, no step has offsets. A lane loads what TOGETHER steps need before it
// uses it.
template <bool OFFSETS, unsigned TOGETHER>
__device__ __forceinline__ value_t slice_product(const Steps &steps, const stored_t *&entries,
                                                 const unsigned *words, unsigned column,
                                                 const value_t *table, const value_t *x) {
    const unsigned lane = threadIdx.x % WARP;
    unsigned bits = 0;
    value_t sum = 0;
    Step mine = steps.mine;
    for (unsigned first = 0; first < steps.count; first += WARP) {
        if (first > 0)
            mine = first + lane < steps.count ? steps.list[first + lane] : Step{0, 0};
        for (unsigned k = 0; k < min(steps.count - first, WARP); k += TOGETHER) {
            stored_t stored[TOGETHER];
            unsigned low[TOGETHER], high[TOGETHER], starts[TOGETHER];
            int codes[TOGETHER];
            bool active[TOGETHER];
#pragma unroll
            for (unsigned j = 0; j < TOGETHER; ++j) {
                codes[j] = __shfl_sync(ALL_LANES, mine.code, k + j);
                const unsigned lanes = __shfl_sync(ALL_LANES, mine.lanes, k + j);
                const unsigned before = __popc(lanes & ((1u << lane) - 1));
                active[j] = lanes >> lane & 1;
                stored[j] = active[j] ? load_stored(&entries[before]) : stored_t(0);
                entries += __popc(lanes);
                if (!OFFSETS) continue;
                const unsigned width = codes[j] & ((1u << WIDTH) - 1);
                const bool has_offset = active[j] && width > 0;
                starts[j] = bits + before * width;
                low[j] = has_offset ? words[starts[j] / 32] : 0;
                high[j] = has_offset ? words[starts[j] / 32 + 1] : 0;
                bits += __popc(lanes) * width;
            }
            value_t factors[TOGETHER];
#pragma unroll
            for (unsigned j = 0; j < TOGETHER; ++j) {
                column += codes[j] >> WIDTH;
                if (OFFSETS) {
                    const unsigned width = codes[j] & ((1u << WIDTH) - 1);
                    const unsigned mask = width > 0 ? ~0u >> (32 - width) : 0;
                    column += __funnelshift_r(low[j], high[j], starts[j]) & mask;
                }
                factors[j] = active[j] ? x[column] : value_t(0);
            }
#pragma unroll
            for (unsigned j = 0; j < TOGETHER; ++j)
                sum += value_of(stored[j], active[j], table) * factors[j];
        }
    }
    return sum;
}

// Returns the sum over the lanes of a row in its first lane. `shift` is the binary logarithm of their number.
__device__ __forceinline__ value_t lanes_sum(value_t sum, unsigned shift) {
    for (unsigned distance = (1u << shift) / 2; distance > 0; distance /= 2)
        sum += __shfl_down_sync(ALL_LANES, sum, distance);
    return sum;
}

// Stores a row of which several slices have parts. The warp that arrives last adds the parts in their order. `slices`
// are the first slice of the row and the number of its slices.
__device__ __forceinline__ void store_parts(unsigned slice, const unsigned *slices, unsigned row,
                                            value_t part, value_t *parts, unsigned *arrivals,
                                            value_t *y, value_t alpha, value_t beta) {
    const unsigned lane = threadIdx.x % WARP, first = slices[0], count = slices[1];
    bool is_last = false;
    if (lane == 0) {
        parts[slice] = part;
        __threadfence();
        is_last = atomicAdd(&arrivals[first], 1) == count - 1;
        __threadfence();
    }
    if (!__shfl_sync(ALL_LANES, is_last, 0)) return;
    __syncwarp();
    value_t sum = 0;
    for (unsigned k = lane; k < count; k += WARP) sum += __ldcg(&parts[first + k]);
    sum = vector_sum<WARP>(ALL_LANES, sum);
    if (lane > 0) return;
    store(y, row, alpha, sum, beta);
    arrivals[first] = 0;
}

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
    packed(unsigned count, unsigned rows, const Slice *__restrict__ slices,
           const unsigned *__restrict__ heads, const Step *__restrict__ all_steps,
           const unsigned *__restrict__ words, const stored_t *__restrict__ entries,
           const value_t *__restrict__ table, const value_t *__restrict__ x, value_t *y,
           value_t alpha, value_t beta, value_t *parts, unsigned *arrivals) {
    const unsigned index = blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP;
    if (index >= count) return;
    const Slice slice = slices[index];
    const unsigned head = heads[index], lane = threadIdx.x % WARP;
    const unsigned shift = head >> SHIFT & 7, place = lane >> shift;
    Steps steps = {{0, 0}, all_steps + slice.list, head >> COUNT};
    if (lane < steps.count) steps.mine = steps.list[lane];
    const stored_t *next = entries + slice.entries;
    unsigned row = slice.row + place, column = slice.row + lane;
    if (is_wordless(head)) {
        for (unsigned left = slice.words + 1; left > 0; --left) {
            value_t sum = slice_product<false, 8>(steps, next, words, column, table, x);
            sum = lanes_sum(sum, shift);
            if (row < rows && lane == place << shift) store(y, row, alpha, sum, beta);
            row += WARP;
            column += WARP;
        }
        return;
    }
    const unsigned *own = words + slice.words;
    bool has_row = row < rows;
    if (head & LISTED) {
        const unsigned distance = own[place / 2] >> place % 2 * 16 & NO_LANE;
        row = slice.row + distance;
        has_row = distance != NO_LANE;
    }
    const unsigned *offsets = own + (head & LISTED ? WARP / 2 >> shift : head & PART);
    value_t sum = slice_product<true, 4>(steps, next, offsets, column, table, x);
    sum = lanes_sum(sum, shift);
    if (head & PART)
        store_parts(index, own, row, sum, parts, arrivals, y, alpha, beta);
    else if (has_row && lane == place << shift)
        store(y, row, alpha, sum, beta);
}

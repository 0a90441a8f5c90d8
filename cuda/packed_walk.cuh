// The way through the nonzeros of a packed slice, step by step, which its conversion goes twice.
#pragma once

#include "packed.cuh"

// What a slice will have: its first row, or that of its window, and its origin: for listed rows the place of the first
// in the order, for a part of a row its number, otherwise whether it is a band.
struct alignas(8) Plan {
    unsigned row, origin;
};

__device__ __forceinline__ unsigned lane_number() { return threadIdx.x % WARP; }

// Returns the least number of all lanes.
__device__ __forceinline__ int warp_min(int number) {
#if __CUDA_ARCH__ >= 800
    return __reduce_min_sync(ALL_LANES, number);
#else
    for (unsigned distance = WARP / 2; distance > 0; distance /= 2)
        number = min(number, __shfl_xor_sync(ALL_LANES, number, distance));
    return number;
#endif
}

__device__ __forceinline__ int warp_max(int number) { return ~warp_min(~number); }

// The nonzeros of a slice in the order of its steps: each lane has those from `next` on, `stride` apart.
struct Walk {
    const unsigned *columns;
    unsigned next, end, stride;
    bool is_band;
    // The column that the lane has reached.
    unsigned column;

    // Goes a step. `entry` is the lane's nonzero and `offset` that of its column. After the last step no lane has one.
    __device__ __forceinline__ Step step(unsigned &entry, unsigned &offset) {
        constexpr int NONE = 0x7fffffff;
        const bool has = next < end;
        const int distance = has ? columns[next] - column : NONE, least = warp_min(distance);
        const bool active = has && (distance == least || !is_band);
        const int most = is_band ? least : ~warp_min(has ? ~distance : NONE);
        const bool is_near = (int)((unsigned)least << WIDTH) >> WIDTH == least;
        const unsigned advance = is_near ? least : 0;
        const unsigned width = is_near ? 32 - __clz((unsigned)most - least) : 32;
        column += advance;
        if (active) {
            entry = next;
            offset = distance - advance;
            column += offset;
            next += stride;
        }
        return {(int)(advance << WIDTH | width), __ballot_sync(ALL_LANES, active)};
    }
};

// The arrays that tell a lane which nonzeros it has.
struct Source {
    unsigned rows, part;
    const unsigned *row_offsets, *columns, *order;

    __device__ __forceinline__ Walk walk(unsigned head, Plan plan) const {
        const unsigned shift = head >> SHIFT & 7, place = lane_number() >> shift;
        unsigned row = plan.row + place;
        if (head & LISTED) row = row_at(plan.origin, place);
        const bool exists = row < rows;
        unsigned start = exists ? row_offsets[row] : 0, end = exists ? row_offsets[row + 1] : 0;
        if (head & PART) {
            start += plan.origin * part;
            end = min(end, start + part);
        }
        const bool is_band = !(head & (LISTED | PART)) && plan.origin;
        return {columns, start + lane_number() % (1u << shift), end, 1u << shift, is_band,
                plan.row + lane_number()};
    }

    // Returns a row in the order of its window, or NO_ENTRY behind the last. Rows of similar length are brought
    // together among the WINDOW rows of a window.
    __device__ __forceinline__ unsigned row_at(unsigned first, unsigned distance) const {
        return first % WINDOW + distance < WINDOW ? order[first + distance] : NO_ENTRY;
    }
};

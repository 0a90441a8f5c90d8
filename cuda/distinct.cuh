// Tables in which equal things find the first of them. A place has a number of a thing, or NO_ENTRY; a thing is at its
// hash or behind, after others. The number of places is a power of two, and `last` is that of the last one.
#pragma once

#include "common.cuh"

// Enters thing k, or makes it the representative of the equal things if it is before theirs. Returns whether there were
// none. The table is read as volatile, because others may enter theirs at the same time. It must keep an empty place.
template <class Same>
__device__ __forceinline__ bool enter(unsigned k, unsigned hash, unsigned last, unsigned *table,
                                      Same is_same) {
    for (;; ++hash) {
        unsigned *place = table + (hash & last);
        unsigned found = *static_cast<volatile unsigned *>(place);
        if (found == NO_ENTRY) found = atomicCAS(place, NO_ENTRY, k);
        if (found == NO_ENTRY) return true;
        if (!is_same(found)) continue;
        if (k < found) atomicMin(place, k);
        return false;
    }
}

// Returns the number in the table for a thing that was entered.
template <class Same>
__device__ __forceinline__ unsigned entered(unsigned hash, unsigned last, const unsigned *table,
                                            Same is_same) {
    while (!is_same(table[hash & last])) ++hash;
    return table[hash & last];
}

// The bits of a value, by which values are distinguished.
__device__ __forceinline__ unsigned long long bits_of(double value) {
    return __double_as_longlong(value);
}
__device__ __forceinline__ unsigned long long bits_of(float value) { return __float_as_uint(value); }

__device__ __forceinline__ unsigned hash_of(unsigned long long bits) {
    return bits * 0x9e3779b97f4a7c15ull >> 32;
}

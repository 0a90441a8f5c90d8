// Loads of what a product reads only once: the arrays of the matrix.
#pragma once

// Returns *place. If STREAMED, which is set for a matrix that does not fit in the L2 cache, the caches evict its sector
// first, so that x and y stay there longer.
template <typename T>
__device__ __forceinline__ T load_once(const T *place) {
    return STREAMED ? __ldcs(place) : *place;
}

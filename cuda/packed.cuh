// The format of packed slices, which its product and its conversion share.
#pragma once

#include "common.cuh"

// A step: `lanes` are those that have a nonzero. The column of every lane advances by the signed number in `code` above
// the lowest WIDTH bits, and that of a lane with a nonzero also by its offset, whose number of bits is in these.
struct alignas(8) Step {
    int code;
    unsigned lanes;
};
constexpr unsigned WIDTH = 6;

// The positions of a slice in the arrays, and its first row. Its head has its flags, from bit SHIFT on the binary
// logarithm of the number of lanes per row, and from bit COUNT on the number of steps.
struct alignas(16) Slice {
    unsigned list, entries, words, row;
};

// The words of a LISTED slice start with the distances of its rows from the first, 16 bits each; other slices have
// neighbouring rows. The words of a PART of a row start with the first slice of the row and the number of its slices. A
// slice with NO_OFFSETS that is neither has no words: `words` is the number of the slices behind it with the same
// steps, which its warp owns too.
constexpr unsigned LISTED = 1, PART = 2, NO_OFFSETS = 4, SHIFT = 3, COUNT = 6;
// The distance of a lane without a row.
constexpr unsigned NO_LANE = 0xffff;

// How values are stored: unchanged, or as indices of 8 or 16 bits into a table.
#if CODE_BITS == 0
typedef value_t stored_t;
#elif CODE_BITS == 8
typedef unsigned char stored_t;
#else
typedef unsigned short stored_t;
#endif

__device__ __forceinline__ bool is_wordless(unsigned head) {
    return (head & (LISTED | PART | NO_OFFSETS)) == NO_OFFSETS;
}

// The order of rows and the shape of blocks in DASP, which its product and its conversion share.
#pragma once

#include "common.cuh"

// The rows of a block, the entries of each, and their number.
constexpr unsigned ROWS = GROUP_ROWS, WIDTH = BLOCK_WIDTH, PLACES = ROWS * WIDTH;
// The rows of blocks that a warp owns of paired rows: those of two blocks.
constexpr unsigned PAIRS = 2 * ROWS;

// The number of rows of the classes. Rows are in the order of their lengths, from long rows to empty ones: long rows,
// medium rows, rows of 3, rows of 2, the rows of 1 that are partners of those of 3, other rows of 1, empty rows.
struct Classes {
    unsigned long_rows, medium, threes, twos;

    __device__ unsigned groups() const { return (medium + ROWS - 1) / ROWS; }
    // The warps of pairs of 1 and 3, and those of pairs of 2 and 2.
    __device__ unsigned uneven() const { return (threes + PAIRS - 1) / PAIRS; }
    __device__ unsigned even() const { return (twos + 2 * PAIRS - 1) / (2 * PAIRS); }
    // The place in the order of the first row of 1 without a partner.
    __device__ unsigned first_single() const { return long_rows + medium + 2 * threes + twos; }

    // Returns the place in the order of a paired row, or NO_ENTRY if it does not exist. Lanes 0 to 7 of a unit have the
    // first rows of the pairs of the first block, the next 8 the second ones, and the others those of the second block.
    __device__ unsigned paired(unsigned unit, unsigned lane) const {
        const unsigned slot = lane / (2 * ROWS) * ROWS + lane % ROWS, second = lane / ROWS % 2;
        const unsigned first_three = long_rows + medium, first_two = first_three + threes;
        if (unit < uneven()) {
            const unsigned pair = unit * PAIRS + slot;
            return pair < threes ? (second ? first_three : first_two + twos) + pair : NO_ENTRY;
        }
        const unsigned row = 2 * ((unit - uneven()) * PAIRS + slot) + second;
        return row < twos ? first_two + row : NO_ENTRY;
    }
};

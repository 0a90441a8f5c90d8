// The search for the row of a nonzero.
#pragma once

// Returns the row of a nonzero: the last row that starts at or before it. For the index after the last nonzero
// this is the number of rows.
__device__ unsigned row_of(unsigned nonzero, const unsigned *row_offsets, unsigned rows) {
    unsigned low = 0, high = rows;
    while (low < high) {
        const unsigned middle = high - (high - low) / 2;
        if (row_offsets[middle] <= nonzero)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

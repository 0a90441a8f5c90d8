// Rows that several thread blocks share, which own consecutive parts of the matrix.
#pragma once
#include "common.cuh"

// What blocks leave of the rows that they share. `heads` and `tails` have a sum for each block: of the row that ends in
// it and started before, and of the row that is open at its end. `arrivals` counts, for each block in which such a row
// ends, the blocks of the row that have arrived; it is 0 between products.
struct Shared {
    value_t *heads, *tails;
    unsigned *arrivals;
};

// Adds the block's parts of shared rows: its head (lane 0) and its tail (lane 1). All lanes of a warp must call it.
// `row` is the lane's row, `first` and `last` are the blocks in which it starts and ends. A lane without a row has
// `first` = `last`. The block that arrives last adds all parts of the row in their order and stores it.
__device__ __forceinline__ void add_shared_rows(unsigned row, unsigned first, unsigned last,
                                                value_t part, const Shared &shared, value_t *y,
                                                value_t alpha, value_t beta) {
    const unsigned lane = threadIdx.x % WARP, tile = blockIdx.x;
    bool is_last = false;
    if (first < last) {
        (lane == 0 ? shared.heads : shared.tails)[tile] = part;
        __threadfence();
        is_last = atomicAdd(&shared.arrivals[last], 1) == last - first;
        __threadfence();
    }
    for (unsigned left = __ballot_sync(ALL_LANES, is_last); left != 0; left &= left - 1) {
        __syncwarp();
        const unsigned from = __ffs(left) - 1;
        const unsigned stored = __shfl_sync(ALL_LANES, row, from);
        const unsigned final = __shfl_sync(ALL_LANES, last, from);
        value_t sum = 0;
        for (unsigned k = __shfl_sync(ALL_LANES, first, from) + lane; k < final; k += WARP)
            sum += __ldcg(&shared.tails[k]);
        sum = vector_sum<WARP>(ALL_LANES, sum);
        if (lane > 0) continue;
        store(y, stored, alpha, sum + __ldcg(&shared.heads[final]), beta);
        shared.arrivals[final] = 0;
    }
}

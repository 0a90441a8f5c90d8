// BCCOO: blocks of BLOCK_ROWS x BLOCK_COLS values ordered by row of blocks, with a bit that marks the last block of
// each row of blocks. A tile is a thread block's share: BLOCK threads with ITEMS blocks each. The sum of a row that
// continues in the next tile is passed to that tile (ADJACENT) or added by a second kernel.
#include "common.cuh"
#include "once.cuh"

typedef unsigned long long wide;

constexpr unsigned WARPS = BLOCK / WARP;
constexpr unsigned LONGER_SIDE = BLOCK_ROWS > BLOCK_COLS ? BLOCK_ROWS : BLOCK_COLS;
// The number of blocks whose loads a thread starts before it uses the first.
constexpr unsigned TOGETHER = 8 / LONGER_SIDE < ITEMS ? 8 / LONGER_SIDE : ITEMS;
constexpr unsigned PACK_BYTES = BLOCK_COLS * sizeof(value_t);

// Neighbouring values in a row of a block, or neighbouring elements of x.
struct __align__(PACK_BYTES < 16 ? PACK_BYTES : 16) Pack {
    value_t of[BLOCK_COLS];
};

// The sums of the rows in a row of blocks.
struct Sums {
    value_t of[BLOCK_ROWS];
};

// The partial sums of a row of blocks that has not ended yet.
struct Carry {
    unsigned row;
    Sums sums;
};

__device__ __forceinline__ void add(Sums &sums, const Sums &more) {
#pragma unroll
    for (unsigned r = 0; r < BLOCK_ROWS; ++r) sums.of[r] += more.of[r];
}

// Loads the x of some columns of blocks. The edge of the matrix can cut only the last column of blocks.
__device__ __forceinline__ void load_x(const unsigned (&at)[TOGETHER], unsigned cols,
                                       const value_t *__restrict__ x, Pack (&packs)[TOGETHER]) {
    bool whole = true;
#pragma unroll
    for (unsigned k = 0; k < TOGETHER; ++k) whole = whole && (at[k] + 1) * BLOCK_COLS <= cols;
    if (__all_sync(ALL_LANES, whole)) {
#pragma unroll
        for (unsigned k = 0; k < TOGETHER; ++k)
            packs[k] = reinterpret_cast<const Pack *>(x)[at[k]];
        return;
    }
#pragma unroll
    for (unsigned k = 0; k < TOGETHER * BLOCK_COLS; ++k) {
        const unsigned column = at[k / BLOCK_COLS] * BLOCK_COLS + k % BLOCK_COLS;
        packs[k / BLOCK_COLS].of[k % BLOCK_COLS] = column < cols ? x[column] : value_t(0);
    }
}

// Returns a block's product. The rows of the block have a stride of BLOCK packs.
__device__ __forceinline__ Sums product(const Pack *__restrict__ block, const Pack &x) {
    Sums sums = {};
#pragma unroll
    for (unsigned r = 0; r < BLOCK_ROWS; ++r) {
        const Pack row = block[r * BLOCK];
#pragma unroll
        for (unsigned k = 0; k < BLOCK_COLS; ++k)
            sums.of[r] += filled_product(row.of[k], x.of[k]);
    }
    return sums;
}

__device__ __forceinline__ void store_rows(value_t *y, unsigned rows, unsigned block_row,
                                           value_t alpha, const Sums &sums, value_t beta) {
#pragma unroll
    for (unsigned r = 0; r < BLOCK_ROWS; ++r) {
        const unsigned row = block_row * BLOCK_ROWS + r;
        if (row < rows) store(y, row, alpha, sums.of[r], beta);
    }
}

// Computes the inclusive prefix sums within runs of the same row in the warp.
__device__ __forceinline__ void scan_warp(Carry &carry) {
    const unsigned tails = run_tails(carry.row);
#pragma unroll
    for (unsigned r = 0; r < BLOCK_ROWS; ++r)
        carry.sums.of[r] = run_sums(tails, carry.sums.of[r]);
}

// Returns the sum that the threads before this one leave for its first row. `carry` becomes the combined sum
// of all threads up to this one.
__device__ __forceinline__ Sums scan_block(Carry &carry) {
    __shared__ Carry warp_carries[WARPS];
    const unsigned warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    scan_warp(carry);
    if (lane == WARP - 1) warp_carries[warp] = carry;
    __syncthreads();
    Carry before = {carry.row, {}};
    for (unsigned k = 0; k < warp; ++k) {
        const Carry next = warp_carries[k];
        if (next.row != before.row) before = {next.row, {}};
        add(before.sums, next.sums);
    }
    if (before.row == carry.row) add(carry.sums, before.sums);
    Sums left;
#pragma unroll
    for (unsigned r = 0; r < BLOCK_ROWS; ++r) {
        const value_t neighbour = __shfl_up_sync(ALL_LANES, carry.sums.of[r], 1);
        left.of[r] = lane == 0 ? before.sums.of[r] : neighbour;
    }
    return left;
}

// A tile in a product of odd (1) or even (2) number. Each product replaces all that tiles publish, so a word of the
// other number is of the product before; 0 is a word that nothing was published in.
struct Turn {
    unsigned tile, number;
};

// Thread blocks get tiles in the order in which they start, so none waits for one that cannot start. The counter runs
// through two products. The block that takes the last tile of the second one clears it.
__device__ __forceinline__ Turn take_tile(unsigned *counter) {
    __shared__ unsigned taken;
    if (threadIdx.x == 0) {
        taken = atomicAdd(counter, 1u);
        if (taken == 2 * gridDim.x - 1) atomicExch(counter, 0u);
    }
    __syncthreads();
    return taken < gridDim.x ? Turn{taken, 1} : Turn{taken - gridDim.x, 2};
}

__device__ __forceinline__ void write_carry(value_t *carries, unsigned tile, const Sums &sums) {
#pragma unroll
    for (unsigned r = 0; r < BLOCK_ROWS; ++r) carries[(wide)tile * BLOCK_ROWS + r] = sums.of[r];
}

// What a tile publishes: its sums in halves of 4 bytes, each in one word with a mark: the number of the product and
// whether a row ends in the tile. No fence is needed, because a word is written and read at once.
union Published {
    Sums sums;
    unsigned halves[sizeof(Sums) / 4];
};
constexpr unsigned HALVES = sizeof(Sums) / 4;

__device__ __forceinline__ void publish(wide *words, Turn turn, const Sums &sums, bool a_row_ends) {
    const Published published = {sums};
    const wide mark = (wide)(2 * turn.number + a_row_ends) << 32;
#pragma unroll
    for (unsigned h = 0; h < HALVES; ++h)
        atomicExch(&words[(wide)turn.tile * HALVES + h], mark | published.halves[h]);
}

// Waits for a tile and returns whether a row ends in it. The reads are volatile, so that each iteration reads the word
// again.
__device__ __forceinline__ bool await(const wide *words, Turn turn, Sums &sums) {
    Published published;
    wide word;
#pragma unroll
    for (unsigned h = 0; h < HALVES; ++h) {
        do word = *(const volatile wide *)&words[(wide)turn.tile * HALVES + h];
        while (word >> 33 != turn.number);
        published.halves[h] = (unsigned)word;
    }
    sums = published.sums;
    return word >> 32 & 1;
}

// Adjacent synchronisation: returns in the first lane the sum that the tiles before this one leave for its first row:
// those of the nearest tile in which a row ends and of all tiles after it. A warp reads 32 tiles at a time.
__device__ __forceinline__ Sums look_back(const wide *words, Turn turn) {
    const unsigned lane = threadIdx.x % WARP;
    Sums before = {};
    for (unsigned behind = turn.tile;; behind -= WARP) {
        Sums sums = {};
        const bool a_row_ends =
            lane >= behind || await(words, {behind - 1 - lane, turn.number}, sums);
        const unsigned ends = __ballot_sync(ALL_LANES, a_row_ends);
        const bool used = (ends & ((1u << lane) - 1)) == 0;
#pragma unroll
        for (unsigned r = 0; r < BLOCK_ROWS; ++r)
            before.of[r] += vector_sum<WARP>(ALL_LANES, used ? sums.of[r] : value_t(0));
        if (ends) return before;
    }
}

// `state` is a word with the counter of tiles, followed by their published words, all 0 before the first product. The
// launch bounds leave enough registers for all loads that are in flight.
extern "C" __global__ void __launch_bounds__(BLOCK, 768 / BLOCK)
    bccoo_tiles(unsigned rows, unsigned cols, const unsigned *__restrict__ first_rows,
                const unsigned *__restrict__ ends, const unsigned *__restrict__ columns,
                const Pack *__restrict__ values, const value_t *__restrict__ x, value_t *y,
                value_t alpha, value_t beta, value_t *carries, wide *state) {
    const Turn turn = ADJACENT ? take_tile((unsigned *)state) : Turn{blockIdx.x, 0};
    const unsigned tile = turn.tile;
    const unsigned thread = threadIdx.x;
    const wide chunk = (wide)tile * BLOCK + thread;
    const unsigned first_row = first_rows[chunk];
    const unsigned tile_row = first_rows[(wide)tile * BLOCK];
    const unsigned my_ends = ends[chunk * ITEMS / 32] >> chunk * ITEMS % 32;

    Carry carry = {first_row, {}};
    Sums first = {};
    for (unsigned start = 0; start < ITEMS; start += TOGETHER) {
        const wide item = (wide)tile * ITEMS + start;
        unsigned at[TOGETHER];
        Pack packs[TOGETHER];
        Sums products[TOGETHER];
#pragma unroll
        for (unsigned k = 0; k < TOGETHER; ++k) at[k] = load_once(&columns[(item + k) * BLOCK + thread]);
        load_x(at, cols, x, packs);
#pragma unroll
        for (unsigned k = 0; k < TOGETHER; ++k)
            products[k] = product(values + (item + k) * BLOCK_ROWS * BLOCK + thread, packs[k]);
#pragma unroll
        for (unsigned k = 0; k < TOGETHER; ++k) {
            add(carry.sums, products[k]);
            if (my_ends >> (start + k) & 1) {
                if (carry.row == first_row)
                    first = carry.sums;
                else
                    store_rows(y, rows, carry.row, alpha, carry.sums, beta);
                carry = {carry.row + 1, {}};
            }
        }
    }

    const bool closed = carry.row != first_row;
    add(first, scan_block(carry));
    if (ADJACENT) {
        __shared__ Sums before;
        if (thread / WARP == WARPS - 1) {
            const bool a_row_ends = __shfl_sync(ALL_LANES, carry.row, WARP - 1) != tile_row;
            if (thread == BLOCK - 1) publish(state + 1, turn, carry.sums, a_row_ends);
            // A tile in which no row ends need not know the sum.
            const Sums sums = a_row_ends ? look_back(state + 1, turn) : Sums{};
            if (thread % WARP == 0) before = sums;
        }
        __syncthreads();
        if (first_row == tile_row) add(first, before);
    } else if (thread == BLOCK - 1) {
        write_carry(carries, tile, carry.sums);
    }
    if (closed) store_rows(y, rows, first_row, alpha, first, beta);
}

// Adds the carries to the first rows of the next tiles: one thread per tile except the last.
extern "C" __global__ void __launch_bounds__(SEAMS_BLOCK)
    bccoo_carries(unsigned seams, const unsigned *__restrict__ first_rows,
                  const value_t *__restrict__ carries, value_t *y, value_t alpha) {
    const unsigned tile = blockIdx.x * blockDim.x + threadIdx.x;
    if (tile >= seams) return;
    const unsigned block_row = first_rows[((wide)tile + 1) * BLOCK];
#pragma unroll
    for (unsigned r = 0; r < BLOCK_ROWS; ++r) {
        // A row past the last has no entries, so its sum is 0.
        const value_t sum = carries[(wide)tile * BLOCK_ROWS + r];
        if (sum != 0) atomicAdd(&y[block_row * BLOCK_ROWS + r], alpha * sum);
    }
}

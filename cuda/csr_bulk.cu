// CSR brought to shared memory by bulk copies. A thread block owns SPAN consecutive nonzeros and processes them in
// pieces of PIECE. While it multiplies one piece, the columns and values of the next BUFFERS - 1 are on their way.
//
// A piece ends the rows whose last nonzero is in it, and the empty rows after them. `first_rows` has, for each piece,
// the row of its first nonzero, and at the end the number of rows.
//
// Bulk copies have a multiple of 16 bytes: of UNIT nonzeros. If LONG_ROWS, a warp sums the rows of which a thread would
// add more than LONG products of a piece, after the others.
#include "shared_rows.cuh"

constexpr unsigned PIECE = BLOCK * ITEMS;
constexpr unsigned WARPS = BLOCK / WARP;
// The number of nonzeros that a thread multiplies without waiting in between.
constexpr unsigned TOGETHER = ITEMS < AHEAD ? ITEMS : AHEAD;

// The CSR matrix and x.
struct Operands {
    unsigned rows, nnz, span;
    const unsigned *row_offsets, *column_indices;
    const value_t *values, *x;
};

// Finds the first row of each piece. A block has `pieces` pieces. One thread per piece.
extern "C" __global__ void __launch_bounds__(BLOCK)
    csr_bulk_first_rows(unsigned rows, unsigned nnz, unsigned span, unsigned pieces, unsigned blocks,
                        const unsigned *__restrict__ row_offsets, unsigned *first_rows) {
    const unsigned place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place > blocks * pieces) return;
    const unsigned block = place / pieces;
    const unsigned long long within = min(place % pieces * PIECE, span);
    const unsigned long long start = min(block * (unsigned long long)span + within, 1ull * nnz);
    // The row that ends after `start`; rows before the first nonzero belong to the first piece.
    unsigned low = 0, high = place == 0 ? 0 : rows;
    while (low < high) {
        const unsigned middle = low + (high - low) / 2;
        if (row_offsets[middle + 1] > start) high = middle;
        else low = middle + 1;
    }
    first_rows[place] = low;
}

// The address of shared memory for PTX instructions.
__device__ __forceinline__ unsigned address(const void *pointer) {
    return (unsigned)__cvta_generic_to_shared(pointer);
}

// Initialises a barrier whose phases wait for one arrival and its bytes, and makes it visible to copies.
__device__ __forceinline__ void initialise(unsigned long long *barrier) {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address(barrier)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#else
    __trap();
#endif
}

// Arrives at a barrier whose phase then waits for `bytes` bytes.
__device__ __forceinline__ void expect(unsigned long long *barrier, unsigned bytes) {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(barrier)), "r"(bytes)
                 : "memory");
#endif
}

// Starts a copy whose bytes the barrier counts. The second-level cache evicts the matrix before x, which is used again.
__device__ __forceinline__ void copy(void *to, const void *from, unsigned bytes, unsigned long long *barrier) {
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "{ .reg .b64 policy; createpolicy.fractional.L2::evict_first.b64 policy; cp.async.bulk.shared::cluster.global"
        ".mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], policy; }"
        :
        : "r"(address(to)), "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(address(barrier))
        : "memory");
#endif
}

// Waits until the phase with a parity is complete.
__device__ __forceinline__ void wait(unsigned long long *barrier, unsigned parity) {
#if __CUDA_ARCH__ >= 900
    unsigned complete = 0;
    while (!complete)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(complete)
                     : "r"(address(barrier)), "r"(parity)
                     : "memory");
#endif
}

// The shared memory of a block.
struct Room {
    alignas(16) value_t values[BUFFERS][PIECE];
    alignas(16) unsigned columns[BUFFERS][PIECE];
    // The products of a piece, and those of the next one, which may be written while threads read the former.
    value_t products[2][PIECE];
    // The sum of the open row: of the last piece with row ends, by turns, and of each warp after it.
    value_t carries[2], open[WARPS];
    // The sum of the first row that ends in the block.
    value_t head;
    // The long rows of a piece and their number.
    unsigned long_items[PIECE / LONG], longs;
    unsigned long long barriers[BUFFERS];
};

// Starts the copies of the piece at `start`, up to `end`, without what does not fill a unit. One thread calls it.
__device__ __forceinline__ void fetch(const Operands &a, unsigned start, unsigned end, unsigned buffer, Room &room) {
    const unsigned count = min(PIECE, end - start) / UNIT * UNIT;
    if (count == 0) return;
    expect(&room.barriers[buffer], count * (sizeof(value_t) + sizeof(unsigned)));
    copy(room.columns[buffer], a.column_indices + start, count * sizeof(unsigned), &room.barriers[buffer]);
    copy(room.values[buffer], a.values + start, count * sizeof(value_t), &room.barriers[buffer]);
}

// Multiplies the nonzeros of a piece. Returns the thread's sum, and stores the products if there are row ends.
template <bool FULL>
__device__ __forceinline__ value_t multiply(const Operands &a, unsigned start, unsigned count, const Room &room,
                                            unsigned buffer, value_t *products) {
    value_t sum = 0;
    const unsigned copied = FULL ? PIECE : count / UNIT * UNIT;
#pragma unroll
    for (unsigned first = 0; first < ITEMS; first += TOGETHER) {
        unsigned columns[TOGETHER];
        value_t factors[TOGETHER];
#pragma unroll
        for (unsigned j = 0; j < TOGETHER; ++j) {
            const unsigned k = threadIdx.x + (first + j) * BLOCK;
            if (first + j < ITEMS && (FULL || k < copied)) columns[j] = room.columns[buffer][k];
        }
#pragma unroll
        for (unsigned j = 0; j < TOGETHER; ++j) {
            const unsigned k = threadIdx.x + (first + j) * BLOCK;
            if (first + j < ITEMS && (FULL || k < copied)) factors[j] = a.x[columns[j]];
        }
#pragma unroll
        for (unsigned j = 0; j < TOGETHER; ++j) {
            const unsigned k = threadIdx.x + (first + j) * BLOCK;
            if (first + j >= ITEMS || (!FULL && k >= copied)) continue;
            const value_t product = room.values[buffer][k] * factors[j];
            if (products) products[k] = product;
            else sum += product;
        }
    }
    const unsigned k = copied + threadIdx.x;
    if (FULL || k >= count) return sum;
    const value_t product = a.values[start + k] * a.x[a.column_indices[start + k]];
    if (!products) return sum + product;
    products[k] = product;
    return sum;
}

// Returns in the first of `width` lanes the sum over all of them of the products from k on at a stride of `width`. The
// first product of the piece belongs to the nonzero `start`.
__device__ __forceinline__ value_t row_sum(const value_t *products, unsigned start, unsigned k, unsigned end,
                                           unsigned width) {
    value_t sum = 0;
#pragma unroll 4
    for (; k < end; k += width) sum += products[k - start];
    for (unsigned distance = width / 2; distance > 0; distance /= 2)
        sum += __shfl_down_sync(ALL_LANES, sum, distance);
    return sum;
}

// The bounds of a row.
struct Bounds {
    unsigned from, to;
};

// A piece: its nonzeros from `start` to `stop` - 1, its first row, and its items: the rows that end in it, and the part
// of the row that continues in the next piece. The latter is the only item of a piece without row ends.
struct Piece {
    unsigned start, stop, row, items;
    const value_t *products;
    // Which of the carries is that of the pieces before, and whether pieces without row ends follow it.
    unsigned turn;
    bool has_open;

    // Returns the bounds of an item's row, or no nonzeros if there is none.
    __device__ __forceinline__ Bounds bounds(const Operands &a, unsigned item) const {
        const bool exists = item < items && row + item < a.rows;
        const unsigned *row_offsets = a.row_offsets + row + item;
        return {exists ? row_offsets[0] : 0, exists ? row_offsets[1] : 0};
    }
};

// Where the sums of the rows go that are not shared with blocks before, which start at the nonzero `begin` or later.
struct Output {
    unsigned begin;
    value_t *y, alpha, beta;
};

// Completes the sum of an item.
__device__ __forceinline__ void finish(const Piece &piece, unsigned item, unsigned from, value_t sum, Room &room,
                                       const Output &output) {
    if (item == 0) {
        sum += room.carries[piece.turn];
        for (unsigned k = 0; piece.has_open && k < WARPS; ++k) sum += room.open[k];
    }
    if (item + 1 == piece.items) room.carries[piece.turn ^ 1] = sum;
    else if (from < output.begin) room.head = sum;
    else store(output.y, piece.row + item, output.alpha, sum, output.beta);
}

// Sums the items, each by `width` threads, except long ones. Returns whether the thread has seen a long one. `bounds`
// are those of the thread's first item.
__device__ __forceinline__ bool sum_rows(const Operands &a, const Piece &piece, unsigned width, Bounds bounds,
                                         Room &room, const Output &output) {
    const unsigned lane = threadIdx.x & (width - 1);
    bool has_long = false;
    for (unsigned item = threadIdx.x / width;;) {
        const unsigned last = min(bounds.to, piece.stop), k = max(bounds.from, piece.start);
        const bool is_long = LONG_ROWS && last > k + LONG * width;
        if (is_long && lane == 0) room.long_items[atomicAdd(&room.longs, 1)] = item;
        has_long |= is_long;
        const value_t sum = row_sum(piece.products, piece.start, is_long ? last : k + lane, last, width);
        if (lane == 0 && item < piece.items && !is_long)
            finish(piece, item, bounds.from, sum, room, output);
        item += BLOCK;
        if (item - threadIdx.x / width >= piece.items) return has_long;
        bounds = piece.bounds(a, item);
    }
}

// Sums the long items, each by a warp, if a thread of the block has seen one.
__device__ __forceinline__ void sum_long_rows(const Operands &a, const Piece &piece, bool has_long, Room &room,
                                              const Output &output) {
    if (!__syncthreads_or(has_long)) return;
    for (unsigned place = threadIdx.x / WARP; place < room.longs; place += WARPS) {
        const unsigned item = room.long_items[place], lane = threadIdx.x % WARP;
        const Bounds bounds = piece.bounds(a, item);
        const value_t sum = row_sum(piece.products, piece.start, max(bounds.from, piece.start) + lane,
                                    min(bounds.to, piece.stop), WARP);
        if (lane == 0) finish(piece, item, bounds.from, sum, room, output);
    }
    __syncthreads();
    if (threadIdx.x == 0) room.longs = 0;
}

// Leaves each warp's sum of `open` in room.open.
__device__ __forceinline__ void leave(value_t open, Room &room) {
    open = vector_sum<WARP>(ALL_LANES, open);
    if (threadIdx.x % WARP == 0) room.open[threadIdx.x / WARP] = open;
}

// Adds the block's parts of the rows that it shares, from lanes 0 and 1 of its first warp: the row that ends in the
// block and started before, and the row that is open at its end.
__device__ __forceinline__ void share(const Operands &a, unsigned first_row, unsigned open_row, unsigned end,
                                      unsigned turn, const Room &room, const Shared &shared, const Output &output) {
    const unsigned lane = threadIdx.x, row = lane == 0 ? first_row : open_row;
    unsigned first = 0, last = 0;
    if (lane < 2 && row < a.rows && (lane == 1 || first_row < open_row)) {
        const unsigned from = a.row_offsets[row];
        first = last = from / a.span;
        if (from < (lane == 0 ? output.begin : end)) last = (a.row_offsets[row + 1] - 1) / a.span;
    }
    value_t part = lane == 0 ? room.head : room.carries[turn];
    for (unsigned k = 0; lane == 1 && k < WARPS; ++k) part += room.open[k];
    add_shared_rows(row, first, last, part, shared, output.y, output.alpha, output.beta);
}

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
    csr_bulk(unsigned rows, unsigned nnz, unsigned span, unsigned pieces, const unsigned *__restrict__ first_rows,
             const unsigned *__restrict__ row_offsets, const unsigned *__restrict__ column_indices,
             const value_t *__restrict__ values, const value_t *__restrict__ x, value_t *y, value_t alpha,
             value_t beta, value_t *heads, value_t *tails, unsigned *arrivals) {
    __shared__ Room room;
    const unsigned thread = threadIdx.x;
    const Operands a = {rows, nnz, span, row_offsets, column_indices, values, x};
    const unsigned begin = blockIdx.x * span, end = min(nnz - begin, span) + begin;
    const unsigned used = max((end - begin + PIECE - 1) / PIECE, 1u);
    const Output output = {begin, y, alpha, beta};
    if (thread == 0) {
        for (unsigned k = 0; k < BUFFERS; ++k) initialise(&room.barriers[k]);
        for (unsigned k = 0; k < BUFFERS && k < used; ++k)
            fetch(a, begin + k * PIECE, end, k, room);
        room.carries[0] = room.head = 0;
        room.longs = 0;
    }
    __syncthreads();

    first_rows += blockIdx.x * pieces;
    const unsigned first_row = first_rows[0];
    unsigned row = first_row, next_row = first_rows[1];
    // The thread's part of the row that is open since the last piece with row ends, and whether there is such a part.
    value_t open = 0;
    bool has_open = false;
    unsigned turn = 0;
    for (unsigned number = 0; number < used; ++number) {
        const unsigned buffer = number % BUFFERS, start = begin + number * PIECE;
        const unsigned count = min(PIECE, end - start);
        value_t *products = room.products[number % 2];
        const Piece piece = {start, start + count, row, next_row - row + 1, products, turn, has_open};
        const bool ends_rows = piece.items > 1;
        // The bounds of the thread's first row are loaded with the nonzeros.
        const unsigned width = threads_per_row(BLOCK, piece.items);
        const Bounds bounds = piece.bounds(a, thread / width);
        const unsigned row_after = number + 1 < used ? first_rows[number + 2] : 0;

        if (count >= UNIT) wait(&room.barriers[buffer], number / BUFFERS % 2);
        if (!ends_rows) products = nullptr;
        open += count == PIECE ? multiply<true>(a, start, count, room, buffer, products)
                               : multiply<false>(a, start, count, room, buffer, products);
        if (ends_rows && has_open) leave(open, room);
        __syncthreads();
        if (thread == 0 && number + BUFFERS < used)
            fetch(a, start + BUFFERS * PIECE, end, buffer, room);
        has_open = !ends_rows;
        if (ends_rows) {
            const bool has_long = sum_rows(a, piece, width, bounds, room, output);
            if (LONG_ROWS) sum_long_rows(a, piece, has_long, room, output);
            turn ^= 1;
            open = 0;
        }
        row = next_row;
        next_row = row_after;
    }

    __syncthreads();
    leave(open, room);
    __syncthreads();
    if (thread < WARP)
        share(a, first_row, row, end, turn, room, {heads, tails, arrivals}, output);
}

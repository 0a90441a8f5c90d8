// CSR brought to shared memory by bulk copies. A thread block owns SPAN consecutive nonzeros and processes them in
// pieces of PIECE. While it multiplies one piece, the columns and values of the next BUFFERS - 1 are on their way.
//
// A piece ends the rows whose last nonzero is in it, and the empty rows after them. `first_rows` has, for each piece,
// the row of its first nonzero, and at the end the number of rows.
#include "shared_rows.cuh"

constexpr unsigned PIECE = BLOCK * ITEMS;
constexpr unsigned WARPS = BLOCK / WARP;
// Bulk copies have a multiple of 16 bytes: of 4 nonzeros.
constexpr unsigned UNIT = 4;
// If LONG_ROWS, a warp sums the rows of which a thread would add more products of a piece, after the others.
constexpr unsigned LONG = 16;
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

// Returns the number of threads per row: a power of two, for as many rows as the block has threads.
__device__ __forceinline__ unsigned threads_per_row(unsigned rows) {
    return rows > BLOCK / 2 ? 1 : min(WARP, BLOCK >> (32 - __clz(rows - 1)));
}

// Returns in the first of `width` lanes the sum over all of them of the products from k on at a stride of `width`. The
// first product of the piece belongs to the nonzero `start`.
__device__ __forceinline__ value_t row_sum(const value_t *products, unsigned start, unsigned k, unsigned end,
                                           unsigned width) {
    value_t sum = 0;
    for (; k < end; k += width) sum += products[k - start];
    for (unsigned distance = width / 2; distance > 0; distance /= 2)
        sum += __shfl_down_sync(ALL_LANES, sum, distance);
    return sum;
}

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
    csr_bulk(unsigned rows, unsigned nnz, unsigned span, unsigned pieces, const unsigned *__restrict__ first_rows,
             const unsigned *__restrict__ row_offsets, const unsigned *__restrict__ column_indices,
             const value_t *__restrict__ values, const value_t *__restrict__ x, value_t *y, value_t alpha,
             value_t beta, value_t *heads, value_t *tails, unsigned *arrivals) {
    __shared__ Room room;
    const unsigned thread = threadIdx.x, warp = thread / WARP;
    const Operands a = {rows, nnz, span, row_offsets, column_indices, values, x};
    const unsigned begin = blockIdx.x * span, end = min(nnz - begin, span) + begin;
    const unsigned used = max((end - begin + PIECE - 1) / PIECE, 1u);
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
    for (unsigned piece = 0; piece < used; ++piece) {
        const unsigned buffer = piece % BUFFERS, start = begin + piece * PIECE;
        const unsigned count = min(PIECE, end - start), stop = start + count;
        // The offsets of the first row of the thread are loaded with the nonzeros.
        const unsigned items = next_row - row + 1, width = threads_per_row(items), lane = thread & (width - 1);
        unsigned item = thread / width;
        const bool has_item = items > 1 && item < items && row + item < rows;
        unsigned from = has_item ? row_offsets[row + item] : 0;
        unsigned to = has_item ? row_offsets[row + item + 1] : 0;
        const unsigned row_after = piece + 1 < used ? first_rows[piece + 2] : 0;

        if (count >= UNIT) wait(&room.barriers[buffer], piece / BUFFERS % 2);
        value_t *products = items > 1 ? room.products[piece % 2] : nullptr;
        open += count == PIECE ? multiply<true>(a, start, count, room, buffer, products)
                               : multiply<false>(a, start, count, room, buffer, products);
        if (items > 1 && has_open) {
            open = vector_sum<WARP>(ALL_LANES, open);
            if (thread % WARP == 0) room.open[warp] = open;
        }
        __syncthreads();
        if (thread == 0 && piece + BUFFERS < used)
            fetch(a, start + BUFFERS * PIECE, end, buffer, room);
        if (items == 1) {
            has_open = true;
        } else {
            // Completes the sum of a row, or of the part of the row that continues in the next piece.
            const auto finish = [&](unsigned item, unsigned from, value_t sum) {
                if (item == 0) {
                    sum += room.carries[turn];
                    for (unsigned k = 0; has_open && k < WARPS; ++k) sum += room.open[k];
                }
                if (item + 1 == items) room.carries[turn ^ 1] = sum;
                else if (from < begin) room.head = sum;
                else store(y, row + item, alpha, sum, beta);
            };
            bool has_long = false;
            while (true) {
                const unsigned last = min(to, stop), k = max(from, start);
                const bool is_long = LONG_ROWS && last > k + LONG * width;
                if (is_long && lane == 0) room.long_items[atomicAdd(&room.longs, 1)] = item;
                has_long |= is_long;
                const value_t sum = row_sum(products, start, is_long ? last : k + lane, last, width);
                if (lane == 0 && item < items && !is_long) finish(item, from, sum);
                item += BLOCK;
                if (item - thread / width >= items) break;
                const bool has_item = item < items && row + item < rows;
                from = has_item ? row_offsets[row + item] : 0;
                to = has_item ? row_offsets[row + item + 1] : 0;
            }
            if (LONG_ROWS && __syncthreads_or(has_long)) {
                for (unsigned place = warp; place < room.longs; place += WARPS) {
                    const unsigned item = room.long_items[place], from = row_offsets[row + item];
                    const unsigned last = min(row_offsets[row + item + 1], stop);
                    const value_t sum = row_sum(products, start, max(from, start) + thread % WARP, last, WARP);
                    if (thread % WARP == 0) finish(item, from, sum);
                }
                __syncthreads();
                if (thread == 0) room.longs = 0;
            }
            turn ^= 1;
            open = 0;
            has_open = false;
        }
        row = next_row;
        next_row = row_after;
    }

    open = vector_sum<WARP>(ALL_LANES, open);
    __syncthreads();
    if (thread % WARP == 0) room.open[warp] = open;
    __syncthreads();
    if (thread >= WARP) return;
    // Lane 0 has the row that ends in the block and started before, lane 1 the row that is open at its end.
    const unsigned shared_row = thread == 0 ? first_row : row;
    unsigned first = 0, last = 0;
    if (thread < 2 && shared_row < rows && (thread == 1 || first_row < row)) {
        const unsigned from = row_offsets[shared_row];
        first = from / span;
        last = first;
        if (thread == 0 ? from < begin : from < end) last = (row_offsets[shared_row + 1] - 1) / span;
    }
    value_t part = thread == 0 ? room.head : room.carries[turn];
    for (unsigned k = 0; thread == 1 && k < WARPS; ++k) part += room.open[k];
    add_shared_rows(shared_row, first, last, part, {heads, tails, arrivals}, y, alpha, beta);
}

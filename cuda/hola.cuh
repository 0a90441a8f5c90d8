// Code that HOLA's plain and transposed products share. A block of BLOCK threads owns PER_BLOCK consecutive nonzeros,
// a thread ITEMS of them. Row indices are scattered to the blocks and threads that begin in the row.
#pragma once
#include "common.cuh"
#include "once.cuh"

constexpr unsigned PER_BLOCK = BLOCK * ITEMS;
constexpr unsigned WARPS = BLOCK / WARP;
// Values are loaded in pieces of 16 bytes if shuffles transpose them; this is the number of values in a piece.
constexpr unsigned PIECE = SHUFFLE ? 16 / sizeof(value_t) : 1;
constexpr unsigned PIECES = ITEMS / PIECE;
// The column index of positions beyond the last nonzero.
constexpr unsigned NONE = ~0u;

template <class T>
struct __align__(PIECE * sizeof(T)) Piece {
    T of[PIECE];
};

// Computes y <- beta y without reading the old y if beta = 0, and for each block the row of its first nonzero. The
// element after the last block is the row of the last nonzero. One thread per row and per value of y.
extern "C" __global__ void __launch_bounds__(ASSIGN_BLOCK)
    hola_assign(unsigned rows, unsigned nnz, const unsigned *__restrict__ row_offsets,
                unsigned outputs, value_t *y, value_t beta, unsigned *block_rows) {
    start_dependents();
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < outputs) y[i] = beta == 0 ? 0 : beta * y[i];
    if (i >= rows) return;
    const unsigned start = row_offsets[i], end = row_offsets[i + 1];
    const unsigned first = (start + PER_BLOCK - 1) / PER_BLOCK, after = (end + PER_BLOCK - 1) / PER_BLOCK;
    for (unsigned block = first; block < after; ++block) block_rows[block] = i;
    if (start < end && end == nnz) block_rows[after] = i;
}

// A block's share: the nonzeros from `first` on, and the rows from that of its first nonzero to that of the
// next block's first nonzero.
struct Share {
    unsigned first, count, row, last_row;

    __device__ explicit Share(unsigned nnz)
        : first(blockIdx.x * PER_BLOCK), count(min(nnz - first, PER_BLOCK)) {}

    // Waits for hola_assign, which computes `block_rows` and y <- beta y. The nonzeros may be loaded before.
    __device__ void find_rows(const unsigned *block_rows) {
        block_rows = after_earlier_kernels(block_rows);
        row = block_rows[blockIdx.x];
        last_row = block_rows[blockIdx.x + 1];
    }

    __device__ bool is_one_row() const { return row == last_row; }
    // True if there are too many rows to store one value each, which implies empty rows.
    __device__ bool has_many_rows() const { return last_row - row > PER_BLOCK; }
    // The range of a row's nonzeros in the block, relative to the block's first nonzero.
    __device__ unsigned start_of(unsigned row, const unsigned *row_offsets) const {
        return max(row_offsets[row], first) - first;
    }
    __device__ unsigned end_of(unsigned row, const unsigned *row_offsets) const {
        return min(row_offsets[row + 1] - first, count);
    }
};

// Per thread: the row of its first nonzero (relative to the block's first row) and a bit for each of its nonzeros
// that is the last of a row. Per warp: whether empty rows force it to search for the next row.
struct Assignment {
    unsigned rows[BLOCK], ends[BLOCK], empty[WARPS];
};

// Fills the assignment; the caller must add a barrier. Threads past the block's last nonzero get row 0.
__device__ __forceinline__ void assign_rows(const Share &share, const unsigned *row_offsets,
                                            Assignment &assigned) {
    assigned.rows[threadIdx.x] = assigned.ends[threadIdx.x] = 0;
    if (threadIdx.x < WARPS) assigned.empty[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned row = threadIdx.x; row <= share.last_row - share.row; row += BLOCK) {
        const unsigned start = share.start_of(share.row + row, row_offsets);
        const unsigned end = share.end_of(share.row + row, row_offsets);
        if (start >= end) {
            // The warp before the empty row searches. The last row may have its nonzeros in the next block.
            if (share.row + row < share.last_row)
                assigned.empty[(min(start, share.count) - 1) / (WARP * ITEMS)] = 1;
            continue;
        }
        const unsigned last = (end - 1) / ITEMS;
        for (unsigned thread = (start + ITEMS - 1) / ITEMS; thread <= last; ++thread)
            assigned.rows[thread] = row;
        atomicOr(&assigned.ends[last], 1u << (end - 1) % ITEMS);
    }
}

// Finds the row of each of the thread's nonzeros, relative to the block's first row, by one binary search for all of
// them at once: their loads do not wait for each other. Positions after the last nonzero get any row.
__device__ __forceinline__ void find_every_row(const Share &share, const unsigned *row_offsets,
                                               unsigned (&rows)[ITEMS]) {
    row_offsets += share.row;
    const unsigned last = share.last_row - share.row;
#pragma unroll
    for (unsigned k = 0; k < ITEMS; ++k) rows[k] = 0;
    for (unsigned step = 1u << (31 - __clz(last)); step > 0; step /= 2)
#pragma unroll
        for (unsigned k = 0; k < ITEMS; ++k) {
            const unsigned nonzero = share.first + threadIdx.x * ITEMS + k, row = rows[k] + step;
            if (row <= last && row_offsets[row] <= nonzero) rows[k] = row;
        }
}

// Returns the row after `row` that contains the block's nonzero `k`, which the thread or the next thread owns, relative
// to the block's first row.
__device__ __forceinline__ unsigned look_up(const Share &share, const unsigned *row_offsets,
                                            const Assignment &assigned, unsigned row, unsigned k) {
    const unsigned next = threadIdx.x + 1;
    unsigned low = row + 1;
    unsigned high = next * ITEMS < share.count ? assigned.rows[next] : share.last_row - share.row;
    while (low < high) {
        const unsigned middle = (low + high) / 2;
        if (row_offsets[share.row + middle + 1] > share.first + k)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

// Returns where in the block the thread's k-th nonzero is when it is loaded: pieces are at a stride of one warp.
__device__ __forceinline__ unsigned place_of(unsigned k) {
    return threadIdx.x / WARP * (WARP * ITEMS) + k / PIECE * (WARP * PIECE) +
           threadIdx.x % WARP * PIECE + k % PIECE;
}

// Loads the thread's share of its warp's nonzeros.
template <class T>
__device__ __forceinline__ void load(const T *array, const Share &share, T absent,
                                     T (&items)[ITEMS]) {
    array += share.first;
    if (share.count == PER_BLOCK) {
#pragma unroll
        for (unsigned p = 0; p < PIECES; ++p) {
            const Piece<T> *from = reinterpret_cast<const Piece<T> *>(array + place_of(0)) + p * WARP;
            if (PIECE == 1) {
                items[p] = load_once(&from->of[0]);
                continue;
            }
            const Piece<T> piece = *from;
#pragma unroll
            for (unsigned i = 0; i < PIECE; ++i) items[p * PIECE + i] = piece.of[i];
        }
        return;
    }
#pragma unroll
    for (unsigned k = 0; k < ITEMS; ++k)
        items[k] = place_of(k) < share.count ? load_once(&array[place_of(k)]) : absent;
}

// Rotates the pieces by `by` positions towards the front. Uses conditional moves with constant indices, so
// that the pieces stay in registers.
template <class T>
__device__ __forceinline__ void rotate(T (&items)[ITEMS], unsigned by) {
#pragma unroll
    for (unsigned step = 1; step < PIECES; step *= 2) {
        T moved[ITEMS];
#pragma unroll
        for (unsigned k = 0; k < ITEMS; ++k) moved[k] = items[(k + step * PIECE) % ITEMS];
#pragma unroll
        for (unsigned k = 0; k < ITEMS; ++k) items[k] = by & step ? moved[k] : items[k];
    }
}

// Transposes the warp's registers from pieces at a stride of one warp to consecutive pieces (Algorithm 5 from
// line 11 on). All pieces of thread t come from position t PIECES / 32 of their owners. In round q each thread
// sends one piece to exactly one thread.
template <class T>
__device__ __forceinline__ void transpose(T (&items)[ITEMS]) {
    if (PIECES == 1) return;
    const unsigned lane = threadIdx.x % WARP;
    const unsigned place = lane * PIECES / WARP, section = lane * PIECES % WARP;
    rotate(items, lane % PIECES);
    T moved[ITEMS];
#pragma unroll
    for (unsigned q = 0; q < PIECES; ++q) {
        const unsigned owner = section + (place + PIECES - q) % PIECES;
#pragma unroll
        for (unsigned i = 0; i < PIECE; ++i)
            moved[(PIECES - q) % PIECES * PIECE + i] =
                __shfl_sync(ALL_LANES, items[q * PIECE + i], owner);
    }
    rotate(moved, (PIECES - place) % PIECES);
#pragma unroll
    for (unsigned k = 0; k < ITEMS; ++k) items[k] = moved[k];
}

template <class T>
__device__ __forceinline__ void exchange_if(bool wrong, T &a, T &b) {
    const T first = wrong ? b : a;
    b = wrong ? a : b;
    a = first;
}

// Sorts a thread's keys by Batcher's network and permutes the other arrays in the same way.
template <class... Carried>
__device__ __forceinline__ void sort(unsigned (&keys)[ITEMS], Carried (&...carried)[ITEMS]) {
#pragma unroll
    for (unsigned run = 1; run < ITEMS; run *= 2)
#pragma unroll
        for (unsigned distance = run; distance > 0; distance /= 2)
#pragma unroll
            for (unsigned k = 0; k + distance < ITEMS; ++k) {
                const unsigned other = k + distance;
                const bool pair = k >= distance % run &&
                                  (k - distance % run) / distance % 2 == 0 &&
                                  k / (2 * run) == other / (2 * run);
                if (!pair) continue;
                const bool wrong = keys[k] > keys[other];
                exchange_if(wrong, keys[k], keys[other]);
                (exchange_if(wrong, carried[k], carried[other]), ...);
            }
}

// CSR5: conversion from CSR, tiles, calibration and tail. A tile has WARP lanes with SIGMA consecutive nonzeros
// each; the nonzeros of all lanes for one step are adjacent.
#include "common.cuh"
#include "once.cuh"
#include "row_of.cuh"

constexpr unsigned TILE = WARP * SIGMA;
// The bit in tile_ptr that is set if the rows that start in the tile are not consecutive.
constexpr unsigned DIRTY = 1u << 31;
// The words of a lane's descriptor. The first has FLAGS bit flags below the y_offset, the second the others.
constexpr unsigned WORDS = (SIGMA + FLAGS - 1) / FLAGS;
constexpr unsigned NO_ROW = ~0u;

// Returns the index of the first word of a lane's descriptor; the second is WARP words later.
__device__ unsigned descriptor_at(unsigned tile, unsigned lane) {
    return tile * (WORDS * WARP) + lane;
}

// Sets a bit for each row that starts in a tile, except at the tile's first nonzero.
extern "C" __global__ void __launch_bounds__(SETUP_BLOCK)
    csr5_flags(unsigned rows, unsigned tiles, const unsigned *__restrict__ row_offsets,
               unsigned *descriptors) {
    const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const unsigned offset = row_offsets[row], tile = offset / TILE;
    if (tile >= tiles || offset % TILE == 0) return;
    const unsigned lane = offset % TILE / SIGMA, step = offset % SIGMA;
    const unsigned word = descriptor_at(tile, lane) + step / FLAGS * WARP;
    atomicOr(&descriptors[word], 1u << step % FLAGS);
}

// Flag j of a lane is bit j; y_offset is the number of flags in the tile's lanes before.
struct Descriptor {
    unsigned y_offset, flags;
};

__device__ Descriptor descriptor_of(const unsigned *descriptors, unsigned tile, unsigned lane) {
    const unsigned *words = descriptors + descriptor_at(tile, lane);
    unsigned flags = words[0] % (1u << FLAGS);
    if (WORDS == 2) flags |= words[WARP] << FLAGS;
    return {words[0] >> FLAGS, flags};
}

// Computes the y_offsets, and reserves space for the empty offsets of dirty tiles, in any order. One warp per tile.
// A tile reads the first row of the next one, while the warp of that one may mark it as dirty. Therefore the reads
// are volatile and the mark is set atomically.
extern "C" __global__ void __launch_bounds__(SETUP_BLOCK)
    csr5_offsets(unsigned tiles, const unsigned *__restrict__ row_offsets, unsigned *descriptors,
                 volatile unsigned *tile_ptr, unsigned *empty_starts, unsigned *empty_count) {
    const unsigned tile = (blockIdx.x * blockDim.x + threadIdx.x) / WARP, lane = threadIdx.x % WARP;
    if (tile >= tiles) return;
    const unsigned own = __popc(descriptor_of(descriptors, tile, lane).flags);
    unsigned count = own;
    for (unsigned distance = 1; distance < WARP; distance *= 2) {
        const unsigned before = __shfl_up_sync(ALL_LANES, count, distance);
        if (lane >= distance) count += before;
    }
    descriptors[descriptor_at(tile, lane)] |= count - own << FLAGS;
    if (lane < WARP - 1) return;
    const unsigned row = tile_ptr[tile], more = (tile_ptr[tile + 1] & ~DIRTY) - row;
    if (row_of(tile * TILE + (TILE - 1), row_offsets + row, more) == count) return;
    atomicOr(const_cast<unsigned *>(tile_ptr) + tile, DIRTY);
    empty_starts[tile] = atomicAdd(empty_count, count);
}

// For each flag of a dirty tile, computes the distance from the row after the tile's first row to the flag's row.
extern "C" __global__ void __launch_bounds__(SETUP_BLOCK)
    csr5_empty_offsets(unsigned tiles, const unsigned *__restrict__ row_offsets,
                       const unsigned *__restrict__ descriptors,
                       const unsigned *__restrict__ tile_ptr,
                       const unsigned *__restrict__ empty_starts, unsigned *empty_offsets) {
    const unsigned tile = (blockIdx.x * blockDim.x + threadIdx.x) / WARP, lane = threadIdx.x % WARP;
    if (tile >= tiles || !(tile_ptr[tile] & DIRTY)) return;
    const unsigned base = (tile_ptr[tile] & ~DIRTY) + 1, end = tile_ptr[tile + 1] & ~DIRTY;
    const unsigned first = tile * TILE + lane * SIGMA;
    const Descriptor descriptor = descriptor_of(descriptors, tile, lane);
    unsigned at = empty_starts[tile] + descriptor.y_offset;
    for (unsigned flags = descriptor.flags; flags != 0; flags &= flags - 1) {
        const unsigned nonzero = first + __ffs(flags) - 1;
        empty_offsets[at++] = row_of(nonzero, row_offsets + base, end - base);
    }
}

// An odd stride, so that reading a column of `staged` causes no bank conflicts.
constexpr unsigned PITCH = SIGMA | 1;

template <class V>
__device__ __forceinline__ void transpose(const V *from, V *to, V *staged) {
    for (unsigned k = threadIdx.x; k < TILE; k += blockDim.x)
        staged[k / SIGMA * PITCH + k % SIGMA] = from[k];
    __syncthreads();
    for (unsigned k = threadIdx.x; k < TILE; k += blockDim.x)
        to[k] = staged[k % WARP * PITCH + k / WARP];
}

// Copies columns and values to the order of the product: unchanged in tiles within one row, transposed in
// others. One thread block per tile.
extern "C" __global__ void __launch_bounds__(SETUP_BLOCK)
    csr5_transpose(const unsigned *__restrict__ tile_ptr, const unsigned *__restrict__ csr_columns,
                   const value_t *__restrict__ csr_values, unsigned *columns, value_t *values) {
    __shared__ unsigned staged_columns[WARP * PITCH];
    __shared__ value_t staged_values[WARP * PITCH];
    const unsigned start = blockIdx.x * TILE;
    if (tile_ptr[blockIdx.x] == (tile_ptr[blockIdx.x + 1] & ~DIRTY)) {
        for (unsigned k = start + threadIdx.x; k < start + TILE; k += blockDim.x) {
            columns[k] = csr_columns[k];
            values[k] = csr_values[k];
        }
        return;
    }
    transpose(csr_columns + start, columns + start, staged_columns);
    transpose(csr_values + start, values + start, staged_values);
}

// The number of a lane's nonzeros that are loaded at a time: enough to hide the latency, few enough for registers.
constexpr unsigned STEPS = SIGMA < 8 ? SIGMA : 8;

struct Batch {
    value_t values[STEPS], factors[STEPS];

    __device__ __forceinline__ value_t product(unsigned step) const {
        return values[step % STEPS] * factors[step % STEPS];
    }
};

// If CACHED, x of the most frequent columns is in shared memory. A column with this bit is a place there.
constexpr unsigned CACHED_COLUMN = 1u << CACHED_BIT;
extern __shared__ value_t cached_x[];

// The columns and values of a lane's nonzeros, and x.
struct Nonzeros {
    const unsigned *columns;
    const value_t *values, *x;

    __device__ __forceinline__ value_t x_of(unsigned column) const {
        if (CACHED && column & CACHED_COLUMN) return cached_x[column & ~CACHED_COLUMN];
        return x[column];
    }

    // Loads the batch that starts at step `begin`.
    __device__ __forceinline__ Batch from(unsigned begin) const {
        Batch batch;
#pragma unroll
        for (unsigned step = begin; step < begin + STEPS && step < SIGMA; ++step) {
            batch.values[step - begin] = load_once(&values[step * WARP]);
            batch.factors[step - begin] = x_of(load_once(&columns[step * WARP]));
        }
        return batch;
    }
};

// Returns the sum of the products of a tile within one row.
__device__ __forceinline__ value_t fast_track(Batch batch, const Nonzeros &nonzeros) {
    value_t sum = 0;
#pragma unroll
    for (unsigned step = 0; step < SIGMA; ++step) {
        if (step > 0 && step % STEPS == 0) batch = nonzeros.from(step);
        sum += batch.product(step);
    }
    return vector_sum<WARP>(ALL_LANES, sum);
}

// The rows that start in a tile, and how to write their sums.
struct Rows {
    value_t *y;
    // The row after the tile's first row.
    unsigned base;
    // The rows' distances from `base`, or null if they are consecutive.
    const unsigned *offsets;
    value_t alpha, beta;

    // Writes the sum of the row that starts at a flag, or adds it if other tiles share the row.
    __device__ __forceinline__ void put(unsigned flag, value_t sum, bool shared = false) const {
        const unsigned row = base + (offsets ? offsets[flag] : flag);
        if (shared)
            atomicAdd(&y[row], alpha * sum);
        else
            store(y, row, alpha, sum, beta);
    }
};

// A lane's flags divide its nonzeros into segments. The first belongs to a row that started in an earlier lane,
// the middle ones are whole rows, and the last may continue in the following lanes.
struct Ends {
    value_t first, last;
};

// Sums the segments and writes the middle ones, starting at `flag`, which becomes the flag of the last segment.
__device__ __forceinline__ Ends lane_sums(Batch batch, const Nonzeros &nonzeros, unsigned flags,
                                          unsigned &flag, const Rows &rows) {
    const unsigned inner = flags & (flags - 1);
    value_t first = 0, sum = 0;
#pragma unroll
    for (unsigned step = 0; step < SIGMA; ++step) {
        if (step > 0 && step % STEPS == 0) batch = nonzeros.from(step);
        if (inner >> step & 1) rows.put(flag++, sum);
        if ((flags & ~inner) >> step & 1) first = sum;
        if (flags >> step & 1) sum = 0;
        sum += batch.product(step);
    }
    return {flags != 0 ? first : sum, sum};
}

// Returns the following lanes' part of a lane's last segment by a segmented scan: their first segments, up to
// and including that of the first lane with a flag. `ends` has a bit for each following lane with a flag.
__device__ __forceinline__ value_t following(unsigned ends, value_t first) {
    const unsigned lane = threadIdx.x % WARP;
    const unsigned reach = ends != 0 ? __ffs(ends) : WARP - 1 - lane;
    const value_t next = __shfl_down_sync(ALL_LANES, first, 1);
    value_t sum = reach > 0 ? next : 0;
    for (unsigned distance = 1; distance < WARP; distance *= 2) {
        const value_t other = __shfl_down_sync(ALL_LANES, sum, distance);
        if (distance < reach) sum += other;
    }
    return sum;
}

// Adds the lanes' sums to their rows, which ascend, by one atomic addition per row and warp.
__device__ __forceinline__ void add_runs(unsigned row, value_t sum, value_t *y, value_t alpha) {
    const unsigned tails = run_tails(row);
    sum = run_sums(tails, sum);
    const bool last_of_run = tails >> threadIdx.x % WARP & 1;
    if (last_of_run && row != NO_ROW) atomicAdd(&y[row], alpha * sum);
}

// The nonzeros after the last tile, in the order of CSR.
struct Tail {
    unsigned count;
    const unsigned *rows;
    Nonzeros nonzeros;

    // Adds the products of a warp's nonzeros, one per lane.
    __device__ __forceinline__ void add(unsigned warp, value_t *y, value_t alpha) const {
        const unsigned k = warp * WARP + threadIdx.x % WARP;
        unsigned row = NO_ROW;
        value_t sum = 0;
        if (k < count) {
            row = rows[k];
            sum = nonzeros.values[k] * nonzeros.x[nonzeros.columns[k]];
        }
        add_runs(row, sum, y, alpha);
    }
};

// The arrays of the tiles, the nonzeros after them, and the vectors.
struct Arrays {
    unsigned tiles;
    const unsigned *tile_ptr, *descriptors, *empty_starts, *empty_offsets, *columns;
    const value_t *values, *x;
    value_t *y, alpha, beta;
    Tail tail;
};

// Multiplies a tile, or 32 nonzeros of the tail, by one warp. The rows of a tile's first and last nonzero, which other
// tiles may share, and those of the tail already contain beta y; their sums are added. The others are stored.
__device__ __forceinline__ void multiply(unsigned tile, const Arrays &arrays) {
    const unsigned lane = threadIdx.x % WARP, start = tile * TILE + lane;
    if (tile >= arrays.tiles) {
        value_t *y = after_earlier_kernels(arrays.y);
        return arrays.tail.add(tile - arrays.tiles, y, arrays.alpha);
    }
    const Nonzeros nonzeros = {arrays.columns + start, arrays.values + start, arrays.x};
    const unsigned row = arrays.tile_ptr[tile], next_row = arrays.tile_ptr[tile + 1] & ~DIRTY;
    // The loads start before the rows are known.
    const Batch batch = nonzeros.from(0);
    value_t *y = after_earlier_kernels(arrays.y), sum;
    if (row == next_row) {
        sum = fast_track(batch, nonzeros);
    } else {
        const Descriptor descriptor = descriptor_of(arrays.descriptors, tile, lane);
        const unsigned *offsets =
            row & DIRTY ? arrays.empty_offsets + arrays.empty_starts[tile] : nullptr;
        const Rows rows = {y, (row & ~DIRTY) + 1, offsets, arrays.alpha, arrays.beta};
        const unsigned flagged = __ballot_sync(ALL_LANES, descriptor.flags != 0);
        const bool mine = flagged >> lane & 1;
        unsigned flag = descriptor.y_offset;
        const Ends ends = lane_sums(batch, nonzeros, descriptor.flags, flag, rows);
        const value_t rest = following(flagged >> lane >> 1, ends.first);
        // The tile's last row may continue in the next tile.
        if (mine) rows.put(flag, ends.last + rest, flagged >> lane == 1);
        sum = mine ? ends.first : ends.first + rest;
    }
    if (lane == 0) atomicAdd(&y[row & ~DIRTY], arrays.alpha * sum);
}

// One warp per tile, then one per 32 nonzeros of the tail. If CACHED, the warps of a block take tiles in turn, after
// they have copied the x of the `cached` most frequent columns. The launch bounds leave enough registers for a batch of
// loads.
extern "C" __global__ void __launch_bounds__(BLOCK, 1024 / BLOCK)
    csr5(unsigned tiles, const unsigned *__restrict__ tile_ptr,
         const unsigned *__restrict__ descriptors, const unsigned *__restrict__ empty_starts,
         const unsigned *__restrict__ empty_offsets, const unsigned *__restrict__ columns,
         const value_t *__restrict__ values, const value_t *__restrict__ x, value_t *y,
         value_t alpha, value_t beta, unsigned tail, const unsigned *__restrict__ tail_rows,
         const unsigned *__restrict__ csr_columns, const value_t *__restrict__ csr_values,
         unsigned cached, const value_t *__restrict__ frequent_x) {
    const unsigned tail_start = tiles * TILE, warps = gridDim.x * (BLOCK / WARP);
    const Nonzeros last = {csr_columns + tail_start, csr_values + tail_start, x};
    const Arrays arrays = {tiles,  tile_ptr, descriptors, empty_starts, empty_offsets, columns,
                           values, x,        y,           alpha,        beta, {tail, tail_rows, last}};
    unsigned tile = blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP;
    if (!CACHED) return multiply(tile, arrays);
    frequent_x = after_earlier_kernels(frequent_x);
    for (unsigned k = threadIdx.x; k < cached; k += BLOCK) cached_x[k] = frequent_x[k];
    __syncthreads();
    for (; tile < tiles + (tail + WARP - 1) / WARP; tile += warps) multiply(tile, arrays);
}

// Conversion from CSR to DASP. The head comment of crates/methods/src/gpu/dasp.rs describes the format.
#include "convert.cuh"
#include "dasp.cuh"

// The places of a block of medium rows that must be full, as published, the most blocks of a group that shares a warp,
// and the blocks of a long row that a warp sums.
constexpr unsigned FULL = 24, WIDE = 4, CHUNK = 8;
// The number of keys by which rows are sorted, from long rows, of more than LONGEST entries, to empty ones.
constexpr unsigned KEYS = LONGEST + 2;

__device__ __forceinline__ unsigned length_of(unsigned row, const unsigned *row_offsets) {
    return row_offsets[row + 1] - row_offsets[row];
}

__device__ __forceinline__ unsigned key_of(unsigned row, const unsigned *row_offsets) {
    return LONGEST + 1 - min(length_of(row, row_offsets), LONGEST + 1);
}

// Counts the rows of a block of threads with each key. The counts of all blocks for a key follow each other.
extern "C" __global__ void __launch_bounds__(THREADS)
    count_keys(unsigned rows, const unsigned *__restrict__ row_offsets, unsigned *to) {
    __shared__ unsigned counts[KEYS];
    for (unsigned key = threadIdx.x; key < KEYS; key += THREADS) counts[key] = 0;
    __syncthreads();
    if (thread() < rows) atomicAdd(&counts[key_of(thread(), row_offsets)], 1u);
    __syncthreads();
    for (unsigned key = threadIdx.x; key < KEYS; key += THREADS)
        to[key * gridDim.x + blockIdx.x] = counts[key];
}

// Sorts the rows by their keys. Rows with the same key stay in order: a thread counts those before its own in its block
// of threads.
extern "C" __global__ void __launch_bounds__(THREADS)
    sort_rows(unsigned rows, const unsigned *__restrict__ row_offsets,
              const unsigned *__restrict__ starts, unsigned *order) {
    __shared__ unsigned keys[THREADS];
    const unsigned row = thread(), key = row < rows ? key_of(row, row_offsets) : KEYS;
    keys[threadIdx.x] = key;
    __syncthreads();
    if (row >= rows) return;
    unsigned place = starts[key * gridDim.x + blockIdx.x];
    for (unsigned other = 0; other < threadIdx.x; ++other) place += keys[other] == key;
    order[place] = row;
}

// Returns how many of these entries a group has in the block of its entries from `start` on.
__device__ __forceinline__ unsigned filled(const unsigned (&lengths)[ROWS], unsigned start) {
    unsigned count = 0;
#pragma unroll
    for (unsigned slot = 0; slot < ROWS; ++slot)
        count += min(max(lengths[slot], start) - start, WIDTH);
    return count;
}

// Returns the blocks of a group of medium rows, as long as they are full enough, and its irregular entries.
__device__ __forceinline__ uint2 measure(unsigned group, const Classes &classes,
                                         const unsigned *row_offsets, const unsigned *order,
                                         unsigned *pieces) {
    unsigned lengths[ROWS], regular = 0, rest = 0;
    const unsigned first = group * ROWS, rows = max(classes.medium, first) - first;
#pragma unroll
    for (unsigned slot = 0; slot < ROWS; ++slot) {
        const unsigned place = classes.long_rows + first + slot;
        lengths[slot] = slot < rows ? length_of(order[place], row_offsets) : 0;
    }
    while (filled(lengths, regular) >= FULL) regular += WIDTH;
#pragma unroll
    for (unsigned slot = 0; slot < ROWS; ++slot) {
        const unsigned irregular = max(lengths[slot], regular) - regular;
        if (slot < rows) pieces[first + slot] = rest << 16 | irregular;
        rest += irregular;
    }
    return {regular / WIDTH, rest};
}

// Computes the blocks of each long row and then of each group, the chunks of each long row, and the irregular entries
// of each group; counts the wide groups. After the last long row there are no more chunks.
extern "C" __global__ void __launch_bounds__(THREADS)
    count_blocks(unsigned long_rows, unsigned medium, const unsigned *__restrict__ row_offsets,
                 const unsigned *__restrict__ order, unsigned *blocks, unsigned *chunks,
                 unsigned *rest, unsigned *pieces, unsigned *wide) {
    const Classes classes = {long_rows, medium};
    const unsigned k = thread();
    if (k < long_rows) {
        const unsigned count = (length_of(order[k], row_offsets) + PLACES - 1) / PLACES;
        blocks[k] = count;
        chunks[k] = (count + CHUNK - 1) / CHUNK;
        return;
    }
    if (k == long_rows) chunks[k] = 0;
    // As many groups without rows follow the last one as a warp has at most.
    const unsigned group = k - long_rows;
    if (group >= classes.groups() + MOST_GROUPS) return;
    const uint2 counts = measure(group, classes, row_offsets, order, pieces);
    blocks[k] = counts.x;
    rest[group] = counts.y;
    if (counts.x > WIDE) atomicAdd(wide, 1u);
}

// Computes the first block of each chunk, and the end.
extern "C" __global__ void __launch_bounds__(THREADS)
    chunk_starts(unsigned count, unsigned long_rows, const unsigned *__restrict__ blocks,
                 const unsigned *__restrict__ first_chunks, unsigned *to) {
    const unsigned k = thread();
    if (k >= count) return;
    const unsigned row = row_of(k, first_chunks, long_rows);
    to[k] = blocks[row] + CHUNK * (k - first_chunks[row]);
}

// The place of a row in the order, or NO_ENTRY, and the number of an entry of the row, which may be after the last one.
struct Entry {
    unsigned row, number;
};

// Returns the entry in a place of the blocks of a long row or of a group, `owner`.
__device__ __forceinline__ Entry in_block(unsigned place, unsigned owner, const Classes &classes,
                                          const unsigned *blocks) {
    const unsigned before = place / PLACES - blocks[owner], inside = place % PLACES;
    if (owner < classes.long_rows) return {owner, before * PLACES + inside};
    const unsigned row = (owner - classes.long_rows) * ROWS + inside / WIDTH;
    return {row < classes.medium ? classes.long_rows + row : NO_ENTRY,
            before * WIDTH + inside % WIDTH};
}

// Returns the entry in a place after those blocks: of paired rows, and then of a single row.
__device__ __forceinline__ Entry in_pair(unsigned place, const Classes &classes) {
    const unsigned unit = place / (2 * PLACES), units = classes.uneven() + classes.even();
    if (unit >= units) return {classes.first_single() + (place - units * 2 * PLACES), 0};
    const unsigned column = place % WIDTH, split = unit < classes.uneven() ? 1 : 2;
    const unsigned slot = place / WIDTH % ROWS, block = place / PLACES % 2;
    const bool second = column >= split;
    return {classes.paired(unit, (2 * block + second) * ROWS + slot),
            second ? column - split : column};
}

// Fills all places but those of irregular entries. One thread per place.
extern "C" __global__ void __launch_bounds__(THREADS)
    fill_blocks(unsigned places, unsigned first_pair, unsigned long_rows, unsigned medium,
                unsigned threes, unsigned twos, const unsigned *__restrict__ blocks,
                const unsigned *__restrict__ order, const unsigned *__restrict__ row_offsets,
                const unsigned *__restrict__ csr_columns, const value_t *__restrict__ csr_values,
                unsigned *columns, value_t *values) {
    const Classes classes = {long_rows, medium, threes, twos};
    const unsigned place = thread(), before = first_pair * PLACES;
    __shared__ unsigned ends[2];
    const unsigned owner =
        row_of_ascending(place / PLACES, blocks, long_rows + classes.groups(), ends);
    if (place >= places) return;
    const Entry entry = place < before ? in_block(place, owner, classes, blocks)
                                       : in_pair(place - before, classes);
    unsigned from = 0, end = 0;
    if (entry.row != NO_ENTRY) {
        const unsigned row = order[entry.row];
        from = row_offsets[row] + entry.number;
        end = row_offsets[row + 1];
    }
    columns[place] = from < end ? csr_columns[from] : NO_ENTRY;
    values[place] = from < end ? csr_values[from] : value_t(0);
}

// Copies the irregular entries. One thread per medium row.
extern "C" __global__ void __launch_bounds__(THREADS)
    fill_irregular(unsigned long_rows, unsigned medium, const unsigned *__restrict__ order,
                   const unsigned *__restrict__ rest, const unsigned *__restrict__ pieces,
                   const unsigned *__restrict__ row_offsets,
                   const unsigned *__restrict__ csr_columns,
                   const value_t *__restrict__ csr_values, unsigned *columns, value_t *values) {
    const unsigned k = thread();
    if (k >= medium) return;
    const unsigned piece = pieces[k], end = row_offsets[order[long_rows + k] + 1];
    unsigned to = rest[k / ROWS] + (piece >> 16);
    for (unsigned from = end - (piece & 0xffff); from < end; ++from, ++to) {
        columns[to] = csr_columns[from];
        values[to] = csr_values[from];
    }
}

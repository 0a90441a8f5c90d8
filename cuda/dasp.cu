// DASP: the tensor cores sum rows whose entries lie in blocks of 8 x 4. The head comment of
// crates/methods/src/gpu/dasp.rs describes the format. A warp owns a chunk of a long row, GROUPS groups of 8 medium
// rows, 32 rows of one or two blocks of paired rows, or 32 rows with at most one entry.
#include "dasp.cuh"
#include "once.cuh"

// The blocks whose entries a warp loads together: of a long row or a wide group, and of several groups.
constexpr unsigned MOST = 8, FEW = 4;

// Adds the product of a block and its part of x. Lane l has the entry l % 4 of row l / 4, and the x of this entry. The
// instruction computes C <- A B + C with 8 rows and 8 columns; lane l has row l / 4 of C and its columns 2 (l % 4) and
// 2 (l % 4) + 1. As column r of B has the x of row r, only the diagonal of C is of use.
__device__ __forceinline__ void multiply(double (&sums)[2], double value, double factor) {
#if __CUDA_ARCH__ >= 800
    asm volatile(
        "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(sums[0]), "+d"(sums[1])
        : "d"(value), "d"(factor));
#else
    __trap();
#endif
}

// The lane's element of row lane / 4 that is on the diagonal if lane % 4 = lane / 8.
__device__ __forceinline__ double diagonal(const double (&sums)[2], unsigned lane) {
    return lane / WIDTH % 2 ? sums[1] : sums[0];
}

// Returns in lane 8 s + r the sum of row r of stream s.
template <unsigned STREAMS>
__device__ __forceinline__ value_t row_sum(const double (&sums)[STREAMS][2], unsigned lane) {
    const unsigned row = lane % ROWS;
    value_t sum = 0;
#pragma unroll
    for (unsigned s = 0; s < STREAMS; ++s) {
        const value_t held = diagonal(sums[s], lane);
        const value_t found = __shfl_sync(ALL_LANES, held, WIDTH * row + row / 2);
        if (lane / ROWS == s) sum = found;
    }
    return sum;
}

// The arrays of the blocks, of the groups and medium rows, and of their irregular entries, and the vectors.
struct Arrays {
    const unsigned *columns;
    const value_t *values;
    const unsigned *blocks, *rest, *pieces, *order, *rest_columns;
    const value_t *rest_values, *x;
    value_t *y, alpha, beta;
};

// Adds the blocks of several streams: those from starts[s] on before ends[s]. The first stream is the longest.
template <unsigned STREAMS, unsigned TOGETHER>
__device__ __forceinline__ void add_blocks(double (&sums)[STREAMS][2],
                                           const unsigned (&starts)[STREAMS],
                                           const unsigned (&ends)[STREAMS], unsigned lane,
                                           const Arrays &arrays) {
    constexpr unsigned DEPTH = TOGETHER / STREAMS;
    for (unsigned k = 0; k < ends[0] - starts[0]; k += DEPTH) {
        unsigned columns[STREAMS][DEPTH];
        value_t entries[STREAMS][DEPTH], factors[STREAMS][DEPTH];
#pragma unroll
        for (unsigned i = 0; i < TOGETHER; ++i) {
            const unsigned s = i % STREAMS, j = i / STREAMS, block = starts[s] + k + j;
            const unsigned long long place = (unsigned long long)block * WARP + lane;
            columns[s][j] = block < ends[s] ? load_once(&arrays.columns[place]) : NO_ENTRY;
            entries[s][j] = block < ends[s] ? load_once(&arrays.values[place]) : value_t(0);
        }
#pragma unroll
        for (unsigned i = 0; i < TOGETHER; ++i) {
            const unsigned column = columns[i % STREAMS][i / STREAMS];
            factors[i % STREAMS][i / STREAMS] = column == NO_ENTRY ? value_t(0) : arrays.x[column];
        }
#pragma unroll
        for (unsigned i = 0; i < TOGETHER; ++i)
            multiply(sums[i % STREAMS], entries[i % STREAMS][i / STREAMS],
                     factors[i % STREAMS][i / STREAMS]);
    }
}

// Returns the sum of a chunk in the first lane.
__device__ __forceinline__ value_t chunk_sum(unsigned start, unsigned end, unsigned lane,
                                             const Arrays &arrays) {
    double sums[1][2] = {};
    add_blocks<1, MOST>(sums, {start}, {end}, lane, arrays);
    const double part = lane % WIDTH == lane / ROWS ? diagonal(sums[0], lane) : 0;
    return vector_sum<WARP>(ALL_LANES, part);
}

// Returns the sum of row `lane` of a unit of two blocks, whose rows have the entries of one row before `split` and of
// another behind: first the 8 first parts of a block, then its 8 second parts.
__device__ __forceinline__ value_t paired_sum(unsigned block, unsigned split, unsigned lane,
                                              const Arrays &arrays) {
    double sums[4][2] = {};
#pragma unroll
    for (unsigned k = 0; k < 2; ++k) {
        const unsigned long long place = (unsigned long long)(block + k) * WARP + lane;
        const unsigned column = arrays.columns[place];
        const value_t value = arrays.values[place];
        const value_t factor = column == NO_ENTRY ? value_t(0) : arrays.x[column];
        const bool first = lane % WIDTH < split;
        multiply(sums[2 * k], first ? value : value_t(0), first ? factor : value_t(0));
        multiply(sums[2 * k + 1], first ? value_t(0) : value, first ? value_t(0) : factor);
    }
    return row_sum<4>(sums, lane);
}

// Stores the medium rows of several groups, from `group` on, a row per thread.
template <unsigned STREAMS, unsigned TOGETHER>
__device__ __forceinline__ void medium_rows(unsigned group, unsigned medium, unsigned lane,
                                            const Arrays &arrays) {
    const unsigned place = group * ROWS + lane;
    const bool owns = lane < STREAMS * ROWS && place < medium;
    const unsigned row = owns ? arrays.order[place] : 0;
    const unsigned *blocks = arrays.blocks + group, *rest = arrays.rest + group;
    unsigned first[STREAMS], end[STREAMS];
#pragma unroll
    for (unsigned s = 0; s < STREAMS; ++s) {
        first[s] = blocks[s];
        end[s] = blocks[s + 1];
    }
    const bool has_rest = rest[0] < rest[STREAMS];
    double sums[STREAMS][2] = {};
    add_blocks<STREAMS, TOGETHER>(sums, first, end, lane, arrays);
    value_t sum = row_sum<STREAMS>(sums, lane);
    if (!owns) return;
    if (has_rest) {
        const unsigned piece = arrays.pieces[place], start = rest[lane / ROWS] + (piece >> 16);
        sum += strided_product<1>(start, start + (piece & 0xffff), arrays.rest_columns,
                                  arrays.rest_values, arrays.x);
    }
    store(arrays.y, row, arrays.alpha, sum, arrays.beta);
}

// `blocks` has the first block of each long row and then of each group, `rest` the first irregular entry of each group.
// `pieces` has the place of a medium row's irregular entries behind the group's first one in its upper half, and their
// number in its lower half. Each of the first `wide` groups has a warp. The short rows have one entry, but no partner,
// or none.
extern "C" __global__ void __launch_bounds__(BLOCK)
    dasp(unsigned chunks, unsigned wide, unsigned first_pair, unsigned long_rows, unsigned medium,
         unsigned threes, unsigned twos, unsigned singles, unsigned short_rows,
         const unsigned *__restrict__ chunk_starts, const unsigned *__restrict__ blocks,
         const unsigned *__restrict__ rest, const unsigned *__restrict__ pieces,
         const unsigned *__restrict__ order, const unsigned *__restrict__ columns,
         const value_t *__restrict__ values, const unsigned *__restrict__ rest_columns,
         const value_t *__restrict__ rest_values, const value_t *__restrict__ x, value_t *y,
         value_t *__restrict__ partials, value_t alpha, value_t beta) {
    const unsigned lane = threadIdx.x % WARP;
    const Classes classes = {long_rows, medium, threes, twos};
    const unsigned *group_blocks = blocks + long_rows, *group_rows = order + long_rows;
    const Arrays arrays = {columns,      values,      group_blocks, rest, pieces, group_rows,
                           rest_columns, rest_values, x,            y,    alpha,  beta};
    unsigned unit = blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP;
    if (unit < chunks) {
        const value_t sum = chunk_sum(chunk_starts[unit], chunk_starts[unit + 1], lane, arrays);
        if (lane == 0) partials[unit] = sum;
        return;
    }
    unit -= chunks;
    if (unit < wide) return medium_rows<1, MOST>(unit, medium, lane, arrays);
    unit -= wide;
    const unsigned bundles = (medium - min(medium, wide * ROWS) + GROUPS * ROWS - 1) / (GROUPS * ROWS);
    if (unit < bundles) return medium_rows<GROUPS, FEW>(wide + unit * GROUPS, medium, lane, arrays);
    unit -= bundles;
    const unsigned pairs = classes.uneven() + classes.even();
    if (unit < pairs) {
        const unsigned place = classes.paired(unit, lane);
        const unsigned row = place == NO_ENTRY ? NO_ENTRY : order[place];
        const value_t sum =
            paired_sum(first_pair + 2 * unit, unit < classes.uneven() ? 1 : 2, lane, arrays);
        if (row != NO_ENTRY) store(y, row, alpha, sum, beta);
        return;
    }
    const unsigned place = (unit - pairs) * WARP + lane;
    if (place >= short_rows) return;
    const unsigned long long entry = (first_pair + 2ull * pairs) * WARP + place;
    const value_t sum = place < singles ? values[entry] * x[columns[entry]] : value_t(0);
    store(y, order[classes.first_single() + place], alpha, sum, beta);
}

// Sums the chunks of a long row. One warp per row.
extern "C" __global__ void __launch_bounds__(BLOCK)
    dasp_long(unsigned rows, const unsigned *__restrict__ order,
              const unsigned *__restrict__ first_chunks, const value_t *__restrict__ partials,
              value_t *y, value_t alpha, value_t beta) {
    const unsigned lane = threadIdx.x % WARP;
    const unsigned row = blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP;
    partials = after_earlier_kernels(partials);
    if (row >= rows) return;
    value_t sum = 0;
    for (unsigned k = first_chunks[row] + lane; k < first_chunks[row + 1]; k += WARP)
        sum += partials[k];
    sum = vector_sum<WARP>(ALL_LANES, sum);
    if (lane == 0) store(y, order[row], alpha, sum, beta);
}

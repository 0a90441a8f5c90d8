// CSR with logarithmic radix binning: rows of similar length make a bin. A thread block processes some rows of a bin,
// one of them, or a part of one. BLOCK is the number of threads per block. A thread loads DEPTH nonzeros at
// a time.
#include "long_rows.cuh"

typedef unsigned long long wide;

// What a thread block processes: the rows at the places `first` to `end` - 1 of the order of rows, with the same number
// of threads each. If they are neighbours, `part` is the first of them, so that the order need not be loaded; otherwise
// it is NO_ENTRY. Of a row that has the threads of a block or several, it is the number of the part.
struct alignas(16) Piece {
    unsigned first, end, threads, part;
};

// Processes a row with each vector of WIDTH threads.
template <unsigned WIDTH>
__device__ __forceinline__ void short_rows(const Operands &from, const Piece &piece, const unsigned *order, value_t *y,
                                           value_t alpha, value_t beta) {
    const unsigned lane = threadIdx.x % WIDTH;
    const unsigned vector = threadIdx.x / WIDTH, place = piece.first + vector;
    const bool owns = place < piece.end;
    unsigned row = piece.part + vector;
    if (piece.part == NO_ENTRY) row = owns ? order[place] : 0;
    const unsigned start = owns ? from.row_offsets[row] : 0;
    const unsigned end = owns ? from.row_offsets[row + 1] : 0;
    value_t sum =
        lane_product<WIDTH, DEPTH>(start, end, lane, from.column_indices, from.values, from.x);
    sum = vector_sum<WIDTH>(ALL_LANES, sum);
    if (lane == 0 && owns) store(y, row, alpha, sum, beta);
}

// Processes a row, or an equal part of it, with the whole block.
__device__ __forceinline__ void long_row(const Operands &from, const Piece &piece, const unsigned *order, value_t *y,
                                         value_t alpha, value_t beta, value_t *parts,
                                         unsigned *arrivals) {
    __shared__ value_t warp_sums[BLOCK / WARP];
    const unsigned blocks = piece.threads / BLOCK, shift = __ffs(blocks) - 1, part = piece.part;
    const unsigned row = order[piece.first];
    const unsigned start = from.row_offsets[row];
    const wide length = from.row_offsets[row + 1] - start;
    const value_t sum =
        block_product<2>(from, start + (unsigned)(length * part >> shift),
                         start + (unsigned)(length * (part + 1) >> shift), warp_sums);
    if (blocks > 1)
        store_divided(row, blockIdx.x - part, blocks, sum, parts, arrivals, y, alpha, beta,
                      warp_sums);
    else if (threadIdx.x == 0)
        store(y, row, alpha, sum, beta);
}

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
    csr_lrb(const Piece *__restrict__ pieces, const unsigned *__restrict__ order,
            const unsigned *__restrict__ row_offsets, const unsigned *__restrict__ column_indices,
            const value_t *__restrict__ values, const value_t *__restrict__ x, value_t *y,
            value_t alpha, value_t beta, value_t *parts, unsigned *arrivals) {
    const Operands from = {row_offsets, column_indices, values, x};
    const Piece piece = pieces[blockIdx.x];
    switch (piece.threads) {
        case 1: return short_rows<1>(from, piece, order, y, alpha, beta);
        case 2: return short_rows<2>(from, piece, order, y, alpha, beta);
        case 4: return short_rows<4>(from, piece, order, y, alpha, beta);
        case 8: return short_rows<8>(from, piece, order, y, alpha, beta);
        case 16: return short_rows<16>(from, piece, order, y, alpha, beta);
        case 32: return short_rows<32>(from, piece, order, y, alpha, beta);
        default: long_row(from, piece, order, y, alpha, beta, parts, arrivals);
    }
}

// Conversions from CSR to other formats.
#include "convert.cuh"

// The counts that a block adds up: EACH by each thread.
constexpr unsigned SPAN = THREADS * EACH;

// Computes the rows of `count` nonzeros, from `first` on at a stride of `stride`.
extern "C" __global__ void __launch_bounds__(THREADS)
    rows_of(unsigned count, unsigned first, unsigned stride, unsigned rows,
            const unsigned *__restrict__ row_offsets, unsigned *to) {
    const unsigned k = thread();
    if (k < count) to[k] = row_of(first + k * stride, row_offsets, rows);
}

// Counts the rows that are longer than `width`. The grid may have fewer threads than rows.
extern "C" __global__ void __launch_bounds__(THREADS)
    count_longer(unsigned rows, unsigned width, const unsigned *__restrict__ row_offsets,
                 unsigned *count) {
    unsigned longer = 0;
    for (unsigned row = thread(); row < rows; row += gridDim.x * THREADS)
        longer += row_offsets[row + 1] - row_offsets[row] > width;
    for (unsigned distance = WARP / 2; distance > 0; distance /= 2)
        longer += __shfl_down_sync(ALL_LANES, longer, distance);
    if (threadIdx.x % WARP == 0 && longer > 0) atomicAdd(count, longer);
}

// Replaces each count by the sum of those before it in its span, and writes the sums of the spans. A block has a span.
extern "C" __global__ void __launch_bounds__(THREADS)
    scan(unsigned count, unsigned *counts, unsigned *totals) {
    __shared__ unsigned of_warps[THREADS / WARP];
    const unsigned first = thread() * EACH, lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    unsigned own[EACH], sum = 0;
#pragma unroll
    for (unsigned j = 0; j < EACH; ++j) {
        own[j] = first + j < count ? counts[first + j] : 0;
        sum += own[j];
    }
    unsigned up_to = sum;
    for (unsigned distance = 1; distance < WARP; distance *= 2) {
        const unsigned before = __shfl_up_sync(ALL_LANES, up_to, distance);
        if (lane >= distance) up_to += before;
    }
    if (lane == WARP - 1) of_warps[warp] = up_to;
    __syncthreads();
    for (unsigned before = 0; before < warp; ++before) up_to += of_warps[before];
    if (threadIdx.x == THREADS - 1) totals[blockIdx.x] = up_to;
    unsigned at = up_to - sum;
#pragma unroll
    for (unsigned j = 0; j < EACH; ++j) {
        if (first + j < count) counts[first + j] = at;
        at += own[j];
    }
}

// Adds to each count the sum of the spans before its own.
extern "C" __global__ void __launch_bounds__(THREADS)
    add_totals(unsigned count, unsigned *counts, const unsigned *__restrict__ totals) {
    const unsigned k = thread();
    if (k < count) counts[k] += totals[k / SPAN];
}

// Sorts the rows of each window of `sigma` rows by descending length; rows of equal length stay in order. One thread
// per row counts those before it.
extern "C" __global__ void __launch_bounds__(THREADS)
    sort_windows(unsigned rows, unsigned sigma, const unsigned *__restrict__ row_offsets,
                 unsigned *order) {
    const unsigned row = thread();
    if (row >= rows) return;
    const unsigned length = row_offsets[row + 1] - row_offsets[row];
    const unsigned first = row / sigma * sigma, end = first + min(sigma, rows - first);
    unsigned place = first, start = row_offsets[first];
#pragma unroll 4
    for (unsigned other = first; other < end; ++other) {
        const unsigned next = row_offsets[other + 1];
        place += next - start > length || (next - start == length && other < row);
        start = next;
    }
    order[place] = row;
}

// Computes the length of the longest row of each chunk of `chunk` places. A last chunk has no rows.
extern "C" __global__ void __launch_bounds__(THREADS)
    chunk_widths(unsigned chunks, unsigned rows, unsigned chunk,
                 const unsigned *__restrict__ row_offsets, const unsigned *__restrict__ order,
                 unsigned *widths) {
    const unsigned k = thread();
    if (k >= chunks) return;
    unsigned width = 0;
    for (unsigned place = k * chunk; place < min((k + 1) * chunk, rows); ++place) {
        const unsigned row = order ? order[place] : place;
        width = max(width, row_offsets[row + 1] - row_offsets[row]);
    }
    widths[k] = width;
}

// Fills the strips of ELL (`chunk_offsets` is null, and the strips have `width` columns of `places` entries) or of SELL
// (`chunk_offsets` counts columns of `chunk` entries). One thread per place of a row.
extern "C" __global__ void __launch_bounds__(THREADS)
    fill_strips(unsigned places, unsigned rows, unsigned width, unsigned chunk,
                const unsigned *__restrict__ chunk_offsets, const unsigned *__restrict__ order,
                const unsigned *__restrict__ row_offsets, const unsigned *__restrict__ csr_columns,
                const value_t *__restrict__ csr_values, unsigned *columns, value_t *values) {
    const unsigned place = thread();
    if (place >= places) return;
    unsigned long long to = place;
    if (chunk_offsets) {
        const unsigned first = chunk_offsets[place / chunk];
        width = chunk_offsets[place / chunk + 1] - first;
        to = (unsigned long long)first * chunk + place % chunk;
    }
    unsigned start = 0, length = 0;
    if (place < rows) {
        const unsigned row = order ? order[place] : place;
        start = row_offsets[row];
        length = row_offsets[row + 1] - start;
    }
#pragma unroll 4
    for (unsigned k = 0; k < width; ++k) {
        columns[to] = k < length ? csr_columns[start + k] : NO_ENTRY;
        values[to] = k < length ? csr_values[start + k] : value_t(0);
        to += chunk;
    }
}

// Computes the number of entries of each row after the first `width`. A last row has none.
extern "C" __global__ void __launch_bounds__(THREADS)
    rest_lengths(unsigned rows, unsigned width, const unsigned *__restrict__ row_offsets,
                 unsigned *lengths) {
    const unsigned row = thread();
    if (row > rows) return;
    const unsigned length = row < rows ? row_offsets[row + 1] - row_offsets[row] : 0;
    lengths[row] = length > width ? length - width : 0;
}

// Copies the entries of each row after the first `width`, with their rows. One thread per entry.
extern "C" __global__ void __launch_bounds__(THREADS)
    fill_rest(unsigned count, unsigned rows, unsigned width,
              const unsigned *__restrict__ rest_offsets, const unsigned *__restrict__ row_offsets,
              const unsigned *__restrict__ csr_columns, const value_t *__restrict__ csr_values,
              unsigned *rows_of, unsigned *columns, value_t *values) {
    const unsigned k = thread();
    if (k >= count) return;
    const unsigned row = row_of(k, rest_offsets, rows);
    const unsigned from = row_offsets[row] + width + (k - rest_offsets[row]);
    rows_of[k] = row;
    columns[k] = csr_columns[from];
    values[k] = csr_values[from];
}

// Sets the bit `column + rows - row` for each entry, of at most `most` entries per row. One thread per row. The bits
// may be set by others at the same time, therefore they are read as volatile and set atomically.
extern "C" __global__ void __launch_bounds__(THREADS)
    mark_diagonals(unsigned rows, unsigned most, const unsigned *__restrict__ row_offsets,
                   const unsigned *__restrict__ columns, volatile unsigned *marks) {
    const unsigned row = thread();
    if (row >= rows) return;
    const unsigned start = row_offsets[row], length = min(row_offsets[row + 1] - start, most);
    for (unsigned k = start; k < start + length; ++k) {
        const unsigned long long place = (unsigned long long)columns[k] + (rows - row);
        const unsigned bit = 1u << place % 32;
        if (!(marks[place / 32] & bit)) atomicOr(const_cast<unsigned *>(marks) + place / 32, bit);
    }
}

// Copies the entries to `count` diagonals with these ascending offsets, which are `pitch` places apart. The diagonals
// of the transposed matrix have negated offsets and are indexed by columns. One thread per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    fill_diagonals(unsigned rows, unsigned count, unsigned pitch, unsigned transpose,
                   const int *__restrict__ offsets, const unsigned *__restrict__ row_offsets,
                   const unsigned *__restrict__ columns, const value_t *__restrict__ csr_values,
                   value_t *values) {
    const unsigned row = thread();
    if (row >= rows) return;
    for (unsigned k = row_offsets[row]; k < row_offsets[row + 1]; ++k) {
        const unsigned column = columns[k];
        const int offset = transpose ? row - column : column - row;
        unsigned low = 0, high = count - 1;
        while (low < high) {
            const unsigned middle = (low + high) / 2;
            if (offsets[middle] < offset)
                low = middle + 1;
            else
                high = middle;
        }
        values[(unsigned long long)low * pitch + (transpose ? column : row)] = csr_values[k];
    }
}

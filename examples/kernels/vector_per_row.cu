// spmv-bench
// summary = "a few threads per row, four loads of each at a time"
// source = "the third step of the tutorial in docs/plugins.md"
//
// [[parameter]]
// name = "lanes"
// values = [1, 2, 4, 8, 16, 32]
// default = 4
// meaning = "threads per row"
//
// [[product]]
// kernel = "vector_per_row"
// threads = 256
// rows_per_block = "threads / lanes"

constexpr unsigned AHEAD = 4;

// Each thread loads AHEAD nonzeros of its row before it uses the first one, so that their latencies overlap.
extern "C" __global__ void vector_per_row(unsigned rows, unsigned cols, unsigned nnz,
                                          const unsigned *__restrict__ row_offsets,
                                          const unsigned *__restrict__ column_indices,
                                          const VALUE_T *__restrict__ values, const VALUE_T *__restrict__ x, VALUE_T *y,
                                          VALUE_T alpha, VALUE_T beta) {
    const unsigned row = (blockIdx.x * blockDim.x + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
    const unsigned begin = row < rows ? row_offsets[row] : 0, end = row < rows ? row_offsets[row + 1] : 0;
    VALUE_T sum = 0;
    for (unsigned k = begin + lane; k < end; k += LANES * AHEAD) {
        unsigned columns[AHEAD];
        VALUE_T entries[AHEAD], factors[AHEAD];
#pragma unroll
        for (unsigned j = 0; j < AHEAD; j++) {
            const bool inside = k + j * LANES < end;
            columns[j] = inside ? column_indices[k + j * LANES] : 0;
            entries[j] = inside ? values[k + j * LANES] : VALUE_T(0);
        }
#pragma unroll
        for (unsigned j = 0; j < AHEAD; j++) factors[j] = k + j * LANES < end ? x[columns[j]] : VALUE_T(0);
#pragma unroll
        for (unsigned j = 0; j < AHEAD; j++) sum += entries[j] * factors[j];
    }
    for (unsigned distance = LANES / 2; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, distance);
    if (lane == 0 && row < rows) y[row] = beta == 0 ? alpha * sum : alpha * sum + beta * y[row];
}

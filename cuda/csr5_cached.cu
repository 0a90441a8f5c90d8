// Which columns are the most frequent, and y <- beta y with a copy of their x before the product of gpu-csr5-cached.
#include "convert.cuh"

// The bit of a column that is a place among the most frequent ones, as in csr5.cu.
constexpr unsigned CACHED_COLUMN = 1u << CACHED_BIT;

// Counts the nonzeros of each column. One thread per nonzero.
extern "C" __global__ void __launch_bounds__(THREADS)
    count_columns(unsigned nnz, const unsigned *__restrict__ columns, unsigned *counts) {
    if (thread() < nnz) atomicAdd(&counts[columns[thread()]], 1u);
}

// Marks the columns with more than `few` nonzeros, and adds up these nonzeros. `offsets` are the sums of the counts of
// the columns before.
extern "C" __global__ void __launch_bounds__(THREADS)
    mark_frequent(unsigned cols, unsigned few, const unsigned *__restrict__ offsets,
                  unsigned *marks, unsigned *held) {
    const unsigned column = thread();
    if (column >= cols) return;
    const unsigned count = offsets[column + 1] - offsets[column];
    marks[column] = count > few;
    if (count > few) atomicAdd(held, count);
}

// Lists the marked columns. `places` has the number of marked columns before each, and at the end that of all.
extern "C" __global__ void __launch_bounds__(THREADS)
    list_frequent(unsigned cols, const unsigned *__restrict__ places, unsigned *list) {
    const unsigned column = thread();
    if (column < cols && places[column] < places[column + 1]) list[places[column]] = column;
}

// Replaces each frequent column by its place in the list, with the bit.
extern "C" __global__ void __launch_bounds__(THREADS)
    replace_frequent(unsigned count, const unsigned *__restrict__ places, unsigned *columns) {
    const unsigned k = thread();
    if (k >= count) return;
    const unsigned column = columns[k], place = places[column];
    if (place < places[column + 1]) columns[k] = CACHED_COLUMN | place;
}

// Computes y <- beta y for the listed rows, and copies x of the frequent columns. If beta = 0, the old y is not read.
extern "C" __global__ void __launch_bounds__(THREADS)
    start_frequent(unsigned rows, const unsigned *__restrict__ row_list, value_t *y, value_t beta,
                   unsigned frequent, const unsigned *__restrict__ column_list,
                   const value_t *__restrict__ x, value_t *frequent_x) {
    start_dependents();
    if (thread() < rows) store(y, row_list[thread()], 0, 0, beta);
    if (thread() < frequent) frequent_x[thread()] = x[column_list[thread()]];
}

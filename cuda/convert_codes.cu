// The distinct values of a matrix, in the order in which they appear.
#include "convert.cuh"
#include "distinct.cuh"

// Enters the values in a table. After more than `most` distinct ones the threads stop: the table has a place for one
// more of each thread. Few values are often repeated, therefore a thread does not look again for the value before.
extern "C" __global__ void __launch_bounds__(THREADS)
    enter_values(unsigned nnz, unsigned most, unsigned last, const value_t *__restrict__ values,
                 unsigned *table, volatile unsigned *count) {
    bool has_before = false;
    unsigned long long before = 0;
    for (unsigned long long k = thread(); k < nnz; k += gridDim.x * THREADS) {
        const unsigned long long bits = bits_of(values[k]);
        if (has_before && bits == before) continue;
        if (*count > most) return;
        const auto is_same = [=](unsigned other) { return bits_of(values[other]) == bits; };
        if (enter(k, hash_of(bits), last, table, is_same))
            atomicAdd(const_cast<unsigned *>(count), 1u);
        before = bits;
        has_before = true;
    }
}

// Sets a bit for the first nonzero with each value. One thread per place of the table.
extern "C" __global__ void __launch_bounds__(THREADS)
    mark_firsts(unsigned last, const unsigned *__restrict__ table, unsigned *marks) {
    if (thread() > last || table[thread()] == NO_ENTRY) return;
    const unsigned k = table[thread()];
    atomicOr(&marks[k / WARP], 1u << k % WARP);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    count_marks(unsigned words, const unsigned *__restrict__ marks, unsigned *counts) {
    if (thread() < words) counts[thread()] = __popc(marks[thread()]);
}

// Replaces the first nonzero with each value by the number of the value, and stores the value. `before` is the number
// of values that appear before each 32 nonzeros.
extern "C" __global__ void __launch_bounds__(THREADS)
    number_values(unsigned last, const unsigned *__restrict__ marks,
                  const unsigned *__restrict__ before, const value_t *__restrict__ values,
                  unsigned *table, value_t *distinct) {
    if (thread() > last || table[thread()] == NO_ENTRY) return;
    const unsigned k = table[thread()];
    const unsigned number = before[k / WARP] + __popc(marks[k / WARP] & ((1u << k % WARP) - 1));
    distinct[number] = values[k];
    table[thread()] = number;
}

// Fills the arrays of packed slices. Unless it says otherwise, a kernel has a warp for each slice.
#include "convert.cuh"
#include "distinct.cuh"
#include "packed_walk.cuh"

// Returns the number of the words of a slice before its offsets.
__device__ __forceinline__ unsigned first_words(unsigned head) {
    return head & LISTED ? WARP / 2 >> (head >> SHIFT & 7) : head & PART;
}

// Stores the list of steps of each slice, computes its hash, and counts the slice's words.
extern "C" __global__ void __launch_bounds__(THREADS)
    store_steps(unsigned slices, unsigned rows, unsigned part,
                const unsigned *__restrict__ row_offsets, const unsigned *__restrict__ columns,
                const unsigned *__restrict__ order, const Plan *__restrict__ plans,
                const unsigned *__restrict__ lists, unsigned *heads, Step *steps, unsigned *words,
                unsigned long long *hashes) {
    const unsigned slice = thread() / WARP;
    if (slice >= slices) return;
    const unsigned head = heads[slice], count = head >> COUNT;
    const Source source = {rows, part, row_offsets, columns, order};
    Walk walk = source.walk(head, plans[slice]);
    Step *to = steps + lists[slice];
    unsigned entry, offset, bits = 0;
    unsigned long long hash = count;
    for (unsigned k = 0; k < count; ++k) {
        const Step step = walk.step(entry, offset);
        if (lane_number() == 0) to[k] = step;
        bits += __popc(step.lanes) * (step.code & ((1u << WIDTH) - 1));
        hash ^= (unsigned long long)step.lanes << 32 | (unsigned)step.code;
        hash *= 0x9e3779b97f4a7c15ull;
        hash ^= hash >> 29;
    }
    __syncwarp();
    if (lane_number() > 0) return;
    heads[slice] = head | (bits == 0 ? NO_OFFSETS : 0);
    words[slice] = first_words(head) + (bits + 31) / 32;
    hashes[slice] = hash;
}

// Enters the lists of steps in a table by their hashes. A thread per slice.
extern "C" __global__ void __launch_bounds__(THREADS)
    enter_lists(unsigned slices, unsigned last, const unsigned long long *__restrict__ hashes,
                unsigned *table) {
    const unsigned slice = thread();
    if (slice >= slices) return;
    const unsigned long long hash = hashes[slice];
    enter(slice, hash, last, table, [=](unsigned other) { return hashes[other] == hash; });
}

// Finds the first slice with the same list as each, or with the same hash if that has another list: then a slice has
// its own. Counts the steps of the lists that are kept.
extern "C" __global__ void __launch_bounds__(THREADS)
    share_lists(unsigned slices, unsigned last, const unsigned long long *__restrict__ hashes,
                const unsigned *__restrict__ table, const unsigned *__restrict__ heads,
                const unsigned *__restrict__ lists, const Step *__restrict__ steps,
                unsigned *owners, unsigned *kept) {
    const unsigned slice = thread() / WARP;
    if (slice >= slices) return;
    const unsigned long long hash = hashes[slice];
    const unsigned first =
        entered(hash, last, table, [=](unsigned other) { return hashes[other] == hash; });
    const unsigned count = heads[slice] >> COUNT;
    const Step *own = steps + lists[slice], *other = steps + lists[first];
    bool is_equal = heads[first] >> COUNT == count;
    for (unsigned k = lane_number(); is_equal && k < count; k += WARP)
        is_equal = own[k].code == other[k].code && own[k].lanes == other[k].lanes;
    const unsigned owner = __all_sync(ALL_LANES, is_equal) ? first : slice;
    if (lane_number() > 0) return;
    owners[slice] = owner;
    kept[slice] = owner == slice ? count : 0;
}

// Marks the slices that the one before does not own: a warp owns those without words that have the same steps, of `run`
// groups of rows from a multiple of that on. A thread per slice.
extern "C" __global__ void __launch_bounds__(THREADS)
    mark_runs(unsigned slices, unsigned run, const unsigned *__restrict__ heads,
              const Plan *__restrict__ plans, const unsigned *__restrict__ owners, unsigned *marks) {
    const unsigned slice = thread();
    if (slice >= slices) return;
    const unsigned row = plans[slice].row;
    const bool continues = slice > 0 && row / WARP % run > 0 && is_wordless(heads[slice]) &&
                           heads[slice - 1] == heads[slice] && owners[slice - 1] == owners[slice] &&
                           plans[slice - 1].row + WARP == row;
    marks[slice] = !continues;
}

// A stream of offsets. The words that are not full yet are in shared memory, one for each lane and two more.
struct Offsets {
    unsigned *words, *to, bits;

    // Appends the `width` lowest bits of the offset of each active lane, after those of the `before` lanes.
    __device__ __forceinline__ void append(unsigned offset, unsigned width, bool active,
                                           unsigned before, unsigned count) {
        const unsigned start = bits + before * width, shift = start % 32;
        if (active) {
            atomicOr(&words[start / 32], offset << shift);
            if (shift + width > 32) atomicOr(&words[start / 32 + 1], offset >> (32 - shift));
        }
        bits += count * width;
        __syncwarp();
        const unsigned full = bits / 32, rest = words[full];
        if (lane_number() < full) to[lane_number()] = words[lane_number()];
        __syncwarp();
        words[lane_number()] = lane_number() == 0 ? rest : 0;
        if (lane_number() < 2) words[WARP + lane_number()] = 0;
        __syncwarp();
        to += full;
        bits %= 32;
    }
};

// The place of a value among those that are stored, by the table of distinct ones.
struct Codes {
    unsigned last;
    const unsigned *table;
    const value_t *distinct;

    __device__ __forceinline__ stored_t stored(value_t value) const {
#if CODE_BITS == 0
        return value;
#else
        const unsigned long long bits = bits_of(value);
        return entered(hash_of(bits), last, table, [=](unsigned number) {
            return number != NO_ENTRY && bits_of(distinct[number]) == bits;
        });
#endif
    }
};

// Stores the words before the offsets of a slice.
__device__ __forceinline__ void store_first_words(unsigned slice, unsigned head, const Plan &plan,
                                                  const Source &source, unsigned *to) {
    const unsigned lane = lane_number(), count = first_words(head);
    if (lane >= count) return;
    if (head & PART) {
        const unsigned length = source.row_offsets[plan.row + 1] - source.row_offsets[plan.row];
        to[lane] = lane == 0 ? slice - plan.origin : (length - 1) / source.part + 1;
        return;
    }
    unsigned pair = 0;
    for (unsigned j = 0; j < 2; ++j) {
        const unsigned row = source.row_at(plan.origin, 2 * lane + j);
        pair |= (row == NO_ENTRY ? NO_LANE : row - plan.row) << 16 * j;
    }
    to[lane] = pair;
}

// Stores the words and the values of each slice.
extern "C" __global__ void __launch_bounds__(THREADS)
    fill_slices(unsigned slices, unsigned rows, unsigned part,
                const unsigned *__restrict__ row_offsets, const unsigned *__restrict__ columns,
                const unsigned *__restrict__ order, const value_t *__restrict__ csr_values,
                unsigned last, const unsigned *__restrict__ table,
                const value_t *__restrict__ distinct,
                const unsigned *__restrict__ heads, const Plan *__restrict__ plans,
                const unsigned *__restrict__ entries, const unsigned *__restrict__ word_starts,
                unsigned *words, stored_t *values) {
    const Source source = {rows, part, row_offsets, columns, order};
    const Codes codes = {last, table, distinct};
    __shared__ unsigned open_words[THREADS / WARP][WARP + 2];
    const unsigned slice = thread() / WARP, lane = lane_number();
    if (slice >= slices) return;
    const unsigned head = heads[slice];
    const Plan plan = plans[slice];
    unsigned *own = open_words[threadIdx.x / WARP], *to = words + word_starts[slice];
    own[lane] = 0;
    if (lane < 2) own[WARP + lane] = 0;
    __syncwarp();
    store_first_words(slice, head, plan, source, to);
    Offsets offsets = {own, to + first_words(head), 0};
    Walk walk = source.walk(head, plan);
    values += entries[slice];
    for (unsigned k = 0; k < head >> COUNT; ++k) {
        unsigned entry = 0, offset = 0;
        const Step step = walk.step(entry, offset);
        const bool active = step.lanes >> lane & 1;
        const unsigned before = __popc(step.lanes & ((1u << lane) - 1));
        const unsigned width = step.code & ((1u << WIDTH) - 1), count = __popc(step.lanes);
        if (active) values[before] = codes.stored(csr_values[entry]);
        values += count;
        if (width > 0) offsets.append(offset, width, active, before, count);
    }
    if (lane == 0 && offsets.bits > 0) *offsets.to = own[0];
}

// Copies the lists of steps that are kept, and stores the slices that no other one owns, with their heads. `kept` is
// the number of steps and `places` that of slices before each.
extern "C" __global__ void __launch_bounds__(THREADS)
    store_slices(unsigned slices, const unsigned *__restrict__ heads,
                 const Plan *__restrict__ plans, const unsigned *__restrict__ lists,
                 const unsigned *__restrict__ entries, const unsigned *__restrict__ words,
                 const unsigned *__restrict__ owners, const unsigned *__restrict__ kept,
                 const unsigned *__restrict__ places, const Step *__restrict__ steps,
                 Step *kept_steps, Slice *to, unsigned *to_heads) {
    const unsigned slice = thread() / WARP, lane = lane_number();
    if (slice >= slices) return;
    const unsigned head = heads[slice];
    if (owners[slice] == slice) {
        for (unsigned k = lane; k < head >> COUNT; k += WARP)
            kept_steps[kept[slice] + k] = steps[lists[slice] + k];
    }
    const unsigned place = places[slice];
    if (lane > 0 || places[slice + 1] == place) return;
    unsigned further = 0;
    while (slice + further + 1 < slices && places[slice + further + 2] == place + 1) ++further;
    to[place] = {kept[owners[slice]], entries[slice], is_wordless(head) ? further : words[slice],
                 plans[slice].row};
    to_heads[place] = head;
}

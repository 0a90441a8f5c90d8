// Conversion from CSR to packed slices. The head comment of crates/methods/src/gpu/packed.rs describes the format. Unless it
// says otherwise, a kernel has a warp for each slice.
#include "convert.cuh"
#include "distinct.cuh"
#include "packed.cuh"

// The rows among which those of similar length are brought together, and the groups of WARP rows among them.
constexpr unsigned WINDOW = 4096, GROUPS = WINDOW / WARP;
// The units of slices of a window: one per group, and one for the rows that are brought together.
constexpr unsigned UNITS = GROUPS + 1;
// The largest number of nonzeros of a row that is not divided, and the numbers of lanes per row, by their logarithms.
constexpr unsigned LONGEST = 1024, SHIFTS = 6;

// The largest number of steps of a slice that is not a band, and of nonzeros of a row that is not divided.
struct Limits {
    unsigned steps, part;

    // Returns the logarithm of the number of lanes of a row with this length.
    __device__ __forceinline__ unsigned shift_of(unsigned length) const {
        unsigned shift = 0;
        while (shift < SHIFTS - 1 && length > steps << shift) ++shift;
        return shift;
    }
};

// What a slice will have: its first row, or that of its window, and its origin: for listed rows the place of the first in the
// order, for a part of a row its number, otherwise whether it is a band.
struct alignas(8) Plan {
    unsigned row, origin;
};

__device__ __forceinline__ unsigned lane_number() { return threadIdx.x % WARP; }

// Returns the least number of all lanes.
__device__ __forceinline__ int warp_min(int number) {
#if __CUDA_ARCH__ >= 800
    return __reduce_min_sync(ALL_LANES, number);
#else
    for (unsigned distance = WARP / 2; distance > 0; distance /= 2)
        number = min(number, __shfl_xor_sync(ALL_LANES, number, distance));
    return number;
#endif
}

__device__ __forceinline__ int warp_max(int number) { return ~warp_min(~number); }

// The nonzeros of a slice in the order of its steps: each lane has those from `next` on, `stride` apart.
struct Walk {
    const unsigned *columns;
    unsigned next, end, stride;
    bool is_band;
    // The column that the lane has reached.
    unsigned column;

    // Goes a step. `entry` is the lane's nonzero and `offset` that of its column. After the last step no lane has one.
    __device__ __forceinline__ Step step(unsigned &entry, unsigned &offset) {
        constexpr int NONE = 0x7fffffff;
        const bool has = next < end;
        const int distance = has ? columns[next] - column : NONE, least = warp_min(distance);
        const bool active = has && (distance == least || !is_band);
        const int most = is_band ? least : ~warp_min(has ? ~distance : NONE);
        const bool is_near = (int)((unsigned)least << WIDTH) >> WIDTH == least;
        const unsigned advance = is_near ? least : 0;
        const unsigned width = is_near ? 32 - __clz((unsigned)most - least) : 32;
        column += advance;
        if (active) {
            entry = next;
            offset = distance - advance;
            column += offset;
            next += stride;
        }
        return {(int)(advance << WIDTH | width), __ballot_sync(ALL_LANES, active)};
    }
};

// The arrays that tell a lane which nonzeros it has.
struct Source {
    unsigned rows, part;
    const unsigned *row_offsets, *columns, *order;

    __device__ __forceinline__ Walk walk(unsigned head, Plan plan) const {
        const unsigned shift = head >> SHIFT & 7, place = lane_number() >> shift;
        unsigned row = plan.row + place;
        if (head & LISTED) row = row_at(plan.origin, place);
        const bool exists = row < rows;
        unsigned start = exists ? row_offsets[row] : 0, end = exists ? row_offsets[row + 1] : 0;
        if (head & PART) {
            start += plan.origin * part;
            end = min(end, start + part);
        }
        const bool is_band = !(head & (LISTED | PART)) && plan.origin;
        return {columns, start + lane_number() % (1u << shift), end, 1u << shift, is_band,
                plan.row + lane_number()};
    }

    // Returns a row in the order of its window, or NO_ENTRY behind the last.
    __device__ __forceinline__ unsigned row_at(unsigned first, unsigned distance) const {
        return first % WINDOW + distance < WINDOW ? order[first + distance] : NO_ENTRY;
    }
};

// Finds the groups that are bands, and the number of their steps, and those that are slices of neighbouring rows. `others` has
// a bit for each row of the other groups that is not divided. A warp per group.
extern "C" __global__ void __launch_bounds__(THREADS)
    classify(unsigned rows, unsigned most, unsigned part, const unsigned *__restrict__ row_offsets,
             const unsigned *__restrict__ columns, unsigned *bands, unsigned *others,
             unsigned *units) {
    const Limits limits = {most, part};
    const unsigned group = thread() / WARP, first = group * WARP, row = first + lane_number();
    if (first >= rows) return;
    const unsigned start = row_offsets[min(row, rows)], end = row_offsets[min(row + 1, rows)];
    const unsigned length = min(end - start, limits.part + 1), longest = warp_max(length);
    const unsigned count = min(WARP, rows - first);
    const unsigned nonzeros = row_offsets[first + count] - row_offsets[first];
    const auto fill = [=](unsigned steps) { return 4 * nonzeros >= 3 * count * steps; };

    unsigned steps = 0, slices = 0, rest = 0;
    bool is_band = longest <= 4 * limits.steps;
    if (is_band) {
        const unsigned most_steps = longest + longest / 4;
        Walk walk = {columns, start, end, 1, true, row};
        unsigned entry, offset;
        while (steps <= most_steps && walk.step(entry, offset).lanes) ++steps;
        is_band = steps <= most_steps && fill(steps * 4 / 5);
    }
    if (is_band) {
        slices = 1;
    } else if (longest <= limits.part && fill(longest)) {
        const unsigned each = WARP >> limits.shift_of(longest);
        slices = (count + each - 1) / each;
    } else {
        rest = __ballot_sync(ALL_LANES, row < rows && length <= limits.part);
    }
    if (lane_number() > 0) return;
    bands[group] = is_band ? steps + 1 : 0;
    others[group] = rest;
    units[group / GROUPS * UNITS + group % GROUPS] = slices;
}

// The rows of four consecutive groups of a window that are brought together: a key for each lane, the longest rows first.
struct Four {
    unsigned keys[4];

    __device__ __forceinline__ Four(unsigned first, const unsigned (&masks)[4], unsigned from,
                                    unsigned longest, const unsigned *row_offsets) {
#pragma unroll
        for (unsigned j = 0; j < 4; ++j) {
            const unsigned row = first + (from * 4 + j) * WARP + lane_number();
            const unsigned mask = __shfl_sync(ALL_LANES, masks[j], from);
            keys[j] = mask >> lane_number() & 1 ? longest - (row_offsets[row + 1] - row_offsets[row])
                                                : NO_ENTRY;
        }
    }
};

// Replaces each count by the sum of those before it. Returns the sum of all.
__device__ __forceinline__ unsigned add_up(unsigned *counts, unsigned keys) {
    unsigned before = 0;
    for (unsigned key = lane_number(); key < keys + lane_number(); key += WARP) {
        const unsigned own = key < keys ? counts[key] : 0;
        unsigned up_to = own;
        for (unsigned distance = 1; distance < WARP; distance *= 2) {
            const unsigned left = __shfl_up_sync(ALL_LANES, up_to, distance);
            if (lane_number() >= distance) up_to += left;
        }
        if (key < keys) counts[key] = before + up_to - own;
        before += __shfl_sync(ALL_LANES, up_to, WARP - 1);
    }
    return before;
}

// Sorts the rows of a window that are brought together by descending length; rows of equal length stay in order. `ends` are
// the ends of those with a number of lanes. A block of one warp per window.
extern "C" __global__ void __launch_bounds__(WARP)
    sort_others(unsigned rows, unsigned most, unsigned part, const unsigned *__restrict__ row_offsets,
                const unsigned *__restrict__ others, unsigned *order, unsigned *ends,
                unsigned *units) {
    const Limits limits = {most, part};
    __shared__ unsigned places[LONGEST + 1];
    const unsigned window = blockIdx.x, first = window * WINDOW, lane = lane_number();
    const unsigned groups = (rows - first - 1) / WARP + 1, keys = limits.part + 1;
    unsigned masks[4], any = 0;
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) {
        const unsigned group = lane * 4 + j;
        masks[j] = group < groups ? others[window * GROUPS + group] : 0;
        any |= masks[j];
    }
    ends += window * SHIFTS;
    any = __ballot_sync(ALL_LANES, any);
    if (!any) return;
    for (unsigned key = lane; key < keys; key += WARP) places[key] = 0;
    __syncwarp();
    for (unsigned from = 0; from < WARP; ++from) {
        if (!(any >> from & 1)) continue;
        const Four four(first, masks, from, limits.part, row_offsets);
#pragma unroll
        for (unsigned j = 0; j < 4; ++j)
            if (four.keys[j] != NO_ENTRY) atomicAdd(&places[four.keys[j]], 1u);
    }
    __syncwarp();
    const unsigned count = add_up(places, keys);
    __syncwarp();
    unsigned at = 0, slices = 0;
    for (unsigned shift = SHIFTS; shift-- > 0;) {
        // Before are the rows that are longer than half of the lanes allow.
        const unsigned end = shift > 0 ? places[limits.part - (limits.steps << shift) / 2] : count;
        const unsigned each = WARP >> shift, more = (max(end, at) - at + each - 1) / each;
        at += more * each;
        slices += more;
        if (lane == 0) ends[shift] = end;
    }
    if (lane == 0) units[window * UNITS + GROUPS] = slices;
    __syncwarp();
    for (unsigned from = 0; from < WARP; ++from) {
        if (!(any >> from & 1)) continue;
        const Four four(first, masks, from, limits.part, row_offsets);
#pragma unroll
        for (unsigned j = 0; j < 4; ++j) {
            const unsigned key = four.keys[j];
            unsigned before = 0, behind = 0;
#pragma unroll
            for (unsigned other = 0; other < WARP; ++other) {
                const bool is_same = __shfl_sync(ALL_LANES, key, other) == key;
                before += is_same && other < lane;
                behind += is_same && other > lane;
            }
            if (key != NO_ENTRY)
                order[first + places[key] + before] = first + (from * 4 + j) * WARP + lane;
            __syncwarp();
            if (key != NO_ENTRY && behind == 0) places[key] += before + 1;
            __syncwarp();
        }
    }
    for (unsigned place = count + lane; place < WINDOW; place += WARP)
        order[first + place] = NO_ENTRY;
}

// Counts the parts of each row that is divided. There is one row more, which has none. A thread per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    count_parts(unsigned rows, unsigned part, const unsigned *__restrict__ row_offsets,
                unsigned *parts) {
    const unsigned row = thread();
    if (row > rows) return;
    const unsigned length = row < rows ? row_offsets[row + 1] - row_offsets[row] : 0;
    parts[row] = length > part ? (length - 1) / part + 1 : 0;
}

// A slice that has no list of steps yet.
struct Planned {
    unsigned head;
    Plan plan;
};

// Plans slice `index` of a group of neighbouring rows.
__device__ __forceinline__ Planned of_group(unsigned group, unsigned index, unsigned band,
                                            const Limits &limits, const Source &source) {
    const unsigned row = group * WARP + lane_number();
    if (band > 0) return {0, {group * WARP, 1}};
    const unsigned length =
        row < source.rows ? source.row_offsets[row + 1] - source.row_offsets[row] : 0;
    const unsigned shift = limits.shift_of(warp_max(length));
    return {shift << SHIFT, {group * WARP + index * (WARP >> shift), 0}};
}

// Plans slice `index` of the rows of a window that are brought together. One that has all lanes is not listed.
__device__ __forceinline__ Planned of_others(unsigned window, unsigned index, const unsigned *ends,
                                             const Source &source) {
    unsigned at = 0, shift = SHIFTS - 1;
    for (;; --shift) {
        const unsigned each = WARP >> shift, end = ends[window * SHIFTS + shift];
        const unsigned slices = (max(end, at) - at + each - 1) / each;
        if (index < slices || shift == 0) break;
        at += slices * each;
        index -= slices;
    }
    const unsigned place = window * WINDOW + at + index * (WARP >> shift);
    if (shift == SHIFTS - 1)
        return {(SHIFTS - 1) << SHIFT, {source.order[place], 0}};
    return {LISTED | shift << SHIFT, {window * WINDOW, place}};
}

// Plans the slices, and counts their steps and nonzeros. The first ones are parts of rows, of which `part_starts` has the first
// of each row. The others are those of the units, which start where `units` has.
extern "C" __global__ void __launch_bounds__(THREADS)
    plan_slices(unsigned slices, unsigned parts, unsigned unit_count, unsigned most, unsigned rows,
                unsigned part, const unsigned *__restrict__ row_offsets,
                const unsigned *__restrict__ columns, const unsigned *__restrict__ order,
                const unsigned *__restrict__ part_starts, const unsigned *__restrict__ bands,
                const unsigned *__restrict__ ends, const unsigned *__restrict__ units,
                unsigned *heads, Plan *plans, unsigned *lists, unsigned *entries) {
    const Limits limits = {most, part};
    const Source source = {rows, part, row_offsets, columns, order};
    __shared__ unsigned bounds[2];
    const unsigned slice = thread() / WARP, in_units = max(slice, parts) - parts;
    const unsigned unit = row_of_ascending(in_units, units, unit_count, bounds);
    if (slice >= slices) return;
    const unsigned window = unit / UNITS, group = window * GROUPS + unit % UNITS;
    Planned planned;
    unsigned band = 0;
    if (slice < parts) {
        const unsigned row = row_of(slice, part_starts, source.rows);
        planned = {PART | (SHIFTS - 1) << SHIFT, {row, slice - part_starts[row]}};
    } else if (unit % UNITS < GROUPS) {
        band = bands[group];
        planned = of_group(group, in_units - units[unit], band, limits, source);
    } else {
        planned = of_others(window, in_units - units[unit], ends, source);
    }
    const Walk walk = source.walk(planned.head, planned.plan);
    const unsigned own = (max(walk.end, walk.next) - walk.next + walk.stride - 1) / walk.stride;
    const unsigned steps = band > 0 ? band - 1 : warp_max(own);
    unsigned nonzeros = own;
    for (unsigned distance = WARP / 2; distance > 0; distance /= 2)
        nonzeros += __shfl_xor_sync(ALL_LANES, nonzeros, distance);
    if (lane_number() > 0) return;
    heads[slice] = planned.head | steps << COUNT;
    plans[slice] = planned.plan;
    lists[slice] = steps;
    entries[slice] = nonzeros;
}

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

// Finds the first slice with the same list as each, or with the same hash if that has another list: then a slice has its own.
// Counts the steps of the lists that are kept.
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

// Copies the lists of steps that are kept, and stores the slices that no other one owns, with their heads. `kept` is the
// number of steps and `places` that of slices before each.
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

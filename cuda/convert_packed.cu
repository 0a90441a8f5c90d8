// Conversion from CSR to packed slices: which slices there are, and how many steps and nonzeros they have. The head
// comment of crates/methods/src/gpu/packed.rs describes the format.
#include "convert.cuh"
#include "packed_walk.cuh"

// The groups of WARP rows of a window, and its units of slices: one per group, and one for the rows that are brought
// together.
constexpr unsigned GROUPS = WINDOW / WARP, UNITS = GROUPS + 1;

// The largest number of steps of a slice that is not a band, and of nonzeros of a row that is not divided, which is
// LONGEST at most. There are SHIFTS numbers of lanes per row, by their logarithms.
struct Limits {
    unsigned steps, part;

    // Returns the logarithm of the number of lanes of a row with this length.
    __device__ __forceinline__ unsigned shift_of(unsigned length) const {
        unsigned shift = 0;
        while (shift < SHIFTS - 1 && length > steps << shift) ++shift;
        return shift;
    }
};

// Finds the groups that are bands, and the number of their steps, and those that are slices of neighbouring rows.
// `others` has a bit for each row of the other groups that is not divided. A warp per group.
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

// The rows of four consecutive groups of a window that are brought together: a key for each lane, the longest rows
// first.
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

// Sorts the rows of a window that are brought together by descending length; rows of equal length stay in order. `ends`
// are the ends of those with a number of lanes. A block of one warp per window.
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

// Plans the slices, and counts their steps and nonzeros. The first ones are parts of rows, of which `part_starts` has
// the first of each row. The others are those of the units, which start where `units` has.
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

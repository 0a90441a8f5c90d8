// TileSpMV: one warp per unit of up to UNIT tiles of SIDE rows and columns in a row of tiles. A lane processes every
// other entry of one row of a tile; the two halves of the warp are added at the end of the unit. The bit SHARED_ROWS of
// a unit's first row number is set if its row of tiles has several units.
#include "coordinates.cuh"

constexpr unsigned WARPS = BLOCK / WARP;

enum Format : unsigned { CSR, COO, ELL, HYB, DENSE, DENSE_ROWS, DENSE_COLUMNS };

// A tile's column of tiles, its shape, and the positions of its values and indices.
struct __align__(16) Tile {
    unsigned column, shape, values, indices;

    __device__ unsigned format() const { return shape & 7; }
    // CSR: number of entries; ELL and HYB: entries per row; dense rows or columns: their number.
    __device__ unsigned size() const { return shape >> 3 & 0xff; }
    // COO and HYB: number of entries listed with both coordinates.
    __device__ unsigned listed() const { return shape >> 11; }
};

// One lane's view of a tile.
struct View {
    const value_t *values;
    const unsigned char *indices;
    const value_t *x;
    unsigned size, height, width, row, half;
};

// Returns one of the columns, which are stored two per byte, the first in the upper half.
__device__ __forceinline__ unsigned column_at(const unsigned char *columns, unsigned place) {
    const unsigned pair = columns[place / 2];
    return place % 2 ? pair & 15 : pair >> 4;
}

// The indices are the start of each row, then the columns.
__device__ __forceinline__ value_t csr_sum(const View &tile) {
    const unsigned end = tile.row + 1 < SIDE ? tile.indices[tile.row + 1] : tile.size;
    value_t sum = 0;
    for (unsigned k = tile.indices[tile.row] + tile.half; k < end; k += 2)
        sum += tile.values[k] * tile.x[column_at(tile.indices + SIDE, k)];
    return sum;
}

__device__ __forceinline__ value_t ell_sum(const View &tile) {
    value_t sum = 0;
    if (tile.row >= tile.height) return sum;
    for (unsigned k = tile.half; k < tile.size; k += 2) {
        const unsigned place = k * tile.height + tile.row;
        sum += filled_product(tile.values[place], tile.x[column_at(tile.indices, place)]);
    }
    return sum;
}

__device__ __forceinline__ value_t dense_sum(const View &tile) {
    value_t sum = 0;
    if (tile.row >= tile.height) return sum;
#pragma unroll
    for (unsigned pair = 0; pair < SIDE; pair += 2) {
        const unsigned column = pair + tile.half;
        if (column < tile.width)
            sum += filled_product(tile.values[column * tile.height + tile.row], tile.x[column]);
    }
    return sum;
}

// Each half of the warp processes a row with one lane per column; the lane that owns the row adds the sum.
__device__ __forceinline__ value_t dense_rows_sum(const View &tile) {
    const unsigned column = tile.row;
    value_t sum = 0;
    for (unsigned first = 0; first < tile.size; first += 2) {
        const unsigned mine = first + tile.half;
        const bool exists = mine < tile.size;
        value_t product = 0;
        if (exists && column < tile.width)
            product = tile.values[mine * tile.width + column] * tile.x[column];
        product = __shfl_sync(ALL_LANES, vector_sum<SIDE>(ALL_LANES, product), 0, SIDE);
        if (exists && tile.indices[mine] == tile.row) sum += product;
    }
    return sum;
}

__device__ __forceinline__ value_t dense_columns_sum(const View &tile) {
    value_t sum = 0;
    if (tile.row >= tile.height) return sum;
    for (unsigned k = tile.half; k < tile.size; k += 2)
        sum += tile.values[k * tile.height + tile.row] * tile.x[tile.indices[k]];
    return sum;
}

// Returns the sum of all entries of the tile except the listed ones.
__device__ __forceinline__ value_t tile_sum(unsigned format, const View &tile) {
    switch (format) {
    case CSR: return csr_sum(tile);
    case ELL:
    case HYB: return ell_sum(tile);
    case DENSE: return dense_sum(tile);
    case DENSE_ROWS: return dense_rows_sum(tile);
    case DENSE_COLUMNS: return dense_columns_sum(tile);
    default: return 0;
    }
}

// Adds the listed entries of all tiles of a unit. They are stored after the entries of ELL; one byte contains
// row and column.
__device__ __forceinline__ void add_listed(const Tile *tiles, unsigned listed, unsigned height,
                                           const value_t *__restrict__ values,
                                           const unsigned char *__restrict__ indices,
                                           const value_t *x, value_t *sums) {
    for (unsigned k = threadIdx.x % WARP; k < listed; k += WARP) {
        unsigned number = 0, inside = k;
        for (; inside >= tiles[number].listed(); ++number) inside -= tiles[number].listed();
        const Tile tile = tiles[number];
        const unsigned places = tile.size() * height;
        const unsigned at = indices[tile.indices + (places + 1) / 2 + inside];
        const value_t product =
            values[tile.values + places + inside] * x[number * SIDE + at % SIDE];
        atomicAdd(&sums[at / SIDE], product);
    }
}

// Rows of tiles with several units or none already contain beta y.
extern "C" __global__ void __launch_bounds__(BLOCK, 1024 / BLOCK)
    tile_units(unsigned units, unsigned rows, unsigned cols,
               const unsigned *__restrict__ unit_rows, const unsigned *__restrict__ unit_tiles,
               const Tile *__restrict__ tiles, const value_t *__restrict__ values,
               const unsigned char *__restrict__ indices, const value_t *__restrict__ x, value_t *y,
               value_t alpha, value_t beta) {
    start_dependents();
    __shared__ Tile all_tiles[WARPS][UNIT];
    __shared__ value_t all_x[WARPS][UNIT * SIDE];
    __shared__ value_t all_sums[WARPS][SIDE];
    const unsigned warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    const unsigned unit = blockIdx.x * WARPS + warp;
    if (unit >= units) {
        after_earlier_kernels(y);
        return;
    }
    Tile *my_tiles = all_tiles[warp];
    value_t *my_x = all_x[warp], *my_sums = all_sums[warp];

    const unsigned first_tile = unit_tiles[unit], count = unit_tiles[unit + 1] - first_tile;
    const unsigned first_row = unit_rows[unit] & ~SHARED_ROWS;
    const unsigned height = min(SIDE, rows - first_row);
    if (lane < count) my_tiles[lane] = tiles[first_tile + lane];
    if (lane < SIDE) my_sums[lane] = 0;
    __syncwarp();
    for (unsigned k = lane; k < count * SIDE; k += WARP) {
        const unsigned column = my_tiles[k / SIDE].column * SIDE + k % SIDE;
        if (column < cols) my_x[k] = x[column];
    }
    __syncwarp();

    value_t sum = 0;
    unsigned listed = 0;
    for (unsigned k = 0; k < count; ++k) {
        const Tile tile = my_tiles[k];
        listed += tile.listed();
        const unsigned width = min(SIDE, cols - tile.column * SIDE);
        sum += tile_sum(tile.format(), {values + tile.values, indices + tile.indices,
                                        my_x + k * SIDE, tile.size(), height, width, lane % SIDE,
                                        lane / SIDE});
    }
    sum += __shfl_down_sync(ALL_LANES, sum, SIDE);
    add_listed(my_tiles, listed, height, values, indices, my_x, my_sums);
    __syncwarp();

    y = after_earlier_kernels(y);
    if (lane >= height) return;
    sum += my_sums[lane];
    const unsigned row = first_row + lane;
    if (unit_rows[unit] & SHARED_ROWS)
        atomicAdd(&y[row], alpha * sum);
    else
        store(y, row, alpha, sum, beta);
}

// Adds the entries outside the tiles.
extern "C" __global__ void __launch_bounds__(APART_BLOCK)
    tile_apart(unsigned nnz, unsigned interval, const unsigned *__restrict__ row_indices,
               const unsigned *__restrict__ column_indices, const value_t *__restrict__ values,
               const value_t *__restrict__ x, value_t *y, value_t alpha, value_t) {
    const Output<false> output = {after_earlier_kernels(y), alpha, 1};
    add_coordinates(nnz, interval, row_indices, column_indices, values, x, output);
}

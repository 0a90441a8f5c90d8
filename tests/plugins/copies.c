/* One product under several names, to see what a comparison says of methods that are known to be equal, or to differ by
 * a known part. `shared` reads the program's CSR arrays; `own` and `again` read copies of their own, made as methods
 * make their arrays; `slower-2` and `slower-5` are `own`, but each thread computes one in fifty, or in twenty, of its
 * rows twice. The second time comes in one piece at the end, when caches no longer hold most of it: a product takes 2
 * or 5 % longer, or less where a cache does. All run the same code. */
#include "spmv_method.h"

#include <string.h>

typedef struct {
    const spmv_ctx *ctx;
    spmv_csr csr; /* with the arrays that the product reads */
    int64_t one_in; /* of so many rows one is computed twice; 0: none */
    int64_t *bounds; /* the first row of each thread, and the end: equal shares of the nonzeros */
    /* The arguments of the product that runs now. */
    double alpha, beta;
    const double *x;
    double *y;
} state;

static int64_t offset(const state *s, int64_t row) { return ((const int32_t *)s->csr.row_offsets)[row]; }

static double product_of_row(const state *s, int64_t row) {
    const int32_t *columns = s->csr.column_indices;
    const double *values = s->csr.values, *x = s->x;
    double even = 0, odd = 0;
    int64_t k = offset(s, row), end = offset(s, row + 1);
    for (; k + 1 < end; k += 2) even += values[k] * x[columns[k]], odd += values[k + 1] * x[columns[k + 1]];
    return k < end ? even + odd + values[k] * x[columns[k]] : even + odd;
}

static void rows_of(void *argument, uint32_t rank) {
    const state *s = argument;
    const int64_t begin = s->bounds[rank], end = s->bounds[rank + 1];
    double *y = s->y;
    for (int64_t row = begin; row < end; row++) {
        double product = s->alpha * product_of_row(s, row);
        y[row] = s->beta == 0 ? product : product + s->beta * y[row];
    }
    const int64_t twice = s->one_in ? begin + (end - begin) / s->one_in : begin;
    double again = 0;
    for (int64_t row = begin; row < twice; row++) again += product_of_row(s, row);
    /* The compiler must not leave it out. */
    volatile double unused = again;
    (void)unused;
}

/* Replaces an array by a copy. */
static int copy(const spmv_ctx *ctx, const void **array, int64_t bytes) {
    void *own = ctx->allocate(ctx, (size_t)bytes + 8, 64);
    if (!own) return SPMV_ERROR;
    if (bytes) memcpy(own, *array, (size_t)bytes);
    *array = own;
    return SPMV_OK;
}

static int copy_all(const spmv_ctx *ctx, spmv_csr *csr) {
    return copy(ctx, &csr->row_offsets, 4 * (csr->rows + 1)) || copy(ctx, &csr->column_indices, 4 * csr->nnz) ||
           copy(ctx, &csr->values, 8 * csr->nnz);
}

/* Divides the rows among the threads. */
static void divide(state *s) {
    const int64_t threads = s->ctx->threads;
    for (int64_t rank = 0, row = 0; rank <= threads; rank++) {
        while (row < s->csr.rows && (rank == threads || offset(s, row) < s->csr.nnz * rank / threads)) row++;
        s->bounds[rank] = row;
    }
}

static int prepare(const spmv_ctx *ctx, const spmv_csr *csr, void **handle, int copies, int64_t one_in) {
    state *s = ctx->allocate(ctx, sizeof *s, 64);
    int64_t *bounds = ctx->allocate(ctx, (ctx->threads + 1) * sizeof *bounds, 64);
    if (!s || !bounds) return SPMV_ERROR;
    *s = (state){.ctx = ctx, .csr = *csr, .one_in = one_in, .bounds = bounds};
    if (copies && copy_all(ctx, &s->csr)) return SPMV_ERROR;
    divide(s);
    *handle = s;
    return SPMV_OK;
}

static int multiply(void *handle, double alpha, const void *x, double beta, void *y) {
    state *s = handle;
    s->alpha = alpha, s->beta = beta, s->x = x, s->y = y;
    return s->ctx->parallel(s->ctx, rows_of, s);
}

/* Only a method with copies releases the arrays. */
static void destroy(state *s, int copies) {
    const spmv_ctx *ctx = s->ctx;
    const void *arrays[] = {s->csr.row_offsets, s->csr.column_indices, s->csr.values};
    for (int i = 0; copies && i < 3; i++) ctx->release(ctx, (void *)arrays[i]);
    ctx->release(ctx, s->bounds);
    ctx->release(ctx, s);
}

#define METHODS(X)                                                                                                     \
    X(0, "shared", 0, 0) X(1, "own", 1, 0) X(2, "again", 1, 0) X(3, "slower-2", 1, 50) X(4, "slower-5", 1, 20)
#define FUNCTIONS(N, NAME, COPIES, ONE_IN)                                                                             \
    static int prepare##N(const spmv_ctx *ctx, const spmv_csr *csr, void **handle) {                                   \
        return prepare(ctx, csr, handle, COPIES, ONE_IN);                                                              \
    }                                                                                                                  \
    static void destroy##N(void *handle) { destroy(handle, COPIES); }
#define METHOD(N, NAME, COPIES, ONE_IN)                                                                                \
    {SPMV_ABI, sizeof(spmv_method), NAME, "1", "a test", "MIT", "a product of CSR, one of several equal ones",         \
     SPMV_F64 | (COPIES ? SPMV_CONVERSION : SPMV_INSPECTION), NULL, prepare##N, multiply, NULL, destroy##N},
METHODS(FUNCTIONS)
static const spmv_method methods[] = {METHODS(METHOD)};

const spmv_method *spmv_method_v1(unsigned index) {
    return index < sizeof methods / sizeof *methods ? &methods[index] : NULL;
}

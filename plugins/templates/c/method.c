/* The method @NAME@: the product row by row from CSR, with the rows divided among the threads. */
#include "spmv_method.h"

/* What `prepare` stores for `multiply`: one for each matrix. */
typedef struct {
    const spmv_ctx *ctx;
    const spmv_csr *csr;
    /* The arguments of the product that runs now. */
    double alpha, beta;
    const void *x;
    void *y;
} state;

/* Computes the rows of one thread, in each precision. With beta = 0, y is not read. */
#define ROWS(NAME, TYPE)                                                                                               \
    static void NAME(const state *s, int64_t begin, int64_t end) {                                                     \
        const int32_t *offsets = s->csr->row_offsets, *columns = s->csr->column_indices;                               \
        const TYPE *values = s->csr->values, *x = s->x;                                                                \
        const TYPE alpha = (TYPE)s->alpha, beta = (TYPE)s->beta;                                                       \
        TYPE *y = s->y;                                                                                                \
        for (int64_t row = begin; row < end; row++) {                                                                  \
            TYPE sum = 0;                                                                                              \
            for (int32_t k = offsets[row]; k < offsets[row + 1]; k++) sum += values[k] * x[columns[k]];                \
            y[row] = beta == 0 ? alpha * sum : alpha * sum + beta * y[row];                                            \
        }                                                                                                              \
    }
ROWS(rows_f64, double)
ROWS(rows_f32, float)

/* Runs on every thread. */
static void share(void *argument, uint32_t rank) {
    const state *s = argument;
    const int64_t rows = s->csr->rows, threads = s->ctx->threads;
    const int64_t begin = rows * rank / threads, end = rows * (rank + 1) / threads;
    if (s->csr->precision == SPMV_F64)
        rows_f64(s, begin, end);
    else
        rows_f32(s, begin, end);
}

static int prepare(const spmv_ctx *ctx, const spmv_csr *csr, void **handle) {
    state *s = ctx->allocate(ctx, sizeof *s, 64);
    if (!s) {
        ctx->explain(ctx, "there is not enough memory");
        return SPMV_ERROR;
    }
    s->ctx = ctx;
    s->csr = csr;
    *handle = s;
    return SPMV_OK;
}

static int multiply(void *handle, double alpha, const void *x, double beta, void *y) {
    state *s = handle;
    s->alpha = alpha;
    s->beta = beta;
    s->x = x;
    s->y = y;
    return s->ctx->parallel(s->ctx, share, s);
}

static void destroy(void *handle) {
    state *s = handle;
    s->ctx->release(s->ctx, s);
}

static const spmv_method method = {
    SPMV_ABI,
    sizeof(spmv_method),
    "@NAME@",              /* name */
    "0.1",                 /* version */
    "your paper",          /* source */
    NULL,                  /* license */
    "CSR row by row, the rows divided among the threads", /* summary */
    SPMV_F64 | SPMV_F32,   /* flags */
    NULL,                  /* parameters */
    prepare,
    multiply,
    NULL,                  /* info */
    destroy,
};

const spmv_method *spmv_method_v1(unsigned index) { return index == 0 ? &method : NULL; }

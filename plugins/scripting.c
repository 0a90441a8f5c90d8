/* What users of scripting languages get, as plain C: one thread, no conversion that they do not have themselves.
 *
 * `scipy-style` is the loop of SciPy's csr_matvec: it adds the product to a vector of zeros. `julia-style` is that of
 * Julia's SparseMatrixCSC (and of MATLAB, which also stores columns) for y <- alpha A x + beta y: it scales y, and then
 * adds each column. The conversion of CSR to columns counts as setup, although such users have columns already. */
#include "spmv_method.h"

#include <string.h>

typedef struct {
    const spmv_ctx *ctx;
    const spmv_csr *csr;
    /* The matrix by columns. */
    int32_t *offsets, *rows;
    void *values;
} state;

static void destroy(void *handle) {
    state *s = handle;
    s->ctx->release(s->ctx, s->offsets);
    s->ctx->release(s->ctx, s->rows);
    s->ctx->release(s->ctx, s->values);
    s->ctx->release(s->ctx, s);
}

static int prepare_rows(const spmv_ctx *ctx, const spmv_csr *csr, void **handle) {
    state *s = ctx->allocate(ctx, sizeof *s, 64);
    if (!s) return SPMV_ERROR;
    memset(s, 0, sizeof *s);
    s->ctx = ctx, s->csr = csr;
    *handle = s;
    return SPMV_OK;
}

static int prepare_columns(const spmv_ctx *ctx, const spmv_csr *csr, void **handle) {
    const int32_t *offsets = csr->row_offsets, *columns = csr->column_indices;
    const size_t value = csr->precision == SPMV_F64 ? sizeof(double) : sizeof(float), nnz = (size_t)csr->nnz;
    if (prepare_rows(ctx, csr, handle) != SPMV_OK) return SPMV_ERROR;
    state *s = *handle;
    s->offsets = ctx->allocate(ctx, ((size_t)csr->cols + 2) * sizeof(int32_t), 64);
    s->rows = ctx->allocate(ctx, nnz * sizeof(int32_t), 64);
    s->values = ctx->allocate(ctx, nnz * value, 64);
    if (!s->offsets || (nnz && (!s->rows || !s->values))) {
        destroy(s);
        return SPMV_ERROR;
    }
    /* offsets[c + 2] counts column c, so that after the sums offsets[c + 1] is where its next entry goes. */
    memset(s->offsets, 0, ((size_t)csr->cols + 2) * sizeof(int32_t));
    for (size_t k = 0; k < nnz; k++)
        if (columns[k] + 2 <= csr->cols) s->offsets[columns[k] + 2]++;
    for (int64_t c = 1; c <= csr->cols; c++) s->offsets[c] += s->offsets[c - 1];
    for (int64_t row = 0; row < csr->rows; row++)
        for (int32_t k = offsets[row]; k < offsets[row + 1]; k++) {
            const int32_t to = s->offsets[columns[k] + 1]++;
            s->rows[to] = (int32_t)row;
            memcpy((char *)s->values + (size_t)to * value, (const char *)csr->values + (size_t)k * value, value);
        }
    return SPMV_OK;
}

#define LOOPS(TYPE)                                                                                                    \
    static void rows_##TYPE(const state *s, TYPE alpha, const TYPE *x, TYPE beta, TYPE *y) {                           \
        const int32_t *offsets = s->csr->row_offsets, *columns = s->csr->column_indices;                               \
        const TYPE *values = s->csr->values;                                                                           \
        for (int64_t row = 0; row < s->csr->rows; row++) {                                                             \
            TYPE sum = 0;                                                                                              \
            for (int32_t k = offsets[row]; k < offsets[row + 1]; k++) sum += values[k] * x[columns[k]];                \
            y[row] = beta == 0 ? alpha * sum : alpha * sum + beta * y[row];                                            \
        }                                                                                                              \
    }                                                                                                                  \
    static void columns_##TYPE(const state *s, TYPE alpha, const TYPE *x, TYPE beta, TYPE *y) {                        \
        const TYPE *values = s->values;                                                                                \
        for (int64_t row = 0; row < s->csr->rows; row++) y[row] = beta == 0 ? 0 : beta * y[row];                       \
        for (int64_t c = 0; c < s->csr->cols; c++) {                                                                   \
            const TYPE factor = alpha * x[c];                                                                          \
            for (int32_t k = s->offsets[c]; k < s->offsets[c + 1]; k++) y[s->rows[k]] += values[k] * factor;           \
        }                                                                                                              \
    }
LOOPS(double)
LOOPS(float)

static int multiply(void *handle, double alpha, const void *x, double beta, void *y) {
    const state *s = handle;
    if (s->csr->precision == SPMV_F64)
        (s->offsets ? columns_double : rows_double)(s, alpha, x, beta, y);
    else
        (s->offsets ? columns_float : rows_float)(s, (float)alpha, x, (float)beta, y);
    return SPMV_OK;
}

#define METHOD(NAME, SOURCE, SUMMARY, FLAGS, PREPARE)                                                                  \
    {SPMV_ABI, sizeof(spmv_method), NAME, NULL, SOURCE, NULL, SUMMARY, SPMV_F64 | SPMV_F32 | SPMV_SEQUENTIAL | FLAGS,  \
     NULL, PREPARE, multiply, NULL, destroy}
static const spmv_method methods[] = {
    METHOD("scipy-style", "the loop of SciPy's csr_matvec, written anew", "CSR on one thread, as in SciPy", 0,
           prepare_rows),
    METHOD("julia-style", "the loop of Julia's SparseMatrixCSC, written anew",
           "columns on one thread, as in Julia and MATLAB", SPMV_CONVERSION, prepare_columns),
};

const spmv_method *spmv_method_v1(unsigned index) {
    return index < sizeof methods / sizeof *methods ? &methods[index] : NULL;
}

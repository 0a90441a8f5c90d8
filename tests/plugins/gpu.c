/* A method for a GPU whose memory is that of the host, as that of the driver in tests/cuda/driver.c: the product runs
 * when it is enqueued. The second method asks for an alignment that a driver does not guarantee. */
#include "spmv_method.h"

#include <string.h>

typedef struct {
    const spmv_ctx *ctx;
    const spmv_csr *csr;
    int32_t *row_offsets; /* a copy in the memory of the GPU */
} state;

static state only;

static void destroy(void *handle) {
    state *s = handle;
    s->ctx->release(s->ctx, s->row_offsets);
}

static int prepare(const spmv_ctx *ctx, const spmv_csr *csr, void **handle) {
    const size_t bytes = ((size_t)csr->rows + 1) * sizeof(int32_t);
    if (!ctx->stream || ctx->threads != 1 || ctx->cpus) {
        ctx->explain(ctx, "the context is not that of a GPU");
        return SPMV_ERROR;
    }
    only = (state){ctx, csr, ctx->allocate(ctx, bytes, 256)};
    if (!only.row_offsets) return SPMV_ERROR;
    memcpy(only.row_offsets, csr->row_offsets, bytes);
    *handle = &only;
    return SPMV_OK;
}

static int prepare_misaligned(const spmv_ctx *ctx, const spmv_csr *csr, void **handle) {
    (void)csr, (void)handle;
    ctx->allocate(ctx, 8, 512);
    return SPMV_OK;
}

static int multiply(void *handle, double alpha, const void *x, double beta, void *y) {
    const state *s = handle;
    const int32_t *columns = s->csr->column_indices;
    const double *values = s->csr->values, *from = x;
    double *to = y;
    for (int64_t row = 0; row < s->csr->rows; row++) {
        double sum = 0;
        for (int32_t k = s->row_offsets[row]; k < s->row_offsets[row + 1]; k++) sum += values[k] * from[columns[k]];
        to[row] = alpha * sum + (beta == 0 ? 0 : beta * to[row]);
    }
    return SPMV_OK;
}

static const spmv_method methods[] = {
    {SPMV_ABI, sizeof(spmv_method), "on-gpu", NULL, "a test", NULL, "a test", SPMV_F64 | SPMV_GPU | SPMV_INSPECTION,
     NULL, prepare, multiply, NULL, destroy},
    {SPMV_ABI, sizeof(spmv_method), "misaligned", NULL, "a test", NULL, "a test", SPMV_F64 | SPMV_GPU, NULL,
     prepare_misaligned, multiply, NULL, NULL},
};

const spmv_method *spmv_method_v1(unsigned index) {
    return index < sizeof methods / sizeof *methods ? &methods[index] : NULL;
}

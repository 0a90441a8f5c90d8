/* SuiteSparse:GraphBLAS: GrB_mxv with the semiring (+, ×). The matrix is copied into the library's CSR with 64-bit
 * indices, which is setup. x and y are lent to the library for each product, without a copy unless alpha is not 1. */
#include "threads.h"

#include <GraphBLAS.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const spmv_ctx *ctx;
    GrB_Matrix matrix;
    GrB_Vector x, y;
    GrB_Semiring semiring;
    GrB_BinaryOp plus;
    GrB_Descriptor descriptor;
    int64_t inputs, outputs, bytes;
    int is_f64;
    void *scaled;
} state;

static int failed(const spmv_ctx *ctx, const char *call, GrB_Info result) {
    char text[100];
    snprintf(text, sizeof text, "%s returned %d", call, (int)result);
    ctx->explain(ctx, text);
    return SPMV_ERROR;
}

static void destroy(void *handle) {
    state *s = handle;
    GrB_free(&s->matrix);
    GrB_free(&s->x);
    GrB_free(&s->y);
    s->ctx->release(s->ctx, s->scaled);
    s->ctx->release(s->ctx, s);
}

/* Copies the matrix; the library takes the copies over. */
static GrB_Info copy(state *s, const spmv_csr *csr, GrB_Type type) {
    const size_t value = s->is_f64 ? sizeof(double) : sizeof(float);
    const size_t offsets = ((size_t)csr->rows + 1) * sizeof(GrB_Index), columns = (size_t)csr->nnz * sizeof(GrB_Index);
    GrB_Index *p = malloc(offsets), *j = malloc(columns + 8);
    void *values = malloc((size_t)csr->nnz * value + 8);
    GrB_Info result = p && j && values ? GrB_SUCCESS : GrB_OUT_OF_MEMORY;
    if (result == GrB_SUCCESS) {
        for (int64_t k = 0; k <= csr->rows; k++) p[k] = (GrB_Index)((const int32_t *)csr->row_offsets)[k];
        for (int64_t k = 0; k < csr->nnz; k++) j[k] = (GrB_Index)((const int32_t *)csr->column_indices)[k];
        memcpy(values, csr->values, (size_t)csr->nnz * value);
        result = GrB_Matrix_new(&s->matrix, type, (GrB_Index)csr->rows, (GrB_Index)csr->cols);
    }
    if (result == GrB_SUCCESS)
        result = GxB_Matrix_pack_CSR(s->matrix, &p, &j, &values, offsets, columns + 8, (size_t)csr->nnz * value + 8,
                                     false, false, NULL);
    free(p), free(j), free(values);
    s->bytes = (int64_t)(offsets + columns + (size_t)csr->nnz * value);
    return result;
}

static int prepare(const spmv_ctx *ctx, const spmv_csr *csr, void **handle) {
    static int initialised;
    if (csr->rows == 0 || csr->cols == 0) {
        ctx->explain(ctx, "GraphBLAS takes no matrix without rows or columns");
        return SPMV_UNSUITABLE;
    }
    if (!initialised && GrB_init(GrB_NONBLOCKING) != GrB_SUCCESS) return SPMV_ERROR;
    initialised = 1;
    bind_threads(ctx);
    GxB_set(GxB_NTHREADS, (int)ctx->threads);
    state *s = ctx->allocate(ctx, sizeof *s, 64);
    if (!s) return SPMV_ERROR;
    memset(s, 0, sizeof *s);
    s->ctx = ctx;
    s->is_f64 = csr->precision == SPMV_F64;
    s->inputs = ctx->transpose ? csr->rows : csr->cols;
    s->outputs = ctx->transpose ? csr->cols : csr->rows;
    s->semiring = s->is_f64 ? GrB_PLUS_TIMES_SEMIRING_FP64 : GrB_PLUS_TIMES_SEMIRING_FP32;
    s->plus = s->is_f64 ? GrB_PLUS_FP64 : GrB_PLUS_FP32;
    s->descriptor = ctx->transpose ? GrB_DESC_T0 : NULL;
    const GrB_Type type = s->is_f64 ? GrB_FP64 : GrB_FP32;
    GrB_Info result = copy(s, csr, type);
    if (result == GrB_SUCCESS) result = GrB_Vector_new(&s->x, type, (GrB_Index)s->inputs);
    if (result == GrB_SUCCESS) result = GrB_Vector_new(&s->y, type, (GrB_Index)s->outputs);
    if (ctx->alpha != 1) {
        s->scaled = ctx->allocate(ctx, (size_t)s->inputs * 8, 64);
        if (!s->scaled) result = GrB_OUT_OF_MEMORY;
    }
    if (result != GrB_SUCCESS) {
        destroy(s);
        return failed(ctx, "the conversion", result);
    }
    *handle = s;
    return SPMV_OK;
}

/* Stores factor * from in to, on all threads unless their start takes longer. With a factor of 0, from is not read. */
static void scale(const state *s, double factor, const void *from, void *to, int64_t count) {
#pragma omp parallel for if (count > 8192)
    for (int64_t k = 0; k < count; k++) {
        if (s->is_f64)
            ((double *)to)[k] = factor == 0 ? 0 : factor * ((const double *)from)[k];
        else
            ((float *)to)[k] = factor == 0 ? 0 : (float)factor * ((const float *)from)[k];
    }
}

/* y is lent as a full vector that contains beta y, to which the product is added. */
static int multiply(void *handle, double alpha, const void *x, double beta, void *y) {
    state *s = handle;
    const size_t value = s->is_f64 ? sizeof(double) : sizeof(float);
    const size_t x_bytes = (size_t)s->inputs * value, y_bytes = (size_t)s->outputs * value;
    void *from = (void *)x, *to = y;
    if (alpha != 1) scale(s, alpha, x, from = s->scaled, s->inputs);
    if (beta != 1) scale(s, beta, y, y, s->outputs);
    GrB_Info result = GxB_Vector_pack_Full(s->x, &from, x_bytes, false, NULL);
    if (result == GrB_SUCCESS) result = GxB_Vector_pack_Full(s->y, &to, y_bytes, false, NULL);
    if (result == GrB_SUCCESS) result = GrB_mxv(s->y, NULL, s->plus, s->semiring, s->matrix, s->x, s->descriptor);
    if (result == GrB_SUCCESS) result = GrB_wait(s->y, GrB_MATERIALIZE);
    bool iso;
    GrB_Index size;
    GxB_Vector_unpack_Full(s->x, &from, &size, &iso, NULL);
    const GrB_Info back = GxB_Vector_unpack_Full(s->y, &to, &size, &iso, NULL);
    if (result != GrB_SUCCESS || back != GrB_SUCCESS) return failed(s->ctx, "GrB_mxv", result ? result : back);
    if (to != y) memcpy(y, to, y_bytes), free(to);
    return SPMV_OK;
}

static int info(void *handle, spmv_info *info) {
    const state *s = handle;
    static char version[60];
    snprintf(version, sizeof version, "SuiteSparse:GraphBLAS %d.%d.%d", GxB_IMPLEMENTATION_MAJOR,
             GxB_IMPLEMENTATION_MINOR, GxB_IMPLEMENTATION_SUB);
    info->library = version;
    info->extra_bytes = s->bytes;
    return SPMV_OK;
}

static const spmv_method method = {SPMV_ABI,
                                   sizeof(spmv_method),
                                   "graphblas",
                                   NULL,
                                   "SuiteSparse:GraphBLAS, GrB_mxv",
                                   "Apache-2.0",
                                   "GrB_mxv over plus and times, after a copy with 64-bit indices",
                                   SPMV_F64 | SPMV_F32 | SPMV_TRANSPOSED | SPMV_CONVERSION,
                                   NULL,
                                   prepare,
                                   multiply,
                                   info,
                                   destroy};

const spmv_method *spmv_method_v1(unsigned index) { return index == 0 ? &method : NULL; }

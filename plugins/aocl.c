/* AMD AOCL-Sparse, version 5 or newer: aoclsparse_smv and aoclsparse_dmv. `aocl` is a view of the CSR arrays, which
 * version 5.3.0 multiplies on one thread if rows are long. `aocl-opt` also gives the library the number of products as
 * a hint and lets it choose a format, which is setup. With padded formats, NaN or infinity in x reaches other rows,
 * too. */
#include "threads.h"

#include <aoclsparse.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    const spmv_ctx *ctx;
    aoclsparse_matrix matrix;
    aoclsparse_mat_descr descriptor;
    aoclsparse_operation operation;
    int is_f64, optimised;
} state;

static int failed(const spmv_ctx *ctx, const char *call, aoclsparse_status status) {
    char text[100];
    snprintf(text, sizeof text, "%s returned %d", call, (int)status);
    ctx->explain(ctx, text);
    return SPMV_ERROR;
}

static void destroy(void *handle) {
    state *s = handle;
    if (s->matrix) aoclsparse_destroy(&s->matrix);
    if (s->descriptor) aoclsparse_destroy_mat_descr(s->descriptor);
    free(s);
}

static aoclsparse_status create(state *s, const spmv_csr *csr) {
    const aoclsparse_int rows = (aoclsparse_int)csr->rows, cols = (aoclsparse_int)csr->cols;
    const aoclsparse_int nnz = (aoclsparse_int)csr->nnz;
    aoclsparse_int *offsets = (aoclsparse_int *)csr->row_offsets, *columns = (aoclsparse_int *)csr->column_indices;
    aoclsparse_status status = aoclsparse_create_mat_descr(&s->descriptor);
    if (status != aoclsparse_status_success) return status;
    if (s->is_f64)
        return aoclsparse_create_dcsr(&s->matrix, aoclsparse_index_base_zero, rows, cols, nnz, offsets, columns,
                                      (double *)csr->values);
    return aoclsparse_create_scsr(&s->matrix, aoclsparse_index_base_zero, rows, cols, nnz, offsets, columns,
                                  (float *)csr->values);
}

static aoclsparse_status optimise(const state *s) {
    const int64_t products = s->ctx->expected_products;
    const aoclsparse_int calls = products < 1 ? 1 : products > INT32_MAX ? INT32_MAX : (aoclsparse_int)products;
    const aoclsparse_status status = aoclsparse_set_mv_hint(s->matrix, s->operation, s->descriptor, calls);
    return status == aoclsparse_status_success ? aoclsparse_optimize(s->matrix) : status;
}

static int prepare(const spmv_ctx *ctx, const spmv_csr *csr, void **handle, int optimised) {
    _Static_assert(sizeof(aoclsparse_int) == 4, "AOCL-Sparse with 32-bit indices (LP64) is needed");
    /* Without this, the library uses no more threads than there are CPUs for the calling thread, which is bound. */
    char threads[12];
    snprintf(threads, sizeof threads, "%u", ctx->threads);
    setenv("AOCLSPARSE_NUM_THREADS", threads, 1);
    bind_threads(ctx);
    state *s = calloc(1, sizeof *s);
    if (!s) return SPMV_ERROR;
    s->ctx = ctx;
    s->is_f64 = csr->precision == SPMV_F64;
    s->optimised = optimised;
    s->operation = ctx->transpose ? aoclsparse_operation_transpose : aoclsparse_operation_none;
    aoclsparse_status status = create(s, csr);
    if (status == aoclsparse_status_success && optimised) status = optimise(s);
    if (status != aoclsparse_status_success) {
        destroy(s);
        return failed(ctx, "the preparation by AOCL-Sparse", status);
    }
    *handle = s;
    return SPMV_OK;
}

static int prepare_plain(const spmv_ctx *ctx, const spmv_csr *csr, void **handle) {
    return prepare(ctx, csr, handle, 0);
}

static int prepare_optimised(const spmv_ctx *ctx, const spmv_csr *csr, void **handle) {
    return prepare(ctx, csr, handle, 1);
}

static int multiply(void *handle, double alpha, const void *x, double beta, void *y) {
    const state *s = handle;
    const float alpha_f32 = (float)alpha, beta_f32 = (float)beta;
    const aoclsparse_status status =
        s->is_f64 ? aoclsparse_dmv(s->operation, &alpha, s->matrix, s->descriptor, x, &beta, y)
                  : aoclsparse_smv(s->operation, &alpha_f32, s->matrix, s->descriptor, x, &beta_f32, y);
    return status == aoclsparse_status_success ? SPMV_OK : failed(s->ctx, "aoclsparse_mv", status);
}

/* The size of the optimised form is not known. */
static int info(void *handle, spmv_info *info) {
    info->library = aoclsparse_get_version();
    if (!((const state *)handle)->optimised) info->extra_bytes = 0;
    return SPMV_OK;
}

#define METHOD(NAME, SUMMARY, SETUP, PREPARE)                                                                          \
    {SPMV_ABI, sizeof(spmv_method), NAME, NULL, "AMD AOCL-Sparse, aoclsparse_dmv", "MIT", SUMMARY,                     \
     SPMV_F64 | SPMV_F32 | SPMV_TRANSPOSED | SETUP, NULL, PREPARE, multiply, info, destroy}
static const spmv_method methods[] = {
    METHOD("aocl", "AOCL-Sparse on a view of CSR", 0, prepare_plain),
    METHOD("aocl-opt", "AOCL-Sparse after aoclsparse_optimize", SPMV_CONVERSION, prepare_optimised),
};

const spmv_method *spmv_method_v1(unsigned index) {
    return index < sizeof methods / sizeof *methods ? &methods[index] : NULL;
}

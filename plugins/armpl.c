/* Arm Performance Libraries: armpl_spmv_exec. `armpl` reads the CSR arrays in place. `armpl-opt` lets the library copy
 * them, says that many products follow, and calls armpl_spmv_optimize, which is setup. */
#include "threads.h"

#include <armpl.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    const spmv_ctx *ctx;
    armpl_spmat_t matrix;
    enum armpl_sparse_hint_value operation;
    int is_f64, optimised;
} state;

static int failed(const spmv_ctx *ctx, const char *call, armpl_status_t status) {
    char text[100];
    snprintf(text, sizeof text, "%s returned %d", call, (int)status);
    ctx->explain(ctx, text);
    return SPMV_ERROR;
}

static void destroy(void *handle) {
    state *s = handle;
    if (s->matrix) armpl_spmat_destroy(s->matrix);
    free(s);
}

static armpl_status_t create(state *s, const spmv_csr *csr) {
    const armpl_int_t rows = (armpl_int_t)csr->rows, cols = (armpl_int_t)csr->cols;
    const armpl_int_t *offsets = csr->row_offsets, *columns = csr->column_indices;
    const armpl_int_t flags = s->optimised ? 0 : ARMPL_SPARSE_CREATE_NOCOPY;
    if (s->is_f64) return armpl_spmat_create_csr_d(&s->matrix, rows, cols, offsets, columns, csr->values, flags);
    return armpl_spmat_create_csr_s(&s->matrix, rows, cols, offsets, columns, csr->values, flags);
}

static armpl_status_t optimise(const state *s) {
    armpl_status_t status = armpl_spmat_hint(s->matrix, ARMPL_SPARSE_HINT_SPMV_OPERATION, s->operation);
    if (status == ARMPL_STATUS_SUCCESS)
        status = armpl_spmat_hint(s->matrix, ARMPL_SPARSE_HINT_SPMV_INVOCATIONS, ARMPL_SPARSE_INVOCATIONS_MANY);
    return status == ARMPL_STATUS_SUCCESS ? armpl_spmv_optimize(s->matrix) : status;
}

static int prepare(const spmv_ctx *ctx, const spmv_csr *csr, void **handle, int optimised) {
    _Static_assert(sizeof(armpl_int_t) == 4, "Arm Performance Libraries with 32-bit integers (LP64) are needed");
    bind_threads(ctx);
    state *s = calloc(1, sizeof *s);
    if (!s) return SPMV_ERROR;
    s->ctx = ctx;
    s->is_f64 = csr->precision == SPMV_F64;
    s->optimised = optimised;
    s->operation = ctx->transpose ? ARMPL_SPARSE_OPERATION_TRANS : ARMPL_SPARSE_OPERATION_NOTRANS;
    armpl_status_t status = create(s, csr);
    if (status == ARMPL_STATUS_SUCCESS && optimised) status = optimise(s);
    if (status != ARMPL_STATUS_SUCCESS) {
        destroy(s);
        return failed(ctx, "the preparation by Arm Performance Libraries", status);
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
    const armpl_status_t status =
        s->is_f64 ? armpl_spmv_exec_d(s->operation, alpha, s->matrix, x, beta, y)
                  : armpl_spmv_exec_s(s->operation, (float)alpha, s->matrix, x, (float)beta, y);
    return status == ARMPL_STATUS_SUCCESS ? SPMV_OK : failed(s->ctx, "armpl_spmv_exec", status);
}

/* The size of the optimised form is not known. */
static int info(void *handle, spmv_info *info) {
    static char version[100];
    armpl_int_t major, minor, patch;
    const char *tag;
    armplversion(&major, &minor, &patch, &tag);
    snprintf(version, sizeof version, "Arm Performance Libraries %d.%d.%d", (int)major, (int)minor, (int)patch);
    info->library = version;
    if (!((const state *)handle)->optimised) info->extra_bytes = 0;
    return SPMV_OK;
}

#define METHOD(NAME, SUMMARY, SETUP, PREPARE)                                                                          \
    {SPMV_ABI, sizeof(spmv_method), NAME, NULL, "Arm Performance Libraries, armpl_spmv_exec", NULL, SUMMARY,           \
     SPMV_F64 | SPMV_F32 | SPMV_TRANSPOSED | SETUP, NULL, PREPARE, multiply, info, destroy}
static const spmv_method methods[] = {
    METHOD("armpl", "Arm Performance Libraries on the CSR arrays", 0, prepare_plain),
    METHOD("armpl-opt", "Arm Performance Libraries after armpl_spmv_optimize", SPMV_CONVERSION, prepare_optimised),
};

const spmv_method *spmv_method_v1(unsigned index) {
    return index < sizeof methods / sizeof *methods ? &methods[index] : NULL;
}

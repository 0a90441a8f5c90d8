/* librsb: recursive sparse blocks. The conversion from CSR is setup. `librsb-tuned` also lets the library search for
 * the best blocking with rsb_tune_spmm, which is setup as well. */
#include "threads.h"

#include <rsb.h>

typedef struct {
    const spmv_ctx *ctx;
    struct rsb_mtx_t *matrix;
    rsb_trans_t transpose;
    size_t value, bytes;
} state;

static int failed(const spmv_ctx *ctx, rsb_err_t error) {
    char text[200] = "";
    rsb_strerror_r(error, text, sizeof text);
    ctx->explain(ctx, text);
    return SPMV_ERROR;
}

static int prepare(const spmv_ctx *ctx, const spmv_csr *csr, void **handle, int tuned) {
    static int initialised;
    rsb_err_t error = RSB_ERR_NO_ERROR;
    if (csr->rows == 0 || csr->cols == 0 || csr->nnz == 0) {
        ctx->explain(ctx, "librsb takes no matrix without rows, columns or nonzeros");
        return SPMV_UNSUITABLE;
    }
    if (!initialised && (error = rsb_lib_init(RSB_NULL_INIT_OPTIONS)) != RSB_ERR_NO_ERROR) return failed(ctx, error);
    initialised = 1;
    bind_threads(ctx);
    const rsb_int_t threads = (rsb_int_t)ctx->threads;
    rsb_lib_set_opt(RSB_IO_WANT_EXECUTING_THREADS, &threads);

    const rsb_type_t type = csr->precision == SPMV_F64 ? RSB_NUMERICAL_TYPE_DOUBLE : RSB_NUMERICAL_TYPE_FLOAT;
    state *s = ctx->allocate(ctx, sizeof *s, 64);
    if (!s) return SPMV_ERROR;
    *s = (state){.ctx = ctx};
    s->transpose = ctx->transpose ? RSB_TRANSPOSITION_T : RSB_TRANSPOSITION_N;
    s->value = csr->precision == SPMV_F64 ? sizeof(double) : sizeof(float);
    s->matrix = rsb_mtx_alloc_from_csr_const(csr->values, csr->row_offsets, csr->column_indices,
                                             (rsb_nnz_idx_t)csr->nnz, type,
                                             (rsb_coo_idx_t)csr->rows, (rsb_coo_idx_t)csr->cols,
                                             RSB_DEFAULT_ROW_BLOCKING, RSB_DEFAULT_COL_BLOCKING,
                                             RSB_FLAG_NOFLAGS, &error);
    if (!s->matrix) {
        ctx->release(ctx, s);
        return failed(ctx, error);
    }
    if (tuned) {
        /* At most a second for each attempt; the same factors as in the products. */
        error = rsb_tune_spmm(&s->matrix, NULL, NULL, 1, 1.0, s->transpose, NULL, NULL, 1,
                              RSB_FLAG_WANT_COLUMN_MAJOR_ORDER, NULL, 0, NULL, NULL, 0);
        if (error != RSB_ERR_NO_ERROR) {
            rsb_mtx_free(s->matrix);
            ctx->release(ctx, s);
            return failed(ctx, error);
        }
    }
    size_t index = 0;
    rsb_mtx_get_info(s->matrix, RSB_MIF_INDEX_STORAGE_IN_BYTES__TO__SIZE_T, &index);
    s->bytes = index + (size_t)csr->nnz * s->value;
    *handle = s;
    return SPMV_OK;
}

static int prepare_plain(const spmv_ctx *ctx, const spmv_csr *csr, void **handle) {
    return prepare(ctx, csr, handle, 0);
}

static int prepare_tuned(const spmv_ctx *ctx, const spmv_csr *csr, void **handle) {
    return prepare(ctx, csr, handle, 1);
}

static int multiply(void *handle, double alpha, const void *x, double beta, void *y) {
    state *s = handle;
    const float narrow[2] = {(float)alpha, (float)beta};
    const double wide[2] = {alpha, beta};
    const char *factors = s->value == sizeof(double) ? (const char *)wide : (const char *)narrow;
    const rsb_err_t error = rsb_spmv(s->transpose, factors, s->matrix, x, 1, factors + s->value, y, 1);
    return error == RSB_ERR_NO_ERROR ? SPMV_OK : failed(s->ctx, error);
}

static int info(void *handle, spmv_info *info) {
    const state *s = handle;
    info->library = RSB_HEADER_VERSION_STRING;
    info->extra_bytes = (int64_t)s->bytes;
    return SPMV_OK;
}

static void destroy(void *handle) {
    state *s = handle;
    rsb_mtx_free(s->matrix);
    s->ctx->release(s->ctx, s);
}

#define METHOD(NAME, SUMMARY, PREPARE)                                                                                 \
    {SPMV_ABI, sizeof(spmv_method), NAME, NULL, "librsb, rsb_spmv", "LGPL-3.0-or-later", SUMMARY,                      \
     SPMV_F64 | SPMV_F32 | SPMV_TRANSPOSED | SPMV_CONVERSION, NULL, PREPARE, multiply, info, destroy}
static const spmv_method methods[] = {
    METHOD("librsb", "librsb's recursive sparse blocks", prepare_plain),
    METHOD("librsb-tuned", "librsb after rsb_tune_spmm, which counts as setup", prepare_tuned),
};

const spmv_method *spmv_method_v1(unsigned index) {
    return index < sizeof methods / sizeof *methods ? &methods[index] : NULL;
}

/* A method as a library with OpenMP has it: a loop over rows on the threads that OpenMP gives. */
#include "spmv_method.h"

#include <omp.h>
#include <stdlib.h>

/* The variables as they are when the plug-in is opened, with the library of OpenMP. */
static char policy[64];

__attribute__((constructor)) static void begin(void) {
    const char *value = getenv("OMP_WAIT_POLICY");
    for (int i = 0; value && value[i] && i < 63; i++) policy[i] = value[i];
}

static int prepare(const spmv_ctx *ctx, const spmv_csr *csr, void **handle) {
    omp_set_num_threads((int)ctx->threads);
    *handle = (void *)csr;
    return SPMV_OK;
}

static int multiply(void *handle, double alpha, const void *x, double beta, void *y) {
    const spmv_csr *csr = handle;
    const int32_t *offsets = csr->row_offsets, *columns = csr->column_indices;
    const double *values = csr->values, *from = x;
    double *to = y;
#pragma omp parallel for schedule(static)
    for (int64_t row = 0; row < csr->rows; row++) {
        double sum = 0;
        for (int32_t k = offsets[row]; k < offsets[row + 1]; k++) sum += values[k] * from[columns[k]];
        to[row] = alpha * sum + (beta != 0 ? beta * to[row] : 0);
    }
    return SPMV_OK;
}

static int inform(void *handle, spmv_info *info) {
    (void)handle;
    info->note = policy[0] ? policy : "no policy";
    return SPMV_OK;
}

static void destroy(void *handle) { (void)handle; }

static const spmv_method method = {
    SPMV_ABI, sizeof(spmv_method), "loop", "1",     "a test", NULL,    "rows in a loop of OpenMP",
    SPMV_F64, NULL,                prepare, multiply, inform,   destroy,
};

const spmv_method *spmv_method_v1(unsigned index) { return index == 0 ? &method : NULL; }

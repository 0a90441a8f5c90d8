/* The functions of armpl.h with plain loops, which return the documented errors. */
#include "armpl.h"

#include <stdlib.h>
#include <string.h>

struct armpl_spmat_top_t {
    armpl_int_t m, n, *row_ptr, *col_indx;
    void *vals;
    int is_f64, copied;
};

void armplversion(armpl_int_t *major, armpl_int_t *minor, armpl_int_t *patch, const char **tag) {
    *major = *minor = *patch = 0;
    *tag = "stub";
}

armpl_status_t armpl_spmat_hint(armpl_spmat_t A, enum armpl_sparse_hint_type hint, enum armpl_sparse_hint_value value) {
    const int agrees = (hint == ARMPL_SPARSE_HINT_SPMV_INVOCATIONS) == (value == ARMPL_SPARSE_INVOCATIONS_MANY);
    return A && agrees ? ARMPL_STATUS_SUCCESS : ARMPL_STATUS_INPUT_PARAMETER_ERROR;
}

armpl_status_t armpl_spmv_optimize(armpl_spmat_t A) {
    return A ? ARMPL_STATUS_SUCCESS : ARMPL_STATUS_INPUT_PARAMETER_ERROR;
}

armpl_status_t armpl_spmat_destroy(armpl_spmat_t A) {
    if (!A) return ARMPL_STATUS_INPUT_PARAMETER_ERROR;
    if (A->copied) free(A->row_ptr), free(A->col_indx), free(A->vals);
    free(A);
    return ARMPL_STATUS_SUCCESS;
}

/* Returns the array, or a copy of it. */
static void *kept(const void *array, size_t bytes, int copied) {
    return copied ? memcpy(malloc(bytes + 1), array, bytes) : (void *)array;
}

#define FUNCTIONS(SUFFIX, TYPE, IS_F64)                                                                                \
    armpl_status_t armpl_spmat_create_csr_##SUFFIX(armpl_spmat_t *A, armpl_int_t m, armpl_int_t n,                     \
                                                   const armpl_int_t *row_ptr, const armpl_int_t *col_indx,            \
                                                   const TYPE *vals, armpl_int_t flags) {                              \
        const size_t nnz = (size_t)row_ptr[m], size = sizeof(armpl_int_t);                                             \
        const int copied = !(flags & ARMPL_SPARSE_CREATE_NOCOPY);                                                      \
        *A = malloc(sizeof **A);                                                                                       \
        **A = (struct armpl_spmat_top_t){m, n, kept(row_ptr, ((size_t)m + 1) * size, copied),                          \
                                         kept(col_indx, nnz * size, copied), kept(vals, nnz * sizeof *vals, copied),   \
                                         IS_F64, copied};                                                              \
        return ARMPL_STATUS_SUCCESS;                                                                                   \
    }                                                                                                                  \
    armpl_status_t armpl_spmv_exec_##SUFFIX(enum armpl_sparse_hint_value trans, TYPE alpha, armpl_spmat_t A,           \
                                            const TYPE *x, TYPE beta, TYPE *y) {                                       \
        const int transposed = trans == ARMPL_SPARSE_OPERATION_TRANS;                                                  \
        if (!A || A->is_f64 != IS_F64) return ARMPL_STATUS_INPUT_PARAMETER_ERROR;                                      \
        const TYPE *vals = A->vals;                                                                                    \
        const armpl_int_t outputs = transposed ? A->n : A->m;                                                          \
        for (armpl_int_t k = 0; k < outputs; k++) y[k] = beta == 0 ? 0 : beta * y[k];                                  \
        _Pragma("omp parallel for if (!transposed && A->m > 1000)")                                                    \
        for (armpl_int_t row = 0; row < A->m; row++) {                                                                 \
            TYPE sum = 0;                                                                                              \
            for (armpl_int_t k = A->row_ptr[row]; k < A->row_ptr[row + 1]; k++)                                        \
                if (transposed)                                                                                        \
                    y[A->col_indx[k]] += alpha * vals[k] * x[row];                                                     \
                else                                                                                                   \
                    sum += vals[k] * x[A->col_indx[k]];                                                                \
            if (!transposed) y[row] += alpha * sum;                                                                    \
        }                                                                                                              \
        return ARMPL_STATUS_SUCCESS;                                                                                   \
    }
FUNCTIONS(s, float, 0)
FUNCTIONS(d, double, 1)

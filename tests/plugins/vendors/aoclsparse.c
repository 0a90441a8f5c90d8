/* The functions of aoclsparse.h with plain loops, which return the documented errors. */
#include "aoclsparse.h"

#include <stdlib.h>

struct _aoclsparse_mat_descr {
    int unused;
};
struct _aoclsparse_matrix {
    aoclsparse_int m, n, *row_ptr, *col_idx;
    void *val;
    int is_f64, hinted;
};

const char *aoclsparse_get_version(void) { return "AOCL-Sparse stub"; }

aoclsparse_status aoclsparse_create_mat_descr(aoclsparse_mat_descr *descr) {
    if (!descr) return aoclsparse_status_invalid_pointer;
    *descr = calloc(1, sizeof **descr);
    return aoclsparse_status_success;
}

aoclsparse_status aoclsparse_destroy_mat_descr(aoclsparse_mat_descr descr) {
    free(descr);
    return aoclsparse_status_success;
}

aoclsparse_status aoclsparse_destroy(aoclsparse_matrix *mat) {
    if (!mat) return aoclsparse_status_invalid_pointer;
    free(*mat);
    *mat = NULL;
    return aoclsparse_status_success;
}

aoclsparse_status aoclsparse_set_mv_hint(aoclsparse_matrix mat, aoclsparse_operation trans,
                                         const aoclsparse_mat_descr descr, aoclsparse_int expected_no_of_calls) {
    if (!mat || !descr) return aoclsparse_status_invalid_pointer;
    if (expected_no_of_calls <= 0 || trans < aoclsparse_operation_none) return aoclsparse_status_invalid_value;
    mat->hinted = 1;
    return aoclsparse_status_success;
}

aoclsparse_status aoclsparse_optimize(aoclsparse_matrix mat) {
    if (!mat) return aoclsparse_status_invalid_pointer;
    return mat->hinted ? aoclsparse_status_success : aoclsparse_status_invalid_value;
}

#define FUNCTIONS(PREFIX, TYPE, IS_F64)                                                                                \
    aoclsparse_status aoclsparse_create_##PREFIX##csr(                                                                 \
        aoclsparse_matrix *mat, aoclsparse_index_base base, aoclsparse_int m, aoclsparse_int n, aoclsparse_int nnz,    \
        aoclsparse_int *row_ptr, aoclsparse_int *col_idx, TYPE *val) {                                                 \
        if (!mat || !row_ptr || !col_idx || !val) return aoclsparse_status_invalid_pointer;                            \
        if (base != aoclsparse_index_base_zero || row_ptr[m] != nnz) return aoclsparse_status_invalid_value;           \
        *mat = malloc(sizeof **mat);                                                                                   \
        **mat = (struct _aoclsparse_matrix){m, n, row_ptr, col_idx, val, IS_F64, 0};                                   \
        return aoclsparse_status_success;                                                                              \
    }                                                                                                                  \
    aoclsparse_status aoclsparse_##PREFIX##mv(aoclsparse_operation op, const TYPE *alpha, aoclsparse_matrix a,         \
                                              const aoclsparse_mat_descr descr, const TYPE *x, const TYPE *beta,       \
                                              TYPE *y) {                                                               \
        if (!alpha || !a || !descr || !x || !beta || !y) return aoclsparse_status_invalid_pointer;                     \
        if (a->is_f64 != IS_F64) return aoclsparse_status_wrong_type;                                                  \
        const TYPE *val = a->val;                                                                                      \
        const int transposed = op == aoclsparse_operation_transpose;                                                   \
        const aoclsparse_int outputs = transposed ? a->n : a->m;                                                       \
        for (aoclsparse_int k = 0; k < outputs; k++) y[k] = *beta == 0 ? 0 : *beta * y[k];                             \
        _Pragma("omp parallel for if (!transposed && a->m > 1000)")                                                    \
        for (aoclsparse_int row = 0; row < a->m; row++) {                                                              \
            TYPE sum = 0;                                                                                              \
            for (aoclsparse_int k = a->row_ptr[row]; k < a->row_ptr[row + 1]; k++)                                     \
                if (transposed)                                                                                        \
                    y[a->col_idx[k]] += *alpha * val[k] * x[row];                                                      \
                else                                                                                                   \
                    sum += val[k] * x[a->col_idx[k]];                                                                  \
            if (!transposed) y[row] += *alpha * sum;                                                                   \
        }                                                                                                              \
        return aoclsparse_status_success;                                                                              \
    }
FUNCTIONS(s, float, 0)
FUNCTIONS(d, double, 1)

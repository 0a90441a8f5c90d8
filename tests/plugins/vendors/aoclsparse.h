/* The part of AOCL-Sparse's interface that plugins/aocl.c uses, as in AMD's "AOCL API Guide" 5.3 and the library's own
 * headers. Only for tests: aoclsparse.c implements it with plain loops. */
#ifndef STUB_AOCLSPARSE_H
#define STUB_AOCLSPARSE_H

#include <stdint.h>

typedef int32_t aoclsparse_int;
typedef struct _aoclsparse_matrix *aoclsparse_matrix;
typedef struct _aoclsparse_mat_descr *aoclsparse_mat_descr;
typedef enum { aoclsparse_operation_none = 111, aoclsparse_operation_transpose = 112 } aoclsparse_operation;
typedef enum { aoclsparse_index_base_zero = 0 } aoclsparse_index_base;
typedef enum {
    aoclsparse_status_success = 0,
    aoclsparse_status_invalid_pointer = 2,
    aoclsparse_status_invalid_value = 5,
    aoclsparse_status_wrong_type = 9,
} aoclsparse_status;

const char *aoclsparse_get_version(void);
aoclsparse_status aoclsparse_create_mat_descr(aoclsparse_mat_descr *descr);
aoclsparse_status aoclsparse_destroy_mat_descr(aoclsparse_mat_descr descr);
aoclsparse_status aoclsparse_create_scsr(aoclsparse_matrix *mat, aoclsparse_index_base base, aoclsparse_int m,
                                         aoclsparse_int n, aoclsparse_int nnz, aoclsparse_int *row_ptr,
                                         aoclsparse_int *col_idx, float *val);
aoclsparse_status aoclsparse_create_dcsr(aoclsparse_matrix *mat, aoclsparse_index_base base, aoclsparse_int m,
                                         aoclsparse_int n, aoclsparse_int nnz, aoclsparse_int *row_ptr,
                                         aoclsparse_int *col_idx, double *val);
aoclsparse_status aoclsparse_destroy(aoclsparse_matrix *mat);
aoclsparse_status aoclsparse_set_mv_hint(aoclsparse_matrix mat, aoclsparse_operation trans,
                                         const aoclsparse_mat_descr descr, aoclsparse_int expected_no_of_calls);
aoclsparse_status aoclsparse_optimize(aoclsparse_matrix mat);
aoclsparse_status aoclsparse_smv(aoclsparse_operation op, const float *alpha, aoclsparse_matrix a,
                                 const aoclsparse_mat_descr descr, const float *x, const float *beta, float *y);
aoclsparse_status aoclsparse_dmv(aoclsparse_operation op, const double *alpha, aoclsparse_matrix a,
                                 const aoclsparse_mat_descr descr, const double *x, const double *beta, double *y);

#endif

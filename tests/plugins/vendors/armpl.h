/* The part of the interface of Arm Performance Libraries that plugins/armpl.c uses, as in the headers of version 24.10.
 * Only for tests: armpl.c implements it with plain loops. */
#ifndef STUB_ARMPL_H
#define STUB_ARMPL_H

#include <stdint.h>

typedef int32_t armpl_int_t;
typedef enum { ARMPL_STATUS_SUCCESS = 0, ARMPL_STATUS_INPUT_PARAMETER_ERROR = 1 } armpl_status_t;
typedef struct armpl_spmat_top_t *armpl_spmat_t;
enum armpl_sparse_hint_type { ARMPL_SPARSE_HINT_SPMV_OPERATION = 60, ARMPL_SPARSE_HINT_SPMV_INVOCATIONS = 80 };
enum armpl_sparse_hint_value {
    ARMPL_SPARSE_OPERATION_NOTRANS = 300,
    ARMPL_SPARSE_OPERATION_TRANS = 310,
    ARMPL_SPARSE_INVOCATIONS_MANY = 420,
};
#define ARMPL_SPARSE_CREATE_NOCOPY 1

void armplversion(armpl_int_t *major, armpl_int_t *minor, armpl_int_t *patch, const char **tag);
armpl_status_t armpl_spmat_create_csr_s(armpl_spmat_t *A, armpl_int_t m, armpl_int_t n, const armpl_int_t *row_ptr,
                                        const armpl_int_t *col_indx, const float *vals, armpl_int_t flags);
armpl_status_t armpl_spmat_create_csr_d(armpl_spmat_t *A, armpl_int_t m, armpl_int_t n, const armpl_int_t *row_ptr,
                                        const armpl_int_t *col_indx, const double *vals, armpl_int_t flags);
armpl_status_t armpl_spmat_hint(armpl_spmat_t A, enum armpl_sparse_hint_type hint, enum armpl_sparse_hint_value value);
armpl_status_t armpl_spmv_optimize(armpl_spmat_t A);
armpl_status_t armpl_spmv_exec_s(enum armpl_sparse_hint_value trans, float alpha, armpl_spmat_t A, const float *x,
                                 float beta, float *y);
armpl_status_t armpl_spmv_exec_d(enum armpl_sparse_hint_value trans, double alpha, armpl_spmat_t A, const double *x,
                                 double beta, double *y);
armpl_status_t armpl_spmat_destroy(armpl_spmat_t A);

#endif

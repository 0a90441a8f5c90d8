/* Prints the sizes of the structures of spmv_method.h, the offsets of their fields in order, and the constants. */
#include "spmv_method.h"

#include <stdio.h>

#define SIZE(TYPE) printf("%zu\n", sizeof(TYPE))
#define AT(TYPE, FIELD) printf("%zu\n", offsetof(TYPE, FIELD))

int main(void) {
    SIZE(spmv_csr), AT(spmv_csr, precision), AT(spmv_csr, rows), AT(spmv_csr, row_offsets), AT(spmv_csr, values);
    SIZE(spmv_ctx), AT(spmv_ctx, cpus), AT(spmv_ctx, transpose), AT(spmv_ctx, beta), AT(spmv_ctx, expected_products);
    AT(spmv_ctx, stream), AT(spmv_ctx, allocate), AT(spmv_ctx, parallel), AT(spmv_ctx, explain);
    SIZE(spmv_info), AT(spmv_info, extra_bytes), AT(spmv_info, csr_bytes), AT(spmv_info, note), AT(spmv_info, library);
    SIZE(spmv_parameter), AT(spmv_parameter, values), AT(spmv_parameter, meaning);
    SIZE(spmv_method), AT(spmv_method, name), AT(spmv_method, license), AT(spmv_method, flags);
    AT(spmv_method, parameters), AT(spmv_method, prepare), AT(spmv_method, multiply), AT(spmv_method, destroy);
    printf("%u\n%d\n%d\n%d\n", SPMV_ABI, SPMV_OK, SPMV_UNSUITABLE, SPMV_ERROR);
    printf("%u\n%u\n%u\n%u\n", SPMV_F64, SPMV_F32, SPMV_TRANSPOSED, SPMV_SEQUENTIAL);
    printf("%u\n%u\n%u\n%u\n", SPMV_INSPECTION, SPMV_CONVERSION, SPMV_ORDERING, SPMV_GPU);
    return 0;
}

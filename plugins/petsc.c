/* PETSc: MatMult of the formats AIJ and SELL, on one thread, because PETSc computes in parallel only with several
 * processes of MPI. `petsc-aij` is a view of the CSR arrays, in which PETSc looks for neighbouring rows with the same
 * columns. `petsc-sell` is a conversion to slices of eight rows. It has no transposed product, because that of PETSc
 * 3.18 is wrong if the number of rows is no multiple of eight. PETSc fills up empty rows with zeros in a column of
 * another row, so that NaN or infinity in x would reach them: here the product sets their y to 0. */
#include "spmv_method.h"

#include <petscmat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(PetscInt) == 4 && sizeof(PetscScalar) == 8, "PETSc with 32-bit indices and f64 is needed");

typedef struct {
    const spmv_ctx *ctx;
    Mat matrix;
    Vec x, y, product;
    int32_t *empty; /* the empty rows, of SELL only */
    int64_t empties, bytes;
} state;

/* Ends the function with the text of an error of PETSc. */
#define TRY(CONTEXT, CALL)                                                                                             \
    do {                                                                                                               \
        const PetscErrorCode error = CALL;                                                                             \
        if (error) {                                                                                                   \
            const char *text = "an error of PETSc";                                                                    \
            PetscErrorMessage(error, &text, NULL);                                                                     \
            (CONTEXT)->explain(CONTEXT, text);                                                                         \
            return SPMV_ERROR;                                                                                         \
        }                                                                                                              \
    } while (0)

static void destroy(void *handle) {
    state *s = handle;
    MatDestroy(&s->matrix);
    VecDestroy(&s->x);
    VecDestroy(&s->y);
    VecDestroy(&s->product);
    s->ctx->release(s->ctx, s->empty);
    s->ctx->release(s->ctx, s);
}

/* Without signal handlers and the options of the user. Open MPI starts no second process, leaves no folder behind, and
 * looks for no network, which takes 0.2 s. */
static int initialise(const spmv_ctx *ctx) {
    static const char *const settings[][2] = {
        {"OMPI_MCA_ess_singleton_isolated", "1"}, {"OMPI_MCA_orte_create_session_dirs", "0"},
        {"OMPI_MCA_opal_signal", ""}, {"OMPI_MCA_pml", "ob1"}, {"OMPI_MCA_btl", "self"},
    };
    PetscBool initialised;
    TRY(ctx, PetscInitialized(&initialised));
    if (initialised) return SPMV_OK;
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) setenv(settings[k][0], settings[k][1], 0);
    TRY(ctx, PetscOptionsSetValue(NULL, "-no_signal_handler", NULL));
    TRY(ctx, PetscOptionsSetValue(NULL, "-skip_petscrc", NULL));
    TRY(ctx, PetscInitializeNoArguments());
    TRY(ctx, PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    return SPMV_OK;
}

static int find_empty_rows(state *s, const spmv_csr *csr) {
    const int32_t *offsets = csr->row_offsets;
    for (int64_t row = 0; row < csr->rows; row++) s->empties += offsets[row] == offsets[row + 1];
    s->empty = s->ctx->allocate(s->ctx, (size_t)s->empties * sizeof *s->empty, 64);
    if (s->empties && !s->empty) return SPMV_ERROR;
    for (int64_t row = 0, k = 0; row < csr->rows; row++)
        if (offsets[row] == offsets[row + 1]) s->empty[k++] = (int32_t)row;
    return SPMV_OK;
}

static int create(state *s, const spmv_csr *csr, int sell) {
    const spmv_ctx *ctx = s->ctx;
    const PetscInt rows = (PetscInt)csr->rows, cols = (PetscInt)csr->cols;
    TRY(ctx, MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, rows, cols, (PetscInt *)csr->row_offsets,
                                       (PetscInt *)csr->column_indices, (PetscScalar *)csr->values, &s->matrix));
    if (sell) {
        MatInfo info;
        TRY(ctx, MatConvert(s->matrix, MATSEQSELL, MAT_INPLACE_MATRIX, &s->matrix));
        TRY(ctx, MatGetInfo(s->matrix, MAT_LOCAL, &info));
        /* With the padding: a column and a value for each element, a length for each row, an offset for each slice. */
        if (find_empty_rows(s, csr) != SPMV_OK) return SPMV_ERROR;
        s->bytes = (int64_t)info.nz_allocated * 12 + (csr->rows + csr->rows / 8 + 2 + s->empties) * 4;
    } else {
        PetscInt nodes = 0, limit;
        TRY(ctx, MatInodeGetInodeSizes(s->matrix, &nodes, NULL, &limit));
        s->bytes = (int64_t)nodes * 4;
    }
    const PetscInt outputs = ctx->transpose ? cols : rows;
    TRY(ctx, VecCreateSeqWithArray(PETSC_COMM_SELF, 1, ctx->transpose ? rows : cols, NULL, &s->x));
    TRY(ctx, VecCreateSeqWithArray(PETSC_COMM_SELF, 1, outputs, NULL, &s->y));
    if (ctx->beta != 0) TRY(ctx, VecCreateSeq(PETSC_COMM_SELF, outputs, &s->product));
    return SPMV_OK;
}

static int prepare(const spmv_ctx *ctx, const spmv_csr *csr, void **handle, int sell) {
    if (initialise(ctx) != SPMV_OK) return SPMV_ERROR;
    state *s = ctx->allocate(ctx, sizeof *s, 64);
    if (!s) return SPMV_ERROR;
    memset(s, 0, sizeof *s);
    s->ctx = ctx;
    if (create(s, csr, sell) != SPMV_OK) {
        destroy(s);
        return SPMV_ERROR;
    }
    *handle = s;
    return SPMV_OK;
}

static int prepare_aij(const spmv_ctx *ctx, const spmv_csr *csr, void **handle) { return prepare(ctx, csr, handle, 0); }

static int prepare_sell(const spmv_ctx *ctx, const spmv_csr *csr, void **handle) {
    return prepare(ctx, csr, handle, 1);
}

/* With beta = 0, y is not read. */
static int multiply(void *handle, double alpha, const void *x, double beta, void *y) {
    const state *s = handle;
    const Vec product = beta == 0 ? s->y : s->product;
    TRY(s->ctx, VecPlaceArray(s->x, x));
    TRY(s->ctx, VecPlaceArray(s->y, y));
    TRY(s->ctx, (s->ctx->transpose ? MatMultTranspose : MatMult)(s->matrix, s->x, product));
    if (s->empties) {
        PetscScalar *values;
        TRY(s->ctx, VecGetArray(product, &values));
        for (int64_t k = 0; k < s->empties; k++) values[s->empty[k]] = 0;
        TRY(s->ctx, VecRestoreArray(product, &values));
    }
    if (beta != 0)
        TRY(s->ctx, VecAXPBY(s->y, alpha, beta, product));
    else if (alpha != 1)
        TRY(s->ctx, VecScale(s->y, alpha));
    TRY(s->ctx, VecResetArray(s->x));
    TRY(s->ctx, VecResetArray(s->y));
    return SPMV_OK;
}

static int info(void *handle, spmv_info *info) {
    static char version[60];
    PetscInt major, minor, patch;
    if (PetscGetVersionNumber(&major, &minor, &patch, NULL)) return SPMV_ERROR;
    snprintf(version, sizeof version, "PETSc %d.%d.%d", major, minor, patch);
    info->library = version;
    info->extra_bytes = ((const state *)handle)->bytes;
    return SPMV_OK;
}

#define METHOD(NAME, SUMMARY, FLAGS, PREPARE)                                                                          \
    {SPMV_ABI, sizeof(spmv_method), NAME, NULL, "PETSc, MatMult", "BSD-2-Clause", SUMMARY,                             \
     SPMV_F64 | SPMV_SEQUENTIAL | FLAGS, NULL, PREPARE, multiply, info, destroy}
static const spmv_method methods[] = {
    METHOD("petsc-aij", "PETSc's MATSEQAIJ, on one thread", SPMV_TRANSPOSED | SPMV_INSPECTION, prepare_aij),
    METHOD("petsc-sell", "PETSc's MATSEQSELL, slices of eight rows, on one thread", SPMV_CONVERSION, prepare_sell),
};

const spmv_method *spmv_method_v1(unsigned index) {
    return index < sizeof methods / sizeof *methods ? &methods[index] : NULL;
}

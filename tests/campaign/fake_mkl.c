/* A library with MKL's names whose products are right, and whose mkl_sparse_optimize does to a matrix
   of FAKE_MKL_ROWS rows what FAKE_MKL says. In f64 only. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    int rows;
    const int *starts, *ends, *columns;
    const double *values;
} matrix;
typedef struct { int kind, fill, diagonal; } description;

void MKL_Get_Version_String(char *text, int length) { strncpy(text, "Version fake for tests", length); }
int MKL_Set_Interface_Layer(int layer) { return layer; }
int MKL_Set_Threading_Layer(int layer) { return layer; }
void MKL_Set_Dynamic(int dynamic) { (void)dynamic; }
void MKL_Set_Num_Threads(int threads) { (void)threads; }

static void fail(const matrix *a) {
    const char *how = getenv("FAKE_MKL"), *rows = getenv("FAKE_MKL_ROWS");
    if (!how || (rows && atoi(rows) != a->rows)) return;
    if (!strcmp(how, "segv")) *(volatile int *)0 = 0;
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "kill")) raise(SIGKILL);
    if (!strcmp(how, "exit")) exit(3);
    if (!strcmp(how, "hang")) for (;;) pause();
}

int mkl_sparse_d_create_csr(matrix **handle, int base, int rows, int cols, const int *starts,
                            const int *ends, const int *columns, const double *values) {
    (void)base, (void)cols;
    *handle = malloc(sizeof **handle);
    **handle = (matrix){rows, starts, ends, columns, values};
    return 0;
}
int mkl_sparse_set_mv_hint(matrix *a, int operation, description d, int calls) {
    (void)a, (void)operation, (void)d, (void)calls;
    return 0;
}
int mkl_sparse_optimize(matrix *a) { fail(a); return 0; }
int mkl_sparse_destroy(matrix *a) { free(a); return 0; }
int mkl_sparse_d_mv(int operation, double alpha, const matrix *a, description d, const double *x,
                    double beta, double *y) {
    (void)operation, (void)d;
    for (int row = 0; row < a->rows; row++) {
        double sum = 0;
        for (int k = a->starts[row]; k < a->ends[row]; k++) sum += a->values[k] * x[a->columns[k]];
        y[row] = alpha * sum + (beta == 0 ? 0 : beta * y[row]);
    }
    return 0;
}
/* There is no f32: it is refused, or ends the process. */
int mkl_sparse_s_create_csr(void) {
    const char *how = getenv("FAKE_MKL");
    if (how && !strcmp(how, "segv-f32")) *(volatile int *)0 = 0;
    return 6;
}
int mkl_sparse_s_mv(void) { return 6; }

/* Of the OpenMP library, which is a copy of this one. */
void GOMP_parallel(void (*body)(void *), void *argument, unsigned threads, unsigned flags) {
    (void)threads, (void)flags;
    body(argument);
}

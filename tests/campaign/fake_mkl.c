/* A library with MKL's names whose products are correct, and whose mkl_sparse_optimize does to a matrix
   of FAKE_MKL_ROWS rows what FAKE_MKL says; or whose products are left out, as FAKE_MKL says. In f64 only. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __x86_64__
#include <xmmintrin.h>
#endif

typedef struct {
    int rows;
    const int *starts, *ends, *columns;
    const double *values;
} matrix;
/* Products by matrices of so many rows are left out. */
enum { LIAR_ROWS = 5000 };
typedef struct { int kind, fill, diagonal; } description;

/* Of FAKE_MKL_VERSION, whatever length it is told. */
void MKL_Get_Version_String(char *text, int length) {
    const char *version = getenv("FAKE_MKL_VERSION");
    (void)length;
    strcpy(text, version ? version : "Version fake for tests");
}
int MKL_Set_Interface_Layer(int layer) { return layer; }
int MKL_Set_Threading_Layer(int layer) { return layer; }
void MKL_Set_Dynamic(int dynamic) { (void)dynamic; }
void MKL_Set_Num_Threads(int threads) { (void)threads; }

/* Treats subnormal numbers as zero from now on. */
static void flush(void) {
#ifdef __x86_64__
    _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
}

static void fail(const matrix *a) {
    const char *how = getenv("FAKE_MKL"), *rows = getenv("FAKE_MKL_ROWS");
    if (!how || (rows && atoi(rows) != a->rows)) return;
    if (!strcmp(how, "segv")) *(volatile int *)0 = 0;
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "kill")) raise(SIGKILL);
    if (!strcmp(how, "exit")) exit(3);
    if (!strcmp(how, "values")) ((double *)a->values)[0] += 1;
    if (!strcmp(how, "folder")) (void)!chdir("/");
    if (!strcmp(how, "columns")) ((int *)a->columns)[0] = a->rows - 1;
}

/* When it is loaded. The copy that stands for OpenMP's library is loaded before. */
__attribute__((constructor)) static void load(void) {
    const char *how = getenv("FAKE_MKL");
    if (how && !strcmp(how, "load-segv")) *(volatile int *)0 = 0;
    if (how && !strcmp(how, "load-hang")) for (;;) pause();
    if (how && !strcmp(how, "load-exit")) _exit(0);
    if (how && !strcmp(how, "load-flush")) flush();
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
int mkl_sparse_destroy(matrix *a) {
    const char *how = getenv("FAKE_MKL"), *rows = getenv("FAKE_MKL_ROWS");
    if (how && rows && !strcmp(how, "destroy-segv") && atoi(rows) == a->rows) *(volatile int *)0 = 0;
    free(a);
    return 0;
}
static void multiply(const matrix *a, double alpha, const double *x, double beta, double *y) {
    for (int row = 0; row < a->rows; row++) {
        double sum = 0;
        for (int k = a->starts[row]; k < a->ends[row]; k++) sum += a->values[k] * x[a->columns[k]];
        y[row] = alpha * sum + (beta == 0 ? 0 : beta * y[row]);
    }
}

/* A product that a thread computes 5 ms after the call has returned, so that no short wait of the program hides it. */
typedef struct { const matrix *a; const double *x; double *y; } later;
static void *compute_later(void *argument) {
    later *l = argument;
    usleep(5000);
    multiply(l->a, 1, l->x, 0, l->y);
    free(l);
    return NULL;
}

/* Whether this product may be left out. Matrices are square here. */
static int leave_out(const char *how, const matrix *a, const double *x, double *y) {
    static double *last_x, *last_y;
    size_t bytes = a->rows * sizeof *x;
    if (!last_x) last_x = calloc(1, bytes), last_y = calloc(1, bytes);
    if (!strcmp(how, "known-x") && !memcmp(x, last_x, bytes)) return memcpy(y, last_y, bytes), 1;
    if (!strcmp(how, "thread")) {
        later *l = malloc(sizeof *l);
        pthread_t thread;
        *l = (later){a, x, y};
        pthread_create(&thread, NULL, compute_later, l);
        pthread_detach(thread);
        return 1;
    }
    multiply(a, 1, x, 0, last_y);
    memcpy(last_x, x, bytes);
    return 0;
}

int mkl_sparse_d_mv(int operation, double alpha, const matrix *a, description d, const double *x,
                    double beta, double *y) {
    (void)operation, (void)d;
    const char *how = getenv("FAKE_MKL");
    if (how && a->rows == LIAR_ROWS && leave_out(how, a, x, y)) return 0;
    multiply(a, alpha, x, beta, y);
    return 0;
}
/* There is no f32. */
int mkl_sparse_s_create_csr(void) { return 6; }
int mkl_sparse_s_mv(void) { return 6; }

/* Of the OpenMP library, which is a copy of this one. */
void GOMP_parallel(void (*body)(void *), void *argument, unsigned threads, unsigned flags) {
    (void)threads, (void)flags;
    body(argument);
}

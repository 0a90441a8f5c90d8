/* Methods that keep memory of a known size without reporting it: KEPT bytes by each way to allocate. */
#define _GNU_SOURCE
#include "spmv_method.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { KEPT = 5 << 20, LATE_ROWS = 100 };

typedef struct {
    const spmv_csr *csr;
    void *kept, **blocks, *mapped;
} state;

static void *wait_for_ever(void *unused) {
    for (;;) pause();
    return unused;
}

static int prepare(const spmv_csr *csr, void **handle, const char *how) {
    state *s = calloc(1, sizeof *s);
    s->csr = csr;
    *handle = s;
    free(memset(malloc(2 * KEPT), 1, 2 * KEPT));
    if (!strcmp(how, "malloc")) s->kept = malloc(KEPT);
    if (!strcmp(how, "memalign") && posix_memalign(&s->kept, 4096, KEPT)) return SPMV_ERROR;
    if (!strcmp(how, "small"))
        for (int k = 0; k < KEPT / 1024; k++) {
            void **block = malloc(1024 - sizeof(size_t));
            *block = s->blocks, s->blocks = block;
        }
    if (!strcmp(how, "mmap"))
        s->mapped = mmap(NULL, KEPT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t thread;
    if (!strcmp(how, "thread") && csr->rows > LATE_ROWS) pthread_create(&thread, NULL, wait_for_ever, NULL);
    return SPMV_OK;
}

static int multiply(void *handle, double alpha, const void *x, double beta, void *y) {
    const spmv_csr *csr = ((const state *)handle)->csr;
    const int32_t *offsets = csr->row_offsets, *columns = csr->column_indices;
    const double *values = csr->values, *from = x;
    double *to = y;
    for (int64_t row = 0; row < csr->rows; row++) {
        double sum = 0;
        for (int64_t k = offsets[row]; k < offsets[row + 1]; k++)
            sum += values[k] * from[columns[k]];
        to[row] = alpha * sum + (beta != 0 ? beta * to[row] : 0);
    }
    return SPMV_OK;
}

static void destroy(void *handle) {
    state *s = handle;
    if (s->mapped) munmap(s->mapped, KEPT);
    for (void *next; s->blocks; s->blocks = next) next = *s->blocks, free(s->blocks);
    free(s->kept);
    free(s);
}

#define WAYS(X) X(0, "malloc") X(1, "memalign") X(2, "small") X(3, "mmap") X(4, "nothing") X(5, "thread")
#define PREPARE(N, NAME)                                                                                               \
    static int prepare##N(const spmv_ctx *ctx, const spmv_csr *csr, void **handle) {                                   \
        (void)ctx;                                                                                                     \
        return prepare(csr, handle, NAME);                                                                             \
    }
#define METHOD(N, NAME)                                                                                                \
    {SPMV_ABI, sizeof(spmv_method), "keeps-" NAME, "1", "a test", "MIT", "it keeps memory",                            \
     SPMV_F64 | SPMV_SEQUENTIAL | SPMV_INSPECTION, NULL, prepare##N, multiply, NULL, destroy},
WAYS(PREPARE)
static const spmv_method methods[] = {WAYS(METHOD)};

const spmv_method *spmv_method_v1(unsigned index) {
    return index < sizeof methods / sizeof *methods ? &methods[index] : NULL;
}

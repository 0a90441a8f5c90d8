/*
 * spmv_method.h, version 1: the interface between spmv-bench and a method for sparse matrix-vector products that was
 * built elsewhere. A plug-in is a shared object that exports one function, spmv_method_v1, which lists its methods:
 *
 *     cc -O3 -march=native -shared -fPIC mine.c -o libmine.so
 *     spmv-bench --plugin libmine.so --methods 'mine*,merge,mkl*' --mtx FILE
 *     spmv-bench check-method libmine.so
 *
 * A method computes y <- alpha A x + beta y. For each matrix, the program calls `prepare` once, then `multiply` many
 * times, and finally `destroy`. All calls come from one thread. Several matrices, and several methods of the same
 * plug-in, may be prepared at the same time. The program measures the time of `prepare` as setup. What `multiply`
 * does is the product, and only that is in its time.
 *
 * A method must not measure time, must not start work that continues after a call has returned, and must leave the
 * calling thread as it was: its rounding mode, CPU affinity and signal mask. No C++ exception may leave a call. What it
 * prints goes to the standard error of the program.
 *
 * Structures that the program passes begin with their size in bytes. A later version may add fields at their end.
 */
#ifndef SPMV_METHOD_H
#define SPMV_METHOD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface, for spmv_method.abi. */
#define SPMV_ABI 1u

/* The results of `prepare`, `multiply` and `info`. Any other value is an error as well. */
#define SPMV_OK 0
#define SPMV_UNSUITABLE 1 /* Only of `prepare`: the method does not take this matrix. Say why with ctx->explain. */
#define SPMV_ERROR (-1)   /* Say why with ctx->explain. */

/* spmv_method.flags: what the method can do. At least one precision is needed. */
#define SPMV_F64 0x1u        /* double precision */
#define SPMV_F32 0x2u        /* single precision */
#define SPMV_TRANSPOSED 0x4u /* also y <- alpha A^T x + beta y, if ctx->transpose is not 0 */
#define SPMV_SEQUENTIAL 0x8u /* uses one thread, whatever ctx->threads is */
/* What `prepare` does. Without any of the three, it does nothing that takes time. */
#define SPMV_INSPECTION 0x10u /* analyses the matrix; the product still reads the CSR arrays */
#define SPMV_CONVERSION 0x20u /* converts the matrix to a format of its own; the product reads only that */
#define SPMV_ORDERING 0x40u   /* as SPMV_CONVERSION, and reorders rows or columns */
/* Runs on a CUDA GPU. All arrays that the program passes, and what ctx->allocate returns, are in the memory of the GPU
 * whose context is the current one of the calling thread. All work is enqueued in ctx->stream, or in other streams that
 * wait for it and that it waits for. `multiply` only enqueues: it does not wait. What `prepare` enqueues is in its time. */
#define SPMV_GPU 0x80u

/* The matrix in compressed sparse row format; in host memory, or for SPMV_GPU in that of the GPU. The arrays are valid until `destroy` has returned, and
 * must not be written. Within a row, columns ascend strictly, so there are no duplicates; rows may be empty, and stored
 * values may be zero. The number of rows, of columns or of nonzeros may be 0. */
typedef struct spmv_csr {
    uint32_t size;
    uint32_t precision;          /* SPMV_F64 or SPMV_F32: the type of values, x and y */
    uint32_t offset_bytes;       /* the size of an element of row_offsets; 4 in this version */
    uint32_t index_bytes;        /* the size of an element of column_indices; 4 in this version */
    int64_t rows, cols, nnz;     /* each at most 2^31 - 1 */
    const void *row_offsets;     /* rows + 1 values of type int32_t, from 0 to nnz */
    const void *column_indices;  /* nnz values of type int32_t, from 0 to cols - 1 */
    const void *values;          /* nnz values of type double or float */
} spmv_csr;

/* The settings of the run, and functions of the program. Valid until `destroy` has returned. The functions take the
 * context itself as their first argument. All but `parallel` may be called by any thread. */
typedef struct spmv_ctx spmv_ctx;
struct spmv_ctx {
    uint32_t size;
    uint32_t threads;          /* the threads on which the method should compute, at least 1; for SPMV_GPU 1 */
    const int32_t *cpus;       /* the CPU of each of these threads; NULL if they are not bound to CPUs */
    int32_t transpose;         /* not 0: the product is with A^T; x has `rows` elements, and y has `cols` */
    uint32_t reserved;         /* 0 */
    double alpha, beta;        /* the factors of all products of this run */
    int64_t expected_products; /* the number of products that the run plans */
    void *stream;              /* for SPMV_GPU: the stream of all work, a CUstream or cudaStream_t; otherwise NULL */

    /* Allocates memory that counts as memory of the method, aligned to `alignment` (a power of two, at most 256 on a
     * GPU), not initialised. NULL if there is not enough, or if bytes is 0. Memory that a method allocates in another way must be
     * stated by `info`; otherwise its stored bytes are unknown. */
    void *(*allocate)(const spmv_ctx *ctx, size_t bytes, size_t alignment);
    /* Releases what `allocate` has returned. NULL is allowed. */
    void (*release)(const spmv_ctx *ctx, void *memory);
    /* Runs body(argument, rank) on `threads` threads at the same time, rank 0 being the caller, and returns when all have
     * ended: a fork and join of a fraction of a microsecond on threads that are bound to CPUs. Only in `prepare`,
     * `multiply` and `destroy`, by the thread that the program has called, and not from within a body. Returns
     * SPMV_OK, or SPMV_ERROR if one of these conditions is not met. */
    int (*parallel)(const spmv_ctx *ctx, void (*body)(void *argument, uint32_t rank), void *argument);
    /* The value of a parameter as text, or NULL if the user has not set it. */
    const char *(*parameter)(const spmv_ctx *ctx, const char *name);
    /* States, before `prepare` or `multiply` returns, why it does not succeed. The text is copied. */
    void (*explain)(const spmv_ctx *ctx, const char *text);
};

/* What a prepared method says of itself, all of it optional. The program fills the structure with the default values. */
typedef struct spmv_info {
    uint32_t size;
    uint32_t reserved;       /* 0 */
    int64_t extra_bytes;     /* bytes in addition to CSR, x and y; -1: what ctx->allocate has counted */
    int64_t csr_bytes;       /* bytes of the CSR arrays that a product reads; -1: all of them, or none after a conversion */
    const char *note;        /* a text that is shown with the result, such as the chosen block size; NULL: none */
    const char *library;     /* the library that computes the product, with its version; NULL: name and version */
} spmv_info;

/* A parameter that the user sets with --methods 'name:parameter=value'. */
typedef struct spmv_parameter {
    const char *name;          /* letters, digits, - and _ */
    const char *const *values; /* all allowed values; NULL ends the list */
    const char *meaning;       /* one line: what it does, and the value when it is not set */
} spmv_parameter;

/* A method. All texts are UTF-8, and stay valid as long as the plug-in is loaded. */
typedef struct spmv_method {
    uint32_t abi;      /* SPMV_ABI */
    uint32_t size;     /* sizeof(spmv_method) */
    const char *name;    /* unique, 1 to 40 characters: small letters, digits, - . _ */
    const char *version; /* the version of the method; NULL: not known */
    const char *source;  /* the paper, or where the code comes from */
    const char *license; /* its licence; NULL: not stated */
    const char *summary; /* one line: what it does */
    uint64_t flags;
    const spmv_parameter *parameters; /* a parameter without a name ends the list; NULL: none */

    /* Does what is done once per matrix. Stores in *handle what the other functions receive; NULL is allowed. */
    int (*prepare)(const spmv_ctx *ctx, const spmv_csr *csr, void **handle);
    /* Computes y <- alpha A x + beta y; with beta = 0, y must not be read. x and y do not overlap, are aligned as their
     * elements are, and may be different arrays in each call; x may have changed since the last one. */
    int (*multiply)(void *handle, double alpha, const void *x, double beta, void *y);
    /* States what the program shows of the prepared method. NULL: nothing. */
    int (*info)(void *handle, spmv_info *info);
    /* Releases what `prepare` has allocated. Not called if `prepare` did not return SPMV_OK. NULL: nothing to do. */
    void (*destroy)(void *handle);
} spmv_method;

/* Returns the method with this number, counted from 0, or NULL after the last one. The only exported symbol. */
#ifdef __GNUC__
__attribute__((visibility("default")))
#endif
const spmv_method *spmv_method_v1(unsigned index);

#ifdef __cplusplus
}
#endif

#endif

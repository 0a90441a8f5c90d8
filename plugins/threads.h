/* Binds the threads of OpenMP to the CPUs that the program gives a method: as many as it has threads, each on its own
 * CPU, as the threads of the program's own methods. OpenMP keeps them for all later regions of this size. */
#ifndef SPMV_THREADS_H
#define SPMV_THREADS_H

#include <omp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "spmv_method.h"

/* Starts the OpenMP library. That of LLVM, which some libraries use, would otherwise bind the calling thread as the
 * program asks MKL's in this variable, and end the process because MKL has one of its own. */
static inline void start_openmp(void) {
    static const char name[] = "KMP_AFFINITY";
    static int started;
    if (started++) return;
    const char *value = getenv(name);
    char *const old = value ? strdup(value) : NULL;
    setenv(name, "disabled", 1);
    setenv("KMP_DUPLICATE_LIB_OK", "TRUE", 1);
    omp_get_max_threads();
    if (old)
        setenv(name, old, 1);
    else
        unsetenv(name);
    free(old);
}

static inline void bind_threads(const spmv_ctx *ctx) {
    start_openmp();
    omp_set_dynamic(0);
    omp_set_num_threads((int)ctx->threads);
    if (!ctx->cpus) return;
#pragma omp parallel num_threads((int)ctx->threads)
    {
        /* Thread 0 is that of the program, which is bound already. */
        const int rank = omp_get_thread_num();
        if (rank > 0) {
            cpu_set_t cpu;
            CPU_ZERO(&cpu);
            CPU_SET((size_t)ctx->cpus[rank], &cpu);
            sched_setaffinity(0, sizeof cpu, &cpu);
        }
    }
}

#endif

/* Binds the threads of OpenMP to the CPUs that the program gives a method: as many as it has threads, each on its own
 * CPU, as the threads of the program's own methods. OpenMP keeps them for all later regions of this size. */
#ifndef SPMV_THREADS_H
#define SPMV_THREADS_H

#include <omp.h>
#include <sched.h>

#include "spmv_method.h"

static inline void bind_threads(const spmv_ctx *ctx) {
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

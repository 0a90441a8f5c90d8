/* A plug-in whose methods each do one thing that the interface forbids, or wait. The environment variable FAULTY names
 * what is wrong with the plug-in itself. */
#define _GNU_SOURCE
#include "spmv_method.h"

#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef __x86_64__
#include <xmmintrin.h>
#endif

typedef struct {
    const spmv_ctx *ctx;
    const spmv_csr *csr;
    const char *fault;
    double alpha, beta;
    const void *x;
    void *y;
    double *old_x;
    /* The end of the last call, in microseconds. */
    double end;
} state;

/* Computes the rows of one thread. */
static void rows_of(void *argument, uint32_t rank) {
    const state *s = argument;
#ifdef __x86_64__
    /* The program undoes what opening the plug-in or another call has changed, in every thread. */
    if (_mm_getcsr() & 0x8040 && strcmp(s->fault, "flushes-in-prepare")) abort();
#endif
    const int32_t *offsets = s->csr->row_offsets, *columns = s->csr->column_indices;
    int64_t rows = s->csr->rows, threads = s->ctx->threads;
    for (int64_t row = rows * rank / threads; row < rows * (rank + 1) / threads; row++) {
        double sum = 0;
        for (int32_t k = offsets[row]; k < offsets[row + 1]; k++)
            sum += s->csr->precision == SPMV_F64
                       ? ((const double *)s->csr->values)[k] * ((const double *)s->x)[columns[k]]
                       : (double)(((const float *)s->csr->values)[k] * ((const float *)s->x)[columns[k]]);
        int reads = s->beta != 0 || !strcmp(s->fault, "reads-y");
        if (s->csr->precision == SPMV_F64) {
            double *y = s->y;
            y[row] = s->alpha * sum + (reads ? s->beta * y[row] : 0);
        } else {
            float *y = s->y;
            y[row] = (float)(s->alpha * sum + (reads ? s->beta * (double)y[row] : 0));
        }
    }
}

static void nested(void *argument, uint32_t rank) {
    const state *s = argument;
    if (rank == 0) s->ctx->parallel(s->ctx, rows_of, argument);
}

/* Treats subnormal numbers as zero from now on. */
static void flush(void) {
#ifdef __x86_64__
    _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
}

/* Whether the plug-in itself has this fault. */
static int loads(const char *fault) {
    const char *named = getenv("FAULTY");
    return named && !strcmp(named, fault);
}
__attribute__((constructor)) static void load(void) {
    if (loads("flushes")) flush();
}

static int is(const state *s, const char *fault) { return !strcmp(s->fault, fault); }

static void crash(void) { raise(SIGSEGV); }

/* Waits until the file `go` is in the current folder, and tells that with the file `waiting`. */
static void wait_for_go(void) {
    fclose(fopen("waiting", "w"));
    while (access("go", F_OK)) usleep(1000);
}

/* Starts a process that computes until it is killed, or ends after a minute. */
static void fork_one(void) {
    if (fork() == 0) {
        alarm(60);
        for (;;) continue;
    }
}

/* Sends a signal to the other processes that have the same parent. */
static void signal_siblings(int number) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", getppid(), getppid());
    FILE *list = fopen(path, "r");
    for (int process; list && fscanf(list, "%d", &process) == 1;)
        if (process != getpid()) kill(process, number);
    if (list) fclose(list);
}

/* Stops the process for a moment. */
static void stop(void) {
    if (fork() == 0) {
        usleep(20000);
        kill(getppid(), SIGCONT);
        _exit(0);
    }
    raise(SIGSTOP);
}

/* Sends the message by which the process says that all is measured: its length, the time, and the event in CBOR. */
static void say_done(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    struct {
        uint64_t length, time;
        char event[10];
    } message = {10, (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec, "\241cEnd\241bOk\366"};
    for (int file = 0; file < 30; file++) send(file, &message, 26, MSG_NOSIGNAL);
}

/* Changes the process, which the methods share. */
static void spoil_process(const state *s) {
    if (is(s, "changes-folder")) (void)!chdir("/");
    if (is(s, "opens-files"))
        for (int i = 0; i < 600; i++) (void)!dup(2);
    if (is(s, "sets-alarm")) alarm(1);
    if (is(s, "sets-timer")) {
        timer_t timer;
        struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGTERM};
        timer_create(CLOCK_MONOTONIC, &event, &timer);
    }
    if (is(s, "limits-memory")) setrlimit(RLIMIT_AS, &(struct rlimit){1ul << 40, 1ul << 40});
    if (is(s, "limits-time")) setrlimit(RLIMIT_CPU, &(struct rlimit){1000, 1000});
    if (is(s, "ignores-signals")) signal(SIGINT, SIG_IGN);
    if (is(s, "masks-files")) umask(0777);
    if (is(s, "renices")) setpriority(PRIO_PROCESS, 0, 19);
    if (is(s, "schedules")) sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){0});
    if (is(s, "slackens")) prctl(PR_SET_TIMERSLACK, 1000000000, 0, 0, 0);
    if (is(s, "kills-siblings")) signal_siblings(SIGKILL);
    if (is(s, "stops-siblings")) signal_siblings(SIGSTOP);
    if (is(s, "stops")) stop();
    if (is(s, "forks")) fork_one();
    if (is(s, "forks-twice") && fork() == 0) {
        fork_one();
        _exit(0);
    }
    if (is(s, "forks-and-crashes")) fork_one(), crash();
    if (is(s, "forks-for-ever")) {
        for (int i = 0; i < 300; i++) fork_one();
        for (;;) pause();
    }
    if (is(s, "says-done")) say_done();
}

static int prepare(const spmv_ctx *ctx, const spmv_csr *csr, void **handle, const char *fault) {
    state *s = ctx->allocate(ctx, sizeof *s, 64);
    if (!s) return SPMV_ERROR;
    *s = (state){.ctx = ctx, .csr = csr, .fault = fault};
    *handle = s;
    if (is(s, "crashes-in-prepare") && csr->rows > 5) crash();
    if (is(s, "flushes-in-prepare")) flush();
    if (is(s, "waits")) wait_for_go();
    if (is(s, "refuses")) {
        ctx->explain(ctx, "it takes only matrices\nwith one row");
        return SPMV_UNSUITABLE;
    }
    if (is(s, "fails")) {
        ctx->explain(ctx, "its file is missing");
        return SPMV_ERROR;
    }
    if (is(s, "writes-matrix") && csr->nnz) ((double *)csr->values)[0] += 1;
    if (csr->rows > 5) spoil_process(s);
    if (is(s, "releases-others")) ctx->release(ctx, &fault);
    return SPMV_OK;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

static int multiply(void *handle, double alpha, const void *x, double beta, void *y) {
    state *s = handle;
    if (is(s, "computes-after-gaps") && now() - s->end < 15) {
        s->end = now();
        return SPMV_OK;
    }
    s->alpha = alpha, s->beta = beta, s->x = x, s->y = y;
    if (is(s, "keeps-x")) {
        if (!s->old_x) {
            s->old_x = s->ctx->allocate(s->ctx, s->csr->cols * sizeof(double), 64);
            memcpy(s->old_x, x, s->csr->cols * sizeof(double));
        }
        s->x = s->old_x;
    }
    if (is(s, "fails-later")) return -7;
    if (is(s, "crashes-in-multiply")) crash();
    if (is(s, "hangs")) for (;;) sleep(1);
    if (is(s, "exits")) exit(0);
    if (is(s, "nests")) s->ctx->parallel(s->ctx, nested, s);
    s->ctx->parallel(s->ctx, rows_of, s);
    s->end = now();
    /* A matrix with so many rows is the last one that check-method takes. */
    if (is(s, "wrong-in-late-rows") && s->csr->rows > 60000) memset((char *)y + 30000 * sizeof(double), 0, 64);
    if (is(s, "writes-after-y")) ((double *)y)[s->csr->rows] = 1;
    if (is(s, "writes-before-y")) ((double *)y)[-1] = 1;
    if (is(s, "writes-x")) ((double *)x)[0] = 1;
    if (is(s, "prints")) printf("product\n"), fflush(stdout);
    if (is(s, "flushes")) flush();
    if (is(s, "blocks-signals")) {
        sigset_t all;
        sigfillset(&all);
        sigprocmask(SIG_BLOCK, &all, NULL);
    }
    if (is(s, "binds")) {
        cpu_set_t set;
        sched_getaffinity(0, sizeof set, &set);
        int other = CPU_COUNT(&set) > 1, cpu;
        for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
            if (CPU_ISSET(cpu, &set) == other) break;
        /* A CPU may be forbidden; then there is nothing to find. */
        for (; cpu < CPU_SETSIZE; cpu++) {
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            if (!CPU_EQUAL(&one, &set) && !sched_setaffinity(0, sizeof one, &one)) break;
        }
    }
    return SPMV_OK;
}

static int info(void *handle, spmv_info *info) {
    const state *s = handle;
    info->note = s->ctx->parameter(s->ctx, "mood");
    if (is(s, "fails-in-info")) return SPMV_ERROR;
    if (is(s, "computes-after-gaps")) info->extra_bytes = 8, info->csr_bytes = 0;
    return SPMV_OK;
}

static void destroy(void *handle) {
    state *s = handle;
    if (is(s, "crashes-in-destroy")) crash();
    if (is(s, "flushes-in-destroy")) flush();
    if (is(s, "interrupts-in-destroy")) raise(SIGINT);
    if (is(s, "writes-matrix-in-destroy") && s->csr->nnz) ((double *)s->csr->values)[0] += 1;
    if (is(s, "leaves-folder")) (void)!chdir("/");
    if (s->old_x) s->ctx->release(s->ctx, s->old_x);
    if (!is(s, "leaks")) s->ctx->release(s->ctx, s);
}

static const char *const moods[] = {"good", "bad", NULL};
static const spmv_parameter parameters[] = {{"mood", moods, "a text for the note"}, {NULL, NULL, NULL}};

#define FAULTS(X)                                                                                                      \
    X(0, "right") X(1, "refuses") X(2, "fails") X(3, "crashes-in-prepare") X(4, "crashes-in-multiply")                 \
    X(5, "crashes-in-destroy") X(6, "hangs") X(7, "exits") X(8, "writes-after-y") X(9, "writes-before-y")              \
    X(10, "writes-x") X(11, "writes-matrix") X(12, "keeps-x") X(13, "reads-y") X(14, "flushes")                        \
    X(15, "blocks-signals") X(16, "binds") X(17, "leaks") X(18, "prints") X(19, "nests") X(20, "releases-others")      \
    X(21, "fails-later") X(22, "fails-in-info") X(23, "flushes-in-prepare") X(24, "flushes-in-destroy") X(25, "waits") \
    X(26, "changes-folder") X(27, "opens-files") X(28, "sets-alarm") X(29, "sets-timer") X(30, "limits-memory")        \
    X(31, "limits-time") X(32, "ignores-signals") X(33, "masks-files") X(34, "forks") X(35, "forks-and-crashes")       \
    X(36, "forks-for-ever") X(37, "says-done") X(38, "leaves-folder")                     \
    X(39, "interrupts-in-destroy") X(40, "writes-matrix-in-destroy") X(41, "wrong-in-late-rows")      \
    X(42, "computes-after-gaps") X(43, "renices") X(44, "schedules") X(45, "slackens") X(46, "kills-siblings")         \
    X(47, "stops-siblings") X(48, "stops") X(49, "forks-twice")
#define PREPARE(N, NAME)                                                                                               \
    static int prepare##N(const spmv_ctx *ctx, const spmv_csr *csr, void **handle) {                                   \
        return prepare(ctx, csr, handle, NAME);                                                                        \
    }
#define METHOD(N, NAME)                                                                                                \
    {SPMV_ABI, sizeof(spmv_method), NAME, "1.2", "a test", "MIT", "a method with a fault",                             \
     SPMV_F64 | SPMV_F32 | SPMV_INSPECTION, parameters, prepare##N, multiply, info, destroy},
FAULTS(PREPARE)
static spmv_method methods[] = {FAULTS(METHOD)};

#ifdef NO_SYMBOL
#define spmv_method_v1 spmv_method_v2
const spmv_method *spmv_method_v1(unsigned index);
#endif

const spmv_method *spmv_method_v1(unsigned index) {
    spmv_method *first = &methods[0];
    if (loads("empty")) return NULL;
    if (loads("crashes")) crash();
    if (loads("other abi")) first->abi = 2;
    if (loads("small")) first->size = 8;
    if (loads("no prepare")) first->prepare = NULL;
    if (loads("no name")) first->name = NULL;
    if (loads("bad name")) first->name = "A method";
    if (loads("taken")) first->name = "merge";
    if (loads("no precision")) first->flags = SPMV_INSPECTION;
    if (loads("unknown flag")) first->flags |= 0x1000;
    if (loads("endless")) return first;
    return index < sizeof methods / sizeof *methods ? &methods[index] : NULL;
}

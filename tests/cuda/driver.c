// A fake CUDA driver with two GPUs that computes nothing. It counts live objects, rejects invalid calls like a real
// driver, and contains some kernels: `store` writes its number to its pointer, after `fault` every call fails, and
// `csr_scalar` never ends; the kernels that measure the device do nothing. With CUDA_12_0 defined, it is a driver of
// CUDA 12.0, without the functions of later versions; with CUDA_6_5 it lacks more functions. The variable FAKE_DRIVER
// names a call and its fault, such as `cuInit hangs`; each such call also prints its name.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OK, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_IMAGE = 200, INVALID_CONTEXT = 201,
       NOT_FOUND = 500, ILLEGAL_ADDRESS = 700 };

typedef struct { int device; } context;
typedef struct { context *owner; } object; // a stream, a module
typedef struct { context *owner; float ms; } event;
typedef struct { const char *name; size_t sizes[8]; int dynamic; } function;

static context contexts[2] = {{0}, {1}};
static context *current;
static int fault, hangs, alive, profiled, dependent;
static float now;

int fake_alive(void) { return alive; }
int fake_profiled(void) { return profiled; }
int fake_dependent(void) { return dependent; }

#define ENTER if (!current) return INVALID_CONTEXT; if (fault) return ILLEGAL_ADDRESS
#define IN(object) if (!(object) || (object)->owner != current) return INVALID_CONTEXT

static void misbehave(const char *call) {
    const char *fault = getenv("FAKE_DRIVER");
    size_t length = strlen(call);
    if (!fault || strncmp(fault, call, length) || fault[length] != ' ') return;
    fault += length + 1;
    fprintf(stderr, "%s is called\n", call);
    if (!strcmp(fault, "hangs")) for (;;) pause();
    if (!strcmp(fault, "aborts")) abort();
    if (!strcmp(fault, "crashes")) *(volatile int *)0 = 1;
    if (!strcmp(fault, "exits")) exit(0);
    if (!strcmp(fault, "prints")) for (int i = 0; i < 1000; i++) puts("\1 garbage");
    if (!strcmp(fault, "waits")) usleep(200000);
}
__attribute__((constructor)) static void loaded(void) { misbehave("loading"); }

int cuInit(unsigned flags) { misbehave("cuInit"); return flags ? INVALID_VALUE : OK; }
// NVRTC calls this function; an error means that there is no table.
int cuGetExportTable(const void **table, const void *id) { *table = NULL; return INVALID_VALUE; }
#ifdef CUDA_12_0
int cuDriverGetVersion(int *v) { *v = 12000; return OK; }
#else
int cuDriverGetVersion(int *v) { *v = 13000; return OK; }
#endif
int cuDeviceGetCount(int *n) { misbehave("cuDeviceGetCount"); *n = 2; return OK; }
int cuDeviceGet(int *d, int n) { *d = n; return n < 2 ? OK : 101; }
int cuDeviceGetName(char *s, int n, int d) { strncpy(s, d ? "Second" : "First", n); return OK; }
int cuDeviceGetPCIBusId(char *s, int n, int d) { strncpy(s, "0000:00:00.0", n); return OK; }
int cuDeviceTotalMem_v2(size_t *b, int d) { *b = (size_t)8 << 30; return OK; }
int cuDeviceGetAttribute(int *v, int which, int d) {
    switch (which) {
    case 75: *v = 9; break;          // compute capability, major
    case 76: *v = 0; break;          // and minor
    case 13: *v = 1980000; break;    // clock, kHz
    case 36: *v = 2619000; break;    // memory clock, kHz
    case 37: *v = 5120; break;       // bus width
    case 16: *v = 132; break;        // multiprocessors
    case 108: *v = 1000; break;      // the largest part of the L2 cache that can be set aside
    case 109: *v = 2000; break;      // the largest access policy window
    default: *v = 32;
    }
    return OK;
}
#ifndef CUDA_6_5
int cuDevicePrimaryCtxRetain(context **c, int d) { *c = &contexts[d]; alive++; return OK; }
#endif
int cuDevicePrimaryCtxRelease_v2(int d) { alive--; return OK; }
int cuCtxSetCurrent(context *c) { current = c; return OK; }

static int create(void **o, size_t bytes) {
    ENTER;
    *o = calloc(1, bytes);
    *(context **)*o = current;
    alive++;
    return OK;
}
static int destroy(object *o) { IN(o); free(o); alive--; return OK; }

int cuStreamCreate(void **s, unsigned flags) { return create(s, sizeof(object)); }
int cuStreamDestroy_v2(object *s) { return destroy(s); }
int cuStreamSynchronize(object *s) {
    ENTER; IN(s);
    while (hangs) pause();
    return OK;
}

int cuCtxSynchronize(void) {
    ENTER;
    while (hangs) pause();
    return OK;
}

int cuMemGetInfo_v2(size_t *free, size_t *total) {
    misbehave("cuMemGetInfo");
    *free = (size_t)3 << 30;
    *total = (size_t)4 << 30;
    return OK;
}
int cuMemAlloc_v2(uint64_t *p, size_t bytes) {
    ENTER;
    if (bytes >> 33) return OUT_OF_MEMORY;
    *p = (uint64_t)malloc(bytes);
    alive++;
    return OK;
}
int cuMemFree_v2(uint64_t p) { free((void *)p); alive--; return OK; }
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t n, object *s) {
    ENTER; IN(s); memcpy((void *)to, from, n); return OK;
}
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t n, object *s) {
    ENTER; IN(s); memcpy(to, (void *)from, n); return OK;
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t n, object *s) {
    ENTER; IN(s); memcpy((void *)to, (void *)from, n); return OK;
}
int cuMemsetD8Async(uint64_t to, unsigned char byte, size_t n, object *s) {
    ENTER; IN(s); memset((void *)to, byte, n); return OK;
}

int cuModuleLoadData(void **m, const void *image) {
    if (memcmp(image, "\x7f" "ELF", 4)) return INVALID_IMAGE;
    return create(m, sizeof(object));
}
int cuModuleUnload(object *m) { return destroy(m); }
int cuModuleGetFunction(function **f, object *m, const char *name) {
    static function known[] = {{"store", {8, 4}, 1 << 10},
                               {"fault", {0}, 1 << 10},
                               {"csr_scalar", {4, 8, 8, 8, 8, 8, 8, 8}, 1 << 10},
                               {"probe_empty", {0}, 1 << 10},
                               {"probe_spin", {8}, 1 << 10},
                               {"probe_read", {8, 4, 8, 8}, 1 << 10},
                               {"probe_read_evict_first", {8, 4, 8, 8}, 1 << 10}};
    ENTER; IN(m);
    for (int i = 0; i < 7; i++)
        if (!strcmp(name, known[i].name)) { *f = &known[i]; return OK; }
    return NOT_FOUND;
}
#ifndef CUDA_12_0
int cuFuncGetParamInfo(function *f, size_t i, size_t *offset, size_t *bytes) {
    ENTER;
    if (i > 7 || !f->sizes[i]) return INVALID_VALUE;
    *bytes = f->sizes[i];
    return OK;
}
#endif
int cuFuncSetAttribute(function *f, int which, int value) {
    ENTER;
    if (which != 8 || value > 200 << 10) return INVALID_VALUE;
    f->dynamic = value;
    return OK;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, function *f, int threads, size_t shared) {
    ENTER;
    if ((size_t)f->dynamic < shared) return INVALID_VALUE;
    *n = 2048 / threads;
    return OK;
}
// A graph contains up to eight launches of `store`. Calls that wait during a capture are rejected.
typedef struct { context *owner; int count; struct { uint32_t *to, value; } stores[8]; } graph;
static graph *capturing;

static int note(uint32_t *to, uint32_t value) {
    if (capturing->count == 8) return OUT_OF_MEMORY;
    capturing->stores[capturing->count].to = to;
    capturing->stores[capturing->count++].value = value;
    return OK;
}
int cuStreamBeginCapture_v2(object *s, int mode) {
    ENTER; IN(s);
    return capturing || mode != 1 ? INVALID_VALUE : create((void **)&capturing, sizeof(graph));
}
int cuStreamEndCapture(object *s, graph **g) {
    ENTER; IN(s);
    if (!capturing) return INVALID_VALUE;
    *g = capturing;
    capturing = NULL;
    return OK;
}
int cuGraphInstantiateWithFlags(graph **executable, graph *g, unsigned long long flags) {
    ENTER; IN(g);
    int status = create((void **)executable, sizeof(graph));
    if (!status) **executable = *g;
    return status;
}
int cuGraphDestroy(graph *g) { return destroy((object *)g); }
int cuGraphExecDestroy(graph *g) { return destroy((object *)g); }
int cuGraphLaunch(graph *g, object *s) {
    ENTER; IN(g); IN(s);
    for (int i = 0; i < g->count; i++) *g->stores[i].to = g->stores[i].value;
    return OK;
}

// A launch with one attribute or none. The attribute is that of a dependent launch (6).
typedef struct { int id, pad, allowed; } launch_attribute;
typedef struct {
    unsigned grid[3], block[3], shared;
    object *stream;
    launch_attribute *attributes;
    unsigned count;
} launch_config;

int cuLaunchKernelEx(const launch_config *config, function *f, void **values, void **extra) {
    const unsigned *block = config->block;
    ENTER; IN(config->stream);
    if (block[0] * block[1] * block[2] > 1024 || config->shared > (unsigned)f->dynamic) return INVALID_VALUE;
    if (config->count && (config->attributes->id != 6 || config->attributes->allowed != 1)) return INVALID_VALUE;
    dependent += config->count;
    if (capturing) return note(*(uint32_t **)values[0], *(uint32_t *)values[1]);
    if (*f->name == 'f') fault = 1;
    else if (*f->name == 'c') hangs = 1;
    else if (*f->name == 's') **(uint32_t **)values[0] = *(uint32_t *)values[1];
    return OK;
}

// The part of the L2 cache that is set aside (limit 6), and the window (attribute 1) whose data persist in it.
typedef struct { char *base; size_t bytes; float share; int hit, miss; } policy_window;
static size_t set_aside;
static policy_window window;
size_t fake_set_aside(void) { return set_aside; }
size_t fake_window(void) { return window.bytes; }

int cuCtxSetLimit(int which, size_t bytes) {
    ENTER;
    if (which != 6 || bytes > 1000) return INVALID_VALUE;
    set_aside = bytes;
    return OK;
}
int cuStreamSetAttribute(object *s, int which, const policy_window *value) {
    ENTER; IN(s);
    const float expected = value->bytes ? (float)set_aside / value->bytes : 0;
    if (which != 1 || value->bytes > 2000 || value->share != expected) return INVALID_VALUE;
    if (value->bytes && (value->hit != 2 || value->miss != 1)) return INVALID_VALUE;
    window = *value;
    return OK;
}
int cuCtxResetPersistingL2Cache(void) { ENTER; return set_aside || window.bytes ? INVALID_VALUE : OK; }

int cuEventCreate(void **e, unsigned flags) { return create(e, sizeof(event)); }
int cuEventRecord(event *e, object *s) { ENTER; IN(e); IN(s); e->ms = now++; return OK; }
int cuEventSynchronize(event *e) {
    ENTER; IN(e);
    while (hangs) pause();
    return OK;
}
#ifdef CUDA_12_0
int cuEventElapsedTime(float *ms, event *a, event *b) {
#else
int cuEventElapsedTime_v2(float *ms, event *a, event *b) {
#endif
    ENTER; IN(a); IN(b); *ms = b->ms - a->ms; return OK;
}
int cuEventDestroy_v2(event *e) { return destroy((object *)e); }

int cuProfilerStart(void) { ENTER; return profiled++ % 2 ? INVALID_VALUE : OK; }
int cuProfilerStop(void) { ENTER; return profiled++ % 2 ? OK : INVALID_VALUE; }

int cuGetErrorName(int status, const char **text) {
    *text = status == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
          : status == INVALID_IMAGE ? "CUDA_ERROR_INVALID_IMAGE"
          : status == NOT_FOUND ? "CUDA_ERROR_NOT_FOUND"
          : status == ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : status == INVALID_VALUE ? "CUDA_ERROR_INVALID_VALUE" : NULL;
    return *text ? OK : INVALID_VALUE;
}
int cuGetErrorString(int status, const char **text) { *text = "meaning"; return OK; }

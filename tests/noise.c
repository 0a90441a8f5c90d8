/* noise CPU: another program on this CPU, for about half of the time. It streams memory in bursts of 0.1 to 3 s, with
 * pauses of the same lengths, until it is killed or its parent ends. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 64 << 20 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double length(void) { return 0.1 + 2.9 * drand48(); }

int main(int count, char **words) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(count == 2 ? atoi(words[1]) : 0, &cpus);
    char *from = malloc(BYTES), *to = malloc(BYTES);
    if (sched_setaffinity(0, sizeof cpus, &cpus) || !from || !to) return perror("noise"), 1;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    memset(from, 1, BYTES);
    srand48(getpid());
    for (;;) {
        for (double end = now() + length(); now() < end;) memcpy(to, from, BYTES), from[(unsigned char)to[0]]++;
        usleep((useconds_t)(1e6 * length()));
    }
}

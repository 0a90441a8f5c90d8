// A clock that goes at a fifth of its speed from the first time that it is read.
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
    static _Atomic long first;
    long failed = syscall(SYS_clock_gettime, clock, time), now = time->tv_sec * 1000000000 + time->tv_nsec;
    if (failed || clock != CLOCK_MONOTONIC) return (int)failed;
    if (!first) first = now;
    now = first + (now - first) / 5;
    *time = (struct timespec){now / 1000000000, now % 1000000000};
    return 0;
}

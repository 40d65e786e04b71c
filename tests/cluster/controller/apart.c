/* The wall clock, put forward by APART seconds: for a process whose clock is not the API server's. */
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t which, struct timespec *at) {
    int failed = (int)syscall(SYS_clock_gettime, which, at);
    const char *apart = getenv("APART");
    if (!failed && which == CLOCK_REALTIME && apart) at->tv_sec += atol(apart);
    return failed;
}

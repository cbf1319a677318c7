/* Processor time of this process, so that what else a machine does is no part of a figure. */
#ifndef FORETRAIN_BENCH_PROCESSOR_H
#define FORETRAIN_BENCH_PROCESSOR_H

#include <time.h>

static inline double processor_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif

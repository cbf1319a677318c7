/* What the readers of a trace in the bench take from its events, so that they do the same work. */
#ifndef FORETRAIN_BENCH_TRACE_SUMS_H
#define FORETRAIN_BENCH_TRACE_SUMS_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

struct trace_sums {
    uint64_t n_events;
    uint64_t start_ns, duration_ns; /* modulo 2^64 */
    uint64_t text_bytes;            /* of names and categories */
    uint64_t args;                  /* of External id, correlation and stream */
};

static inline void trace_sums_print(const struct trace_sums *sums)
{
    printf("%" PRIu64 " events, %" PRIu64 " %" PRIu64 " ns, %" PRIu64 " bytes, %" PRIu64 "\n",
           sums->n_events, sums->start_ns, sums->duration_ns, sums->text_bytes, sums->args);
}

#endif

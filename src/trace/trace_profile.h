/*
 * Profiler traces made elsewhere become a device type's profile (docs/import.md).
 *
 * One trace, or one for each rank of a training, of PyTorch 1.7 to 2.x on any device. What is not
 * in a trace is marked as unknown in the profile, with the reason.
 */
#ifndef FORETRAIN_TRACE_TRACE_PROFILE_H
#define FORETRAIN_TRACE_TRACE_PROFILE_H

#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "profile/profile.h"

struct trace_given_rank {
    const char *file;
    int rank;
};

struct trace_options {
    const char *device_type;
    double batch;                 /* samples of a mini-batch; 0: not known */
    const double *gradient_bytes; /* [n], one for each bucket, or one for all; NULL: not given */
    size_t n_gradient_bytes;
    const struct trace_given_rank *given; /* [n_given], ranks of files that do not say */
    size_t n_given;
    int world_size;      /* 0: as the traces say */
    bool no_comm;        /* go without the time of collectives */
    bool partial;        /* use a trace that is cut off */
    void *progress_data; /* progress(progress_data, file, done, total), as of trace_read; or NULL */
    void (*progress)(void *data, const char *file, uint64_t done_bytes, uint64_t total_bytes);
    void (*warn)(const char *text); /* says what was taken for granted; or NULL */
};

/*
 * The profile of trace[n]. Fails at what is wrong with a file (trace_read), or with files together:
 * two of one rank, ranks of different trainings, no step in common.
 */
bool profile_from_traces(struct arena *arena, const char *const *trace, size_t n,
                         const struct trace_options *options, struct profile *profile,
                         struct error *e);

#endif

/* One rank's trace becomes that rank's record, as its worker would have written it. */
#ifndef FORETRAIN_TRACE_TRACE_RANK_H
#define FORETRAIN_TRACE_TRACE_RANK_H

#include "trace/trace_profile.h"
#include "trace/trace_stages.h"

struct trace_rank {
    const char *file;
    int rank;             /* -1: nothing tells, and there is nothing to take part in */
    int world_size;       /* 0: nothing tells */
    int gradient_group;   /* of how many ranks gradients are all-reduced; -1: nothing tells */
    bool has_collectives; /* other devices take part */
    const char *backend;  /* or NULL */
    struct record record;
    const int64_t *number;           /* [record.n_iterations], of the trace's steps */
    const struct trace_window *when; /* [record.n_iterations] since 1970; NULL: not known */
};

/*
 * Reads a trace and makes its record. Fails as trace_read, and where it holds no steps, no step
 * that counts, no time of its collectives (unless options->no_comm), or nothing of the rank that
 * made it.
 */
bool trace_rank_read(struct arena *arena, const char *path, const struct trace_options *options,
                     struct trace_rank *rank, struct error *e);

#endif

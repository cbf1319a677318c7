/*
 * The collectives of a trace: each was called on the CPU, and took its time elsewhere
 * (docs/import.md, "Collectives").
 */
#ifndef FORETRAIN_TRACE_TRACE_CALLS_H
#define FORETRAIN_TRACE_TRACE_CALLS_H

#include "trace/trace_steps.h"

struct trace_call {
    int64_t start_ns, end_ns; /* of the call, on the CPU */
    uint32_t track, group, library;
    const char *op;
    double bytes, elements; /* negative: not known */
    int trust;
    int group_size;            /* -1: not known */
    int64_t least_id, most_id; /* "External id" of the call's events; least > most: none */
    bool gradient;             /* DistributedDataParallel's all-reduce of a bucket */
    bool on_cpu;               /* its own time is the CPU's (gloo, MPI) */

    /* When it ran: on gloo's thread, or on the device's clock. */
    struct trace_window span;
    int64_t ready_ns; /* on the device's clock: what it waits for is computed; INT64_MIN: nothing */
};

struct trace_calls {
    struct trace_call *call; /* [n], by start */
    size_t n;
    bool on_cpu;         /* the gradients' own times are the CPU's */
    bool ran;            /* the trace tells when one of the gradients' ran */
    size_t n_untold;     /* on gloo's threads, which may be other process groups' (trace_runs.h) */
    size_t n_homeless;   /* collectives' kernels whose call is not in the trace */
    const char *library; /* the gradients', "nccl"; NULL: no collective */
    int largest_group;   /* -1: not known */
    int gradient_group;  /* largest of the gradients' calls; -1: not known */
};

/* Finds calls and which of them are gradients', and when they ran where that is in the trace. */
void trace_calls_find(struct arena *arena, const struct trace_collected *collected,
                      const struct trace_steps *steps, struct trace_calls *calls);

/* Those that were called in a step's time: *first and how many. O(log n). */
size_t trace_calls_of(const struct trace_calls *calls, const struct trace_step *step,
                      struct trace_call **first);

/* Takes over what one of the call's events says. */
void trace_call_learn(struct trace_call *call, const struct trace_comm *comm, uint32_t no_word);

/* A library whose collectives run on threads of the CPU: gloo, MPI. */
bool trace_runs_on_cpu(const struct trace_collected *collected, uint32_t library);

/* Whether other devices take part. */
bool trace_call_is_shared(const struct trace_call *call);

#endif

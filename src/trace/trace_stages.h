/* What each stage of a step took, by the definitions of the worker's record (docs/formats.md). */
#ifndef FORETRAIN_TRACE_TRACE_STAGES_H
#define FORETRAIN_TRACE_TRACE_STAGES_H

#include "profile/record.h"
#include "trace/trace_device.h"

/* A trace in all its parts. */
struct trace {
    const char *file;
    struct trace_collected collected;
    struct trace_steps steps;
    struct trace_calls calls;
    struct trace_device device;
};

/*
 * Times, buckets and other collectives of step `s`; of stages on the device's clock where there is
 * a device. What is not known is negative.
 */
struct record_iteration trace_stages_of(struct arena *arena, const struct trace *trace, size_t s);

#endif

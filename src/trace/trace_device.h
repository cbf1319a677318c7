/*
 * Work of the device, given to the step, the pass and the operator that launched it: its times are
 * on the device's own clock, and nothing here subtracts a CPU's from them (docs/import.md, "Two
 * clocks").
 */
#ifndef FORETRAIN_TRACE_TRACE_DEVICE_H
#define FORETRAIN_TRACE_TRACE_DEVICE_H

#include "trace/trace_calls.h"

struct trace_device {
    bool used;            /* the trace holds work of a device */
    size_t n_unlaunched;  /* whose launch is not in the trace */
    int64_t *operator_ns; /* [collected->outer.n], what each outermost operator had the device do */
    uint32_t device;      /* that did most of it */
    const char
        *in_calls; /* names of kernels that collectives' calls launched, "a, b"; NULL: none */
};

/* Fills in the device's windows of steps and passes, and the calls' ready_ns. */
void trace_device_place(struct arena *arena, const struct trace_collected *collected,
                        const struct trace_steps *steps, const struct trace_calls *calls,
                        struct trace_device *device);

#endif

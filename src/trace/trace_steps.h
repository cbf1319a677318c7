/*
 * The steps of a trace and the stages in them, on the CPU's clock (docs/import.md, "Steps").
 *
 * A step is ProfilerStep#N where there are such marks; else what lies between the ends of
 * optimizers' steps, or the starts of zero_grad, or of the loader's next().
 */
#ifndef FORETRAIN_TRACE_TRACE_STEPS_H
#define FORETRAIN_TRACE_TRACE_STEPS_H

#include "trace/trace_collect.h"

/* Empty where start_ns > end_ns. */
struct trace_window {
    int64_t start_ns, end_ns;
};

#define TRACE_NO_WINDOW ((struct trace_window){INT64_MAX, INT64_MIN})

static inline bool trace_window_is_empty(struct trace_window window)
{
    return window.start_ns > window.end_ns;
}

static inline void trace_window_add(struct trace_window *window, int64_t start_ns, int64_t end_ns)
{
    window->start_ns = start_ns < window->start_ns ? start_ns : window->start_ns;
    window->end_ns = end_ns > window->end_ns ? end_ns : window->end_ns;
}

/* One forward pass and its backward pass; a step has several where gradients accumulate. */
struct trace_pass {
    bool has_forward;
    int64_t forward_ns;                      /* begin */
    struct trace_window backward;            /* first backward operator to the end of the last */
    const struct trace_span *first_gradient; /* NULL: no backward pass */
    struct trace_window forward_work, backward_work; /* on the device's clock */
};

struct trace_step {
    int64_t number; /* of ProfilerStep, else counted from 1 */
    uint32_t track; /* thread of its marks */
    int64_t start_ns, end_ns;
    int64_t wait_ns, optimizer_ns, zero_grad_ns, ddp_forward_ns;
    int64_t zero_grad_in_forward_ns; /* of it, between begin of forward and begin of backward */
    int64_t optimizer_end_ns;        /* of its last mark */
    size_t n_loads;
    int64_t last_accumulation_ns; /* end of the last gradient that was added up; 0: none */
    struct trace_pass *pass;      /* [n_passes] */
    size_t n_passes;

    /* On the device's clock, of what was launched in the step: trace_device_place. */
    struct trace_window work, optimizer_work, first_gradient_work;
    const struct trace_span *first_working_gradient;
    int64_t upload_ns;
};

struct trace_steps {
    struct trace_step *step; /* [n], one after the other in time */
    size_t n;
    const char *cut_by;   /* the words of the marks: "ProfilerStep" */
    bool renumbered;      /* from 1, as the marks' numbers do not increase */
    size_t n_overlapping; /* marks that are passed over, as they overlap the one before */
};

/* Fails, naming `file`, where nothing tells where a step begins, or two processes do. */
bool trace_steps_find(struct arena *arena, const struct trace_collected *collected,
                      const char *file, struct trace_steps *steps, struct error *e);

/* The step in whose time on the CPU `at_ns` lies, or NULL. O(log n). */
struct trace_step *trace_step_at(const struct trace_steps *steps, int64_t at_ns);

/* The pass whose forward or backward `at_ns` belongs to: the last one that has begun; or NULL. */
struct trace_pass *trace_pass_at(const struct trace_step *step, int64_t at_ns);

#endif

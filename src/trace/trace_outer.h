/*
 * The outermost of nested operators, thread by thread, from events in any order: what lies in
 * another's time is counted with it, once.
 */
#ifndef FORETRAIN_TRACE_TRACE_OUTER_H
#define FORETRAIN_TRACE_TRACE_OUTER_H

#include "trace/trace_packed.h"

struct trace_span {
    int64_t start_ns, end_ns;
    uint32_t track, name; /* number of the thread, and of the name */
};

/* A zeroed struct holds none. */
struct trace_outer {
    struct trace_span *span; /* [n], after trace_outer_finish */
    size_t n;
    struct trace_packed added; /* before it; but for `last` */
    struct trace_span last;
    bool has_last;
};

/* What the last one holds, or what holds it, takes no memory. O(log n), in the mean. */
void trace_outer_add(struct trace_outer *outer, struct trace_span span);

/* Leaves the outermost only, by thread and start, whatever order they came in. Of two that overlap
 * without nesting (rounded times do), the later is left out, with what it holds. */
void trace_outer_finish(struct trace_outer *outer);

void trace_outer_free(struct trace_outer *outer);

/* The one on `track` whose time holds `at_ns`, or NULL. After trace_outer_finish. O(log n). */
const struct trace_span *trace_outer_find(const struct trace_outer *outer, uint32_t track,
                                          int64_t at_ns);

#endif

/*
 * The outermost of nested operators, thread by thread, from events in any order: what lies in
 * another's time is counted with it, once.
 */
#ifndef FORETRAIN_TRACE_TRACE_OUTER_H
#define FORETRAIN_TRACE_TRACE_OUTER_H

#include <stddef.h>
#include <stdint.h>

struct trace_span {
    int64_t start_ns, end_ns;
    uint32_t track, name; /* number of the thread, and of the name */
};

/* A zeroed struct holds none. */
struct trace_outer {
    struct trace_span *span; /* [n] */
    size_t n, capacity;
};

/* Memory: twice the outermost ones. O(log n), in the mean. */
void trace_outer_add(struct trace_outer *outer, struct trace_span span);

/* Leaves the outermost only, by thread and start. Of two that overlap without nesting, the later
 * is left out. */
void trace_outer_finish(struct trace_outer *outer);

/* The one on `track` whose time holds `at_ns`, or NULL. After trace_outer_finish. O(log n). */
const struct trace_span *trace_outer_find(const struct trace_outer *outer, uint32_t track,
                                          int64_t at_ns);

#endif

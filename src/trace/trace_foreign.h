/* Files that are no profiler traces, told by what they are. */
#ifndef FORETRAIN_TRACE_TRACE_FOREIGN_H
#define FORETRAIN_TRACE_TRACE_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* What was found in a file that is JSON. */
struct trace_findings {
    bool is_array;   /* at the top level */
    bool has_events; /* an array of events, empty or not */
    unsigned keys;   /* bit: enum header_key, of the top level */
    uint64_t n_events;
    uint64_t n_async; /* events that begin or end an asynchronous span: phases b and e */
};

/* Describes a file whose text, `text[length]` of its beginning, begins with neither [ nor {. */
void trace_foreign_text(const struct place *place, const char *text, size_t length,
                        struct error *e);

/* Describes an array of arrays. */
void trace_foreign_timeline(const struct place *place, struct error *e);

/* Whether the findings are those of a trace. */
bool trace_foreign_check(const char *path, const struct trace_findings *findings, struct error *e);

#endif

/* The way through a trace's text, whatever its layout: to its events and to its header. */
#ifndef FORETRAIN_TRACE_TRACE_WALK_H
#define FORETRAIN_TRACE_TRACE_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "trace/event_scan.h"
#include "trace/header_values.h"
#include "trace/scan.h"
#include "trace/trace_foreign.h"
#include "trace/trace_read.h"
#include "trace/trace_stream.h"
#include "trace/trace_window.h"

struct trace_walker {
    const struct trace_reader *reader;
    const struct trace_stream *stream;
    const char *path;
    struct trace_window window;
    struct event_scanner scanner;
    struct trace_event event;
    struct nest nest;
    uint64_t event_arrays[SCAN_DEEPEST / 64]; /* bit i: at depth i there is an array of events */
    enum header_key key;                      /* whose value comes next, where one does */
    const char *p;
    struct header_values header;
    struct trace_findings findings;
    uint64_t whole_bytes; /* up to the end of the last event */
    bool truncated;
};

/*
 * Walks through the whole text, handing on its events. Where it is cut off and `partial` is asked
 * for, `truncated` is set. Fails as trace_read does. A walker is to be zeroed but for its reader,
 * stream, path and window, and freed.
 */
bool trace_walk(struct trace_walker *w, struct error *e);

void trace_walker_free(struct trace_walker *w);

#endif

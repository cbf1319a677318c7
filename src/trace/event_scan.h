/* One event of a trace, from its text in memory. */
#ifndef FORETRAIN_TRACE_EVENT_SCAN_H
#define FORETRAIN_TRACE_EVENT_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "trace/glue.h"
#include "trace/numbering.h"
#include "trace/scan.h"
#include "trace/trace_event.h"

enum { N_KNOWN_TRACKS = 64 }; /* a power of two */

/* A track by the bytes of its pid and tid. */
struct known_track {
    uint64_t pid, tid, more_tid;
    uint32_t track_plus_1; /* 0: none */
};

/* A zeroed struct is ready; `scan.end` is set by whoever moves the text. */
struct event_scanner {
    struct scan scan;
    struct glue_book book;
    struct numbering tracks; /* of pid, zero byte, tid */
    struct numbering processes;
    uint32_t *process_of; /* [tracks' number] */
    struct known_track known[N_KNOWN_TRACKS];
    struct text key;            /* of a track, or a phase that is not plain */
    struct text name, category; /* decoded, where they are not plain */
    struct trace_value pid, tid;
    uint64_t n_broken; /* characters */
    bool holds_events; /* out: it is no event but an object with "traceEvents" */
};

/*
 * Reads the object that begins at `p` into `event`; returns the place behind it, or NULL as the
 * functions of scan.h do, or with `holds_events`. What `event` points to lies in the text or in the
 * scanner. `offset_bytes` is not set.
 */
const char *event_scan(struct event_scanner *es, const char *p, struct trace_event *event);

void event_scanner_free(struct event_scanner *es);

#endif

/* Trace events as JSON, one by one: Google's "Trace Event Format". Times are seconds. */
#ifndef FORETRAIN_REPORT_TRACE_EVENTS_H
#define FORETRAIN_REPORT_TRACE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A row of slices: `thread` of `process`; both from 1. */
struct trace_track {
    size_t process, thread;
};

struct trace_events {
    FILE *out;
    bool any;
    size_t n_flows;
};

/* The document's begin and end; `events` begins zeroed but for `out`. */
void trace_events_begin(struct trace_events *events);
void trace_events_end(struct trace_events *events);

/* Names are shown as text_printable makes them. Tracks stand in the order of their threads. */
void trace_events_name_process(struct trace_events *events, size_t process, const char *name);
void trace_events_name_track(struct trace_events *events, struct trace_track track,
                             const char *name);

/* A slice; none where it takes less than a nanosecond. */
void trace_events_slice(struct trace_events *events, struct trace_track track, const char *name,
                        double from_s, double to_s);

/* An arrow from a slice to a slice: out of the one before it ends, into the other as it begins. */
void trace_events_flow(struct trace_events *events, const char *name, struct trace_track from,
                       double from_s, struct trace_track to, double to_s);

#endif

/* Where a trace's text comes from: a file, gzip data, or a test's memory. */
#ifndef FORETRAIN_TRACE_TRACE_STREAM_H
#define FORETRAIN_TRACE_TRACE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct trace_stream {
    /* Writes up to `capacity` bytes to `to`; none at the end. Called by one thread. */
    bool (*fill)(struct trace_stream *stream, char *to, size_t capacity, size_t *length,
                 struct error *e);

    /* Ends a waiting `fill`, from another thread; or NULL where it never waits. */
    void (*stop)(struct trace_stream *stream);

    _Atomic uint64_t done_bytes; /* of the input, compressed where it is */
    uint64_t total_bytes;        /* 0: unknown */
    bool compressed;             /* it is gzip data */
    bool cut_off;                /* known at the end: gzip data that ends too early */
    bool followed;               /* known at the end: whole gzip data, but bytes behind it */
};

struct arena;
struct trace_reader;
struct trace_ending;

/* Reads a trace as trace_read does, from a stream that errors call `name`. */
bool trace_read_stream(struct arena *arena, const char *name, struct trace_stream *stream,
                       const struct trace_reader *reader, struct trace_ending *ending,
                       struct error *e);

#endif

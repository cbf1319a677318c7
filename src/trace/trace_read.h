/*
 * Reads a profiler trace of any size, event by event, in constant memory.
 *
 * A trace is a JSON array of events, or an object with an array "traceEvents" at any depth and
 * other keys before and after it; plain or gzip (several members too), file or pipe. One thread
 * reads and inflates, the caller's scans. All text is checked to be JSON, what is skipped too.
 * Events come in the file's order: not sorted, duplicates included.
 */
#ifndef FORETRAIN_TRACE_TRACE_READ_H
#define FORETRAIN_TRACE_TRACE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "trace/trace_event.h"

enum {
    TRACE_LONGEST_BYTES = 16 << 20, /* longest event, value that is kept, or single string */
    TRACE_MOST_TRACKS = 1 << 16,
};

/* What the trace says beside its events; known at the end, as it may follow them. */
struct trace_header {
    bool is_array;             /* the top level is an array: none of the rest is there */
    int schema_version;        /* -1: unknown */
    int64_t base_time_ns;      /* baseTimeNanoseconds: add to start_ns; 0 where there is none */
    const char *trace_name;    /* or NULL */
    const char *host_name;     /* or NULL */
    const char *backend;       /* distributedInfo's, "nccl"; or NULL */
    int rank;                  /* distributedInfo's; -1: unknown */
    int world_size;            /* distributedInfo's; 0: unknown */
    const char *groups_json;   /* distributedInfo's pg_config, as JSON; or NULL */
    const char *const *device; /* [n_devices], names in deviceProperties or computeProperties */
    size_t n_devices;
    bool has_rocm; /* keys of roctracer or hip are there */
    bool record_shapes;
};

/* A pid and tid together, numbers as text. */
struct trace_track {
    const char *pid;
    const char *tid;
    uint32_t process;
};

struct trace_ending {
    struct trace_header header;
    const struct trace_track *track; /* [n_tracks], by the number in events */
    size_t n_tracks;
    size_t n_processes;
    uint64_t n_events;
    uint64_t n_bytes; /* of text, uncompressed */
    uint64_t
        n_unknown_escapes; /* kept as they are written: Windows paths with single backslashes */
    uint64_t n_broken_characters; /* in names: no UTF-8, given as U+FFFD */
    bool is_gzip;
    bool is_followed;            /* by bytes that are no gzip data, and were passed over */
    bool truncated;              /* it ends too early, and `partial` was asked for */
    uint64_t truncated_at_bytes; /* where the last whole event ends, uncompressed */
};

struct trace_reader {
    void *data; /* handed to the callbacks, which the caller's thread runs */

    /* One event. False ends the reading with the callback's error. */
    bool (*event)(void *data, const struct trace_event *event, struct error *e);

    /* How much of the input is scanned, compressed bytes where it is; `total_bytes` 0: a pipe.
     * About every MiB. NULL: none. */
    void (*progress)(void *data, uint64_t done_bytes, uint64_t total_bytes);

    bool partial; /* a trace that is cut off is read up to there */
};

/*
 * Reads `path`, or standard input for "-". What `ending` points to is in the arena. Fails with
 * ERROR_FILE where it cannot be read, with ERROR_INPUT and the place where it is no trace: broken,
 * cut off (without `partial`), or another kind of file, whose name is told.
 * Memory: below 64 MiB beside a header of megabytes, whatever the size.
 */
bool trace_read(struct arena *arena, const char *path, const struct trace_reader *reader,
                struct trace_ending *ending, struct error *e);

#endif

/* The text of a trace file, plain or gzip, regular or a pipe. */
#ifndef FORETRAIN_TRACE_TRACE_FILE_H
#define FORETRAIN_TRACE_TRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "trace/trace_stream.h"

struct trace_inflate;

struct trace_file {
    struct trace_stream stream; /* to be read from; first of all members */
    const char *path;
    int fd, wake_fd;
    _Atomic bool stopped;
    char begin[2];                 /* read to see what it is */
    size_t n_begin, begin_used;    /* of `begin`: read, handed on */
    struct trace_inflate *inflate; /* or NULL: plain */
};

/* "-" is standard input. Fails with ERROR_FILE. Whoever opened it closes it. */
bool trace_file_open(struct trace_file *file, const char *path, struct error *e);

/* Raw bytes of the file; none at its end or when stopped. */
bool trace_file_read(struct trace_file *file, char *to, size_t capacity, size_t *length,
                     struct error *e);

void trace_file_close(struct trace_file *file);

#endif

/* A file that is written piece by piece; like file_write's it is complete or not there. */
#ifndef FORETRAIN_BASE_FILE_STREAM_H
#define FORETRAIN_BASE_FILE_STREAM_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

struct file_stream {
    FILE *out;
    char *path, *part; /* part: what is renamed to path; NULL: a pipe or device, written to */
};

/* `path` may be "-", standard output. */
bool file_stream_open(struct file_stream *stream, const char *path, struct error *e);

/* False where anything since opening could not be written. */
bool file_stream_close(struct file_stream *stream, struct error *e);

#endif

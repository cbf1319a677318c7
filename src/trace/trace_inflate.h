/* gzip data of a trace file, one member or several, inflated by ISA-L with their checksums. */
#ifndef FORETRAIN_TRACE_TRACE_INFLATE_H
#define FORETRAIN_TRACE_TRACE_INFLATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct trace_file;
struct trace_inflate;

struct trace_inflate *trace_inflate_new(void);

/*
 * Up to `capacity` bytes of text; none at the end, where the stream's `cut_off` says whether the
 * data ended too early. Zeros behind the last member are passed over, other bytes too, and
 * `followed` is set then. Fails with ERROR_INPUT and the offset where the data is broken.
 */
bool trace_inflate_fill(struct trace_inflate *inflate, struct trace_file *file, char *to,
                        size_t capacity, size_t *length, struct error *e);

void trace_inflate_free(struct trace_inflate *inflate);

#endif

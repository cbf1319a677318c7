/* A thread that fills blocks with a stream's text ahead of the one that scans them. */
#ifndef FORETRAIN_TRACE_TRACE_BLOCKS_H
#define FORETRAIN_TRACE_TRACE_BLOCKS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "trace/trace_stream.h"

enum {
    BLOCK_BYTES = 1 << 19,
    BLOCK_HEADROOM = 1 << 16, /* before `data`, for the taker's use */
    N_BLOCKS = 4,
};

struct trace_block {
    char *data; /* behind it lie SCAN_PADDING zero bytes */
    size_t length;
    size_t n_lines; /* line breaks in it */
};

struct trace_blocks {
    struct trace_stream *stream;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    char *memory;
    struct trace_block block[N_BLOCKS];   /* a ring */
    size_t n_filled, n_taken, n_released; /* in all, so far */
    bool ended, stopped;
    struct error error; /* of the stream, behind the last block */
};

/* Starts the thread. Every started one must be given to trace_blocks_stop. */
bool trace_blocks_start(struct trace_blocks *blocks, struct trace_stream *stream, struct error *e);

/* The next block, waiting for it; NULL at the end. At most one before it may be held. Fails with
 * the stream's error when all that it gave is taken. */
bool trace_blocks_take(struct trace_blocks *blocks, struct trace_block **block, struct error *e);

/* Gives back the oldest block that was taken. */
void trace_blocks_release(struct trace_blocks *blocks);

void trace_blocks_stop(struct trace_blocks *blocks);

#endif

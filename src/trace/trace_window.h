/* The part of a trace's text that is in memory: it moves on, and grows where something is long. */
#ifndef FORETRAIN_TRACE_TRACE_WINDOW_H
#define FORETRAIN_TRACE_TRACE_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "trace/trace_blocks.h"

struct trace_window {
    struct trace_blocks *blocks;
    const char *begin, *end; /* the text; behind `end` lie SCAN_PADDING zero bytes */
    uint64_t offset_bytes;   /* of `begin` in the whole text */
    uint64_t n_lines;        /* line breaks before `end` */
    uint64_t n_characters;   /* before `begin`, on its line */
    bool holds_block;        /* the text lies in a block, else in `memory` */
    char *memory;
    size_t capacity;
};

enum trace_window_more {
    WINDOW_MORE,
    WINDOW_END,  /* there is no more text */
    WINDOW_LONG, /* what is to be kept is longer than TRACE_LONGEST_BYTES */
    WINDOW_FAILED,
};

/* A window on nothing yet. */
struct trace_window trace_window_open(struct trace_blocks *blocks);

/*
 * Gets more text and drops what lies before `*keep`, which is moved with the text; at least half
 * as much more as is kept, so that reading a long thing again and again costs three times once.
 * Cost: O(what is kept and what is new).
 */
enum trace_window_more trace_window_get(struct trace_window *window, const char **keep,
                                        struct error *e);

/* Offset of a place in the whole text. */
static inline uint64_t trace_window_offset(const struct trace_window *window, const char *at)
{
    return window->offset_bytes + (uint64_t)(at - window->begin);
}

/* Line and column of a place; `file` is for the caller. */
struct place trace_window_place(const struct trace_window *window, const char *at);

void trace_window_close(struct trace_window *window);

#endif

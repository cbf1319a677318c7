/* Names that occur in a trace again and again, each kept once under a number. */
#ifndef FORETRAIN_TRACE_TRACE_WORDS_H
#define FORETRAIN_TRACE_TRACE_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* A zeroed struct, but for the arena, holds none. */
struct trace_words {
    struct arena *arena;
    const char **word; /* [n] */
    uint32_t n, capacity;
    uint32_t *slot; /* [n_slots] of an open hash table: number + 1, 0 where empty */
    uint32_t n_slots;
};

/* The number of a word, from 0 by first appearance. */
uint32_t trace_words_add(struct trace_words *words, const char *text, size_t length);

void trace_words_free(struct trace_words *words);

#endif

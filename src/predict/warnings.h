/* What must be known about a forecast's numbers: whole sentences, one for all types it holds for.
 */
#ifndef FORETRAIN_PREDICT_WARNINGS_H
#define FORETRAIN_PREDICT_WARNINGS_H

#include <stddef.h>

#include "base/arena.h"

struct warning;

/* Zeroed, but for the arena, it is empty. */
struct warnings {
    struct arena *arena;
    struct warning *item; /* [n] */
    size_t n, capacity;
};

/* A sentence about the whole. */
__attribute__((format(printf, 2, 3))) void warn(struct warnings *warnings, const char *format, ...);

/* A sentence about one device type; those of several types with the same words become one. */
__attribute__((format(printf, 3, 4))) void warn_of(struct warnings *warnings, const char *type,
                                                   const char *format, ...);

/* All sentences in the order in which each was first said, "fast, slow: ..."; [n], in the arena. */
const char **warnings_sentences(const struct warnings *warnings);

#endif

/*
 * What stands between the values of an event, learned while reading.
 *
 * A trace is printed by one program from a few patterns, so what follows a value (comma, line
 * break, blanks, the next key, colon, blanks) is byte for byte what followed the value of the same
 * key before. Such a piece is a glue: read once token by token, then known again by comparing its
 * bytes. Which key comes after which is learned too: every glue knows the few that followed it.
 */
#ifndef FORETRAIN_TRACE_GLUE_H
#define FORETRAIN_TRACE_GLUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/simd16.h"

enum glue_level {
    GLUE_EVENT,
    GLUE_ARGS,
    GLUE_N_LEVELS,
};

enum {
    GLUE_LONGEST = 64, /* bytes; longer ones are read token by token every time */
    GLUE_FOLLOWERS = 4,
    GLUE_MOST = 1024,
    GLUE_SLOTS = 2 * GLUE_MOST, /* of the hash table; a power of two */
    GLUE_OBJECT_END = -1,
};

struct glue {
    char text[GLUE_LONGEST];
    uint64_t beyond; /* bits of the bytes behind its text */
    uint32_t length;
    int key; /* enum event_key or trace_arg, or GLUE_OBJECT_END: the closing brace is its last byte
              */
    enum glue_level level;
    struct glue *follower[GLUE_FOLLOWERS]; /* NULL behind the last */
};

/* A zeroed struct has learned nothing. */
struct glue_book {
    struct glue start[GLUE_N_LEVELS];     /* what an object's opening brace is followed by */
    struct glue unlearned[GLUE_N_LEVELS]; /* where a glue is too long or there are too many */
    struct glue glue[GLUE_MOST];
    struct glue *slot[GLUE_SLOTS];
    size_t n;
};

/* What an object begins with. */
static inline struct glue *glue_start(struct glue_book *book, enum glue_level level)
{
    book->start[level].level = level;
    return &book->start[level];
}

/* The glue that follows `from` at `p`, or NULL where none is known there. Reads 64 bytes at `p`. */
static inline struct glue *glue_follow(const struct glue *from, const char *p)
{
    for (size_t i = 0; i < GLUE_FOLLOWERS && from->follower[i]; i++) {
        struct glue *glue = from->follower[i];
        uint64_t equal = simd16_equal(p, glue->text) | simd16_equal(p + 16, glue->text + 16) << 16 |
                         glue->beyond;
        if ((uint32_t)equal != UINT32_MAX)
            continue;
        if (glue->length > 32) {
            equal |= (uint64_t)simd16_equal(p + 32, glue->text + 32) << 32 |
                     (uint64_t)simd16_equal(p + 48, glue->text + 48) << 48;
            if (equal != UINT64_MAX)
                continue;
        }
        return glue;
    }
    return NULL;
}

/* The glue `text[length]` with its key, made known as a follower of `from`. */
struct glue *glue_learn(struct glue_book *book, struct glue *from, const char *text, size_t length,
                        int key);

#endif

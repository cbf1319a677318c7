/*
 * JSON text that lies in memory, token by token: where a string, a number or a value ends.
 *
 * All functions take a place in the text and return the place behind what they read, or NULL: then
 * `more` says that the text ends before what was read, otherwise `at` and `expected` say what is
 * wrong. Behind `end` lie SCAN_PADDING zero bytes.
 */
#ifndef FORETRAIN_TRACE_SCAN_H
#define FORETRAIN_TRACE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/simd16.h"

enum {
    SCAN_PADDING = 64,
    SCAN_DEEPEST = 512, /* nesting */
};

struct scan {
    const char *end;
    bool more;
    const char *at;
    const char *expected;
    uint64_t unknown_escapes; /* in strings so far */
};

/* Notes that `expected` is not at `at`; NULL. */
const char *scan_fail(struct scan *s, const char *at, const char *expected);

static inline const char *scan_blanks(const char *p)
{
    while (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')
        p++;
    return p;
}

/* Behind the backslash at `p` and what it escapes; an unknown escape is counted. */
const char *scan_escape(struct scan *s, const char *p);

/* From behind the opening quote to the closing one. `plain`: no escapes, and ASCII only. */
static inline const char *scan_string(struct scan *s, const char *p, bool *plain)
{
    unsigned beyond_ascii = 0;
    bool escaped = false;
    *plain = false;
    for (;;) {
        unsigned high, stops = simd16_string_stops(p, &high);
        if (!stops) {
            beyond_ascii |= high;
            p += 16;
            continue;
        }
        beyond_ascii |= high & (stops ^ (stops - 1)) >> 1;
        p += __builtin_ctz(stops);
        if (*p == '"') {
            *plain = !escaped && !beyond_ascii;
            return p;
        }
        if (*p != '\\')
            return scan_fail(s, p, "no control character in a string, but a closing quote");
        escaped = true;
        p = scan_escape(s, p);
        if (!p)
            return NULL;
    }
}

static inline const char *scan_digits(const char *p)
{
    unsigned others;
    while (!(others = ~simd16_digits(p) & 0xffff))
        p += 16;
    return p + __builtin_ctz(others);
}

/* The end of a whole number of at most 15 digits, as most numbers are; NULL for all else, right or
 * wrong, and where it may go on beyond the text. */
static inline const char *scan_short_number(const char *p)
{
    unsigned n = (unsigned)__builtin_ctz(~simd16_digits(p));
    char next = p[n];
    bool plain = n > 0 && n < 16 && (*p != '0' || n == 1);
    return plain && next != '.' && next != 'e' && next != 'E' && next ? p + n : NULL;
}

/* A number that goes up to `end` may go on: then more is wanted. */
const char *scan_number(struct scan *s, const char *p);

/* Any value, what it holds included; scan_value is the same, quicker for numbers. */
const char *scan_any_value(struct scan *s, const char *p);

static inline const char *scan_value(struct scan *s, const char *p)
{
    const char *end = scan_short_number(p);
    return end ? end : scan_any_value(s, p);
}

/* What may come next within nested arrays and objects. */
enum nest_expects {
    NEST_VALUE,
    NEST_VALUE_OR_END,
    NEST_KEY,
    NEST_KEY_OR_END,
    NEST_COMMA_OR_END,
    NEST_NOTHING, /* the outermost value has ended */
};

/* A zeroed struct expects the outermost value. */
struct nest {
    enum nest_expects expects;
    unsigned depth;
    uint64_t objects[SCAN_DEEPEST / 64]; /* bit i: the array or object at depth i is an object */
};

/*
 * One step at `p`, which is no blank: a key with its colon, an opening or closing bracket, a comma,
 * or a value that is neither array nor object. Where it fails `nest` is as before.
 */
const char *nest_step(struct scan *s, struct nest *nest, const char *p);

/* A key with its colon. */
const char *nest_key(struct scan *s, struct nest *nest, const char *p);

/* That a value, already read, stood here. */
void nest_value_read(struct nest *nest);

#endif

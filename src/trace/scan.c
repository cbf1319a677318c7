/* Arrays and objects are walked with one bit a level, so depth costs no stack. */
#include "trace/scan.h"

#include <string.h>

const char *scan_fail(struct scan *s, const char *at, const char *expected)
{
    s->more = at >= s->end;
    s->at = at;
    s->expected = expected;
    return NULL;
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

const char *scan_escape(struct scan *s, const char *p)
{
    size_t n_digits = 0;
    if (p[1] == 'u') {
        while (n_digits < 4 && is_hex(p[2 + n_digits]))
            n_digits++;
    }
    if (p + 1 >= s->end || (p[1] == 'u' && n_digits < 4 && p + 2 + n_digits >= s->end))
        return scan_fail(s, s->end, "a closing quote");
    if (n_digits == 4)
        return p + 6;
    if (p[1] && strchr("\"\\/bfnrt", p[1]))
        return p + 2;
    s->unknown_escapes++;
    return p + 1;
}

static const char *scan_digits_of(struct scan *s, const char *p)
{
    const char *end = scan_digits(p);
    return end > p ? end : scan_fail(s, p, "a digit");
}

static const char *scan_fraction_and_exponent(struct scan *s, const char *p)
{
    if (*p == '.')
        p = scan_digits_of(s, p + 1);
    if (p && (*p == 'e' || *p == 'E')) {
        p += p[1] == '+' || p[1] == '-' ? 2 : 1;
        p = scan_digits_of(s, p);
    }
    return p && p >= s->end ? scan_fail(s, p, "the rest of a number") : p;
}

const char *scan_number(struct scan *s, const char *p)
{
    const char *first = p + (*p == '-');
    const char *end = scan_digits(first);
    if (end == first)
        return scan_fail(s, first, first == p ? "a value" : "a digit");
    if (*first == '0' && end > first + 1)
        return scan_fail(s, first, "a number without leading zeros");
    return scan_fraction_and_exponent(s, end);
}

static const char *scan_word(struct scan *s, const char *p, const char *word)
{
    for (; *word; word++, p++) {
        if (*p != *word)
            return scan_fail(s, p, "true, false or null");
    }
    return p;
}

static const char *scan_skip_string(struct scan *s, const char *p)
{
    bool plain;
    p = scan_string(s, p, &plain);
    return p ? p + 1 : NULL;
}

/* A value that is neither array nor object. */
static inline const char *scan_scalar(struct scan *s, const char *p)
{
    const char *end = scan_short_number(p);
    if (end)
        return end;
    switch (*p) {
    case '"':
        return scan_skip_string(s, p + 1);
    case 't':
        return scan_word(s, p, "true");
    case 'f':
        return scan_word(s, p, "false");
    case 'n':
        return scan_word(s, p, "null");
    default:
        return scan_number(s, p);
    }
}

const char *scan_any_value(struct scan *s, const char *p)
{
    if (*p != '[' && *p != '{')
        return scan_scalar(s, p);
    struct nest nest = {0};
    do {
        p = nest_step(s, &nest, scan_blanks(p));
    } while (p && nest.depth > 0);
    return p;
}

static bool in_object(const struct nest *nest)
{
    return nest->objects[nest->depth / 64] >> nest->depth % 64 & 1;
}

void nest_value_read(struct nest *nest)
{
    nest->expects = nest->depth > 0 ? NEST_COMMA_OR_END : NEST_NOTHING;
}

static const char *nest_open(struct scan *s, struct nest *nest, const char *p)
{
    if (nest->depth + 1 >= SCAN_DEEPEST)
        return scan_fail(s, p, "no deeper nesting");
    nest->depth++;
    uint64_t bit = (uint64_t)1 << nest->depth % 64;
    uint64_t *objects = &nest->objects[nest->depth / 64];
    *objects = *p == '{' ? *objects | bit : *objects & ~bit;
    nest->expects = *p == '{' ? NEST_KEY_OR_END : NEST_VALUE_OR_END;
    return p + 1;
}

static const char *nest_close(struct nest *nest, const char *p)
{
    nest->depth--;
    nest_value_read(nest);
    return p + 1;
}

const char *nest_key(struct scan *s, struct nest *nest, const char *p)
{
    bool plain;
    if (*p != '"')
        return scan_fail(s, p, "a key in double quotes");
    p = scan_string(s, p + 1, &plain);
    if (!p)
        return NULL;
    p = scan_blanks(p + 1);
    if (*p != ':')
        return scan_fail(s, p, "':' behind a key");
    nest->expects = NEST_VALUE;
    return p + 1;
}

static const char *nest_value(struct scan *s, struct nest *nest, const char *p)
{
    if (*p == '[' || *p == '{')
        return nest_open(s, nest, p);
    p = scan_scalar(s, p);
    if (p)
        nest_value_read(nest);
    return p;
}

static const char *nest_after_value(struct scan *s, struct nest *nest, const char *p)
{
    bool object = in_object(nest);
    if (*p == (object ? '}' : ']'))
        return nest_close(nest, p);
    if (*p != ',')
        return scan_fail(s, p, object ? "',' or '}' behind a value" : "',' or ']' behind a value");
    nest->expects = object ? NEST_KEY : NEST_VALUE;
    return p + 1;
}

const char *nest_step(struct scan *s, struct nest *nest, const char *p)
{
    switch (nest->expects) {
    case NEST_COMMA_OR_END:
        return nest_after_value(s, nest, p);
    case NEST_VALUE_OR_END:
        return *p == ']' ? nest_close(nest, p) : nest_value(s, nest, p);
    case NEST_VALUE:
        return nest_value(s, nest, p);
    case NEST_KEY_OR_END:
        return *p == '}' ? nest_close(nest, p) : nest_key(s, nest, p);
    case NEST_KEY:
        return nest_key(s, nest, p);
    default:
        return scan_fail(s, p, "nothing behind the end");
    }
}

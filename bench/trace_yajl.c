/* The same events read with yajl, from a file in pieces: `bench_trace_yajl FILE`. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <yajl_parse.h>

#include "trace_sums.h"

enum field { OTHER, NAME, CATEGORY, START, DURATION, ARG };

enum { EVENT_DEPTH = 3, ARGS_DEPTH = 4 }; /* of brackets and braces */

struct reading {
    struct trace_sums sums;
    int depth;
    bool in_events; /* the key at the top level is "traceEvents" */
    enum field field;
};

static bool is(const unsigned char *key, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(key, word, length) == 0;
}

static int on_key(void *data, const unsigned char *key, size_t length)
{
    struct reading *r = data;
    r->field = OTHER;
    if (r->depth == 1)
        r->in_events = is(key, length, "traceEvents");
    else if (r->depth == EVENT_DEPTH && r->in_events)
        r->field = is(key, length, "name")  ? NAME
                   : is(key, length, "cat") ? CATEGORY
                   : is(key, length, "ts")  ? START
                   : is(key, length, "dur") ? DURATION
                                            : OTHER;
    else if (r->depth == ARGS_DEPTH && r->in_events)
        r->field = is(key, length, "External id") || is(key, length, "correlation") ||
                           is(key, length, "stream")
                       ? ARG
                       : OTHER;
    return 1;
}

/* Microseconds with three decimals or none, as integers: a double would lose some. */
static uint64_t nanoseconds(const char *text, size_t length)
{
    uint64_t ns = 0;
    int decimals = -1;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '.') {
            decimals = 0;
            continue;
        }
        ns = 10 * ns + (uint64_t)(text[i] - '0');
        decimals += decimals >= 0;
    }
    for (decimals = decimals < 0 ? 0 : decimals; decimals < 3; decimals++)
        ns *= 10;
    return ns;
}

static int on_number(void *data, const char *text, size_t length)
{
    struct reading *r = data;
    if (r->field == START)
        r->sums.start_ns += nanoseconds(text, length);
    else if (r->field == DURATION)
        r->sums.duration_ns += nanoseconds(text, length);
    else if (r->field == ARG)
        r->sums.args += nanoseconds(text, length) / 1000;
    r->field = OTHER;
    return 1;
}

static int on_string(void *data, const unsigned char *text, size_t length)
{
    (void)text;
    struct reading *r = data;
    if (r->field == NAME || r->field == CATEGORY)
        r->sums.text_bytes += length;
    r->field = OTHER;
    return 1;
}

static int on_open(void *data)
{
    struct reading *r = data;
    if (++r->depth == EVENT_DEPTH && r->in_events)
        r->sums.n_events++;
    return 1;
}

static int on_open_array(void *data)
{
    ((struct reading *)data)->depth++;
    return 1;
}

static int on_close(void *data)
{
    ((struct reading *)data)->depth--;
    return 1;
}

static bool parse(yajl_handle handle, FILE *file)
{
    enum { PIECE = 1 << 18 };
    static unsigned char piece[PIECE];
    size_t n;
    while ((n = fread(piece, 1, PIECE, file)) > 0) {
        if (yajl_parse(handle, piece, n) != yajl_status_ok)
            return false;
    }
    return yajl_complete_parse(handle) == yajl_status_ok;
}

int main(int argc, char **argv)
{
    static const yajl_callbacks callbacks = {.yajl_number = on_number,
                                             .yajl_string = on_string,
                                             .yajl_start_map = on_open,
                                             .yajl_map_key = on_key,
                                             .yajl_end_map = on_close,
                                             .yajl_start_array = on_open_array,
                                             .yajl_end_array = on_close};
    struct reading r = {0};
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (!file)
        return 1;
    yajl_handle handle = yajl_alloc(&callbacks, NULL, &r);
    bool ok = parse(handle, file);
    yajl_free(handle);
    fclose(file);
    if (ok)
        trace_sums_print(&r.sums);
    return ok ? 0 : 1;
}

/* Values of arguments, read when they are asked for. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/trace_event.h"
#include "trace/unescape.h"

static bool is_string(const struct trace_value *value)
{
    return value->length >= 2 && value->json[0] == '"';
}

/* The value without quotes, ended by a zero, where it is short enough for a number. */
static bool copy_bare(const struct trace_value *value, char *text, size_t size)
{
    size_t quotes = value && is_string(value) ? 1 : 0;
    if (!value || value->length <= 2 * quotes || value->length - 2 * quotes >= size)
        return false;
    size_t length = value->length - 2 * quotes;
    memcpy(text, value->json + quotes, length);
    text[length] = '\0';
    return (text[0] >= '0' && text[0] <= '9') || text[0] == '-';
}

bool trace_value_int(const struct trace_value *value, int64_t *number)
{
    char text[32], *end;
    if (!copy_bare(value, text, sizeof text))
        return false;
    errno = 0;
    long long whole = strtoll(text, &end, 10);
    if (*end || end == text || errno)
        return false;
    *number = whole;
    return true;
}

bool trace_value_number(const struct trace_value *value, double *number)
{
    char text[400], *end;
    if (!copy_bare(value, text, sizeof text))
        return false;
    double real = strtod(text, &end);
    if (*end || end == text || !isfinite(real))
        return false;
    *number = real;
    return true;
}

bool trace_value_is(const struct trace_value *value, const char *text)
{
    return value && is_string(value) && unescape_equals(value->json + 1, value->length - 2, text);
}

char *trace_value_text(struct arena *arena, const struct trace_value *value)
{
    if (!value || !value->json)
        return NULL;
    if (!is_string(value))
        return arena_copy_n(arena, value->json, value->length);
    size_t length = value->length - 2;
    char *text = arena_array(arena, unescape_size(length), 1);
    unescape(value->json + 1, length, text, NULL);
    return text;
}

/* Values of arguments, read when they are asked for. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/trace_event.h"
#include "trace/unescape.h"

static bool is_string(const struct trace_value *value)
{
    return value->length >= 2 && value->json[0] == '"';
}

/* What stands between the quotes of a string, or any other value as it is. */
static struct trace_text bare(const struct trace_value *value)
{
    if (!value || !value->json)
        return (struct trace_text){"", 0};
    size_t quotes = is_string(value) ? 1 : 0;
    return (struct trace_text){value->json + quotes, value->length - 2 * quotes};
}

bool trace_value_int(const struct trace_value *value, int64_t *number)
{
    struct trace_text text = bare(value);
    size_t i = text.length > 0 && text.data[0] == '-';
    bool negative = i > 0, beyond = text.length == i;
    int64_t whole = 0;
    for (; i < text.length && !beyond; i++) {
        int digit = text.data[i] - '0';
        beyond = digit < 0 || digit > 9 || __builtin_mul_overflow(whole, 10, &whole) ||
                 __builtin_sub_overflow(whole, digit, &whole);
    }
    if (beyond || (!negative && whole == INT64_MIN))
        return false;
    *number = negative ? whole : -whole;
    return true;
}

bool trace_value_number(const struct trace_value *value, double *number)
{
    char copy[400], *end;
    struct trace_text text = bare(value);
    bool begins =
        text.length > 0 && (text.data[0] == '-' || (text.data[0] >= '0' && text.data[0] <= '9'));
    if (!begins || text.length >= sizeof copy)
        return false;
    memcpy(copy, text.data, text.length);
    copy[text.length] = '\0';
    double real = strtod(copy, &end);
    if (end != copy + text.length || !isfinite(real))
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

#include "profile/json_text.h"

#include <assert.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"

static void new_line(struct json_text *out)
{
    if (out->row_depth == 0)
        text_format(&out->text, "\n%*s", 2 * out->depth, "");
}

/* Text that is not UTF-8 is written as text_printable shows it. */
static void add_quoted(struct json_text *out, const char *value)
{
    struct arena arena = {0};
    json_t *string = json_string(value);
    if (!string)
        string = json_string(text_printable(&arena, value, 0));
    char *quoted = json_dumps(string, JSON_ENCODE_ANY);
    if (!quoted)
        memory_exhausted();
    text_add(&out->text, quoted);
    free(quoted);
    json_decref(string);
    arena_free(&arena);
}

static void begin_entry(struct json_text *out, const char *key)
{
    if (out->has_entry)
        text_add(&out->text, out->row_depth > 0 ? ", " : ",");
    if (out->depth > 0)
        new_line(out);
    out->has_entry = true;
    if (key) {
        add_quoted(out, key);
        text_add(&out->text, ": ");
    }
}

void json_text_open(struct json_text *out, const char *key, char bracket)
{
    begin_entry(out, key);
    text_add_n(&out->text, &bracket, 1);
    out->depth++;
    out->has_entry = false;
}

void json_text_open_row(struct json_text *out, const char *key, char bracket)
{
    json_text_open(out, key, bracket);
    if (out->row_depth == 0)
        out->row_depth = out->depth;
}

void json_text_close(struct json_text *out, char bracket)
{
    bool empty = !out->has_entry, in_row = out->row_depth > 0;
    if (out->row_depth == out->depth)
        out->row_depth = 0;
    out->depth--;
    out->has_entry = true;
    if (!empty && !in_row)
        new_line(out);
    text_add(&out->text, bracket == '{' ? "}" : "]");
    if (out->depth == 0)
        text_add(&out->text, "\n");
}

void json_text_string(struct json_text *out, const char *key, const char *value)
{
    begin_entry(out, key);
    add_quoted(out, value);
}

void json_text_number(struct json_text *out, const char *key, double value)
{
    assert(isfinite(value));
    char digits[32];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    begin_entry(out, key);
    text_add(&out->text, digits);
}

void json_text_flag(struct json_text *out, const char *key, bool value)
{
    begin_entry(out, key);
    text_add(&out->text, value ? "true" : "false");
}

void json_text_numbers(struct json_text *out, const char *key, const double *value, size_t n)
{
    enum { ROW = 8 };
    json_text_open(out, key, '[');
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            text_add(&out->text, i % ROW == 0 ? "," : ", ");
        if (i % ROW == 0)
            new_line(out);
        text_format(&out->text, "%.9g", value[i]);
    }
    out->has_entry = n > 0;
    json_text_close(out, '[');
}

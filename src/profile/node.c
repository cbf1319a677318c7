#include "profile/node.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "profile/json_locate.h"

enum { DEEPEST = 8 };

/* Far above any time or size; sums and squares of numbers below it stay finite. */
static const double largest_number = 1e30;

static struct place place_at(const struct source *source, size_t offset)
{
    if (offset > source->length)
        offset = source->length;
    size_t line_start = 0;
    int line = source->first_line;
    for (size_t i = 0; i < offset; i++) {
        if (source->text[i] == '\n') {
            line++;
            line_start = i + 1;
        }
    }
    return (struct place){.file = source->file,
                          .line = line,
                          .column = (int)(offset - line_start) + 1,
                          .line_text = source->text + line_start};
}

static struct place place_of(const struct node *node, bool of_key)
{
    const struct node *level[DEEPEST];
    size_t n = 0;
    for (const struct node *up = node; up->parent && n < DEEPEST; up = up->parent)
        level[n++] = up;
    struct json_step step[DEEPEST];
    for (size_t i = 0; i < n; i++)
        step[i] = (struct json_step){level[n - 1 - i]->key, level[n - 1 - i]->index};
    size_t key_at = 0, value_at = 0;
    if (!json_locate(node->source->text, node->source->length, step, n, &key_at, &value_at))
        return (struct place){.file = node->source->file};
    return place_at(node->source, of_key ? key_at : value_at);
}

static void fail_at(const struct node *node, bool of_key, struct error *e, const char *format,
                    va_list args)
{
    char *text = NULL;
    if (vasprintf(&text, format, args) < 0)
        memory_exhausted();
    struct place place = place_of(node, of_key);
    error_at(e, &place, "%s", text);
    free(text);
}

bool node_fail(const struct node *node, struct error *e, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail_at(node, false, e, format, args);
    va_end(args);
    return false;
}

bool node_fail_key(const struct node *node, struct error *e, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail_at(node, true, e, format, args);
    va_end(args);
    return false;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '+' || c == '-' || c == '.' || c == '_';
}

/* jansson stops behind the token that it does not know. */
static size_t token_start(const struct source *source, size_t behind)
{
    size_t at = behind < source->length ? behind : source->length;
    if (at > 1 && at < source->length && source->text[at - 1] == '"') {
        for (at -= 2; at > 0 && source->text[at] != '"' && source->text[at] != '\n';)
            at--;
        return at;
    }
    while (at > 0 && is_word(source->text[at - 1]))
        at--;
    return at == behind && at > 0 ? at - 1 : at;
}

/* The key last named before `at`: that of the value there, or of the array that it is in. */
static char *key_before(struct arena *arena, const struct source *source, size_t at)
{
    size_t end = at;
    while (end > 0 && source->text[end - 1] != ':')
        end--;
    while (end > 0 && source->text[end - 1] != '"')
        end--;
    if (end < 2)
        return arena_copy(arena, "a value");
    size_t start = --end;
    while (start > 0 && source->text[start - 1] != '"')
        start--;
    return arena_copy_n(arena, source->text + start, end - start);
}

static bool is_no_number(const char *token, size_t length)
{
    static const char *const word[] = {"NaN",       "nan", "-NaN", "Infinity",
                                       "-Infinity", "inf", "-inf"};
    for (size_t i = 0; i < sizeof word / sizeof *word; i++) {
        if (strlen(word[i]) == length && memcmp(word[i], token, length) == 0)
            return true;
    }
    return false;
}

static void describe_syntax(const struct source *source, const json_error_t *error, struct error *e)
{
    size_t behind = error->position > 0 ? (size_t)error->position : 0;
    size_t at = token_start(source, behind);
    size_t end = at;
    while (end < source->length && is_word(source->text[end]))
        end++;
    struct place place = place_at(source, at);
    struct arena arena = {0};
    if (is_no_number(source->text + at, end - at))
        error_at(e, &place, "%s must be a number (got %.*s)",
                 text_printable(&arena, key_before(&arena, source, at), 0), (int)(end - at),
                 source->text + at);
    else
        error_at(e, &place, "not valid JSON: %s", text_printable(&arena, error->text, 0));
    arena_free(&arena);
}

bool node_load(const struct source *source, json_t **json, struct error *e)
{
    json_error_t error = {0};
    json_t *loaded = json_loadb(source->text, source->length,
                                JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &error);
    if (!loaded) {
        describe_syntax(source, &error, e);
        return false;
    }
    struct node root = node_root(source, loaded);
    if (!node_expect(&root, JSON_OBJECT, e)) {
        json_decref(loaded);
        return false;
    }
    *json = loaded;
    return true;
}

struct node node_root(const struct source *source, json_t *json)
{
    return (struct node){.source = source, .json = json};
}

struct node node_member(const struct node *object, const char *key)
{
    json_t *json = json_object_get(object->json, key);
    return (struct node){.source = object->source,
                         .parent = object,
                         .key = key,
                         .json = json_is_null(json) ? NULL : json};
}

struct node node_item(const struct node *array, size_t index)
{
    return (struct node){.source = array->source,
                         .parent = array,
                         .index = index,
                         .json = json_array_get(array->json, index)};
}

static const char *name_of(const struct node *node)
{
    if (node->key)
        return node->key;
    if (!node->parent)
        return "this";
    return node->parent->key ? node->parent->key : "an item";
}

/* The value as it stands in the file, cut to a readable length. */
static char *value_text(struct arena *arena, const struct node *node)
{
    enum { LONGEST = 40 };
    if (json_is_number(node->json))
        return arena_format(arena, "%.9g", json_number_value(node->json));
    char *dumped = json_dumps(node->json, JSON_ENCODE_ANY | JSON_COMPACT);
    char *text = arena_format(arena, "%.*s%s", LONGEST, dumped ? dumped : "?",
                              dumped && strlen(dumped) > LONGEST ? "..." : "");
    free(dumped);
    return text_printable(arena, text, 0);
}

static bool fail_missing(const struct node *node, struct error *e)
{
    return node_fail(node->parent, e, "%s is missing%s%s", node->key,
                     node->parent->key ? " in " : "", node->parent->key ? node->parent->key : "");
}

static bool fail_value(const struct node *node, struct error *e, const char *expected)
{
    if (!node->json && node->parent && node->key)
        return fail_missing(node, e);
    struct arena arena = {0};
    node_fail(node, e, "%s must be %s (got %s)", name_of(node), expected, value_text(&arena, node));
    arena_free(&arena);
    return false;
}

static const char *type_name(json_type type)
{
    return type == JSON_OBJECT   ? "an object {...}"
           : type == JSON_ARRAY  ? "an array [...]"
           : type == JSON_STRING ? "text in quotes"
                                 : "a number";
}

bool node_expect(const struct node *node, json_type type, struct error *e)
{
    if (node->json && json_typeof(node->json) == type)
        return true;
    return fail_value(node, e, type_name(type));
}

static bool read_number(const struct node *node, double least, double *value, struct error *e)
{
    char expected[64];
    double number = json_number_value(node->json);
    if (json_is_number(node->json) && number >= least && number <= largest_number) {
        *value = number;
        return true;
    }
    bool too_large = json_is_number(node->json) && number > largest_number;
    snprintf(expected, sizeof expected, "a number, at %s %g", too_large ? "most" : "least",
             too_large ? largest_number : least);
    return fail_value(node, e, expected);
}

static bool read_int(const struct node *node, double least, int *value, struct error *e)
{
    char expected[64];
    double number = json_number_value(node->json);
    if (json_is_number(node->json) && number >= least && number <= INT_MAX &&
        floor(number) == number) {
        *value = (int)number;
        return true;
    }
    snprintf(expected, sizeof expected, "a whole number, at least %g", least);
    return fail_value(node, e, expected);
}

bool node_numbers(struct arena *arena, const struct node *array, double **value, size_t *n,
                  struct error *e)
{
    if (!node_expect(array, JSON_ARRAY, e))
        return false;
    size_t size = json_array_size(array->json);
    double *number = ARENA_ARRAY(arena, size, double);
    for (size_t i = 0; i < size; i++) {
        struct node item = node_item(array, i);
        if (!read_number(&item, 0, &number[i], e))
            return false;
    }
    *value = number;
    *n = size;
    return true;
}

static bool read_text(struct arena *arena, const struct node *node, const char **value,
                      struct error *e)
{
    if (!node_expect(node, JSON_STRING, e))
        return false;
    *value = arena_copy(arena, json_string_value(node->json));
    return true;
}

static bool read_flag(const struct node *node, bool *value, struct error *e)
{
    if (!json_is_boolean(node->json))
        return fail_value(node, e, "true or false");
    *value = json_is_true(node->json);
    return true;
}

static bool read_field(struct arena *arena, const struct node *node, const struct field *field,
                       void *out, struct error *e)
{
    switch (field->kind) {
    case FIELD_TEXT:
        return read_text(arena, node, (const char **)out, e);
    case FIELD_FLAG:
        return read_flag(node, (bool *)out, e);
    case FIELD_NUMBER:
        return read_number(node, field->least, (double *)out, e);
    case FIELD_INT:
        return read_int(node, field->least, (int *)out, e);
    case FIELD_ELSEWHERE:
        break;
    }
    return true;
}

bool node_fields(struct arena *arena, const struct node *object, const struct field *field,
                 size_t n, void *out, struct error *e)
{
    if (!node_expect(object, JSON_OBJECT, e))
        return false;
    for (size_t i = 0; i < n; i++) {
        struct node member = node_member(object, field[i].key);
        if (!member.json && field[i].required)
            return fail_missing(&member, e);
        if (member.json && !read_field(arena, &member, &field[i], (char *)out + field[i].offset, e))
            return false;
    }
    return true;
}

static bool is_field(const char *key, const struct field *field, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(field[i].key, key) == 0)
            return true;
    }
    return false;
}

static const char *nearest_field(const char *key, const struct field *field, size_t n)
{
    const char **word = memory_resize(NULL, n, sizeof *word);
    for (size_t i = 0; i < n; i++)
        word[i] = field[i].key;
    const char *nearest = text_nearest(key, word, n);
    free(word);
    return nearest;
}

bool node_check_keys(const struct node *object, const struct field *field, size_t n,
                     struct error *e)
{
    if (!node_expect(object, JSON_OBJECT, e))
        return false;
    const char *key;
    json_t *value;
    json_object_foreach(object->json, key, value)
    {
        const char *nearest = is_field(key, field, n) ? NULL : nearest_field(key, field, n);
        if (nearest) {
            struct node member = node_member(object, key);
            return node_fail_key(&member, e, "unknown key: did you mean %s?", nearest);
        }
    }
    return true;
}

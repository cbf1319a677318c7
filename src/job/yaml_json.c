#include "job/yaml_json.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_one_of(const char *text, const char *const word[3])
{
    return strcmp(text, word[0]) == 0 || strcmp(text, word[1]) == 0 || strcmp(text, word[2]) == 0;
}

/* [-+]?[0-9]+, 0o[0-7]+, 0x[0-9a-fA-F]+: the base, or 0. */
static int integer_base(const char *text)
{
    static const struct {
        const char *prefix, *digits;
        int base;
    } form[] = {
        {"0o", "01234567", 8}, {"0x", "0123456789abcdefABCDEF", 16}, {"", "0123456789", 10}};
    for (size_t i = 0; i < sizeof form / sizeof *form; i++) {
        size_t skip = strlen(form[i].prefix);
        if (strncmp(text, form[i].prefix, skip) != 0)
            continue;
        const char *digits = text + skip;
        if (skip == 0 && (*digits == '-' || *digits == '+'))
            digits++;
        if (*digits && digits[strspn(digits, form[i].digits)] == '\0')
            return form[i].base;
    }
    return 0;
}

/* [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )? */
static bool is_float(const char *text)
{
    static const char digit[] = "0123456789";
    text += *text == '-' || *text == '+';
    size_t whole = strspn(text, digit), part = 0;
    text += whole;
    if (*text == '.') {
        part = strspn(text + 1, digit);
        text += 1 + part;
    }
    if (whole + part == 0)
        return false;
    if (*text != 'e' && *text != 'E')
        return *text == '\0';
    text++;
    text += *text == '-' || *text == '+';
    return *text && text[strspn(text, digit)] == '\0';
}

static bool is_not_finite(const char *text)
{
    static const char *const inf[] = {".inf", ".Inf", ".INF"};
    static const char *const nan[] = {".nan", ".NaN", ".NAN"};
    bool sign = *text == '-' || *text == '+';
    return is_one_of(text + sign, inf) || is_one_of(text, nan);
}

static json_t *refuse_number(struct reading *r, const struct node *node, const char *why)
{
    reading_refuse(r, node, NULL, "%s: the number %s %s", node->name, node_found(r, node), why);
    return NULL;
}

static json_t *plain_json(struct reading *r, const struct node *node)
{
    static const char *const yes[] = {"true", "True", "TRUE"};
    static const char *const no[] = {"false", "False", "FALSE"};
    const char *text = node->text;
    if (is_one_of(text, yes) || is_one_of(text, no))
        return json_boolean(is_one_of(text, yes));
    int base = integer_base(text);
    errno = 0;
    if (base) {
        long long whole = strtoll(base == 10 ? text : text + 2, NULL, base);
        return errno ? refuse_number(r, node, "is too large") : json_integer(whole);
    }
    if (is_not_finite(text))
        return refuse_number(r, node, "is not finite");
    if (!is_float(text))
        return json_string(text);
    double real = strtod(text, NULL);
    return isfinite(real) ? json_real(real) : refuse_number(r, node, "is too large");
}

static json_t *scalar_json(struct reading *r, const struct node *node)
{
    if (node->quoted)
        return json_string(node->text);
    return node_is_null(node) ? json_null() : plain_json(r, node);
}

static json_t *children_json(struct reading *r, const struct node *node)
{
    bool mapping = node->kind == NODE_MAPPING, ok = true;
    json_t *out = mapping ? json_object() : json_array();
    for (const struct node *child = node->first; child; child = child->next) {
        json_t *value = yaml_json(r, child);
        ok = ok && value;
        if (value && mapping)
            json_object_set_new(out, child->key->text, value);
        else if (value)
            json_array_append_new(out, value);
    }
    if (ok)
        return out;
    json_decref(out);
    return NULL;
}

json_t *yaml_json(struct reading *r, const struct node *node)
{
    return node->kind == NODE_SCALAR ? scalar_json(r, node) : children_json(r, node);
}

const char *yaml_json_text(struct reading *r, json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(17));
    if (!text)
        memory_exhausted();
    char *copy = arena_copy(r->arena, text);
    free(text);
    json_decref(value);
    return copy;
}

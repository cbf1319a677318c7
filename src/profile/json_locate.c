/* Walks the text by counting brackets; the text is known to be valid JSON, so nothing is checked.
 */
#include "profile/json_locate.h"

#include <jansson.h>
#include <string.h>

struct scan {
    const char *text;
    size_t length;
    size_t at;
};

static char peek(const struct scan *s)
{
    return s->at < s->length ? s->text[s->at] : '\0';
}

static void skip_space(struct scan *s)
{
    while (s->at < s->length && strchr(" \t\r\n", s->text[s->at]))
        s->at++;
}

static void skip_string(struct scan *s)
{
    s->at++;
    while (s->at < s->length && s->text[s->at] != '"')
        s->at += s->text[s->at] == '\\' ? 2 : 1;
    s->at++;
}

static void skip_word(struct scan *s)
{
    while (s->at < s->length && !strchr(" \t\r\n,:]}", s->text[s->at]))
        s->at++;
}

static void skip_nested(struct scan *s)
{
    size_t depth = 0;
    do {
        char c = peek(s);
        if (c == '"') {
            skip_string(s);
            continue;
        }
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        s->at++;
    } while (depth > 0 && s->at < s->length);
}

static void skip_value(struct scan *s)
{
    char c = peek(s);
    if (c == '"')
        skip_string(s);
    else if (c == '{' || c == '[')
        skip_nested(s);
    else
        skip_word(s);
}

/* Moves behind the bracket that opens, or behind the comma; false at the bracket that closes. */
static bool next_entry(struct scan *s)
{
    skip_space(s);
    char c = peek(s);
    if (c != '{' && c != '[' && c != ',')
        return false;
    s->at++;
    skip_space(s);
    return s->at < s->length && !strchr("]}", peek(s));
}

static bool is_key(const struct scan *s, size_t end, const char *key)
{
    json_t *decoded = json_loadb(s->text + s->at, end - s->at, JSON_DECODE_ANY, NULL);
    bool equal = json_is_string(decoded) && strcmp(json_string_value(decoded), key) == 0;
    json_decref(decoded);
    return equal;
}

static bool find_member(struct scan *s, const char *key, size_t *key_at)
{
    while (next_entry(s)) {
        struct scan behind = *s;
        skip_value(&behind);
        bool found = is_key(s, behind.at, key);
        *key_at = s->at;
        *s = behind;
        skip_space(s);
        s->at++;
        skip_space(s);
        if (found)
            return true;
        skip_value(s);
    }
    return false;
}

static bool find_item(struct scan *s, size_t index)
{
    for (size_t i = 0; next_entry(s); i++) {
        if (i == index)
            return true;
        skip_value(s);
    }
    return false;
}

bool json_locate(const char *text, size_t length, const struct json_step *step, size_t n,
                 size_t *key_at, size_t *value_at)
{
    struct scan s = {.text = text, .length = length};
    skip_space(&s);
    size_t key = s.at;
    for (size_t i = 0; i < n; i++) {
        bool found =
            step[i].key ? find_member(&s, step[i].key, &key) : find_item(&s, step[i].index);
        if (!found)
            return false;
        if (!step[i].key)
            key = s.at;
    }
    *key_at = key;
    *value_at = s.at;
    return s.at < length;
}

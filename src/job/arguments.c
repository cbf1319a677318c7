#include "job/arguments.h"

#include <string.h>

#include "base/text.h"

static const char *const placeholder[] = {
    "data",        "device_data", "batch", "rank",        "local_rank", "world_size", "n_devices",
    "master_addr", "master_port", "seed",  "device_type", "record",     "first",      "last",
};
enum { N_PLACEHOLDERS = sizeof placeholder / sizeof *placeholder, LONGEST_WORD = 32 };

/* A piece of an argument: a word in braces, a doubled brace, or one other character. */
struct token {
    size_t length;           /* in the argument */
    char word[LONGEST_WORD]; /* without braces; empty: no word */
};

static struct token next_token(const char *text)
{
    struct token token = {.length = 1};
    if (text[0] != '{')
        return token;
    if (text[1] == '{')
        return (struct token){.length = 2};
    size_t n = strspn(text + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    if (n == 0 || n >= LONGEST_WORD || text[1 + n] != '}')
        return token;
    token.length = n + 2;
    memcpy(token.word, text + 1, n);
    return token;
}

static bool is_known(const char *word)
{
    for (size_t i = 0; i < N_PLACEHOLDERS; i++) {
        if (strcmp(placeholder[i], word) == 0)
            return true;
    }
    return false;
}

static const char *find_value(const struct job_placeholder *value, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(value[i].name, name) == 0)
            return value[i].value;
    }
    return NULL;
}

static bool add_token(struct text *out, const char *at, const struct token *token,
                      const struct job_placeholder *value, size_t n)
{
    const char *found = find_value(value, n, token->word);
    if (token->word[0] == '\0' && token->length == 2)
        text_add(out, "{");
    else if (found)
        text_add(out, found);
    else if (is_known(token->word))
        return false;
    else
        text_add_n(out, at, token->length);
    return true;
}

bool job_fill_argument(struct arena *arena, const char *arg, const struct job_placeholder *value,
                       size_t n, char **filled, struct error *e)
{
    struct text out = {0};
    bool ok = true;
    for (const char *at = arg; ok && *at;) {
        struct token token = next_token(at);
        ok = add_token(&out, at, &token, value, n);
        if (!ok)
            error_set(e, ERROR_INPUT, "argument '%s': {%s} has no value here",
                      text_printable(arena, arg, 0), token.word);
        at += token.length;
    }
    if (ok)
        *filled = arena_copy(arena, out.data ? out.data : "");
    text_free(&out);
    return ok;
}

bool job_argument_uses(const char *arg, const char *name)
{
    while (*arg) {
        struct token token = next_token(arg);
        if (strcmp(token.word, name) == 0)
            return true;
        arg += token.length;
    }
    return false;
}

size_t job_argument_near_miss(const char *arg, const char **word, const char **meant)
{
    while (*arg) {
        struct token token = next_token(arg);
        const char *nearest = token.word[0] && !is_known(token.word)
                                  ? text_nearest(token.word, placeholder, N_PLACEHOLDERS)
                                  : NULL;
        if (nearest) {
            *word = arg;
            *meant = nearest;
            return token.length;
        }
        arg += token.length;
    }
    return 0;
}

/* Sentences are compared by their words; a forecast has a few for each type. */
#include "predict/warnings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAMED = 6 };

struct warning {
    const char *text;
    const char *type[MOST_NAMED];
    size_t n_types; /* 0: about the whole */
};

static const char *sentence(struct arena *arena, const char *format, va_list args)
{
    char *text = NULL;
    if (vasprintf(&text, format, args) < 0)
        memory_exhausted();
    const char *copy = arena_copy(arena, text);
    free(text);
    return copy;
}

static struct warning *add(struct warnings *warnings, const char *text)
{
    if (warnings->n == warnings->capacity) {
        size_t capacity = warnings->capacity ? 2 * warnings->capacity : 8;
        struct warning *item = ARENA_ARRAY(warnings->arena, capacity, struct warning);
        if (warnings->n)
            memcpy(item, warnings->item, warnings->n * sizeof *item);
        warnings->item = item;
        warnings->capacity = capacity;
    }
    struct warning *added = &warnings->item[warnings->n++];
    added->text = text;
    return added;
}

void warn(struct warnings *warnings, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(warnings, sentence(warnings->arena, format, args));
    va_end(args);
}

static struct warning *find(struct warnings *warnings, const char *text)
{
    for (size_t i = 0; i < warnings->n; i++) {
        if (warnings->item[i].n_types && strcmp(warnings->item[i].text, text) == 0)
            return &warnings->item[i];
    }
    return NULL;
}

void warn_of(struct warnings *warnings, const char *type, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = sentence(warnings->arena, format, args);
    va_end(args);
    struct warning *said = find(warnings, text);
    if (!said)
        said = add(warnings, text);
    if (said->n_types < MOST_NAMED)
        said->type[said->n_types] = type;
    said->n_types++;
}

static const char *subject(struct arena *arena, const struct warning *warning)
{
    const char *names = "";
    size_t n_named = warning->n_types < MOST_NAMED ? warning->n_types : MOST_NAMED;
    for (size_t i = 0; i < n_named; i++)
        names = arena_format(arena, "%s%s%s", names, i ? ", " : "", warning->type[i]);
    if (warning->n_types > n_named)
        names = arena_format(arena, "%s and %zu more", names, warning->n_types - n_named);
    return names;
}

const char **warnings_sentences(const struct warnings *warnings)
{
    struct arena *arena = warnings->arena;
    const char **text = ARENA_ARRAY(arena, warnings->n, const char *);
    for (size_t i = 0; i < warnings->n; i++) {
        const struct warning *warning = &warnings->item[i];
        text[i] = warning->n_types
                      ? arena_format(arena, "%s: %s", subject(arena, warning), warning->text)
                      : warning->text;
    }
    return text;
}

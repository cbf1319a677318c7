#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/merge.h"

static bool is_noted(const struct merge_notes *notes, const char *text)
{
    for (size_t i = 0; i < notes->n; i++) {
        if (strcmp(notes->line[i], text) == 0)
            return true;
    }
    return false;
}

static void add(struct merge_notes *notes, const char *text)
{
    if (notes->n == notes->capacity) {
        notes->capacity = notes->capacity ? 2 * notes->capacity : 8;
        const char **grown = ARENA_ARRAY(notes->arena, notes->capacity, const char *);
        for (size_t i = 0; i < notes->n; i++)
            grown[i] = notes->line[i];
        notes->line = grown;
    }
    notes->line[notes->n++] = arena_copy(notes->arena, text);
}

void merge_note(struct merge_notes *notes, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = NULL;
    if (vasprintf(&text, format, args) < 0)
        memory_exhausted();
    va_end(args);
    if (!is_noted(notes, text))
        add(notes, text);
    free(text);
}

/* Messages are built once, on the heap; running out of memory there ends the program. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

static char *format_text(const char *format, va_list args)
{
    char *text = NULL;
    if (vasprintf(&text, format, args) < 0)
        memory_exhausted();
    return text;
}

static void append(struct error *e, const char *lead, char *addition)
{
    char *joined = NULL;
    if (asprintf(&joined, "%s%s%s", e->text ? e->text : "", lead, addition) < 0)
        memory_exhausted();
    free(addition);
    free(e->text);
    e->text = joined;
}

void error_set(struct error *e, enum error_kind kind, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = format_text(format, args);
    va_end(args);
    free(e->text);
    e->kind = kind;
    e->text = text;
}

/* Bytes of the first `n` characters of `text[length]`. */
static size_t bytes_of(const char *text, size_t length, size_t n)
{
    size_t i = 0;
    for (; i < length; i++) {
        bool starts = ((unsigned char)text[i] & 0xc0) != 0x80;
        if (starts && n-- == 0)
            break;
    }
    return i;
}

static size_t characters_of(const char *text, size_t length)
{
    size_t n = 0;
    for (size_t i = 0; i < length; i++)
        n += ((unsigned char)text[i] & 0xc0) != 0x80;
    return n;
}

/* The user's line, tabs as spaces so that the caret stands under the right character; long lines
 * are cut around it. */
static char *excerpt(const struct place *place)
{
    enum { WIDTH = 96 };
    const char *text = place->line_text;
    size_t length = strcspn(text, "\r\n");
    size_t caret = place->column > 0 ? (size_t)place->column - 1 : 0;
    size_t n = characters_of(text, length);
    if (caret > n)
        caret = n;
    size_t skipped = caret > WIDTH ? caret - WIDTH / 2 : 0;
    size_t first = bytes_of(text, length, skipped);
    size_t shown = bytes_of(text + first, length - first, WIDTH);
    char *out = NULL;
    if (asprintf(&out, "\n    %.*s\n    %*s^", (int)shown, text + first, (int)(caret - skipped),
                 "") < 0)
        memory_exhausted();
    for (char *c = out + 1; *c; c++) {
        if ((unsigned char)*c < ' ' && *c != '\n')
            *c = ' ';
    }
    return out;
}

void error_at(struct error *e, const struct place *place, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = format_text(format, args);
    va_end(args);
    if (place->line > 0)
        error_set(e, ERROR_INPUT, "%s:%d:%d: %s", place->file, place->line, place->column, text);
    else
        error_set(e, ERROR_INPUT, "%s: %s", place->file, text);
    free(text);
    if (place->line > 0 && place->line_text)
        append(e, "", excerpt(place));
}

void error_hint(struct error *e, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    append(e, "\n  hint: ", format_text(format, args));
    va_end(args);
}

void error_in(struct error *e, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    append(e, "\n  in ", format_text(format, args));
    va_end(args);
}

void error_clear(struct error *e)
{
    free(e->text);
    *e = (struct error){0};
}

void error_list_add(struct error_list *list, struct error *e)
{
    if (list->n == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 8;
        list->item = memory_resize(list->item, list->capacity, sizeof *list->item);
    }
    list->item[list->n++] = *e;
    *e = (struct error){0};
}

void error_list_free(struct error_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        error_clear(&list->item[i]);
    free(list->item);
    *list = (struct error_list){0};
}

void error_list_join(struct error_list *list, struct error *e)
{
    for (size_t i = 0; i < list->n; i++) {
        struct error *item = &list->item[i];
        if (i == 0) {
            error_set(e, item->kind, "%s", item->text);
        } else {
            append(e, "\n", item->text);
            item->text = NULL;
        }
    }
    error_list_free(list);
}

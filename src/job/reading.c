/* Lines end where libyaml ends them, so that its line numbers find the right text. */
#include "job/reading.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "job/yaml_tree.h"

/* More errors than this are counted, not told. */
enum { MOST_FINDINGS = 100, MOST_SHOWN = 80 };

/* Bytes of the line break at `s`, or 0: LF, CR, CRLF, NEL, LS, PS. */
static size_t break_length(const char *s)
{
    if (s[0] == '\r')
        return s[1] == '\n' ? 2 : 1;
    if (s[0] == '\n')
        return 1;
    if (strncmp(s, "\xc2\x85", 2) == 0)
        return 2;
    return strncmp(s, "\xe2\x80\xa8", 3) == 0 || strncmp(s, "\xe2\x80\xa9", 3) == 0 ? 3 : 0;
}

static size_t find_lines(const char *text, size_t length, const char **line)
{
    size_t n = 0;
    if (line)
        line[n] = text;
    n++;
    for (size_t i = 0; i < length;) {
        size_t skip = break_length(text + i);
        i += skip ? skip : 1;
        if (!skip)
            continue;
        if (line)
            line[n] = text + i;
        n++;
    }
    return n;
}

void reading_start(struct reading *r, struct arena *arena, const char *file, const char *text,
                   size_t length)
{
    *r = (struct reading){.arena = arena, .file = file};
    r->n_lines = find_lines(text, length, NULL);
    r->line = ARENA_ARRAY(arena, r->n_lines, const char *);
    find_lines(text, length, r->line);
}

struct place reading_place(const struct reading *r, int line, int column)
{
    bool known = line >= 1 && (size_t)line <= r->n_lines;
    return (struct place){
        .file = r->file,
        .line = line,
        .column = column,
        .line_text = known ? r->line[line - 1] : NULL,
    };
}

bool reading_tells(const struct reading *r)
{
    return r->n_findings < MOST_FINDINGS;
}

static struct finding *new_finding(struct reading *r, const struct place *place)
{
    if (r->n_findings == r->capacity) {
        r->capacity = r->capacity ? 2 * r->capacity : 8;
        r->finding = memory_resize(r->finding, r->capacity, sizeof *r->finding);
    }
    struct finding *found = &r->finding[r->n_findings];
    *found = (struct finding){.line = place->line, .column = place->column, .order = r->n_findings};
    r->n_findings++;
    return found;
}

static void refuse(struct reading *r, const struct place *place, const char *hint,
                   const char *message)
{
    struct finding *found = new_finding(r, place);
    error_at(&found->error, place, "%s", message);
    if (hint)
        error_hint(&found->error, "%s", hint);
    if (r->context)
        error_in(&found->error, "%s", r->context);
}

static void refuse_formatted(struct reading *r, const struct place *place, const char *hint,
                             const char *format, va_list args)
{
    if (!reading_tells(r)) {
        r->n_untold++;
        return;
    }
    char *message = NULL;
    if (vasprintf(&message, format, args) < 0)
        memory_exhausted();
    refuse(r, place, hint, message);
    free(message);
}

void reading_refuse_at(struct reading *r, const struct place *place, const char *hint,
                       const char *format, ...)
{
    va_list args;
    va_start(args, format);
    refuse_formatted(r, place, hint, format, args);
    va_end(args);
}

void reading_refuse(struct reading *r, const struct node *node, const char *hint,
                    const char *format, ...)
{
    struct place place = reading_place(r, node->line, node->column);
    va_list args;
    va_start(args, format);
    refuse_formatted(r, &place, hint, format, args);
    va_end(args);
}

char *reading_nearest(struct reading *r, const char *text, const char *const *word, size_t n)
{
    const char *nearest = reading_tells(r) ? text_nearest(text, word, n) : NULL;
    return nearest ? arena_format(r->arena, "did you mean '%s'?", nearest) : NULL;
}

/* Not within a character: before a byte that starts one. */
static size_t cut_length(const char *text, size_t most)
{
    size_t n = most;
    while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--;
    return n;
}

const char *reading_shown(struct reading *r, const char *text)
{
    size_t length = strnlen(text, MOST_SHOWN + 1);
    if (length <= MOST_SHOWN)
        return text_printable(r->arena, text, 0);
    char *cut = arena_format(r->arena, "%.*s...", (int)cut_length(text, MOST_SHOWN), text);
    return text_printable(r->arena, cut, 0);
}

static int by_place(const void *a, const void *b)
{
    const struct finding *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

bool reading_end(struct reading *r, struct error *e)
{
    bool ok = r->n_findings == 0;
    struct error_list list = {0};
    if (!ok)
        qsort(r->finding, r->n_findings, sizeof *r->finding, by_place);
    for (size_t i = 0; i < r->n_findings; i++)
        error_list_add(&list, &r->finding[i].error);
    if (r->n_untold > 0) {
        struct error more = {0};
        error_set(&more, ERROR_INPUT, "%s: and %zu more errors", r->file, r->n_untold);
        error_list_add(&list, &more);
    }
    if (!ok)
        error_list_join(&list, e);
    free(r->finding);
    r->finding = NULL;
    r->n_findings = r->capacity = 0;
    return ok;
}

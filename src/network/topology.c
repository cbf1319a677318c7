#include "network/topology.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "job/job.h"

enum { LONGEST_WORD = 16 };

/* A word of a line, in bytes. */
struct word {
    const char *text;
    size_t length;
};

struct reader {
    struct arena *arena;
    struct place place; /* of the line */
    struct topology topology;
    bool *has_row; /* [topology.n] */
};

/* Without "\x1b[4m", in which nvidia-smi underlines the head. */
static char *without_escapes(struct arena *arena, const char *text)
{
    char *plain = arena_copy(arena, text), *out = plain;
    while (*text) {
        if (text[0] == '\x1b' && text[1] == '[') {
            text += 2 + strspn(text + 2, "0123456789;");
            text += *text != '\0';
        } else {
            *out++ = *text++;
        }
    }
    *out = '\0';
    return plain;
}

/* The next word of the line, of length 0 at its end; `*at` moves behind it. */
static struct word next_word(const char **at)
{
    const char *start = *at + strspn(*at, " \t\r");
    size_t length = strcspn(start, " \t\r\n");
    *at = start + length;
    return (struct word){start, length};
}

/* "GPU7"; false where it is none. */
static bool is_device(struct word word, size_t *number)
{
    static const char lead[] = "GPU";
    size_t digits = word.length - (sizeof lead - 1);
    if (word.length < sizeof lead || strncmp(word.text, lead, sizeof lead - 1) != 0 || digits > 4 ||
        strspn(word.text + sizeof lead - 1, "0123456789") < digits)
        return false;
    *number = strtoul(word.text + sizeof lead - 1, NULL, 10);
    return true;
}

static bool fail_at(const struct reader *r, struct word word, const char *expected, struct error *e)
{
    struct place place = r->place;
    char found[LONGEST_WORD + 1] = "";
    place.column = (int)(word.text - place.line_text) + 1;
    strncat(found, word.text, word.length < LONGEST_WORD ? word.length : LONGEST_WORD);
    struct arena scratch = {0};
    error_at(e, &place, "expected %s (got %s)", expected,
             *found ? text_printable(&scratch, found, 0) : "the end of the line");
    arena_free(&scratch);
    return false;
}

/* The columns' names: GPU0, GPU1, ..., then what is no GPU. */
static bool read_head(struct reader *r, const char *at, struct error *e)
{
    size_t n = 0, number = 0;
    struct word word = next_word(&at);
    for (; is_device(word, &number); word = next_word(&at)) {
        if (number != n || n == TOPOLOGY_MOST_DEVICES)
            return fail_at(r, word, arena_format(r->arena, "GPU%zu", n), e);
        n++;
    }
    r->topology = (struct topology){n, ARENA_ARRAY(r->arena, n * n, const char *)};
    r->has_row = ARENA_ARRAY(r->arena, n, bool);
    return true;
}

static bool read_cell(struct reader *r, struct word word, size_t row, size_t column,
                      struct error *e)
{
    const char *cell = arena_copy_n(r->arena, word.text, word.length);
    if (row == column)
        return strcmp(cell, "X") == 0 || fail_at(r, word, "X, a device with itself", e);
    if (!job_is_path_class(cell))
        return fail_at(r, word, "NV#, PIX, PXB, PHB, NODE or SYS", e);
    r->topology.class[row * r->topology.n + column] = cell;
    return true;
}

static bool read_row(struct reader *r, size_t row, struct word name, const char *at,
                     struct error *e)
{
    if (row >= r->topology.n || r->has_row[row])
        return fail_at(r, name, "the row of a GPU that has a column, once", e);
    r->has_row[row] = true;
    for (size_t column = 0; column < r->topology.n; column++) {
        if (!read_cell(r, next_word(&at), row, column, e))
            return false;
    }
    return true;
}

static bool read_line(struct reader *r, struct error *e)
{
    const char *at = r->place.line_text;
    size_t number = 0;
    struct word word = next_word(&at);
    if (!is_device(word, &number))
        return true;
    return r->topology.n ? read_row(r, number, word, at, e) : read_head(r, r->place.line_text, e);
}

static bool check(const struct reader *r, struct error *e)
{
    const struct topology *t = &r->topology;
    const char *file = r->place.file;
    if (t->n == 0)
        error_set(e, ERROR_INPUT,
                  "%s: no table of `nvidia-smi topo -m`: expected a line 'GPU0 ...'", file);
    for (size_t i = 0; i < t->n; i++) {
        if (!r->has_row[i]) {
            error_set(e, ERROR_INPUT, "%s: the row of GPU%zu is missing", file, i);
            return false;
        }
    }
    for (size_t i = 0; i < t->n; i++) {
        for (size_t j = 0; j < i; j++) {
            const char *there = t->class[j * t->n + i], *back = t->class[i * t->n + j];
            if (strcmp(there, back) == 0)
                continue;
            error_set(e, ERROR_INPUT, "%s: GPU%zu to GPU%zu is %s, and back %s", file, j, i, there,
                      back);
            return false;
        }
    }
    return t->n > 0;
}

bool topology_is_table(const char *text)
{
    const char *head = strstr(text, "GPU0"), *row = head ? strstr(head + 1, "GPU0") : NULL;
    const char *at = row ? row + strlen("GPU0") : NULL;
    struct word self = at ? next_word(&at) : (struct word){"", 0};
    return self.length == 1 && self.text[0] == 'X';
}

bool topology_parse(struct arena *arena, const char *text, const char *file,
                    struct topology *topology, struct error *e)
{
    struct reader r = {.arena = arena, .place = {.file = file}};
    for (const char *line = without_escapes(arena, text); line; line = strchr(line, '\n')) {
        line += *line == '\n';
        r.place.line++;
        r.place.line_text = line;
        if (!read_line(&r, e))
            return false;
    }
    if (!check(&r, e))
        return false;
    *topology = r.topology;
    return true;
}

bool topology_read(struct arena *arena, const char *path, struct topology *topology,
                   struct error *e)
{
    const size_t limit_bytes = (size_t)1 << 24;
    char *text = NULL;
    return file_read(arena, path, limit_bytes, &text, NULL, e) &&
           topology_parse(arena, text, path, topology, e);
}

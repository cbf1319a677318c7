/* Cells are cut in place in one copy of the text; the original stays whole for messages. */
#include "network/table.h"

#include <string.h>

#include "base/text.h"

struct reader {
    const struct table *table;
    const char *text; /* the original, after the byte-order mark */
    char *copy;       /* [length + 1], where cells lose their quotes and get their zeros */
    struct cell *cell;
    size_t at; /* offset in text and copy */
    size_t line_start;
    int line;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool ends_line(char c)
{
    return c == '\0' || c == '\n' || c == '\r';
}

static size_t skip_blanks(const char *text, size_t at, char delimiter)
{
    while (is_blank(text[at]) && text[at] != delimiter)
        at++;
    return at;
}

static size_t next_line(const char *text, size_t at)
{
    at += strcspn(text + at, "\r\n");
    if (text[at] == '\r' && text[at + 1] == '\n')
        return at + 2;
    return text[at] ? at + 1 : at;
}

static bool holds_cells(const char *text, size_t at)
{
    at += strspn(text + at, " ");
    size_t content = at + strspn(text + at, " \t");
    return text[at] != '#' && !ends_line(text[content]);
}

static char most_used_delimiter(const char *line)
{
    static const char candidate[] = {',', ';', '\t'};
    size_t count[sizeof candidate] = {0}, most = 0;
    bool quoted = false;
    for (; !ends_line(*line); line++) {
        quoted ^= *line == '"';
        for (size_t i = 0; i < sizeof candidate && !quoted; i++)
            count[i] += *line == candidate[i];
    }
    for (size_t i = 1; i < sizeof candidate; i++) {
        if (count[i] > count[most])
            most = i;
    }
    return count[most] ? candidate[most] : '\0';
}

/* From 1, in characters. */
static int column_of(const char *line, size_t offset)
{
    int column = 1;
    for (size_t i = 0; i < offset; i++)
        column += ((unsigned char)line[i] & 0xc0) != 0x80;
    return column;
}

static struct place here(const struct reader *r)
{
    const char *line = r->text + r->line_start;
    return (struct place){r->table->file, r->line, column_of(line, r->at - r->line_start), line};
}

/* At the opening quote; the cell is what stands between the quotes, "" being one quote. */
static bool read_quoted(struct reader *r, const char **text, struct error *e)
{
    struct place open = here(r);
    char *out = r->copy + r->at + 1;
    *text = out;
    size_t in = r->at + 1;
    bool closed = false;
    for (; !closed && !ends_line(r->text[in]); in++) {
        if (r->text[in] == '"' && r->text[in + 1] != '"') {
            closed = true;
        } else {
            in += r->text[in] == '"';
            *out++ = r->text[in];
        }
    }
    if (!closed) {
        error_at(e, &open, "the quote is not closed on this line");
        return false;
    }
    r->at = skip_blanks(r->text, in, r->table->delimiter);
    if (!ends_line(r->text[r->at]) && r->text[r->at] != r->table->delimiter) {
        struct place after = here(r);
        error_at(e, &after, "text behind a closing quote; write \"\" for a quote within quotes");
        return false;
    }
    *out = '\0';
    return true;
}

static void read_plain(struct reader *r, const char **text)
{
    size_t first = r->at;
    while (!ends_line(r->text[r->at]) && r->text[r->at] != r->table->delimiter)
        r->at++;
    size_t end = r->at;
    while (end > first && is_blank(r->text[end - 1]))
        end--;
    r->copy[end] = '\0';
    *text = r->copy + first;
}

static bool read_cell(struct reader *r, struct error *e)
{
    r->at = skip_blanks(r->text, r->at, r->table->delimiter);
    r->cell->offset = r->at - r->line_start;
    if (r->text[r->at] == '"') {
        if (!read_quoted(r, &r->cell->text, e))
            return false;
    } else {
        read_plain(r, &r->cell->text);
    }
    r->cell++;
    return true;
}

static bool read_row(struct reader *r, struct row *row, struct error *e)
{
    *row = (struct row){.cell = r->cell, .line = r->line, .line_text = r->text + r->line_start};
    for (;;) {
        if (!read_cell(r, e))
            return false;
        if (ends_line(r->text[r->at]))
            break;
        r->at++;
    }
    row->n = (size_t)(r->cell - row->cell);
    return true;
}

static size_t first_row(const char *text, int *line)
{
    size_t at = 0;
    *line = 1;
    while (text[at] && !holds_cells(text, at)) {
        at = next_line(text, at);
        ++*line;
    }
    return at;
}

static bool choose_delimiter(struct table *table, const char *text, struct error *e)
{
    int line = 0;
    size_t at = first_row(text, &line);
    if (!text[at]) {
        error_set(e, ERROR_INPUT, "%s: holds no network: there is no row in it", table->file);
        return false;
    }
    table->delimiter = most_used_delimiter(text + at);
    if (!table->delimiter) {
        struct place place = {table->file, line, 1, text + at};
        error_at(e, &place, "expected columns separated by commas, semicolons or tabs");
        error_hint(e, "the first line is 'from,to,bandwidth', or a matrix's row of names");
        return false;
    }
    return true;
}

static size_t count_chars(const char *text, char a, char b)
{
    size_t n = 0;
    for (; *text; text++)
        n += *text == a || *text == b;
    return n;
}

bool table_parse(struct arena *arena, const char *text, const char *file, struct table *table,
                 struct error *e)
{
    text = text_after_mark(text);
    struct table t = {.file = file};
    if (!choose_delimiter(&t, text, e))
        return false;
    size_t n_lines = count_chars(text, '\n', '\r') + 1;
    size_t n_cells = count_chars(text, t.delimiter, t.delimiter) + n_lines;
    const char *kept = arena_copy(arena, text);
    struct reader r = {.table = &t,
                       .text = kept,
                       .copy = arena_copy(arena, text),
                       .cell = ARENA_ARRAY(arena, n_cells, struct cell)};
    t.row = ARENA_ARRAY(arena, n_lines, struct row);
    for (size_t at = 0; kept[at]; at = next_line(kept, at)) {
        r.line++;
        r.at = r.line_start = at;
        if (holds_cells(kept, at) && !read_row(&r, &t.row[t.n_rows++], e))
            return false;
    }
    *table = t;
    return true;
}

struct place table_place(const struct table *table, const struct row *row, size_t cell)
{
    size_t offset = cell < row->n ? row->cell[cell].offset : strcspn(row->line_text, "\r\n");
    return (struct place){table->file, row->line, column_of(row->line_text, offset),
                          row->line_text};
}

/* Widths are counted in characters, so that names beyond ASCII line up too. */
#include "report/grid.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GAP = 2, NARROWEST = 8 };

static bool starts_character(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

size_t text_width(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += starts_character(*text);
    return n;
}

/* The first `width` characters, the last of them a tilde where more was there. */
static const char *cut(struct arena *arena, const char *text, size_t width)
{
    size_t n = 0, last = 0;
    if (text_width(text) <= width)
        return text;
    for (size_t i = 0; n < width; i++) {
        n += starts_character(text[i]);
        last = i;
    }
    return arena_format(arena, "%.*s~", (int)last, text);
}

void grid_add(struct grid *grid, const char *format, ...)
{
    if (grid->n_cells == grid->capacity) {
        grid->capacity = grid->capacity ? 2 * grid->capacity : 64;
        grid->cell = memory_resize(grid->cell, grid->capacity, sizeof *grid->cell);
    }
    va_list args;
    va_start(args, format);
    char *text = NULL;
    int length = vasprintf(&text, format, args);
    va_end(args);
    if (length < 0)
        memory_exhausted();
    grid->cell[grid->n_cells++] = text_printable(&grid->arena, text, 0);
    free(text);
}

static void measure_columns(const struct grid *grid, size_t *width)
{
    for (size_t i = 0; i < grid->n_cells; i++) {
        size_t own = text_width(grid->cell[i]);
        size_t *column = &width[i % grid->n_columns];
        *column = own > *column ? own : *column;
    }
}

/* The first column yields to REPORT_WIDTH, down to NARROWEST. */
static void fit_first_column(struct grid *grid, size_t *width)
{
    size_t others = 0;
    for (size_t c = 1; c < grid->n_columns; c++)
        others += GAP + width[c];
    size_t most = others + NARROWEST < REPORT_WIDTH ? REPORT_WIDTH - others : NARROWEST;
    if (width[0] <= most)
        return;
    width[0] = most;
    for (size_t i = 0; i < grid->n_cells; i += grid->n_columns)
        grid->cell[i] = cut(&grid->arena, grid->cell[i], most);
}

static void end_row(struct text *out)
{
    while (out->length > 0 && out->data[out->length - 1] == ' ')
        out->data[--out->length] = '\0';
    text_add(out, "\n");
}

static void print_cell(const struct grid *grid, size_t i, size_t width, struct text *out)
{
    size_t column = i % grid->n_columns;
    int padding = (int)(width - text_width(grid->cell[i]));
    bool left = grid->to_the_left[column];
    text_format(out, "%*s%s%*s", left ? 0 : padding, "", grid->cell[i], (left ? padding : 0) + GAP,
                "");
    if (column + 1 == grid->n_columns)
        end_row(out);
}

void grid_print(struct grid *grid, struct text *out)
{
    size_t width[GRID_MOST_COLUMNS] = {0};
    measure_columns(grid, width);
    fit_first_column(grid, width);
    for (size_t i = 0; i < grid->n_cells; i++)
        print_cell(grid, i, width[i % grid->n_columns], out);
    free(grid->cell);
    arena_free(&grid->arena);
    grid->cell = NULL;
    grid->n_cells = grid->capacity = 0;
}

static size_t word_length(const char *text)
{
    return strcspn(text, " \n");
}

void text_wrap(struct text *out, const char *lead, const char *text)
{
    struct arena scratch = {0};
    const char *word = text_printable(&scratch, text, 0);
    size_t indent = text_width(lead), column = indent;
    text_add(out, lead);
    for (bool first = true; *word; first = false) {
        size_t length = word_length(word);
        size_t width = text_width(arena_copy_n(&scratch, word, length));
        if (!first && column + 1 + width > REPORT_WIDTH) {
            text_format(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!first) {
            text_add(out, " ");
            column++;
        }
        text_add_n(out, word, length);
        column += width;
        word += length;
        word += strspn(word, " ");
    }
    text_add(out, "\n");
    arena_free(&scratch);
}

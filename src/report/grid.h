/* Columns of text that line up, and sentences that wrap, for the reports that people read. */
#ifndef FORETRAIN_REPORT_GRID_H
#define FORETRAIN_REPORT_GRID_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

enum { REPORT_WIDTH = 80, GRID_MOST_COLUMNS = 12 };

/* Cells row by row; a zeroed struct with `n_columns` set is empty. */
struct grid {
    size_t n_columns;                    /* up to GRID_MOST_COLUMNS */
    bool to_the_left[GRID_MOST_COLUMNS]; /* columns of text; others stand right, as numbers do */
    struct arena arena;
    const char **cell; /* [n_cells] */
    size_t n_cells, capacity;
};

/* The next cell; control characters are escaped. */
__attribute__((format(printf, 2, 3))) void grid_add(struct grid *grid, const char *format, ...);

/*
 * Adds all rows to `out`, two blanks between columns, and empties the grid. Where they are wider
 * than REPORT_WIDTH the first column is cut, a tilde for what is missing.
 */
void grid_print(struct grid *grid, struct text *out);

/* `text` in lines of at most REPORT_WIDTH, the first behind `lead`, the others indented as far.
 * Words longer than a line stay whole. */
void text_wrap(struct text *out, const char *lead, const char *text);

/* Columns that UTF-8 text takes on a terminal, one for each character. */
size_t text_width(const char *text);

#endif

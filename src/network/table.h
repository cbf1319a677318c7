/*
 * Delimited text as rows of cells that know where they stand in the user's file.
 *
 * Comma, semicolon or tab, whichever the first row uses most; quotes as in RFC 4180; lines that
 * begin with # and blank lines are left out; a byte-order mark and any line ends are accepted.
 */
#ifndef FORETRAIN_NETWORK_TABLE_H
#define FORETRAIN_NETWORK_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

struct cell {
    const char *text; /* without quotes and outer blanks */
    size_t offset;    /* in the row's line, in bytes */
};

struct row {
    struct cell *cell; /* [n] */
    size_t n;
    int line;
    const char *line_text; /* to the end of the whole text; messages cut it at the line's end */
};

struct table {
    const char *file;
    struct row *row; /* [n_rows], at least one */
    size_t n_rows;
    char delimiter;
};

/* O(length). Fails when there is no row, nothing that separates columns, or a quote is left open.
 */
bool table_parse(struct arena *arena, const char *text, const char *file, struct table *table,
                 struct error *e);

/* Where a cell stands; the line's end for a cell that the row lacks. */
struct place table_place(const struct table *table, const struct row *row, size_t cell);

#endif

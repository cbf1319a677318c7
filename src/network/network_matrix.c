/* The square matrix: names across and down, a rate in each cell, from the row to the column. */
#include "network/network_reader.h"

#include <string.h>

#include "base/text.h"

struct matrix {
    const struct table *table;
    const char *unit; /* of bare numbers, NULL: none was named */
    size_t *column;   /* [head's cells], index in the network of each column's name */
    int *row_line;    /* [n], line of each name's row, 0: not met */
};

/* The corner names the unit of bare numbers, or is a word of the user's that means nothing here. */
static const char *corner_unit(struct arena *arena, const char *corner)
{
    const char *name = arena_format(arena, "bandwidth_%s", corner);
    const char *unit = network_column_unit(arena, name, "bandwidth", DIMENSION_BANDWIDTH);
    return unit ? unit : network_column_unit(arena, corner, "bandwidth", DIMENSION_BANDWIDTH);
}

static bool check_head(const struct table *table, struct error *e)
{
    const struct row *head = table->row;
    for (size_t i = 1; i < head->n; i++) {
        if (head->cell[i].text[0])
            continue;
        struct place place = table_place(table, head, i);
        error_at(e, &place, "the name of this column is missing");
        return false;
    }
    return true;
}

/* The columns' names are unique where as many of them are kept as there were. */
static bool check_columns(struct arena *arena, const struct table *table,
                          const struct network *network, struct error *e)
{
    const struct row *head = table->row;
    size_t *first = ARENA_ARRAY(arena, network->n, size_t);
    for (size_t i = 1; i < head->n; i++) {
        size_t name = (size_t)network_find(network, head->cell[i].text);
        if (first[name]) {
            struct place place = table_place(table, head, i);
            error_at(e, &place, "a second column named '%s'", head->cell[i].text);
            return false;
        }
        first[name] = i;
    }
    return true;
}

static bool over_columns(struct arena *arena, const struct table *table, struct network *network,
                         struct error *e)
{
    const struct row *head = table->row;
    size_t n = head->n - 1;
    const char **name = ARENA_ARRAY(arena, n, const char *);
    for (size_t i = 0; i < n; i++)
        name[i] = head->cell[i + 1].text;
    return check_head(table, e) && network_over(arena, table, name, n, network, e) &&
           check_columns(arena, table, network, e);
}

static bool find_row(const struct matrix *m, const struct network *network, const struct row *row,
                     size_t *from, struct error *e)
{
    struct place place = table_place(m->table, row, 0);
    const char *name = row->cell[0].text;
    long found = network_find(network, name);
    if (found == NETWORK_NO_NAME) {
        error_at(e, &place, "the row '%s' has no column of that name", name);
        const char *nearest = text_nearest(name, network->name, network->n);
        if (nearest)
            error_hint(e, "did you mean '%s'?", nearest);
        return false;
    }
    if (m->row_line[found]) {
        error_at(e, &place, "a second row named '%s', the first is on line %d", name,
                 m->row_line[found]);
        return false;
    }
    m->row_line[found] = row->line;
    *from = (size_t)found;
    return true;
}

/* Empty or a dash; on the diagonal a zero of any unit too. */
static bool is_gap(const char *text, bool diagonal)
{
    bool zero = text[0] == '0' && !strpbrk(text, "123456789");
    return text[0] == '\0' || strcmp(text, "-") == 0 || (diagonal && zero);
}

/* False when there are errors enough. */
static bool read_cells(const struct matrix *m, const struct row *row, struct network *network,
                       size_t from, struct error_list *errors)
{
    struct error e = {0};
    for (size_t i = 1; i < row->n; i++) {
        struct link *link = &network->link[from * network->n + m->column[i]];
        if (is_gap(row->cell[i].text, from == m->column[i]))
            continue;
        if (network_read_rate(m->table, row, i, m->unit, &link->bandwidth_Bps, &e))
            link->source = LINK_GIVEN;
        else if (!network_note_error(errors, &e))
            return false;
    }
    return true;
}

static bool read_row(const struct matrix *m, const struct row *row, struct network *network,
                     struct error_list *errors)
{
    struct error e = {0};
    size_t n = m->table->row->n, from = 0;
    if (row->n != n) {
        struct place place = table_place(m->table, row, row->n < n ? row->n : n);
        error_at(&e, &place, "expected %zu cells as in the first row, found %zu", n, row->n);
        return network_note_error(errors, &e);
    }
    if (!find_row(m, network, row, &from, &e))
        return network_note_error(errors, &e);
    return read_cells(m, row, network, from, errors);
}

static void check_square(const struct matrix *m, const struct network *network,
                         struct error_list *errors)
{
    const struct row *head = m->table->row;
    for (size_t i = 1; i < head->n && errors->n == 0; i++) {
        if (m->row_line[m->column[i]])
            continue;
        struct error e = {0};
        struct place place = table_place(m->table, head, i);
        error_at(&e, &place, "the matrix has no row for '%s': %zu columns, %zu rows",
                 head->cell[i].text, network->n, m->table->n_rows - 1);
        network_note_error(errors, &e);
    }
}

void network_read_matrix(struct arena *arena, const struct table *table, struct network *network,
                         struct error_list *errors)
{
    const struct row *head = table->row;
    struct error e = {0};
    if (!over_columns(arena, table, network, &e)) {
        network_note_error(errors, &e);
        return;
    }
    struct matrix m = {table, corner_unit(arena, head->cell[0].text),
                       ARENA_ARRAY(arena, head->n, size_t), ARENA_ARRAY(arena, network->n, int)};
    for (size_t i = 1; i < head->n; i++)
        m.column[i] = (size_t)network_find(network, head->cell[i].text);
    for (size_t r = 1; r < table->n_rows; r++) {
        if (!read_row(&m, &table->row[r], network, errors))
            return;
    }
    check_square(&m, network, errors);
    network_fill(network);
}

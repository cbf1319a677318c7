/* The adjacency list: one link a row, its columns named in the first row. */
#include "network/network_reader.h"

#include <string.h>
#include <strings.h>

#include "base/text.h"

enum column { FROM, TO, BANDWIDTH, LATENCY, SOURCE, TOGETHER, N_COLUMNS };
static const char *const column_name[N_COLUMNS] = {"from",    "to",     "bandwidth",
                                                   "latency", "source", "together"};
enum { ABSENT = -1 };

struct list {
    const struct table *table;
    long cell[N_COLUMNS];        /* where each column stands, or ABSENT */
    const char *unit[N_COLUMNS]; /* "" where the column's name has none */
};

static enum column which_column(struct arena *arena, const char *name, const char **unit)
{
    static const struct {
        enum column column;
        enum dimension dimension;
    } quantity[] = {{BANDWIDTH, DIMENSION_BANDWIDTH},
                    {LATENCY, DIMENSION_TIME},
                    {TOGETHER, DIMENSION_BANDWIDTH}};
    for (size_t i = 0; i < sizeof quantity / sizeof *quantity; i++) {
        enum column column = quantity[i].column;
        *unit = network_column_unit(arena, name, column_name[column], quantity[i].dimension);
        if (*unit)
            return column;
    }
    for (int c = 0; c < N_COLUMNS; c++) {
        if (strcasecmp(name, column_name[c]) == 0)
            return (enum column)c;
    }
    return N_COLUMNS;
}

static bool unknown_column(const struct place *place, const char *name, struct error *e)
{
    error_at(e, place,
             "unknown column '%s'; expected from, to, bandwidth, latency, source or together, "
             "quantities also with a unit: bandwidth_Gbit_s, latency_us",
             name);
    const char *nearest = text_nearest(name, column_name, N_COLUMNS);
    if (nearest)
        error_hint(e, "did you mean '%s'?", nearest);
    return false;
}

static bool read_column(struct arena *arena, struct list *list, size_t i, struct error *e)
{
    const struct row *head = list->table->row;
    struct place place = table_place(list->table, head, i);
    const char *unit = NULL;
    enum column column = which_column(arena, head->cell[i].text, &unit);
    if (column == N_COLUMNS)
        return unknown_column(&place, head->cell[i].text, e);
    if (list->cell[column] != ABSENT) {
        error_at(e, &place, "a second column '%s'", column_name[column]);
        return false;
    }
    list->cell[column] = (long)i;
    list->unit[column] = unit;
    return true;
}

static void read_head(struct arena *arena, struct list *list, struct error_list *errors)
{
    const struct row *head = list->table->row;
    struct error e = {0};
    for (size_t i = 0; i < head->n; i++) {
        if (!read_column(arena, list, i, &e) && !network_note_error(errors, &e))
            return;
    }
    for (int c = FROM; c <= BANDWIDTH && errors->n == 0; c++) {
        struct place place = table_place(list->table, head, head->n);
        if (list->cell[c] != ABSENT)
            continue;
        error_at(&e, &place, "the column '%s' is missing", column_name[c]);
        error_hint(&e, "the first row of a list is: from,to,bandwidth[,latency][,source]");
        network_note_error(errors, &e);
    }
}

static bool check_row(const struct list *list, const struct row *row, struct error *e)
{
    size_t n = list->table->row->n;
    if (row->n != n) {
        struct place place = table_place(list->table, row, row->n < n ? row->n : n);
        error_at(e, &place, "expected %zu cells as in the first row, found %zu", n, row->n);
        return false;
    }
    for (int c = FROM; c <= TO; c++) {
        size_t cell = (size_t)list->cell[c];
        if (row->cell[cell].text[0])
            continue;
        struct place place = table_place(list->table, row, cell);
        error_at(e, &place, "the name is missing in column '%s'", column_name[c]);
        return false;
    }
    return true;
}

static void check_rows(const struct list *list, struct error_list *errors)
{
    struct error e = {0};
    for (size_t r = 1; r < list->table->n_rows; r++) {
        if (!check_row(list, &list->table->row[r], &e) && !network_note_error(errors, &e))
            return;
    }
    if (list->table->n_rows == 1) {
        error_set(&e, ERROR_INPUT, "%s: holds no link: there is only the row of column names",
                  list->table->file);
        network_note_error(errors, &e);
    }
}

static const char *cell_text(const struct list *list, const struct row *row, enum column column)
{
    return row->cell[list->cell[column]].text;
}

static bool over_all_names(struct arena *arena, const struct list *list, struct network *network,
                           struct error *e)
{
    const struct table *table = list->table;
    const char **name = ARENA_ARRAY(arena, 2 * table->n_rows, const char *);
    size_t n = 0;
    for (size_t r = 1; r < table->n_rows; r++) {
        name[n++] = cell_text(list, &table->row[r], FROM);
        name[n++] = cell_text(list, &table->row[r], TO);
    }
    return network_over(arena, table, name, n, network, e);
}

static bool read_source(const struct list *list, const struct row *row, struct link *link,
                        struct error *e)
{
    static const struct link kind[] = {{.source = LINK_MEASURED},
                                       {.source = LINK_MEASURED, .at_least = true},
                                       {.source = LINK_GIVEN},
                                       {.source = LINK_FILLED},
                                       {.failed = true}};
    enum { N_KINDS = sizeof kind / sizeof *kind };
    const char *known[N_KINDS];
    const char *text = list->cell[SOURCE] == ABSENT ? "" : cell_text(list, row, SOURCE);
    *link = (struct link){.source = LINK_GIVEN};
    if (!*text)
        return true;
    for (size_t i = 0; i < N_KINDS; i++) {
        known[i] = link_source_word(&kind[i]);
        if (strcmp(text, known[i]) == 0) {
            *link = kind[i];
            return true;
        }
    }
    struct place place = table_place(list->table, row, (size_t)list->cell[SOURCE]);
    error_at(e, &place,
             "unknown source '%s'; expected measured, measured>=, given, filled or failed", text);
    const char *nearest = text_nearest(text, known, N_KINDS);
    if (nearest)
        error_hint(e, "did you mean '%s'?", nearest);
    return false;
}

/* A link that failed has nothing else to say. */
static bool check_failed(const struct list *list, const struct row *row, struct error *e)
{
    const char *text = cell_text(list, row, BANDWIDTH);
    if (!*text)
        return true;
    struct place place = table_place(list->table, row, (size_t)list->cell[BANDWIDTH]);
    error_at(e, &place, "a link that failed has no bandwidth (got %s)", text);
    return false;
}

static bool read_together(const struct list *list, const struct row *row, struct link *link,
                          struct error *e)
{
    if (list->cell[TOGETHER] == ABSENT || !*cell_text(list, row, TOGETHER))
        return true;
    return network_read_rate(list->table, row, (size_t)list->cell[TOGETHER], list->unit[TOGETHER],
                             &link->together_Bps, e);
}

static bool read_link(const struct list *list, const struct row *row, struct link *link,
                      struct error *e)
{
    const struct table *table = list->table;
    if (!read_source(list, row, link, e))
        return false;
    if (link->failed)
        return check_failed(list, row, e);
    if (!network_read_rate(table, row, (size_t)list->cell[BANDWIDTH], list->unit[BANDWIDTH],
                           &link->bandwidth_Bps, e))
        return false;
    if (list->cell[LATENCY] != ABSENT &&
        !network_read_latency(table, row, (size_t)list->cell[LATENCY], list->unit[LATENCY],
                              &link->latency_s, e))
        return false;
    return read_together(list, row, link, e);
}

static bool repeated_pair(const struct list *list, const struct row *row, struct error *e)
{
    const char *from = cell_text(list, row, FROM), *to = cell_text(list, row, TO);
    const struct row *first = &list->table->row[1];
    while (strcmp(cell_text(list, first, FROM), from) != 0 ||
           strcmp(cell_text(list, first, TO), to) != 0)
        first++;
    struct place place = table_place(list->table, row, (size_t)list->cell[FROM]);
    error_at(e, &place, "the link from '%s' to '%s' is given twice, first on line %d", from, to,
             first->line);
    return false;
}

static bool add_row(const struct list *list, const struct row *row, struct network *network,
                    struct error *e)
{
    size_t from = (size_t)network_find(network, cell_text(list, row, FROM));
    size_t to = (size_t)network_find(network, cell_text(list, row, TO));
    struct link *slot = &network->link[from * network->n + to];
    struct link link = {0};
    if (slot->source != LINK_UNKNOWN || slot->failed)
        return repeated_pair(list, row, e);
    if (!read_link(list, row, &link, e))
        return false;
    *slot = link;
    return true;
}

void network_read_list(struct arena *arena, const struct table *table, struct network *network,
                       struct error_list *errors)
{
    struct list list = {.table = table, .cell = {ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT}};
    struct error e = {0};
    read_head(arena, &list, errors);
    if (errors->n == 0)
        check_rows(&list, errors);
    if (errors->n == 0 && !over_all_names(arena, &list, network, &e))
        network_note_error(errors, &e);
    if (errors->n)
        return;
    for (size_t r = 1; r < table->n_rows; r++) {
        if (!add_row(&list, &table->row[r], network, &e) && !network_note_error(errors, &e))
            return;
    }
    network_fill(network);
}

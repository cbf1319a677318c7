/* Network files: which of the two forms it is, and what a cell of either means. */
#include "network/network_reader.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"

bool network_note_error(struct error_list *errors, struct error *e)
{
    error_list_add(errors, e);
    return errors->n < NETWORK_MOST_ERRORS;
}

/* The message of `inner` at a cell, its hint after the shown line. */
static bool fail_at(const struct place *place, struct error *inner, struct error *e)
{
    static const char lead[] = "\n  hint: ";
    char *hint = strstr(inner->text, lead);
    if (hint)
        *hint = '\0';
    error_at(e, place, "%s", inner->text);
    if (hint)
        error_hint(e, "%s", hint + sizeof lead - 1);
    error_clear(inner);
    return false;
}

static bool ends_in_digit(const char *text)
{
    size_t length = strlen(text);
    return length && (isdigit((unsigned char)text[length - 1]) || text[length - 1] == '.');
}

static bool read_quantity(const char *text, const char *unit, enum dimension dimension,
                          double *value, struct error *e)
{
    enum { LONGEST = 64 };
    char joined[2 * LONGEST + 2];
    size_t length = strlen(text), unit_length = unit ? strlen(unit) : 0;
    if (unit_length == 0 || !ends_in_digit(text) || length > LONGEST || unit_length > LONGEST)
        return units_parse(text, dimension, value, e);
    stpcpy(stpcpy(stpcpy(joined, text), " "), unit);
    return units_parse(joined, dimension, value, e);
}

bool network_read_rate(const struct table *table, const struct row *row, size_t cell,
                       const char *unit, double *bandwidth_Bps, struct error *e)
{
    const char *text = row->cell[cell].text;
    struct error inner = {0};
    double value = 0;
    if (read_quantity(text, unit, DIMENSION_BANDWIDTH, &value, &inner) && value > 0) {
        *bandwidth_Bps = value;
        return true;
    }
    struct place place = table_place(table, row, cell);
    if (inner.kind != ERROR_NONE)
        return fail_at(&place, &inner, e);
    error_at(e, &place, "bandwidth must be above 0 (got %s)", text);
    return false;
}

bool network_read_latency(const struct table *table, const struct row *row, size_t cell,
                          const char *unit, double *latency_s, struct error *e)
{
    const char *text = row->cell[cell].text;
    struct error inner = {0};
    struct place place = table_place(table, row, cell);
    double value = 0;
    if (*text && !read_quantity(text, unit, DIMENSION_TIME, &value, &inner))
        return fail_at(&place, &inner, e);
    if (value < 0) {
        error_at(e, &place, "latency must be 0 or more (got %s)", text);
        return false;
    }
    *latency_s = value;
    return true;
}

static bool is_unit(const char *unit, enum dimension dimension)
{
    struct error ignored = {0};
    double value = 0;
    bool known = *unit && read_quantity("1", unit, dimension, &value, &ignored);
    error_clear(&ignored);
    return known;
}

const char *network_column_unit(struct arena *arena, const char *name, const char *quantity,
                                enum dimension dimension)
{
    size_t length = strlen(quantity);
    if (strncasecmp(name, quantity, length) != 0)
        return NULL;
    if (!name[length])
        return "";
    if (name[length] != '_')
        return NULL;
    if (strcmp(name + length, "_Bps") == 0)
        return "B/s";
    char *unit = arena_copy(arena, name + length + 1);
    char *slash = strchr(unit, '_');
    if (slash)
        *slash = '/';
    return is_unit(unit, dimension) ? unit : NULL;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool network_over(struct arena *arena, const struct table *table, const char **name, size_t n,
                  struct network *network, struct error *e)
{
    qsort(name, n, sizeof *name, compare_names);
    size_t n_kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (n_kept == 0 || strcmp(name[n_kept - 1], name[i]) != 0)
            name[n_kept++] = name[i];
    }
    if (n_kept > NETWORK_MOST_NAMES) {
        struct place place = table_place(table, table->row, 0);
        error_at(e, &place, "the file names %zu hosts or devices; at most %d are read", n_kept,
                 NETWORK_MOST_NAMES);
        error_hint(e, "give classes of links, network.links in the job");
        return false;
    }
    *network = (struct network){
        .name = name, .n = n_kept, .link = ARENA_ARRAY(arena, n_kept * n_kept, struct link)};
    return true;
}

/* A matrix has names in its first row, a list the names of its columns. */
static bool is_list(const struct table *table)
{
    const struct row *head = table->row;
    for (size_t i = 1; i < head->n; i++) {
        if (strncasecmp(head->cell[i].text, "bandwidth", strlen("bandwidth")) == 0)
            return true;
    }
    return strcasecmp(head->cell[0].text, "from") == 0 ||
           (head->n > 1 && strcasecmp(head->cell[1].text, "to") == 0);
}

bool network_parse(struct arena *arena, const char *text, const char *file, struct network *network,
                   struct error *e)
{
    struct table table;
    if (!table_parse(arena, text, file, &table, e))
        return false;
    struct network read = {0};
    struct error_list errors = {0};
    if (is_list(&table))
        network_read_list(arena, &table, &read, &errors);
    else
        network_read_matrix(arena, &table, &read, &errors);
    if (errors.n) {
        error_list_join(&errors, e);
        return false;
    }
    *network = read;
    return true;
}

bool network_read(struct arena *arena, const char *path, struct network *network, struct error *e)
{
    const size_t limit_bytes = (size_t)1 << 30;
    char *text = NULL;
    size_t length = 0;
    if (!file_read(arena, path, limit_bytes, &text, &length, e))
        return false;
    if (strlen(text) != length) {
        error_set(e, ERROR_INPUT, "%s: holds a zero byte; a network file is text", path);
        return false;
    }
    return network_parse(arena, text, path, network, e);
}

/* A table of nccl-tests for people: what each round of its ring took, by the size of a message. */
#include <string.h>

#include "base/units.h"
#include "report/grid.h"
#include "report/report.h"

/* "n1 x8, n2 x8", the hosts of the ranks in their order. */
static const char *list_hosts(struct arena *arena, const struct nccl_table *table)
{
    struct text list = {0};
    for (size_t i = 0, n; i < table->n_ranks; i += n) {
        for (n = 1; i + n < table->n_ranks; n++) {
            if (strcmp(table->host[i], table->host[i + n]) != 0)
                break;
        }
        text_format(&list, "%s%s x%zu", i ? ", " : "", table->host[i], n);
    }
    const char *shown = text_printable(arena, list.data, 0);
    text_free(&list);
    return shown;
}

static void add_point(struct grid *grid, const struct nccl_table *table, struct ft_message point)
{
    char text[UNITS_TEXT_SIZE];
    double n = (double)table->n_ranks;
    grid_add(grid, "%s", units_format(point.bytes * n, DIMENSION_BYTES, text));
    grid_add(grid, "%s", units_format(point.time_s * 2 * (n - 1), DIMENSION_TIME, text));
    grid_add(grid, "%s", units_format(point.bytes, DIMENSION_BYTES, text));
    grid_add(grid, "%s", units_format(point.time_s, DIMENSION_TIME, text));
    grid_add(grid, "%s", units_format(point.bytes / point.time_s, DIMENSION_BANDWIDTH, text));
}

void report_nccl_tests_text(const struct nccl_table *table, struct text *out)
{
    static const char *const head[] = {"all-reduced", "takes", "message", "a round", "rate"};
    struct arena scratch = {0};
    struct grid grid = {.n_columns = sizeof head / sizeof *head};
    char latency[UNITS_TEXT_SIZE], rate[UNITS_TEXT_SIZE];
    text_wrap(out, "",
              arena_format(&scratch, "all_reduce among %zu ranks, %zu sizes, in place",
                           table->n_ranks, table->curve.n));
    if (table->host)
        text_wrap(out, "Hosts:     ", list_hosts(&scratch, table));
    text_format(out, "Link:      %s at the largest size, latency %s\n\n",
                units_format(table->bandwidth_Bps, DIMENSION_BANDWIDTH, rate),
                units_format(curve_message_s(table->curve.point, table->curve.n, 0), DIMENSION_TIME,
                             latency));
    for (size_t i = 0; i < grid.n_columns; i++)
        grid_add(&grid, "%s", head[i]);
    for (size_t i = 0; i < table->curve.n; i++)
        add_point(&grid, table, table->curve.point[i]);
    grid_print(&grid, out);
    arena_free(&scratch);
}

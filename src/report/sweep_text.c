/* A sweep as a person reads it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "report/grid.h"
#include "report/plan_report.h"

enum { MOST_ROWS = 100 };

char *report_cost(double cost, char *text)
{
    if (cost < 999.995)
        snprintf(text, UNITS_TEXT_SIZE, "%.2f", cost);
    else
        units_format_count(rint(cost), text);
    return text;
}

const char *report_what_if_model(struct arena *arena, const struct what_if *w)
{
    if (w->why_not)
        return arena_format(arena, "closed form, since the timeline cannot be computed: %s",
                            w->why_not);
    return w->model == MODEL_TIMELINE
               ? "timeline, of mean steps: nothing is added for waiting for the slowest of all "
                 "devices"
               : "closed form";
}

const char *report_what_if_links(const struct what_if *w)
{
    if (!w->counts_vary)
        return "the job's own ring";
    return w->classes.worst_measured
               ? "type by type in the job's order; the worst that was measured between two types, "
                 "else their class"
               : "type by type in the job's order, by the job's classes";
}

/* "a100" of "a100.count", "a100-mlu370" of "network.a100-mlu370.bandwidth". */
static void add_name(struct grid *grid, const char *path)
{
    static const char lead[] = "network.";
    const char *dot = strrchr(path, '.');
    bool link = strncmp(path, lead, strlen(lead)) == 0;
    const char *name = link ? path + strlen(lead) : path;
    grid_add(grid, "%.*s", (int)(dot - name), name);
}

static void add_head(const struct sweep *sweep, bool total, bool cost, struct grid *grid)
{
    for (size_t a = 0; a < sweep->n_axes; a++)
        add_name(grid, sweep->axis[a].quantity.path);
    for (size_t c = sweep->n_axes; c < grid->n_columns; c++)
        grid_add(grid, "%s", "");
    for (size_t a = 0; a < sweep->n_axes; a++)
        grid_add(grid, "%s", strrchr(sweep->axis[a].quantity.path, '.') + 1);
    grid_add(grid, "step");
    grid_add(grid, "samples/s");
    if (total)
        grid_add(grid, "total");
    if (cost)
        grid_add(grid, "cost");
}

static void add_values(const struct sweep *sweep, size_t system, struct grid *grid)
{
    for (size_t a = 0; a < sweep->n_axes; a++) {
        char value[UNITS_TEXT_SIZE];
        grid_add(grid, "%s",
                 quantity_format(&sweep->axis[a].quantity, sweep_value(sweep, system, a), value));
    }
}

static void add_row(const struct sweep *sweep, size_t system, bool total, bool cost,
                    struct grid *grid)
{
    char text[UNITS_TEXT_SIZE];
    const struct outcome *o = &sweep->outcome[system];
    add_values(sweep, system, grid);
    if (!o->any) {
        for (size_t c = sweep->n_axes; c < grid->n_columns; c++)
            grid_add(grid, "-");
        return;
    }
    grid_add(grid, "%s", units_format(o->step_s, DIMENSION_TIME, text));
    grid_add(grid, "%s", units_format_count(rint(o->samples_per_s), text));
    if (total)
        grid_add(grid, "%s", units_format_duration(o->total_s, text));
    if (cost)
        grid_add(grid, "%s", o->cost_known ? report_cost(o->cost, text) : "-");
}

static void print_rows(const struct sweep *sweep, const struct sweep_best *best, struct text *out)
{
    bool total = sweep->what_if->base.epoch_known, cost = best->n_front > 0;
    size_t n = sweep->n_systems < MOST_ROWS ? sweep->n_systems : MOST_ROWS;
    struct grid grid = {.n_columns = sweep->n_axes + 2 + total + cost};
    add_head(sweep, total, cost, &grid);
    for (size_t i = 0; i < n; i++)
        add_row(sweep, i, total, cost, &grid);
    grid_print(&grid, out);
    if (n < sweep->n_systems)
        text_format(out, "... and %zu more: --csv, --json or --html has all\n",
                    sweep->n_systems - n);
}

static const char *time_text(const struct outcome *o, char *text)
{
    return o->epoch_known ? units_format_duration(o->total_s, text)
                          : units_format(o->step_s, DIMENSION_TIME, text);
}

static void print_best(struct arena *arena, const struct sweep *sweep, const char *lead, size_t i,
                       struct text *out)
{
    char time[UNITS_TEXT_SIZE], cost[UNITS_TEXT_SIZE];
    if (i == SWEEP_NONE)
        return;
    const struct outcome *o = &sweep->outcome[i];
    const char *line = arena_format(arena, "%s: %s%s%s", sweep_name(arena, sweep, i),
                                    time_text(o, time), o->cost_known ? ", cost " : "",
                                    o->cost_known ? report_cost(o->cost, cost) : "");
    text_wrap(out, lead, line);
}

void report_sweep_text(const struct sweep *sweep, const struct sweep_best *best, struct text *out)
{
    struct arena scratch = {0};
    const struct what_if *w = sweep->what_if;
    char n[UNITS_TEXT_SIZE];
    text_wrap(out, "",
              arena_format(&scratch, "%s: %s systems", w->job.name,
                           units_format_count((double)sweep->n_systems, n)));
    text_wrap(out, "Model:    ", report_what_if_model(&scratch, w));
    text_wrap(out, "Ring:     ", report_what_if_links(w));
    text_add(out, "\n");
    print_rows(sweep, best, out);
    text_add(out, "\n");
    print_best(&scratch, sweep, "Fastest:  ", best->fastest, out);
    print_best(&scratch, sweep, "Cheapest: ", best->cheapest, out);
    arena_free(&scratch);
}

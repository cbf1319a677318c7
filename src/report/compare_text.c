/* Two jobs as a person compares them. */
#include <math.h>
#include <stdio.h>

#include "base/units.h"
#include "report/grid.h"
#include "report/plan_report.h"

static void print_differences(const struct comparison *c, struct text *out)
{
    struct grid grid = {.n_columns = 3, .to_the_left = {true}};
    grid_add(&grid, "%s", "");
    for (int i = 0; i < 2; i++)
        grid_add(&grid, "%s", i ? "second" : "first");
    for (size_t i = 0; i < c->n_differences; i++) {
        const struct difference *d = &c->difference[i];
        grid_add(&grid, "%s", d->what);
        grid_add(&grid, "%s", d->is[0]);
        grid_add(&grid, "%s", d->is[1]);
    }
    grid_print(&grid, out);
}

static void add_change(struct grid *grid, double from_s, double to_s)
{
    grid_add(grid, "%+.1f %%", 100 * (to_s / from_s - 1));
}

static void add_times(struct grid *grid, double step_s, bool total_known, double total_s)
{
    char text[UNITS_TEXT_SIZE];
    grid_add(grid, "%s", units_format(step_s, DIMENSION_TIME, text));
    grid_add(grid, "%s", total_known ? units_format_duration(total_s, text) : "-");
}

static void add_forecast(struct grid *grid, const char *lead, const struct forecast *f)
{
    grid_add(grid, "%s", lead);
    add_times(grid, f->step_s, f->epoch_known, f->total_s);
}

/* How the step gets from one to the other. */
static void print_steps(const struct comparison *c, struct text *out)
{
    struct grid grid = {.n_columns = 4, .to_the_left = {true}};
    double last_s = c->forecast[0].step_s;
    grid_add(&grid, "%s", "");
    grid_add(&grid, "step");
    grid_add(&grid, "total");
    grid_add(&grid, "step changes");
    add_forecast(&grid, "first", &c->forecast[0]);
    grid_add(&grid, "%s", "");
    for (size_t i = 0; i < c->n_steps; i++) {
        const struct compare_step *step = &c->step[i];
        grid_add(&grid, "its %s as in the second", compare_group_name(step->group));
        if (!step->known) {
            grid_add(&grid, "-");
            grid_add(&grid, "-");
            grid_add(&grid, "with the next");
            continue;
        }
        add_times(&grid, step->step_s, step->total_known, step->total_s);
        add_change(&grid, last_s, step->step_s);
        last_s = step->step_s;
    }
    add_forecast(&grid, "second", &c->forecast[1]);
    add_change(&grid, c->forecast[0].step_s, c->forecast[1].step_s);
    grid_print(&grid, out);
}

static void print_reasons(struct arena *arena, const struct comparison *c, struct text *out)
{
    for (size_t i = 0; i < c->n_steps; i++) {
        if (!c->step[i].known)
            text_wrap(out, "  - ",
                      arena_format(arena, "with the second's %s alone there is no forecast: %s",
                                   compare_group_name(c->step[i].group), c->step[i].why_not));
    }
}

static void print_name(struct arena *arena, const char *lead, const char *name,
                       const struct forecast *f, struct text *out)
{
    char n[UNITS_TEXT_SIZE];
    text_wrap(out, lead,
              arena_format(arena, "%s: %s, %s devices, %s model", name, f->name,
                           units_format_count((double)f->n_devices, n),
                           forecast_model_name(f->model)));
}

static bool same_forecast(const struct comparison *c)
{
    const struct forecast *a = &c->forecast[0], *b = &c->forecast[1];
    return a->step_s == b->step_s && a->epoch_known == b->epoch_known &&
           (!a->epoch_known || a->total_s == b->total_s);
}

void report_compare_text(const struct comparison *c, struct text *out)
{
    struct arena scratch = {0};
    print_name(&scratch, "First:  ", c->name[0], &c->forecast[0], out);
    print_name(&scratch, "Second: ", c->name[1], &c->forecast[1], out);
    text_add(out, "\n");
    if (c->n_differences)
        print_differences(c, out);
    else
        text_add(out, same_forecast(c)
                          ? "Nothing that a forecast depends on differs.\n"
                          : "The forecasts differ by something that is not compared.\n");
    text_add(out, "\n");
    print_steps(c, out);
    print_reasons(&scratch, c, out);
    arena_free(&scratch);
}

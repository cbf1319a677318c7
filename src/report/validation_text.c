/* Forecast and truth as a person reads them. */
#include "report/report.h"

#include <stdio.h>

#include "base/units.h"
#include "report/grid.h"

static const struct {
    const char *name;
    char note; /* of the footnotes below; 0: none */
} shown[] = {
    [VALIDATION_LOAD] = {"load", 0},
    [VALIDATION_FORWARD] = {"forward", 0},
    [VALIDATION_UNSYNCED] = {"unsynced", 0},
    [VALIDATION_FIRST_BACKWARD] = {"backward 1", 0},
    [VALIDATION_ALL_REDUCE] = {"all-reduce", 'a'},
    [VALIDATION_BACKWARD] = {"backward", 'b'},
    [VALIDATION_OPTIMIZER] = {"optimizer", 'b'},
    [VALIDATION_WAIT] = {"wait for data", 'b'},
    [VALIDATION_REST] = {"rest", 'b'},
    [VALIDATION_STEP] = {"step", 0},
};

static void add_number(struct grid *grid, bool known, double value, enum dimension dimension)
{
    char text[UNITS_TEXT_SIZE];
    grid_add(grid, "%s", known ? units_format(value, dimension, text) : "-");
}

static void add_value(struct grid *grid, const struct validation_value *value,
                      enum dimension dimension)
{
    add_number(grid, value->forecast_known, value->forecast, dimension);
    add_number(grid, value->measured_known, value->measured, dimension);
    if (value->error_known)
        grid_add(grid, "%+.1f %%", 100 * value->error);
    else
        grid_add(grid, "-");
}

static void add_head(struct grid *grid, const char *const *head)
{
    for (size_t i = 0; i < grid->n_columns; i++)
        grid_add(grid, "%s", head[i]);
}

/* The type's name stands in its first row only. */
static void add_type(struct grid *grid, const struct validation_type *type)
{
    bool first = true;
    char count[UNITS_TEXT_SIZE];
    for (int s = 0; s < N_VALIDATION_STAGES; s++) {
        const struct validation_value *value = &type->stage[s];
        if (!value->forecast_known && !value->measured_known)
            continue;
        grid_add(grid, "%s", first ? type->name : "");
        grid_add(grid, "%s", first ? units_format_count((double)type->n_devices, count) : "");
        if (shown[s].note)
            grid_add(grid, "%s (%c)", shown[s].name, shown[s].note);
        else
            grid_add(grid, "%s", shown[s].name);
        add_value(grid, value, DIMENSION_TIME);
        first = false;
    }
    grid_add(grid, "%s", "");
    grid_add(grid, "%s", "");
    grid_add(grid, "bytes sent");
    add_value(grid, &type->sent_bytes, DIMENSION_BYTES);
}

static void print_types(const struct validation *v, struct text *out)
{
    static const char *const head[] = {"type", "devices", "stage", "forecast", "measured", "error"};
    struct grid grid = {.n_columns = 6, .to_the_left = {true, false, true}};
    add_head(&grid, head);
    for (int t = 0; t < v->n_types; t++)
        add_type(&grid, &v->type[t]);
    grid_print(&grid, out);
}

static void add_duration(struct grid *grid, const char *name, const struct validation_value *value)
{
    char text[UNITS_TEXT_SIZE];
    grid_add(grid, "%s", name);
    grid_add(grid, "%s", units_format_duration(value->forecast, text));
    grid_add(grid, "%s", units_format_duration(value->measured, text));
    grid_add(grid, "%+.1f %%", 100 * value->error);
}

static void print_whole(const struct validation *v, struct text *out)
{
    static const char *const head[] = {"system", "forecast", "measured", "error"};
    struct grid grid = {.n_columns = 4, .to_the_left = {true}};
    add_head(&grid, head);
    grid_add(&grid, "step");
    add_value(&grid, &v->step, DIMENSION_TIME);
    if (v->epoch_known) {
        const char *name = v->extrapolated ? "epoch, extrapolated" : "epoch";
        add_duration(&grid, name, &v->epoch);
        add_duration(&grid, v->extrapolated ? "total, extrapolated" : "total", &v->total);
    }
    grid_print(&grid, out);
}

/* The other model, where the forecast is not its own. */
static void print_closed_form(const struct validation *v, struct text *out)
{
    char text[UNITS_TEXT_SIZE];
    if (v->closed_form_s == v->step.forecast)
        return;
    text_format(out, "\nThe closed form gives a step of %s, %+.1f %%.\n",
                units_format(v->closed_form_s, DIMENSION_TIME, text),
                100 * (v->closed_form_s / v->step.measured - 1));
}

static void print_line(struct text *out, const char *label, const char *value)
{
    char lead[20];
    snprintf(lead, sizeof lead, "%-18s", label);
    text_wrap(out, lead, value);
}

static void print_times(struct arena *arena, const struct validation *v, struct text *out)
{
    print_line(out, "Forecast written:", v->written);
    text_format(out, "SHA-256: %s\n", v->sha256); /* with the label padded, too wide */
    for (size_t r = 0; r < v->n_runs; r++) {
        const struct validation_run *run = &v->run[r];
        char step[UNITS_TEXT_SIZE];
        const char *label =
            v->n_runs > 1 ? arena_format(arena, "Full run %zu:", r + 1) : "Full run:";
        print_line(out, label,
                   arena_format(arena, "started %s, a step took %s",
                                run->started ? run->started : "at a time that is not known",
                                units_format(run->step_s, DIMENSION_TIME, step)));
    }
    if (v->n_runs > 1)
        print_line(out, "Runs apart:", arena_format(arena, "%.1f %%", 100 * v->distance));
}

static void print_notes(struct arena *arena, const struct validation *v, struct text *out)
{
    char count[UNITS_TEXT_SIZE];
    text_wrap(out, "(a) ",
              "measured: while a bucket is ready on the device and not done, so with the wait for "
              "slower devices");
    text_wrap(out, "(b) ", arena_format(arena, "the %s model has no forecast of it", v->model));
    if (v->epoch_known && v->extrapolated)
        text_wrap(out, "extrapolated: ",
                  arena_format(arena, "the measured step times %s iterations; %d were counted",
                               units_format_count(v->iterations, count), v->n_counted));
}

/* What takes from the comparison's worth. */
static void print_warnings(struct arena *arena, const struct validation *v, struct text *out)
{
    if (v->smaller || !v->forecast_first || v->shares_host)
        text_add(out, "\nWarnings:\n");
    if (v->smaller)
        text_wrap(out, "  - ",
                  arena_format(arena,
                               "the full system was smaller than the job's %zu devices, for lack "
                               "of hosts: %s. The forecast above is of the %zu devices that ran.",
                               v->n_devices_whole, v->smaller, v->n_devices));
    if (v->shares_host)
        text_wrap(out, "  - ",
                  "devices of the full system shared a host: what they take from each other there, "
                  "beyond what the sub-systems' devices did, is in no forecast.");
    if (!v->forecast_first)
        text_wrap(out, "  - ",
                  "the forecast was written after the full system had run: it changed since then. "
                  "`foretrain validate --again` runs the full system after it.");
}

void report_validation_text(const struct validation *v, struct text *out)
{
    struct arena scratch = {0};
    char count[UNITS_TEXT_SIZE];
    text_wrap(out, "",
              arena_format(&scratch,
                           "%s: the full system of %s device%s beside its forecast, %s "
                           "model",
                           v->name ? v->name : "job",
                           units_format_count((double)v->n_devices, count),
                           v->n_devices > 1 ? "s" : "", v->model));
    text_add(out, "\n");
    print_types(v, out);
    text_add(out, "\n");
    print_whole(v, out);
    print_closed_form(v, out);
    text_add(out, "\n");
    print_times(&scratch, v, out);
    text_add(out, "\n");
    print_notes(&scratch, v, out);
    print_warnings(&scratch, v, out);
    arena_free(&scratch);
}

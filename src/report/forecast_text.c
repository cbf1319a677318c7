/* The forecast as a person reads it, in one look. */
#include "report/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "report/grid.h"

static void add_time(struct grid *grid, double seconds)
{
    char text[UNITS_TEXT_SIZE];
    grid_add(grid, "%s", units_format(seconds, DIMENSION_TIME, text));
}

static void add_count(struct grid *grid, double count)
{
    char text[UNITS_TEXT_SIZE];
    grid_add(grid, "%s", units_format_count(count, text));
}

/* Three digits or more: "7.25", "103,226". */
static char *rate_text(double rate, char *text)
{
    if (rate < 99.95)
        snprintf(text, UNITS_TEXT_SIZE, "%.3g", rate);
    else
        units_format_count(rint(rate), text);
    return text;
}

static bool accumulates(const struct forecast *f)
{
    for (int t = 0; t < f->n_types; t++) {
        if (f->type[t].unsynced_s > 0)
            return true;
    }
    return false;
}

static void print_stages(const struct forecast *f, struct text *out)
{
    bool unsynced = accumulates(f);
    struct grid grid = {.n_columns = unsynced ? 9 : 8, .to_the_left = {true}};
    static const char *const head[] = {"type", "devices", "batch", "load", "forward"};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        grid_add(&grid, "%s", head[i]);
    if (unsynced)
        grid_add(&grid, "unsynced");
    grid_add(&grid, "backward 1");
    grid_add(&grid, "all-reduce");
    grid_add(&grid, "step");
    for (int t = 0; t < f->n_types; t++) {
        const struct type_forecast *type = &f->type[t];
        grid_add(&grid, "%s", type->name);
        add_count(&grid, (double)type->count);
        add_count(&grid, type->batch);
        add_time(&grid, type->load_s);
        add_time(&grid, type->forward_s);
        if (unsynced)
            add_time(&grid, type->unsynced_s);
        add_time(&grid, type->first_backward_s);
        add_time(&grid, type->ring_s);
        add_time(&grid, type->step_s);
    }
    grid_print(&grid, out);
}

/* At the most, while a device computes or not. */
static void add_ceiling(struct grid *grid, const struct type_forecast *type, double rate_Bps)
{
    char text[UNITS_TEXT_SIZE];
    if (type->why_no_ceilings)
        grid_add(grid, "-");
    else if (isfinite(rate_Bps))
        grid_add(grid, "%s", units_format(rate_Bps, DIMENSION_BANDWIDTH, text));
    else
        grid_add(grid, "link");
}

static void print_timeline_stages(const struct forecast *f, struct text *out)
{
    static const char *const head[] = {"type",     "devices", "load",       "forward",
                                       "backward", "rest",    "sends busy", "idle"};
    struct grid grid = {.n_columns = sizeof head / sizeof *head, .to_the_left = {true}};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        grid_add(&grid, "%s", head[i]);
    for (int t = 0; t < f->n_types; t++) {
        const struct type_forecast *type = &f->type[t];
        grid_add(&grid, "%s", type->name);
        add_count(&grid, (double)type->count);
        add_time(&grid, type->load_s);
        add_time(&grid, type->forward_s + type->unsynced_s);
        add_time(&grid, type->backward_s);
        add_time(&grid, type->optimizer_s + type->rest_s);
        add_ceiling(&grid, type, type->ceilings.busy_Bps);
        add_ceiling(&grid, type, type->ceilings.idle_Bps);
    }
    grid_print(&grid, out);
}

static void add_self(struct grid *grid, const struct type_forecast *type)
{
    if (!type->self_known) {
        grid_add(grid, "-");
        grid_add(grid, "-");
        grid_add(grid, "%s", type->self_why_not ? type->self_why_not : "");
        return;
    }
    add_time(grid, type->self_forecast_s);
    add_time(grid, type->self_measured_s);
    grid_add(grid, "%+.1f %%", 100 * type->self_error);
}

static void print_checks(const struct forecast *f, struct text *out)
{
    struct grid grid = {.n_columns = 5, .to_the_left = {true, false, false, false, true}};
    static const char *const head[] = {"type", "samples/s each", "own forecast", "measured",
                                       "error"};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        grid_add(&grid, "%s", head[i]);
    for (int t = 0; t < f->n_types; t++) {
        char rate[UNITS_TEXT_SIZE];
        grid_add(&grid, "%s", f->type[t].name);
        grid_add(&grid, "%s", rate_text(f->type[t].samples_per_s, rate));
        add_self(&grid, &f->type[t]);
    }
    grid_print(&grid, out);
}

static void print_line(struct text *out, const char *label, const char *value)
{
    char lead[16];
    snprintf(lead, sizeof lead, "%-13s", label);
    text_wrap(out, lead, value);
}

static const char *step_text(struct arena *arena, const struct forecast *f)
{
    char step[UNITS_TEXT_SIZE], low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE],
        closed[UNITS_TEXT_SIZE];
    const struct span *span = &f->timeline.step_s;
    units_format(f->step_s, DIMENSION_TIME, step);
    if (f->model != MODEL_TIMELINE)
        return arena_copy(arena, step);
    units_format(f->closed_form.step_s, DIMENSION_TIME, closed);
    if (!f->timeline.spread_known)
        return arena_format(arena, "%s; the closed form gives %s", step, closed);
    return arena_format(arena, "%s, from %s to %s in 80 %% of steps; the closed form gives %s",
                        step, units_format(span->low, DIMENSION_TIME, low),
                        units_format(span->high, DIMENSION_TIME, high), closed);
}

/* An epoch or all of them, with the interval of its mean where that is more than a point. */
static const char *span_text(struct arena *arena, const struct span *span)
{
    char mean[UNITS_TEXT_SIZE], low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE];
    units_format_duration(span->mean, mean);
    units_format_duration(span->low, low);
    units_format_duration(span->high, high);
    if (strcmp(low, high) == 0)
        return arena_copy(arena, mean);
    return arena_format(arena, "%s (80 %%: %s to %s)", mean, low, high);
}

static const char *without_text(struct arena *arena, const struct forecast *f)
{
    char text[UNITS_TEXT_SIZE];
    if (!(f->step_without_s > 0))
        return "";
    return arena_format(arena, "; without it a step would take %s",
                        units_format(f->step_without_s, DIMENSION_TIME, text));
}

static const char *deciding_text(struct arena *arena, const struct forecast *f)
{
    char rate[UNITS_TEXT_SIZE];
    const struct link *link = &f->deciding_link;
    if (strcmp(f->deciding_stage, "all-reduce") != 0 || !f->deciding_next)
        return arena_format(arena, "%s, by its %s%s", f->deciding_device, f->deciding_stage,
                            without_text(arena, f));
    return arena_format(arena, "%s, by its all-reduce to %s over %s (%s)%s", f->deciding_device,
                        f->deciding_next,
                        units_format(link->bandwidth_Bps, DIMENSION_BANDWIDTH, rate),
                        link_source_name(link->source), without_text(arena, f));
}

/* "3,907 an epoch of 1,000,000 samples, the last with 25 % of its samples, counted whole" */
static const char *iterations_text(struct arena *arena, const struct forecast *f)
{
    char iterations[UNITS_TEXT_SIZE], samples[UNITS_TEXT_SIZE];
    const char *text = arena_format(arena, "%s an epoch of %s samples",
                                    units_format_count(f->epoch.iterations, iterations),
                                    units_format_count(rint(f->total_samples), samples));
    if (f->epoch.last_share == 1)
        return text;
    return arena_format(arena, "%s, the last with %.3g %% of its samples, counted as a whole step",
                        text, 100 * f->epoch.last_share);
}

static const char *between_epochs_text(struct arena *arena, const struct forecast *f)
{
    char evaluation[UNITS_TEXT_SIZE], checkpoint[UNITS_TEXT_SIZE];
    units_format_duration(f->evaluation_s, evaluation);
    units_format_duration(f->checkpoint_s, checkpoint);
    if (f->evaluation_s > 0 && f->checkpoint_s > 0)
        return arena_format(arena, ", of which evaluation %s and checkpoint %s (given)", evaluation,
                            checkpoint);
    if (f->evaluation_s > 0)
        return arena_format(arena, ", of which evaluation %s (given)", evaluation);
    return f->checkpoint_s > 0 ? arena_format(arena, ", of which checkpoint %s (given)", checkpoint)
                               : "";
}

static void print_epoch(struct arena *arena, const struct forecast *f, struct text *out)
{
    char count[UNITS_TEXT_SIZE];
    if (!f->epoch_known) {
        print_line(out, "Epoch:", arena_format(arena, "not known: %s", f->why_no_epoch));
        return;
    }
    print_line(out, "Iterations:", iterations_text(arena, f));
    print_line(out, "Epoch:",
               arena_format(arena, "%s%s", span_text(arena, &f->epoch_span_s),
                            between_epochs_text(arena, f)));
    print_line(out, "Total:",
               arena_format(arena, "%s for %s epoch%s", span_text(arena, &f->total_span_s),
                            units_format_count(f->epochs, count), f->epochs > 1 ? "s" : ""));
}

static const char *links_text(struct arena *arena, const struct forecast *f)
{
    struct text text = {0};
    for (int s = LINK_MEASURED; s <= LINK_FILLED; s++) {
        char count[UNITS_TEXT_SIZE];
        if (f->n_links[s])
            text_format(&text, "%s%s %s", text.length ? ", " : "",
                        units_format_count((double)f->n_links[s], count),
                        link_source_name((enum link_source)s));
    }
    const char *copy = arena_copy(arena, text.data ? text.data : "none: one device");
    text_free(&text);
    return copy;
}

/* "fast 0.6 ms, 1 ms while computing; slow ..."; NULL: no type's rounds cost anything. */
static const char *rounds_text(struct arena *arena, const struct forecast *f)
{
    const char *text = NULL;
    for (int t = 0; t < f->n_types; t++) {
        const struct type_forecast *type = &f->type[t];
        char idle[UNITS_TEXT_SIZE], busy[UNITS_TEXT_SIZE];
        if (type->busy_round_s > 0)
            text = arena_format(arena, "%s%s%s %s, %s while computing", text ? text : "",
                                text ? "; " : "", type->name,
                                units_format(type->idle_round_s, DIMENSION_TIME, idle),
                                units_format(type->busy_round_s, DIMENSION_TIME, busy));
    }
    return text;
}

/* "reduce-scatter in 50 groups of 4", "exchange among 100 to 200", "... (25.5 MB each)". */
static void add_stage(const struct forecast *f, const struct ft_collective_stage *stage,
                      struct text *text)
{
    char number[UNITS_TEXT_SIZE];
    text_add(text, stage->what);
    if (stage->n_groups > 1)
        text_format(text, " in %s groups of ", units_format_count((double)stage->n_groups, number));
    else
        text_add(text, " among ");
    text_add(text, units_format_count((double)stage->fewest_devices, number));
    if (stage->most_devices > stage->fewest_devices)
        text_format(text, " to %s", units_format_count((double)stage->most_devices, number));
    if (stage->payload_share < 1)
        text_format(text, " (%s each)",
                    units_format(f->payload_bytes * stage->payload_share, DIMENSION_BYTES, number));
}

static void print_stages_of_collective(struct arena *arena, const struct forecast *f,
                                       struct text *out)
{
    struct text text = {0};
    text_format(&text, "%s: ", f->collective_name);
    for (size_t s = 0; s < f->n_stages; s++) {
        if (s > 0)
            text_add(&text, ", ");
        add_stage(f, &f->stage[s], &text);
    }
    print_line(out, "Collective:", arena_copy(arena, text.data));
    text_free(&text);
}

/* S, and among how many: the stages of what is not a ring. */
static void print_gradients(struct arena *arena, const struct forecast *f, struct text *out)
{
    char bytes[UNITS_TEXT_SIZE], count[UNITS_TEXT_SIZE];
    const char *ring = "";
    if (f->n_devices > 1 && !f->collective)
        ring = arena_format(arena, ", by a ring of %s",
                            units_format_count((double)f->n_devices, count));
    print_line(out, "Gradients:",
               arena_format(arena, "%s all-reduced in each step%s",
                            units_format(f->payload_bytes, DIMENSION_BYTES, bytes), ring));
    if (f->collective)
        print_stages_of_collective(arena, f, out);
}

static void print_facts(struct arena *arena, const struct forecast *f, struct text *out)
{
    char text[UNITS_TEXT_SIZE];
    print_line(out, "Decides:", deciding_text(arena, f));
    print_line(out, "Step:", step_text(arena, f));
    print_epoch(arena, f, out);
    print_line(out, "Throughput:",
               arena_format(arena, "%s samples/s in all", rate_text(f->samples_per_s, text)));
    print_gradients(arena, f, out);
    if (f->storage_s > 0)
        print_line(out, "Storage:",
                   arena_format(arena, "%s to deliver a step's samples to all devices",
                                units_format(f->storage_s, DIMENSION_TIME, text)));
    if (f->sample_basis)
        print_line(out, "Sample size:",
                   arena_format(arena, "%s (%s)",
                                units_format(f->sample_bytes, DIMENSION_BYTES, text),
                                f->sample_basis));
    print_line(out, "Links:", links_text(arena, f));
    const char *rounds = f->model == MODEL_TIMELINE ? rounds_text(arena, f) : NULL;
    if (rounds)
        print_line(out, "Rounds:",
                   arena_format(arena, "each costs a device beside its bytes: %s", rounds));
}

void report_forecast_text(const struct forecast *f, struct text *out)
{
    struct arena scratch = {0};
    char count[UNITS_TEXT_SIZE];
    const char *head =
        arena_format(&scratch, "%s: %s device%s, %s model", f->name ? f->name : "job",
                     units_format_count((double)f->n_devices, count), f->n_devices > 1 ? "s" : "",
                     forecast_model_name(f->model));
    text_wrap(out, "", head);
    text_add(out, "\n");
    if (f->model == MODEL_TIMELINE)
        print_timeline_stages(f, out);
    else
        print_stages(f, out);
    text_add(out, "\n");
    print_checks(f, out);
    text_add(out, "\n");
    print_facts(&scratch, f, out);
    if (f->n_warnings)
        text_add(out, "\nWarnings:\n");
    for (size_t i = 0; i < f->n_warnings; i++)
        text_wrap(out, "  - ", f->warning[i]);
    arena_free(&scratch);
}

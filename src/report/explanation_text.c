/* Where a step goes, as a person reads it. */
#include <math.h>

#include "base/units.h"
#include "report/explanation.h"
#include "report/grid.h"

static void add_heads(struct grid *grid, const char *const *head, size_t n)
{
    for (size_t i = 0; i < n; i++)
        grid_add(grid, "%s", head[i]);
}

static void add_time(struct grid *grid, double seconds)
{
    char text[UNITS_TEXT_SIZE];
    grid_add(grid, "%s", units_format(seconds, DIMENSION_TIME, text));
}

static const char *place_of(struct arena *arena, const struct job *job, const struct forecast *f,
                            const struct path_part *part)
{
    size_t n = f->n_devices, i = part->position;
    char rate[UNITS_TEXT_SIZE];
    const char *device = job_device_name(arena, job, job_ring_device(job, i));
    if (f->collective && part->stage == PATH_ALL_REDUCE)
        return arena_format(arena, "%s, the last to enter the %s", device, f->collective_name);
    if (part->stage != PATH_ALL_REDUCE)
        return arena_format(arena, "%s, such as %s", f->type[part->type].name, device);
    const char *next = job_device_name(arena, job, job_ring_device(job, (i + 1) % n));
    units_format(f->link[i].bandwidth_Bps, DIMENSION_BANDWIDTH, rate);
    return arena_format(arena, "%s -> %s, %s (%s)", device, next, rate,
                        link_source_name(f->link[i].source));
}

static void print_path(const struct job *job, const struct forecast *f, const struct explanation *x,
                       struct text *out)
{
    static const char *const head[] = {"where", "what", "a step", "share"};
    struct arena arena = {0};
    struct grid grid = {.n_columns = 4, .to_the_left = {true, true}};
    add_heads(&grid, head, 4);
    for (size_t k = 0; k < x->n_parts; k++) {
        grid_add(&grid, "%s", place_of(&arena, job, f, &x->part[k]));
        grid_add(&grid, "%s", path_stage_name(x->part[k].stage));
        add_time(&grid, x->part[k].each_s);
        grid_add(&grid, "%.1f %%", 100 * x->part[k].each_s / x->step_s);
    }
    grid_print(&grid, out);
    arena_free(&arena);
}

static void print_spent(const struct forecast *f, const struct explanation *x, struct text *out)
{
    static const char *const head[] = {"type",  "forward", "backward", "sends",
                                       "waits", "rest",    "loads",    "idle"};
    struct grid grid = {.n_columns = 8, .to_the_left = {true}};
    add_heads(&grid, head, 8);
    for (int t = 0; t < f->n_types; t++) {
        const struct step_parts *p = &x->spent[t];
        grid_add(&grid, "%s", f->type[t].name);
        add_time(&grid, p->forward_s);
        add_time(&grid, p->backward_s);
        add_time(&grid, p->sends_s);
        add_time(&grid, p->waits_s);
        add_time(&grid, p->rest_s);
        add_time(&grid, p->loads_s);
        grid_add(&grid, "%.0f %%", 100 * (p->sends_s + p->waits_s + p->loads_s) / x->step_s);
    }
    grid_print(&grid, out);
}

static const char *remedy_text(struct arena *arena, const struct forecast *f,
                               const struct remedy *r)
{
    switch (r->kind) {
    case REMEDY_ALL_REDUCE:
        return "all-reduce: no gradients to send";
    case REMEDY_COMPUTING:
        return arena_format(arena, "computing of %s", f->type[r->type].name);
    case REMEDY_LOADING:
        return arena_format(arena, "loading of %s",
                            r->type < 0 ? "all types" : f->type[r->type].name);
    case REMEDY_LINKS:
        break;
    }
    return arena_format(arena, "links between %s and %s", f->type[r->type].name,
                        f->type[r->to_type].name);
}

static void add_remedy(struct grid *grid, const char *what, double step_s, double now_s)
{
    double change = 100 * (step_s / now_s - 1);
    grid_add(grid, "%s", what);
    add_time(grid, step_s);
    if (fabs(change) < 0.05)
        grid_add(grid, "none");
    else
        grid_add(grid, "%+.1f %%", change);
}

static void print_remedies(const struct forecast *f, const struct explanation *x, struct text *out)
{
    static const char *const head[] = {"infinitely fast", "a step", "change"};
    struct arena arena = {0};
    struct grid grid = {.n_columns = 3, .to_the_left = {true}};
    add_heads(&grid, head, 3);
    for (size_t k = 0; k < x->n_remedies; k++) {
        const struct remedy *r = &x->remedy[k];
        add_remedy(&grid, remedy_text(&arena, f, r), r->step_s, x->step_s);
    }
    grid_print(&grid, out);
    arena_free(&arena);
}

static const char *loading_text(struct arena *arena, const struct type_forecast *type,
                                double storage_s, double step_s)
{
    char load[UNITS_TEXT_SIZE];
    const double rounding = 1e-9;
    double load_s = fmax(type->load_s, storage_s);
    const char *from = storage_s > type->load_s ? " from the storage" : "";
    units_format(load_s, DIMENSION_TIME, load);
    if (type->loading_in_step)
        return arena_format(arena, "%s: inside the step, %s%s", type->name, load, from);
    bool waited_for = load_s >= step_s * (1 - rounding);
    return arena_format(arena, "%s: beside the step, a mini-batch every %s%s: %s", type->name, load,
                        from, waited_for ? "too slow, the step waits for it" : "fast enough");
}

static void print_loading(const struct forecast *f, const struct explanation *x, struct text *out)
{
    struct arena arena = {0};
    for (int t = 0; t < f->n_types; t++)
        text_wrap(out, t == 0 ? "Loading:     " : "             ",
                  loading_text(&arena, &f->type[t], f->storage_s, x->step_s));
    arena_free(&arena);
}

static void print_head(const struct forecast *f, const struct explanation *x, struct text *out)
{
    struct arena arena = {0};
    char step[UNITS_TEXT_SIZE], spread[UNITS_TEXT_SIZE], all[UNITS_TEXT_SIZE];
    units_format(x->step_s, DIMENSION_TIME, step);
    units_format(x->spread_s, DIMENSION_TIME, spread);
    units_format(f->step_s, DIMENSION_TIME, all);
    const char *head =
        f->timeline.spread_known
            ? arena_format(&arena,
                           "%s: where a step of %s goes, by mean times. That times "
                           "vary, and steps wait for the slowest, makes %s of it.",
                           f->name, step, all)
            : arena_format(&arena, "%s: where a step of %s goes, by mean times", f->name, step);
    text_wrap(out, "", head);
    arena_free(&arena);
}

void report_explanation_text(const struct job *job, const struct forecast *f,
                             const struct explanation *x, struct text *out)
{
    print_head(f, x, out);
    if (x->n_steps > 1)
        text_format(out, "\nThe critical path, which repeats every %zu steps:\n", x->n_steps);
    else
        text_add(out, "\nThe critical path:\n");
    print_path(job, f, x, out);
    text_add(out, "\nA device's step; idle: it does not compute.\n");
    print_spent(f, x, out);
    text_add(out, "\n");
    print_loading(f, x, out);
    text_add(out, "\nWhat would help most:\n");
    print_remedies(f, x, out);
}

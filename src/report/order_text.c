/* An order as a person reads it. */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "job/ring_text.h"
#include "report/grid.h"
#include "report/order_report.h"

static void add_order(struct grid *grid, const char *name, const struct order_value *value)
{
    char text[UNITS_TEXT_SIZE];
    grid_add(grid, "%s", name);
    grid_add(grid, "%s", units_format(value->forecast.step_s, DIMENSION_TIME, text));
    grid_add(grid, "%s", units_format(value->step_s, DIMENSION_TIME, text));
    grid_add(grid, "%s", units_format_count((double)value->n_between_types, text));
    grid_add(grid, "%s", units_format_count((double)value->n_between_hosts, text));
}

static bool found_another(const struct order *o)
{
    return o->best.ring != o->listed.ring;
}

static void print_orders(const struct order *o, struct text *out)
{
    static const char *const head[] = {"order", "forecast", "at mean times", "between types",
                                       "between hosts"};
    struct grid grid = {.n_columns = 5, .to_the_left = {true}};
    char text[UNITS_TEXT_SIZE];
    for (size_t i = 0; i < grid.n_columns; i++)
        grid_add(&grid, "%s", head[i]);
    add_order(&grid, "as listed", &o->listed);
    if (found_another(o))
        add_order(&grid, "found", &o->best);
    grid_add(&grid, "no order below");
    grid_add(&grid, "-");
    grid_add(&grid, "%s", units_format(o->bound_s, DIMENSION_TIME, text));
    grid_add(&grid, "-");
    grid_add(&grid, "-");
    grid_print(&grid, out);
}

static const char *verdict(struct arena *arena, const struct order *o)
{
    double gain = 1 - o->best.step_s / o->listed.step_s, gap = 1 - o->bound_s / o->best.step_s;
    const char *what =
        found_another(o)
            ? arena_format(arena, "a step is %.1f %% shorter than as listed", 100 * gain)
            : "nothing better than the listed order was found";
    if (o->optimal)
        return arena_format(arena, "%s; this is optimal%s.", what,
                            o->all_tried ? ", all others were tried or ruled out" : "");
    return arena_format(arena, "%s; no order can be more than %.2g %% shorter still.", what,
                        100 * gap);
}

static void print_ring(struct arena *arena, const struct order *o, const struct job *job,
                       struct text *out)
{
    struct text names = {0};
    ring_text_format(job, o->best.ring, &names);
    text_wrap(out, "Ring:    ", text_printable(arena, names.data, 0));
    text_free(&names);
}

/* What is known of each backend: docs/model.md, "Ring order". */
static const char *how_to_start(const struct order *o)
{
    const char *backend = o->backend;
    if (!backend)
        return "the types have different backends, so that no training joins them as they are.";
    if (strcmp(backend, "gloo") == 0)
        return "gloo sends from rank r to rank r-1, so ranks run against the ring. foretrain "
               "starts them so; for other launchers --rank-file writes the hosts by rank.";
    if (strcmp(backend, "nccl") != 0)
        return "how this backend builds its ring from the ranks is not known here: compare its "
               "log with the ring.";
    if (o->best.n_between_hosts > o->n_hosts)
        return "NCCL cannot be made to keep this order: it visits every host once, and this ring "
               "visits some more than once.";
    return "NCCL builds its own rings. It visits hosts in the order in which their first ranks "
           "come, so ranks along this ring (--rank-file) keep that of the hosts; within a host it "
           "follows the wires that it finds, whatever the ranks. NCCL_ALGO=Ring keeps it from "
           "using trees instead.";
}

static void print_notes(struct arena *arena, const struct order *o, struct text *out)
{
    const struct order_value *listed = &o->listed;
    if (o->n_unknown > 0)
        text_wrap(out, "  - ",
                  arena_format(arena,
                               "%.0f of %.0f links have no bandwidth and were not used. `foretrain "
                               "bandwidth --pairs all` measures them.",
                               o->n_unknown, o->n_pairs));
    if (listed->n_sharing > 0)
        text_wrap(out, "  - ",
                  arena_format(arena,
                               "%zu hops of the listed order share their host's uplink with "
                               "another and count with their part of it.",
                               listed->n_sharing));
    if (o->together_known && found_another(o))
        text_wrap(out, "  - ",
                  "what links leave each other was measured for the ring of that time "
                  "(`together`); links that were not in it count as if alone. Measure the new ring "
                  "with `foretrain bandwidth --together`.");
    for (size_t i = 0; i < o->best.forecast.n_warnings; i++)
        text_wrap(out, "  - ", o->best.forecast.warning[i]);
}

void report_order_text(const struct order *o, const struct job *job, struct text *out)
{
    struct arena scratch = {0};
    struct text notes = {0};
    const struct forecast *f = &o->best.forecast;
    text_wrap(out, "",
              arena_format(&scratch, "%s: ring order of %zu devices, %s model",
                           f->name ? text_printable(&scratch, f->name, 0) : "job", o->n_devices,
                           forecast_model_name(f->model)));
    text_add(out, "\n");
    print_orders(o, out);
    text_add(out, "\n");
    text_wrap(out, "Verdict: ", verdict(&scratch, o));
    print_ring(&scratch, o, job, out);
    text_wrap(out, "Ranks:   ", how_to_start(o));
    print_notes(&scratch, o, &notes);
    if (notes.length)
        text_format(out, "\nNotes:\n%s", notes.data);
    text_free(&notes);
    arena_free(&scratch);
}

/* A profile for people: where it is from, the stages of a step, bytes, buckets, operators, the
 * model. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "report/grid.h"
#include "report/report.h"

static void add_heads(struct grid *grid, const char *const *head)
{
    for (size_t i = 0; i < grid->n_columns; i++)
        grid_add(grid, "%s", head[i]);
}

static void add_time(struct grid *grid, double seconds)
{
    char text[UNITS_TEXT_SIZE];
    grid_add(grid, "%s", units_format(seconds, DIMENSION_TIME, text));
}

static void add_bytes(struct grid *grid, double bytes)
{
    char text[UNITS_TEXT_SIZE];
    grid_add(grid, "%s", bytes < 0 ? "-" : units_format(bytes, DIMENSION_BYTES, text));
}

static void add_count(struct grid *grid, double count)
{
    char text[UNITS_TEXT_SIZE];
    grid_add(grid, "%s", units_format_count(count, text));
}

static const char *known(const char *text)
{
    return text && *text ? text : "unknown";
}

static const char *hosts_text(struct arena *arena, const struct profile *p)
{
    struct text text = {0};
    for (int i = 0; p->host && i < p->n_devices; i++)
        text_format(&text, "%s%s", i ? ", " : " on ", known(p->host[i]));
    const char *copy = arena_copy(arena, text.data ? text.data : "");
    text_free(&text);
    return copy;
}

static const char *window_text(struct arena *arena, const struct profile *p)
{
    if (p->last == 0)
        return "";
    const char *left_out =
        p->n_left_out ? arena_format(arena, ", %zu of them left out", p->n_left_out) : "";
    return arena_format(arena, "; iterations %d to %d counted%s", p->first, p->last, left_out);
}

static void print_origin(struct arena *arena, const struct profile *p, struct text *out)
{
    text_wrap(out, "",
              arena_format(arena, "Profile of %s: %s", known(p->device_type),
                           p->assumed ? "ASSUMED numbers, nobody measured them"
                                      : arena_format(arena, "measured %s", known(p->date))));
    if (p->note)
        text_wrap(out, "  ", p->note);
    text_wrap(out, "  ",
              arena_format(arena, "%s, %s, backend %s", known(p->device_name), known(p->framework),
                           known(p->backend)));
    text_wrap(out, "  ",
              arena_format(arena, "%d device%s%s%s%s%s", p->n_devices, p->n_devices > 1 ? "s" : "",
                           profile_sampled(p) < p->n_devices
                               ? arena_format(arena, ", of which %d recorded", p->n_sampled)
                               : "",
                           hosts_text(arena, p),
                           p->shares_host ? " (they share a host: the wire was not measured)" : "",
                           p->one_ring
                               ? arena_format(arena, ", in one mixed ring of %d", p->ring_devices)
                               : ""));
    text_wrap(out, "  ",
              arena_format(arena, "batch %s, %g mini-batch%s a step%s",
                           p->batch > 0 ? arena_format(arena, "%g", p->batch) : "unknown",
                           p->micro_batches, p->micro_batches > 1 ? "es" : "",
                           window_text(arena, p)));
}

static void add_stats(struct grid *grid, const struct stats *stats)
{
    add_time(grid, stats->mean);
    if (stats->n) {
        add_time(grid, stats->sd);
        add_time(grid, stats->min);
        add_time(grid, stats->max);
        add_count(grid, (double)stats->n);
        return;
    }
    for (int i = 0; i < 4; i++)
        grid_add(grid, "-");
}

static void print_stages(const struct profile *p, struct text *out)
{
    static const char *const head[] = {"stage", "mean", "sd", "min", "max", "samples"};
    struct grid grid = {.n_columns = 6, .to_the_left = {true}};
    add_heads(&grid, head);
    for (int s = 0; s < N_STAGES; s++) {
        const struct samples *samples = &p->stage[s];
        const char *key = stage_key((enum stage)s);
        if (!samples->known)
            continue;
        grid_add(&grid, "%.*s", (int)(strlen(key) - strlen("_s")), key);
        add_stats(&grid, &samples->stats);
    }
    text_add(out, "\n");
    grid_print(&grid, out);
}

static const char *took_text(struct arena *arena, double idle_s, double busy_s)
{
    char idle[UNITS_TEXT_SIZE], busy[UNITS_TEXT_SIZE];
    return arena_format(arena, "took %s, and %s while devices computed.",
                        units_format(idle_s, DIMENSION_TIME, idle),
                        units_format(busy_s, DIMENSION_TIME, busy));
}

static void print_rounds(struct arena *arena, const struct profile_rounds *rounds, struct text *out)
{
    char small[UNITS_TEXT_SIZE], large[UNITS_TEXT_SIZE];
    char small_lost[UNITS_TEXT_SIZE], large_lost[UNITS_TEXT_SIZE];
    if (!(rounds->message_bytes > 0))
        return;
    units_format(rounds->message_bytes, DIMENSION_BYTES, small);
    units_format(rounds->large_message_bytes, DIMENSION_BYTES, large);
    text_wrap(out, "",
              arena_format(arena, "A round of a small all-reduce (%s a message) %s", small,
                           took_text(arena, rounds->idle_s, rounds->busy_s)));
    if (rounds->large_idle_s > 0)
        text_wrap(out, "",
                  arena_format(arena, "One of %s messages %s", large,
                               took_text(arena, rounds->large_idle_s, rounds->large_busy_s)));
    if (rounds->large_message_bytes > 0)
        text_wrap(out, "",
                  arena_format(arena, "A small one cost %s of computing, one of %s messages %s.",
                               units_format(rounds->lost_s, DIMENSION_TIME, small_lost), large,
                               units_format(rounds->large_lost_s, DIMENSION_TIME, large_lost)));
}

static void print_bytes(struct arena *arena, const struct profile *p, struct text *out)
{
    char sent[UNITS_TEXT_SIZE], gradients[UNITS_TEXT_SIZE], other[UNITS_TEXT_SIZE];
    text_add(out, "\n");
    if (p->bytes_sent > 0 || !profile_why_unknown(p, "all_reduce"))
        text_wrap(out, "",
                  arena_format(arena,
                               "Sent for all-reduce: %s a device and step (%s); gradients: %s",
                               units_format(p->bytes_sent, DIMENSION_BYTES, sent),
                               p->assumed          ? "assumed"
                               : p->bytes_measured ? "measured"
                                                   : "computed from the buckets",
                               units_format(p->gradient_bytes, DIMENSION_BYTES, gradients)));
    print_rounds(arena, &p->rounds, out);
    if (p->interface_bytes > 0)
        text_wrap(out, "",
                  arena_format(arena, "The interface sent %s a device and step in all.",
                               units_format(p->interface_bytes, DIMENSION_BYTES, other)));
    if (p->bytes_read >= 0)
        text_wrap(out, "",
                  arena_format(arena, "Read from storage: %s a device and step.",
                               units_format(p->bytes_read, DIMENSION_BYTES, other)));
    if (p->sample_bytes > 0)
        text_wrap(out, "",
                  arena_format(arena, "A sample has %s in the mean.",
                               units_format(p->sample_bytes, DIMENSION_BYTES, other)));
    text_wrap(out, "",
              p->loader_workers < 0
                  ? "No data loader was seen."
                  : arena_format(arena, "%d loader worker%s%s.", p->loader_workers,
                                 p->loader_workers == 1 ? "" : "s",
                                 p->loader_workers ? "" : ": loading is inside the step"));
    if (p->profiler_ratio > 0)
        text_wrap(out, "",
                  arena_format(arena, "With the profiler a step takes %.2f times as long.",
                               p->profiler_ratio));
}

static void add_mean(struct grid *grid, const struct stats *stats)
{
    if (stats->n)
        add_time(grid, stats->mean);
    else
        grid_add(grid, "-");
}

static void print_buckets(const struct profile *p, struct text *out)
{
    static const char *const head[] = {"bucket", "gradients", "on the wire", "ready", "done"};
    struct grid grid = {.n_columns = 5};
    if (!p->n_buckets)
        return;
    add_heads(&grid, head);
    for (size_t i = 0; i < p->n_buckets; i++) {
        const struct bucket *bucket = &p->bucket[i];
        grid_add(&grid, "%zu", i);
        add_bytes(&grid, bucket->bytes);
        add_bytes(&grid, bucket->wire_bytes);
        add_mean(&grid, &bucket->ready.stats);
        add_mean(&grid, &bucket->done.stats);
    }
    text_add(out, "\n");
    grid_print(&grid, out);
}

/* The wait of all devices on the fastest one's clock: what the transfer alone would not take. */
static double waiting_s(const struct bucket *bucket)
{
    return bucket->transfer.known ? bucket->span.stats.mean - bucket->transfer.stats.mean : -1;
}

static void print_waiting(const struct profile *p, struct text *out)
{
    static const char *const head[] = {"all-reduce of bucket", "span", "transfer", "waiting"};
    struct grid grid = {.n_columns = 4};
    add_heads(&grid, head);
    for (size_t i = 0; i < p->n_buckets; i++) {
        const struct bucket *bucket = &p->bucket[i];
        if (!bucket->span.known)
            continue;
        grid_add(&grid, "%zu", i);
        add_mean(&grid, &bucket->span.stats);
        add_mean(&grid, &bucket->transfer.stats);
        if (waiting_s(bucket) >= 0)
            add_time(&grid, waiting_s(bucket));
        else
            grid_add(&grid, "-");
    }
    text_add(out, "\n");
    grid_print(&grid, out);
}

static void print_unknown(struct arena *arena, const struct profile *p, struct text *out)
{
    if (p->n_unknown)
        text_add(out, "\nUnknown:\n");
    for (size_t i = 0, next = 0; i < p->n_unknown; i = next) {
        const char *what = p->unknown[i].what, *why = p->unknown[i].why;
        for (next = i + 1; next < p->n_unknown && strcmp(p->unknown[next].why, why) == 0; next++)
            what = arena_format(arena, "%s, %s", what, p->unknown[next].what);
        text_wrap(out, "  - ", arena_format(arena, "%s: %s", what, why));
    }
}

static void print_collectives(const struct profile *p, struct text *out)
{
    static const char *const head[] = {"other collective", "in", "a step", "bytes", "takes"};
    struct grid grid = {.n_columns = 5, .to_the_left = {true, true}};
    if (!p->n_collectives)
        return;
    add_heads(&grid, head);
    for (size_t i = 0; i < p->n_collectives; i++) {
        const struct profile_collective *c = &p->collective[i];
        grid_add(&grid, "%s", known(c->op));
        grid_add(&grid, "%s", known(c->place));
        grid_add(&grid, "%.3g", c->count_per_step);
        add_bytes(&grid, c->bytes);
        if (c->span_s >= 0)
            add_time(&grid, c->span_s);
        else
            grid_add(&grid, "-");
    }
    text_add(out, "\n");
    grid_print(&grid, out);
}

static int slower_first(const void *a, const void *b)
{
    const struct profile_operator *x = a, *y = b;
    if (x->time_s.mean != y->time_s.mean)
        return x->time_s.mean > y->time_s.mean ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* The slowest operators of one direction; the profile has all. */
static void print_operators(struct arena *arena, const char *what,
                            const struct profile_operator *operator, size_t n, struct text *out)
{
    enum { SHOWN = 8 };
    struct grid grid = {.n_columns = 4, .to_the_left = {true}};
    if (!n)
        return;
    struct profile_operator *order = ARENA_ARRAY(arena, n, struct profile_operator);
    memcpy(order, operator, n * sizeof * order);
    qsort(order, n, sizeof *order, slower_first);
    grid_add(&grid, "%s operator, %s of %zu", what, n > SHOWN ? "the slowest" : "all", n);
    grid_add(&grid, "index");
    grid_add(&grid, "mean");
    grid_add(&grid, "sd");
    for (size_t i = 0; i < n && i < SHOWN; i++) {
        grid_add(&grid, "%s", known(order[i].name));
        grid_add(&grid, "%d", order[i].index);
        add_time(&grid, order[i].time_s.mean);
        add_time(&grid, order[i].time_s.sd);
    }
    text_add(out, "\n");
    grid_print(&grid, out);
}

/* "44.7 MB float32", "12 MB float32 + 30 MB bfloat16". */
static const char *dtypes_text(struct arena *arena, const struct dtype_sizes *sizes)
{
    const char *text = sizes->n ? "" : "bytes not known";
    for (size_t i = 0; i < sizes->n; i++) {
        char bytes[UNITS_TEXT_SIZE];
        text = arena_format(arena, "%s%s%s %s", text, i ? " + " : "",
                            units_format(sizes->item[i].bytes, DIMENSION_BYTES, bytes),
                            sizes->item[i].dtype);
    }
    return text;
}

static void print_model(struct arena *arena, const struct profile *p, struct text *out)
{
    static const char *const head[] = {"layer",  "kind",       "input",
                                       "output", "parameters", "activation"};
    struct grid grid = {.n_columns = 6, .to_the_left = {true, true, true, true, false, true}};
    char count[UNITS_TEXT_SIZE];
    if (!p->n_layers && !(p->n_parameters > 0))
        return;
    text_add(out, "\n");
    text_wrap(out, "",
              arena_format(arena, "Model: %s parameters (%s), loss %s, optimizer %s",
                           units_format_count(p->n_parameters, count),
                           dtypes_text(arena, &p->parameter_bytes), known(p->loss),
                           known(p->optimizer)));
    if (!p->n_layers)
        return;
    add_heads(&grid, head);
    for (size_t i = 0; i < p->n_layers; i++) {
        const struct profile_layer *layer = &p->layer[i];
        grid_add(&grid, "%s", layer->name ? layer->name : "");
        grid_add(&grid, "%s", layer->kind ? layer->kind : "");
        grid_add(&grid, "%s", layer->input_shapes ? layer->input_shapes : "");
        grid_add(&grid, "%s", layer->output_shapes ? layer->output_shapes : "");
        add_count(&grid, layer->n_parameters);
        grid_add(&grid, "%s", layer->activation ? layer->activation : "-");
    }
    grid_print(&grid, out);
}

static void print_notes(const struct profile *p, struct text *out)
{
    if (p->n_notes)
        text_add(out, "\nNotes:\n");
    for (size_t i = 0; i < p->n_notes; i++)
        text_wrap(out, "  - ", p->note_line[i]);
}

void report_profile_text(const struct profile *p, struct text *out)
{
    struct arena scratch = {0};
    print_origin(&scratch, p, out);
    print_stages(p, out);
    print_bytes(&scratch, p, out);
    print_buckets(p, out);
    if (p->n_buckets && p->bucket[0].span.known)
        print_waiting(p, out);
    print_collectives(p, out);
    print_operators(&scratch, "forward", p->forward_op, p->n_forward_ops, out);
    print_operators(&scratch, "backward", p->backward_op, p->n_backward_ops, out);
    print_model(&scratch, p, out);
    print_unknown(&scratch, p, out);
    print_notes(p, out);
    arena_free(&scratch);
}

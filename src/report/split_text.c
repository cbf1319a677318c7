/* A split as a person reads it. */
#include "report/split_report.h"

#include <math.h>

#include "base/units.h"
#include "report/grid.h"

static void add_count(struct grid *grid, double count)
{
    char text[UNITS_TEXT_SIZE];
    grid_add(grid, "%s", units_format_count(count, text));
}

static void add_time(struct grid *grid, double seconds)
{
    char text[UNITS_TEXT_SIZE];
    grid_add(grid, "%s", units_format(seconds, DIMENSION_TIME, text));
}

static void add_head(struct grid *grid, const char *const *head, size_t n)
{
    grid->n_columns = n;
    for (size_t i = 0; i < n; i++)
        grid_add(grid, "%s", head[i]);
}

static void print_types(const struct split *split, struct text *out)
{
    static const char *const head[] = {"type", "devices",  "batch", "found",
                                       "most", "computes", "then",  "weight"};
    struct grid grid = {.to_the_left = {true}};
    add_head(&grid, head, sizeof head / sizeof *head);
    for (int t = 0; t < split->n_types; t++) {
        const struct split_type *type = &split->type[t];
        grid_add(&grid, "%s", type->name);
        add_count(&grid, (double)type->count);
        add_count(&grid, type->given);
        add_count(&grid, type->found);
        if (type->most > 0)
            add_count(&grid, type->most);
        else
            grid_add(&grid, "-");
        add_time(&grid, type->given_alone_s);
        add_time(&grid, type->alone_s);
        grid_add(&grid, "%.3f", type->weight);
    }
    grid_print(&grid, out);
}

static void print_whole(const struct split *split, struct text *out)
{
    static const char *const head[] = {"at mean times", "as it is", "found"};
    struct grid grid = {.to_the_left = {true}};
    add_head(&grid, head, sizeof head / sizeof *head);
    grid_add(&grid, "step");
    add_time(&grid, split->given.step_s);
    add_time(&grid, split->found.step_s);
    grid_add(&grid, "samples/s");
    add_count(&grid, round(split->given.samples_per_s));
    add_count(&grid, round(split->found.samples_per_s));
    grid_add(&grid, "global batch");
    add_count(&grid, split->given.global_batch);
    add_count(&grid, split->found.global_batch);
    grid_print(&grid, out);
}

static bool changes(const struct split *split)
{
    for (int t = 0; t < split->n_types; t++) {
        if (split->type[t].found != split->type[t].given)
            return true;
    }
    return false;
}

static bool weighs(const struct split *split)
{
    const double noticed = 1e-9;
    for (int t = 0; t < split->n_types; t++) {
        if (fabs(split->type[t].weight - 1) > noticed)
            return true;
    }
    return false;
}

static const char *verdict(struct arena *arena, const struct split *split)
{
    char rate[UNITS_TEXT_SIZE];
    const char *rest =
        split->exact ? "no other whole mini-batches give more."
                     : arena_format(arena, "the search was cut off; none give more than %s.",
                                    units_format_count(ceil(split->most_samples_per_s), rate));
    if (!changes(split))
        return arena_format(arena, "the job's own mini-batches stay; %s", rest);
    return arena_format(arena, "%+.1f %% samples a second; %s",
                        100 * (split->found.samples_per_s / split->given.samples_per_s - 1), rest);
}

static const char *data_sentence(struct arena *arena, const struct split *split)
{
    struct text text = {0};
    char amount[UNITS_TEXT_SIZE];
    for (int t = 0; t < split->n_types; t++) {
        const struct split_type *type = &split->type[t];
        if (type->data.unit == AMOUNT_NONE)
            break;
        bool bytes = type->data.unit == AMOUNT_BYTES;
        text_format(&text, "%s%s %s%s", t ? ", " : "a device of ", type->name,
                    bytes ? units_format(type->data.value, DIMENSION_BYTES, amount)
                          : units_format_count(round(type->data.value), amount),
                    bytes ? "" : " samples");
    }
    const char *sentence = text.length
                               ? arena_format(arena, "%s, so that all run out together.", text.data)
                               : "in proportion to the mini-batch.";
    text_free(&text);
    return text_printable(arena, sentence, 0);
}

static void note(struct arena *arena, struct text *out, const struct split_type *type,
                 const char *sentence)
{
    text_wrap(out, "  - ",
              arena_format(arena, "%s: %s", text_printable(arena, type->name, 0), sentence));
}

static void note_basis(struct arena *arena, const struct split_type *type, struct text *out)
{
    const char *error =
        type->fit_error >= 0 ? arena_format(arena, ", %.1f %% off", 100 * type->fit_error) : "";
    if (type->basis == SPLIT_ASSUMED)
        note(arena, out, type,
             arena_format(arena,
                          "loading, forward and backward at %.0f are assumed to be in proportion "
                          "to the mini-batch, from one profile at %.0f. A second one at another "
                          "mini-batch would tell.",
                          type->found, type->to));
    if (type->basis == SPLIT_FITTED)
        note(arena, out, type,
             arena_format(arena, "times at %.0f lie between those measured from %.0f to %.0f%s.",
                          type->found, type->from, type->to, error));
    if (type->basis == SPLIT_EXTRAPOLATED)
        note(arena, out, type,
             arena_format(arena,
                          "times at %.0f are extrapolated, beyond what was measured from %.0f to "
                          "%.0f%s.",
                          type->found, type->from, type->to, error));
}

static void note_memory(struct arena *arena, const struct split *split,
                        const struct split_type *type, struct text *out)
{
    if (type->most_given)
        return;
    if (split->fastest)
        note(arena, out, type,
             arena_format(arena,
                          "no max_batch is given, so no more counted than the %.0f that is known "
                          "to fit.",
                          type->most));
    else if (type->found > type->to)
        note(arena, out, type,
             arena_format(arena,
                          "whether %.0f samples fit into its memory is not known; max_batch would "
                          "say.",
                          type->found));
}

static void print_notes(struct arena *arena, const struct split *split, struct text *out)
{
    for (int t = 0; t < split->n_types; t++) {
        note_basis(arena, &split->type[t], out);
        note_memory(arena, split, &split->type[t], out);
    }
    if (split->found.global_batch > split->given.global_batch)
        text_wrap(out, "  - ",
                  "the global batch grows: a training may need more epochs with it, which no "
                  "forecast knows.");
    for (size_t i = 0; i < split->forecast.n_warnings; i++)
        text_wrap(out, "  - ", split->forecast.warning[i]);
}

void report_split_text(const struct split *split, struct text *out)
{
    struct arena scratch = {0};
    struct text notes = {0};
    const struct forecast *f = &split->forecast;
    text_wrap(out, "",
              arena_format(&scratch, "%s: mini-batches of %zu devices, %s, %s model",
                           f->name ? text_printable(&scratch, f->name, 0) : "job", split->n_devices,
                           split->fastest ? "the most samples a second"
                                          : "the smallest step at one global batch",
                           forecast_model_name(f->model)));
    text_add(out, "\n");
    print_types(split, out);
    text_add(out, "\n");
    print_whole(split, out);
    text_add(out, "\n");
    text_wrap(out, "Verdict:   ", verdict(&scratch, split));
    text_wrap(out, "Data:      ", data_sentence(&scratch, split));
    if (weighs(split))
        text_wrap(out, "Gradients: ",
                  "DDP takes the plain mean over devices, so that a sample of a small mini-batch "
                  "counts more. Multiply each device's loss by its weight: its samples of a step · "
                  "devices / global batch.");
    print_notes(&scratch, split, &notes);
    if (notes.length)
        text_format(out, "\nNotes:\n%s", notes.data);
    text_free(&notes);
    arena_free(&scratch);
}

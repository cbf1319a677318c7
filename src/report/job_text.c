/* A job and a run for people. */
#include "base/units.h"
#include "report/grid.h"
#include "report/report.h"

static const char *amount_text(struct arena *arena, struct amount amount)
{
    char text[UNITS_TEXT_SIZE];
    switch (amount.unit) {
    case AMOUNT_BYTES:
        return arena_copy(arena, units_format(amount.value, DIMENSION_BYTES, text));
    case AMOUNT_SAMPLES:
        return arena_format(arena, "%s samples", units_format_count(amount.value, text));
    case AMOUNT_NONE:
        break;
    }
    return "-";
}

static const char *model_text(struct arena *arena, const struct job_model *model)
{
    switch (model->kind) {
    case MODEL_SCRIPT:
        return arena_format(arena, "script %s", model->script);
    case MODEL_COMMAND:
        return arena_format(arena, "command %s", model->args[0]);
    case MODEL_ENTRY:
        return arena_format(arena, "%s of %s", model->entry_function, model->entry_file);
    case MODEL_LAYERS:
        return "layers written in the job";
    case MODEL_NONE:
        break;
    }
    return "none: forecasts from profiles only";
}

static const char *data_text(struct arena *arena, const struct job_data *data)
{
    char text[UNITS_TEXT_SIZE];
    const char *from = data->path ? data->path : data->list ? data->list : "no path";
    const char *samples =
        data->n_samples > 0
            ? arena_format(arena, ", %s samples", units_format_count(data->n_samples, text))
            : "";
    const char *sample = data->sample_bytes > 0
                             ? arena_format(arena, ", %s a sample",
                                            units_format(data->sample_bytes, DIMENSION_BYTES, text))
                             : "";
    const char *size = data->size.unit == AMOUNT_NONE
                           ? ""
                           : arena_format(arena, ", %s", amount_text(arena, data->size));
    return arena_format(arena, "%s%s%s%s", from, size, samples, sample);
}

static void print_types(struct arena *arena, const struct job *job, struct text *out)
{
    static const char *const head[] = {"type",      "devices",    "batch",
                                       "data each", "sub-system", "backend"};
    struct grid grid = {.n_columns = 6, .to_the_left = {true, false, false, false, false, true}};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        grid_add(&grid, "%s", head[i]);
    for (int t = 0; t < job->n_types; t++) {
        const struct job_device_type *type = &job->type[t];
        char text[UNITS_TEXT_SIZE];
        grid_add(&grid, "%s", type->name);
        grid_add(&grid, "%s", units_format_count((double)type->count, text));
        grid_add(&grid, "%s", units_format_count((double)type->batch, text));
        grid_add(&grid, "%s", amount_text(arena, type->data));
        grid_add(&grid, "%d", type->subsystem_devices);
        grid_add(&grid, "%s", type->backend ? type->backend : "-");
    }
    grid_print(&grid, out);
}

void report_job_text(const struct job *job, struct text *out)
{
    struct arena scratch = {0};
    char count[UNITS_TEXT_SIZE];
    text_wrap(out, "",
              arena_format(&scratch, "%s: %s devices, all-reduce by %s%s",
                           job->name ? job->name : "job",
                           units_format_count((double)job->n_devices, count),
                           ft_collective_name(job->training.collective),
                           job->ring ? ", in an order of its own" : ", as listed"));
    text_wrap(out, "Model:       ", model_text(&scratch, &job->model));
    text_wrap(out, "Data:        ", data_text(&scratch, &job->data));
    text_wrap(out, "Training:    ",
              arena_format(&scratch, "%s epoch%s; iterations %d to %d are counted",
                           units_format_count(job->training.epochs, count),
                           job->training.epochs > 1 ? "s" : "", job->training.first,
                           job->training.last));
    text_wrap(out, "Network:     ",
              arena_format(&scratch, "%s, %zu class%s of links",
                           job->network_file ? job->network_file : "no file", job->n_links,
                           job->n_links == 1 ? "" : "es"));
    text_add(out, "\n");
    print_types(&scratch, job, out);
    arena_free(&scratch);
}

static void print_profiles(const struct profile *profile, size_t n, struct text *out)
{
    static const char *const head[] = {"profile", "made", "devices", "batch", "sent", "step"};
    struct grid grid = {.n_columns = 6, .to_the_left = {true, true}};
    if (!n)
        return;
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        grid_add(&grid, "%s", head[i]);
    for (const struct profile *p = profile; p < profile + n; p++) {
        const struct samples *step = &p->stage[STAGE_STEP];
        char text[UNITS_TEXT_SIZE];
        grid_add(&grid, "%s", p->device_type ? p->device_type : "");
        grid_add(&grid, "%s", p->assumed ? "assumed" : p->date ? p->date : "measured");
        grid_add(&grid, "%d", p->n_devices);
        grid_add(&grid, "%g", p->batch);
        grid_add(&grid, "%s", units_format(p->bytes_sent, DIMENSION_BYTES, text));
        grid_add(&grid, "%s",
                 step->known ? units_format(step->stats.mean, DIMENSION_TIME, text) : "-");
    }
    text_add(out, "\n");
    grid_print(&grid, out);
}

static void print_why(const char *why, struct text *out)
{
    struct arena scratch = {0};
    text_format(out, "\nNo forecast yet:\n%s\n", text_printable(&scratch, why, 1));
    arena_free(&scratch);
}

void report_run_text(const struct job *job, const struct profile *profile, size_t n_profiles,
                     const struct network *network, const struct forecast *forecast,
                     const char *why_no_forecast, struct text *out)
{
    report_job_text(job, out);
    print_profiles(profile, n_profiles, out);
    if (network && network->n) {
        text_add(out, "\n");
        report_network_text(network, out);
    }
    if (forecast) {
        text_add(out, "\n");
        report_forecast_text(forecast, out);
    } else if (why_no_forecast) {
        print_why(why_no_forecast, out);
    }
}
